"""How counts change as the threshold falls: the form that all curves, and their resampling, share.

At an infinite threshold nothing is found and every count is 0. Each time the threshold falls to a score at which
something changes in some clip, the counts of that clip change by whole numbers. Sorted by score and added up they are
the counts at every threshold there is; added up with a weight per clip they are those of a resampled set of clips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earmark.metrics.curves import fast
from earmark.metrics.curves.scores import ScoreTable


@dataclass(frozen=True, eq=False)
class Changes:
    """Changes of the counts of one class, in any order; in 32 bits, because there are millions of them.

    Args:
        score: (changes,) the change happens when the threshold falls to this score.
        file_index: (changes,) in which clip.
        hits: (changes,) true positives gained, or lost where negative.
        false_alarms: (changes,) the same for false positives.

    Example:
        >>> changes = changes_of(np.array([0.2, 0.9, 0.2]), [0, 0, 1], hits=[0, 1, 0], false_alarms=[1, 0, 1])
        >>> sums = changes.sums()
        >>> sums.score, sums.hits, sums.false_alarms
        (array([inf, 0.9, 0.2]), array([0, 1, 1]), array([0, 0, 2]))
    """

    score: NDArray[np.float64]
    file_index: NDArray[np.int32]
    hits: NDArray[np.int32]
    false_alarms: NDArray[np.int32]

    def sums(self, *, use_numba: bool | None = False) -> Sums:
        """Return the counts at every threshold at which they change.

        Args:
            use_numba: see `fast.is_wanted`.
        """
        add_up = fast.compiled_falling_sums() if fast.is_wanted(use_numba) else _falling_sums
        return Sums(*add_up(self.score, self.hits, self.false_alarms))


@dataclass(frozen=True, eq=False)
class Sums:
    """Counts of one class at every threshold, from infinity down; all (points,).

    Args:
        score: the counts hold at thresholds from this score up to, not with, the one before it.
        hits: true positives.
        false_alarms: false positives.
    """

    score: NDArray[np.float64]
    hits: NDArray[np.int64]
    false_alarms: NDArray[np.int64]


def changes_of(
    score: NDArray[np.float64], file_index: ArrayLike, *, hits: ArrayLike, false_alarms: ArrayLike
) -> Changes:
    """Return changes from numbers of any kind.

    Example:
        >>> changes_of(np.array([0.2]), [0], hits=[1], false_alarms=[0]).hits.dtype
        dtype('int32')
    """
    return Changes(score, *(np.asarray(numbers, dtype=np.int32) for numbers in (file_index, hits, false_alarms)))


def joined(parts: list[Changes]) -> Changes:
    """Return all changes of several lists as one.

    Example:
        >>> one = changes_of(np.array([0.2]), [0], hits=[0], false_alarms=[1])
        >>> joined([one, one]).score
        array([0.2, 0.2])
    """
    return Changes(
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.file_index for part in parts]),
        np.concatenate([part.hits for part in parts]),
        np.concatenate([part.false_alarms for part in parts]),
    )


def _falling_sums(
    score: NDArray[np.float64], hits: NDArray[np.int32], false_alarms: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Infinity, then scores from the highest down, and what has come together so far, where that is something new."""
    order = np.argsort(-score)
    score = np.append(np.inf, score[order])
    hits, wrong = (np.append(0, np.cumsum(steps[order])) for steps in (hits, false_alarms))
    is_last = np.append(score[1:] < score[:-1], True)  # of equal scores
    score, hits, wrong = score[is_last], hits[is_last], wrong[is_last]
    # What one clip gains and another loses at the same score is no change.
    is_new = np.append(True, (hits[1:] != hits[:-1]) | (wrong[1:] != wrong[:-1]))
    return score[is_new], hits[is_new], wrong[is_new]


def found_changes(scores: ScoreTable, *, above: NDArray[np.float64] | None = None) -> Iterator[Changes]:
    """Yield how the number of detections changes, as if all were false, class by class.

    A detection appears at every local maximum of the scores, and two become one at every local minimum.

    Args:
        scores: of all clips.
        above: (classes,) thresholds at or below these are of no interest; None: all are.

    Example:
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a.wav": [[0.8], [0.3], [0.6], [0.6]]}, classes=["dog"], hop_seconds=1.0)
        >>> changes = next(found_changes(scores))
        >>> for change in zip(changes.score, changes.false_alarms, strict=True):
        ...     print(*change)
        0.8 1
        0.3 -1
        0.6 1
    """
    begins, file_of_frame = scores.begins_clip, scores.file_of_frame
    for index, values in enumerate(scores.values):
        rises = np.empty(len(values), dtype=np.int8)
        if len(values):
            rises[0] = 1
            np.greater(values[1:], values[:-1], out=rises[1:].view(np.bool_))
            rises[begins] = 1
        steps = rises.copy()
        steps[:-1] -= rises[1:] * ~begins[1:]  # the next frame of the same clip is higher
        matters = (steps != 0) & (values > -np.inf)
        if above is not None:
            matters &= values > above[index]
        where = np.flatnonzero(matters)
        step = steps[where]
        yield changes_of(values[where], file_of_frame[where], hits=np.zeros_like(step), false_alarms=step)
