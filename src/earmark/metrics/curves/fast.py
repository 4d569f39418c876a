"""The few loops that the extra `[fast]` compiles with numba. Everything here has a NumPy twin, tested equal."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FallingSums = Callable[
    [NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]],
    tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]],
]
SmallerNeighbours = Callable[[NDArray[np.float64]], tuple[NDArray[np.int64], NDArray[np.int64]]]


def is_wanted(use_numba: bool | None) -> bool:
    """Whether to use numba: True insists, False forbids it, None takes it if it is there.

    Example:
        >>> is_wanted(False)
        False
    """
    is_there = importlib.util.find_spec("numba") is not None
    if use_numba and not is_there:
        raise ValueError('use_numba=True needs numba, which is not installed: pip install "earmark[fast]"')
    return is_there if use_numba is None else use_numba


@functools.cache
def compiled_smaller_neighbours() -> SmallerNeighbours:
    """The twin of `earmark.metrics.curves.runs._smaller_neighbours`: one pass with a stack."""
    import numba

    compiled: SmallerNeighbours = numba.njit(cache=True, nogil=True)(_smaller_neighbours)
    return compiled


@functools.cache
def compiled_falling_sums() -> FallingSums:
    """The twin of `earmark.metrics.curves.changes._falling_sums`: a radix sort, then one pass."""
    import numba

    order = numba.njit(cache=True, nogil=True)(_falling_order)
    add_up = numba.njit(cache=True, nogil=True)(_falling_sums)

    def falling_sums(
        score: NDArray[np.float64], hits: NDArray[np.int32], false_alarms: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        added: tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]
        # Adding 0 makes -0 and 0, which are equal but differ in their bits, the same.
        added = add_up(score, hits, false_alarms, order((score + 0.0).view(np.int64)))
        return added

    return falling_sums


def _falling_order(bits: NDArray[np.int64]) -> NDArray[np.int32]:
    """The order in which floating-point numbers fall, from their bits: sorted by 11 of them at a time, lowest first."""
    n_scores = len(bits)
    # As whole numbers the bits of positive scores rise with them, those of negative ones fall. Turned round, so that
    # the highest score gets the lowest key and nothing has a sign.
    keys, other_keys = np.empty(n_scores, np.uint64), np.empty(n_scores, np.uint64)
    order, other_order = np.arange(n_scores).astype(np.int32), np.empty(n_scores, np.int32)
    counts = np.zeros((6, 2048), np.int32)
    for i in range(n_scores):
        key = np.uint64(bits[i]) if bits[i] < 0 else np.uint64(bits[i] ^ 0x7FFFFFFFFFFFFFFF)
        keys[i] = key
        for digit in range(6):
            counts[digit, (key >> np.uint64(11 * digit)) & np.uint64(2047)] += 1
    for digit in range(6):
        place = counts[digit]
        shift = np.uint64(11 * digit)
        if n_scores == 0 or place[(keys[0] >> shift) & np.uint64(2047)] == n_scores:
            continue  # all the same
        n_before = 0
        for value in range(2048):
            n_before, place[value] = n_before + place[value], n_before
        for i in range(n_scores):
            value = (keys[i] >> shift) & np.uint64(2047)
            other_keys[place[value]], other_order[place[value]] = keys[i], order[i]
            place[value] += 1
        keys, other_keys, order, other_order = other_keys, keys, other_order, order
    return order


def _falling_sums(
    score: NDArray[np.float64], hits: NDArray[np.int32], false_alarms: NDArray[np.int32], order: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Infinity, then scores from the highest down, and what has come together so far, where that is something new."""
    n_scores = len(score)
    new_score, new_hits = np.empty(n_scores + 1), np.empty(n_scores + 1, np.int64)
    new_alarms = np.empty(n_scores + 1, np.int64)
    new_score[0], new_hits[0], new_alarms[0] = np.inf, 0, 0
    n_new = 1
    n_hits = n_alarms = 0
    for rank in range(n_scores):
        i = order[rank]
        n_hits += hits[i]
        n_alarms += false_alarms[i]
        is_last = rank + 1 == n_scores or score[order[rank + 1]] < score[i]  # of equal scores
        if is_last and (n_hits != new_hits[n_new - 1] or n_alarms != new_alarms[n_new - 1]):
            new_score[n_new], new_hits[n_new], new_alarms[n_new] = score[i], n_hits, n_alarms
            n_new += 1
    return new_score[:n_new], new_hits[:n_new], new_alarms[:n_new]


def _smaller_neighbours(padded: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Whatever is on the stack has no lower score behind it yet; its scores rise, so the one below is the one before.

    Of equal scores the earlier one is "not higher" than the later, and neither is lower than the other.
    """
    n_scores = len(padded)
    before = np.zeros(n_scores, np.int64)
    after = np.full(n_scores, n_scores - 1, np.int64)
    stack = np.zeros(n_scores, np.int64)
    height = 0
    for i in range(n_scores):
        while height > 0 and padded[stack[height - 1]] > padded[i]:
            height -= 1
            after[stack[height]] = i
        before[i] = stack[height - 1] if height > 0 else 0
        stack[height] = i
        height += 1
    return before, after
