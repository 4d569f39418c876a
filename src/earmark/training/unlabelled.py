"""Recordings of which nothing is known, cut into clips that are as long as labelled ones usually are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from earmark.audio import find_clips, probe_audio
from earmark.audio.finding import find_audio
from earmark.labels.weak import WeakClip
from earmark.training.sources import Sources


def unlabelled_clips(
    sources: Sources, labelled: Iterable[str], clip_seconds: float
) -> tuple[list[WeakClip], list[str]]:
    """Return the clips of the folder without labels, none when there is no such folder, and remarks.

    Args:
        sources: the folders.
        labelled: names of the recordings that have labels: those of them that lie in the folder are left out.
        clip_seconds: a longer recording is cut into clips of about this length.

    Raises:
        ValueError: the folder is not there, holds no recording, or none without labels.
    """
    folder = sources.unlabelled
    if folder is None or sources.audio is None:  # only embeddings come without, and those refuse such a folder
        return [], []
    if not folder.is_dir():
        raise ValueError(f"--unlabelled must be a folder of recordings, got {folder} - is the path right?")
    known = {os.path.realpath(file) for file in find_clips(sources.audio, labelled)[0].values()}
    recordings = find_audio([folder])
    files = [file for file in recordings if os.path.realpath(file) not in known]
    if not files:
        raise ValueError(
            f"--unlabelled {folder}: every recording in it has labels, so none is left to learn from without them"
            " - is it the folder of the labelled ones?"
        )
    n_known = len(recordings) - len(files)
    remarks = [f"{n_known} of the recordings in {folder} have labels and are learned with them"] if n_known else []
    base = os.path.realpath(sources.audio)
    return [clip for file in files for clip in _clips(file, base, clip_seconds)], remarks


def _clips(file: Path, base: str, clip_seconds: float) -> list[WeakClip]:
    """The clips of one recording, all of the same length; named as seen from the folder of the labelled ones."""
    real = os.path.realpath(file)
    try:
        name = Path(os.path.relpath(real, base)).as_posix()
    except ValueError:  # on another drive
        name = Path(real).as_posix()
    try:
        duration = probe_audio(file).duration_seconds
    except ValueError:  # told with all others when its features are made
        duration = 0.0
    nothing: frozenset[str] = frozenset()
    n_clips = max(1, round(duration / clip_seconds))
    if n_clips == 1:
        return [WeakClip(name, nothing, nothing, None, None, {}, file.as_posix())]
    borders = [number * duration / n_clips for number in range(n_clips + 1)]
    return [WeakClip(name, nothing, nothing, onset, offset, {}, file.as_posix()) for onset, offset in pairwise(borders)]
