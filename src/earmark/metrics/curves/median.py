"""Median filters on frame scores, before curves are drawn from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from earmark.checks import choice, number
from earmark.metrics.curves.scores import ScoreTable

_CHUNK_NUMBERS = 1 << 20  # numbers of all windows looked at together: 8 MB


def median_filtered(scores: ScoreTable, *, seconds: float | Sequence[float], beyond: str = "repeat") -> ScoreTable:
    """Replace every score by the median of a window around its frame, class by class and clip by clip.

    Args:
        scores: of frames that are all equally long.
        seconds: length of the window, one for all classes or one each. It is rounded to an odd number of frames, half
            way to the longer one, as in decoding; below two frames nothing changes.
        beyond: what is beyond the ends of a clip: ``"repeat"`` its first and last score, as in decoding, or
            ``"nothing"``, which is lower than any score, as in sed_scores_eval. (That tool moves a window of exactly
            the given length over time, so it agrees only where the length is an odd number of frames.)

    Raises:
        ValueError: frames of different lengths, or a length that cannot be.

    Example:
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a.wav": [[0.1], [0.9], [0.2], [0.8], [0.7]]}, classes=["dog"], hop_seconds=0.1)
        >>> median_filtered(scores, seconds=0.3).values
        array([[0.1, 0.2, 0.8, 0.7, 0.7]])
    """
    choice("beyond", beyond, ("repeat", "nothing"))
    lengths = [float(seconds)] * len(scores.classes) if isinstance(seconds, int | float) else list(seconds)
    if len(lengths) != len(scores.classes):
        raise ValueError(f"seconds must be one number, or one for each of {len(scores.classes)} classes, got {lengths}")
    hop = _hop_seconds(scores)
    values = np.empty_like(scores.values)
    for index, length in enumerate(lengths):
        number("seconds", length, at_least=0, hint="the length of the window, for instance 0.5")
        # Rounded first: 0.6 / 0.1 is 5.999999999999999 in floating point, and would take 5 frames, not 7.
        half_window = int(round(length / hop, 6) // 2)
        values[index] = _filtered(scores, scores.values[index], half_window, beyond)
    return replace(scores, values=values)


def _filtered(scores: ScoreTable, values: NDArray[np.float64], half_window: int, beyond: str) -> NDArray[np.float64]:
    """The scores of one class: (frames,) -> (frames,)."""
    if half_window == 0:
        return values
    filtered = np.empty_like(values)
    first = np.repeat(scores.first_frame[:-1], scores.n_frames)
    last = np.repeat(scores.first_frame[1:], scores.n_frames) - 1
    offsets = np.arange(-half_window, half_window + 1)
    step = max(1, _CHUNK_NUMBERS // len(offsets))
    for begin in range(0, len(values), step):
        rows = slice(begin, begin + step)
        place = np.arange(len(values))[rows, None] + offsets  # (frames, window)
        inside = np.clip(place, first[rows, None], last[rows, None])
        window = values[inside]
        if beyond == "nothing":
            window[inside != place] = -np.inf
        filtered[rows] = np.partition(window, half_window, axis=1)[:, half_window]
    return filtered


def _hop_seconds(scores: ScoreTable) -> float:
    """The length of a frame; the last one of a clip may be cut off."""
    lengths = np.diff(scores.edge_seconds)
    is_inside = np.ones(len(lengths), dtype=bool)
    edge_after_last = (scores.first_frame[1:] + np.arange(len(scores.files)))[:-1]
    is_inside[edge_after_last] = False  # from the end of one clip to the start of the next
    last_frames = (scores.first_frame[1:] + np.arange(len(scores.files)) - 1)[scores.n_frames > 1]
    is_inside[last_frames] = False
    inside = lengths[is_inside]
    any_length = inside if len(inside) else lengths[lengths > 0]
    hop = float(np.median(any_length)) if len(any_length) else 1.0
    last_frame_seconds = lengths[last_frames]
    checked = np.append(inside, last_frame_seconds[last_frame_seconds > hop])
    if len(checked) and float(np.abs(checked - hop).max()) > 1e-3 * hop:
        raise ValueError(
            f"frames must be equally long for a median filter, got {checked.min():g} to {checked.max():g} s"
            " - filter the scores before they are cut up"
        )
    return hop
