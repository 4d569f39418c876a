"""Everything a detector could find in a clip, whatever the threshold: all runs of frames, each with its life.

At a threshold the detections of a class are the longest runs of frames whose scores reach it. As the threshold falls, a
run appears when the threshold falls to the lowest score inside it (`top`) and is swallowed by a longer one when the
threshold falls to the higher of the scores beside it (`bottom`). A clip of n frames has at most n different runs, so
all thresholds together cost no more than one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from earmark.metrics.curves import fast

# Frames looked at together: enough to be fast, few enough for the processor's cache and for any memory.
_CHUNK_FRAMES = 1 << 17


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of frames, one row each, all arrays of shape (runs,).

    Args:
        class_index: whose scores.
        first: number of the first frame.
        end: number of the frame after the last.
        top: the run is there at all thresholds up to this one ...
        bottom: ... and above this one; -inf when nothing ever swallows it.
    """

    class_index: NDArray[np.int64]
    first: NDArray[np.int64]
    end: NDArray[np.int64]
    top: NDArray[np.float64]
    bottom: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.first)

    def rows(self, keep: NDArray[np.bool_] | NDArray[np.int64]) -> Runs:
        """Return the runs that `keep` picks."""
        return Runs(*(getattr(self, entry.name)[keep] for entry in fields(self)))


def find_runs(
    values: NDArray[np.float64],
    *,
    frames: Iterable[NDArray[np.int64]],
    begins_clip: NDArray[np.bool_],
    use_numba: bool | None,
) -> Iterator[Runs]:
    """Find the runs of every class in every clip, some hundred thousand at a time.

    Args:
        values: (classes, frames of all clips).
        frames: for each class the numbers of the frames to look at, rising; the scores of the others are taken for
            lower than any.
        begins_clip: (frames,) whether a frame is the first of its clip: no run crosses it.
        use_numba: see `fast.is_wanted`.

    Example:
        >>> scores, all_of_them = np.array([[0.1, 0.9, 0.9, 0.5, 0.7]]), [np.arange(5)]
        >>> runs = next(find_runs(scores, frames=all_of_them, begins_clip=np.arange(5) == 0, use_numba=False))
        >>> for run in zip(runs.first, runs.end, runs.top, runs.bottom, strict=True):
        ...     print(*run)
        0 5 0.1 -inf
        1 3 0.9 0.5
        1 5 0.5 0.1
        4 5 0.7 0.5
    """
    runs_of = fast.compiled_runs() if fast.is_wanted(use_numba) else _runs_of
    for class_index, (of_class, frame) in enumerate(zip(values, frames, strict=True)):
        is_new = begins_clip[frame]
        is_new[1:] |= np.diff(frame) > 1
        is_new[:1] = True
        starts = np.append(np.flatnonzero(is_new), len(frame))
        begin = 0
        while begin < len(starts) - 1:
            # Whole stretches only; one that is longer than a chunk is a chunk by itself.
            end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + _CHUNK_FRAMES, side="right")) - 1)
            chunk = slice(starts[begin], starts[end])
            first, last, top, bottom = runs_of(of_class, frame[chunk], is_new[chunk])
            yield Runs(np.full(len(first), class_index), first, last, top, bottom)
            begin = end


def _runs_of(
    values: NDArray[np.float64], frame: NDArray[np.int64], is_new: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """First frame, the one after the last, top and bottom of every run among these frames of one class.

    Args:
        values: (frames of all clips,) of the class.
        frame: numbers of the frames to look at: stretches of neighbours.
        is_new: whether a frame is the first of its stretch.
    """
    # Around every stretch stands -inf, where each search ends: (frames + stretches + 1,)
    at = np.arange(len(frame)) + np.cumsum(is_new)
    padded = np.full(at[-1] + 2, -np.inf)
    padded[at] = values[frame]
    before, after = _smaller_neighbours(padded)
    # Of frames with the same score in one run the first one stands for it.
    stands = padded[before[at]] < padded[at]
    at, frame = at[stands], frame[stands]
    before, after = before[at], after[at]
    bottom = np.maximum(padded[before], padded[after])
    return frame - (at - before - 1), frame + (after - at), padded[at], bottom


def _smaller_neighbours(padded: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For every score: where the nearest one before it is that is not higher, and the nearest lower one after it.

    Both by halving: whether a stretch of 2^k scores holds what is looked for is known from its minimum, so the search
    skips the longest stretches first. Every stretch of scores is enclosed by -inf, (places,) -> (places,), (places,).
    """
    gaps = np.flatnonzero(np.isneginf(padded))
    longest = int(np.diff(gaps).max(initial=1))
    minima = [padded]  # minima[k][i] is the lowest of the 2^k scores that end with number i
    for step in (1 << k for k in range(longest.bit_length())):
        lower = minima[-1].copy()
        np.minimum(lower[step:], minima[-1][:-step], out=lower[step:])
        minima.append(lower)
    last = len(padded) - 1
    before, after = np.arange(-1, last), np.arange(1, last + 2)
    before[0], after[last] = 0, last
    for k in reversed(range(len(minima))):
        before = np.where(minima[k][before] > padded, before - (1 << k), before)
        ahead = np.minimum(after + ((1 << k) - 1), last)
        after = np.where(minima[k][ahead] >= padded, after + (1 << k), after)
        np.clip(before, 0, last, out=before)  # only where the score itself is -inf
        np.clip(after, 0, last, out=after)
    return before, after
