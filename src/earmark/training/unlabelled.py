"""Recordings of which nothing is known, cut into clips that are as long as labelled ones usually are."""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from earmark.audio import find_clips, probe_audio
from earmark.audio.finding import find_audio
from earmark.labels.weak import WeakClip
from earmark.training.sources import Sources

_LONGEST_SECONDS, _PROBED_CLIPS = 30.0, 200


def unlabelled_clips(
    sources: Sources, labelled: Sequence[WeakClip], clip_seconds: float | None
) -> tuple[list[WeakClip], list[str]]:
    """Return the clips of the folder without labels, none when there is no such folder, and remarks.

    Args:
        sources: the folders.
        labelled: clips that have labels: their recordings are left out where they lie in the folder.
        clip_seconds: a longer recording is cut into clips of about this length; None: the median of the labelled ones,
            half a minute at most.

    Raises:
        ValueError: the folder is not there, holds no recording, or none without labels.
    """
    folder = sources.unlabelled
    if folder is None or sources.audio is None:  # only embeddings come without, and those refuse such a folder
        return [], []
    if not folder.is_dir():
        raise ValueError(f"--unlabelled must be a folder of recordings, got {folder} - is the path right?")
    found = find_clips(sources.audio, (clip.filename for clip in labelled))[0]
    known = {os.path.realpath(file) for file in found.values()}
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
    if clip_seconds is None:
        clip_seconds = _usual_seconds(labelled, found)
    return [clip for file in files for clip in _clips(file, base, clip_seconds)], remarks


def _usual_seconds(labelled: Sequence[WeakClip], found: Mapping[str, Path]) -> float:
    """The median length of the labelled clips, from the headers of some."""
    lengths = []
    for clip in labelled[:: max(1, len(labelled) // _PROBED_CLIPS)]:
        if clip.onset is not None and clip.offset is not None:
            lengths.append(clip.offset - clip.onset)
        elif clip.filename in found:
            lengths.append(_duration(found[clip.filename]))
    known = [length for length in lengths if length > 0]
    return min(_LONGEST_SECONDS, statistics.median(known)) if known else _LONGEST_SECONDS


def _duration(file: Path) -> float:
    """Seconds of a recording; 0 for one that cannot be read, which is told with all others when features are made."""
    try:
        return probe_audio(file).duration_seconds
    except ValueError:
        return 0.0


def _clips(file: Path, base: str, clip_seconds: float) -> list[WeakClip]:
    """The clips of one recording, all of the same length; named as seen from the folder of the labelled ones."""
    real = os.path.realpath(file)
    try:
        name = Path(os.path.relpath(real, base)).as_posix()
    except ValueError:  # on another drive
        name = Path(real).as_posix()
    duration = _duration(file)
    nothing: frozenset[str] = frozenset()
    n_clips = max(1, round(duration / clip_seconds))
    if n_clips == 1:
        return [WeakClip(name, nothing, nothing, None, None, {}, file.as_posix())]
    borders = [number * duration / n_clips for number in range(n_clips + 1)]
    return [WeakClip(name, nothing, nothing, onset, offset, {}, file.as_posix()) for onset, offset in pairwise(borders)]
