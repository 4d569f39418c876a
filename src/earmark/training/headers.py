"""The lengths of clips as the files' headers have them, for plans that must not take long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from earmark.audio import find_clips, late_offset, late_onset, probe_audio
from earmark.config import Config
from earmark.labels.weak import WeakClip
from earmark.training.clip_features import length_remark
from earmark.training.embeddings import array_shapes, span_frames


@dataclass(frozen=True)
class Headers:
    """What the files' headers say of each clip.

    Args:
        samples: of each clip at the rate of the features' grid; 0 when it cannot be read.
        unreadable: (where in the label file, filename, reason) of those.
        notes: (where in the label file, filename, remark) of clips of which only a part would be used.

    Example:
        >>> Headers(np.array([16000, 0]), [("weak.tsv:3", "b.wav", "b.wav: is empty")], []).samples.sum()
        np.int64(16000)
    """

    samples: NDArray[np.int64]
    unreadable: list[tuple[str, str, str]]
    notes: list[tuple[str, str, str]]


def headers_of_audio(
    clips: Sequence[WeakClip], audio: Path, config: Config, on_file: Callable[[int, int], None]
) -> Headers:
    """Return the samples of every clip at the rate of the features, from the headers of the recordings.

    Example:
        >>> clips = [WeakClip("a.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2")]
        >>> headers = headers_of_audio(clips, Path("no-such-folder"), Config(), lambda done, total: None)
        >>> headers.samples.tolist(), headers.unreadable[0][0]
        ([0], 'weak.tsv:2')
    """
    files, reasons = find_clips(audio, (clip.filename for clip in clips))
    lengths: dict[str, float] = {}
    for number, (name, file) in enumerate(files.items()):
        try:
            lengths[name] = probe_audio(file).duration_seconds
        except ValueError as error:
            reasons[name] = str(error)
        on_file(number + 1, len(files))
    rate = config.features.sample_rate
    found = Headers(np.zeros(len(clips), dtype=np.int64), [], [])
    for number, clip in enumerate(clips):
        if clip.filename in reasons:
            found.unreadable.append((clip.where, clip.filename, reasons[clip.filename]))
            continue
        end, onset = lengths[clip.filename], 0.0 if clip.onset is None else clip.onset
        if onset >= end:
            reason = f"{files[clip.filename].as_posix()}: {late_onset(onset, end)}"
            found.unreadable.append((clip.where, clip.filename, reason))
            continue
        last = end if clip.offset is None else min(end, clip.offset)
        found.samples[number] = max(1, round(last * rate) - round(onset * rate))
        remarks = (late_offset(onset, clip.offset, end), length_remark(found.samples[number] / rate, config))
        if any(remarks):
            found.notes.append((clip.where, clip.filename, "; ".join(remark for remark in remarks if remark)))
    return found


def headers_of_embeddings(clips: Sequence[WeakClip], arrays: Path, config: Config) -> Headers:
    """Return the same from the headers of arrays, in ticks of their own grid.

    Example:
        >>> import tempfile
        >>> from earmark.config import for_embeddings
        >>> clips = [WeakClip("a.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2")]
        >>> config = for_embeddings(Config(), frames_per_second=2.0, n_dims=3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(Path(folder, "a.wav.npy"), np.ones((20, 3)))
        ...     headers_of_embeddings(clips, Path(folder), config).samples / config.features.timeline.sample_rate
        array([10.])
    """
    shapes, grid = array_shapes(clips, arrays), config.features.timeline
    found = Headers(np.zeros(len(clips), dtype=np.int64), [], [])
    for number, clip in enumerate(clips):
        try:
            first, end = span_frames(clip, shapes, grid)
        except ValueError as error:
            found.unreadable.append((clip.where, clip.filename, str(error)))
        else:
            found.samples[number] = (end - first) * grid.hop_samples
    return found
