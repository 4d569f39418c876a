"""The few loops that the extra `[fast]` compiles with numba. Everything here has a NumPy twin, tested equal."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from typing import Any

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


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function in machine code, kept on disk where there is a place for it."""
    import numba

    compiled: Callable[..., Any]
    try:
        compiled = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # installed where nobody may write, and no home either: every process compiles for itself
        compiled = numba.njit(nogil=True)(function)
    return compiled


@functools.cache
def compiled_smaller_neighbours() -> SmallerNeighbours:
    """The twin of `earmark.metrics.curves.runs._smaller_neighbours`: one pass with a stack."""
    compiled: SmallerNeighbours = _compiled(_smaller_neighbours)
    return compiled


@functools.cache
def compiled_falling_sums() -> FallingSums:
    """The twin of `earmark.metrics.curves.changes._falling_sums`: a radix sort, then one pass."""
    radix_sorted, settle, add_up = _compiled(_radix_sorted), _compiled(_settle), _compiled(_added_up)

    def falling_sums(
        score: NDArray[np.float64], hits: NDArray[np.int32], false_alarms: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        # Adding 0 makes -0 and 0, which are equal but differ in their bits, the same. As whole numbers the bits of
        # positive scores rise with them, those of negative ones fall: turned round, the highest has the lowest key.
        bits = (score + 0.0).view(np.int64)
        keys = np.where(bits < 0, bits, bits ^ 0x7FFFFFFFFFFFFFFF).view(np.uint64)
        # Both counts in one number, hits above and false alarms below: neither is ever negative when added up.
        steps = (hits.astype(np.int64) << 32) + false_alarms
        # The highest 33 bits tell nearly all scores apart; the few that are left are exchanged one by one.
        sorted_keys, sorted_steps = radix_sorted(keys, steps, 31)
        if not settle(sorted_keys, sorted_steps):
            sorted_keys, sorted_steps = radix_sorted(keys, steps, 0)
        new_keys, sums = add_up(sorted_keys, sorted_steps)
        new_bits = new_keys.view(np.int64)
        new_score = np.where(new_bits < 0, new_bits, new_bits ^ 0x7FFFFFFFFFFFFFFF).view(np.float64)
        new_score[0] = np.inf
        return new_score, sums >> 32, sums & 0xFFFFFFFF

    return falling_sums


def _radix_sorted(
    keys: NDArray[np.uint64], steps: NDArray[np.int64], lowest_bit: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Rising keys and what belongs to them, sorted by the bits from the lowest one up, 11 at a time."""
    n_keys = len(keys)
    keys, steps = keys.copy(), steps.copy()
    other_keys, other_steps = np.empty(n_keys, np.uint64), np.empty(n_keys, np.int64)
    for lowest in range(lowest_bit, 64, 11):
        shift = np.uint64(lowest)
        place = np.zeros(2048, np.int64)
        for i in range(n_keys):
            place[(keys[i] >> shift) & np.uint64(2047)] += 1
        n_before = 0
        for value in range(2048):
            n_before, place[value] = n_before + place[value], n_before
        for i in range(n_keys):
            value = (keys[i] >> shift) & np.uint64(2047)
            other_keys[place[value]], other_steps[place[value]] = keys[i], steps[i]
            place[value] += 1
        keys, other_keys, steps, other_steps = other_keys, keys, other_steps, steps
    return keys, steps


def _settle(keys: NDArray[np.uint64], steps: NDArray[np.int64]) -> bool:
    """Sort what is nearly sorted, in place; give up, and say so, when that takes long."""
    n_moves = 0
    for i in range(1, len(keys)):
        key, step = keys[i], steps[i]
        place = i
        while place > 0 and keys[place - 1] > key:
            keys[place], steps[place] = keys[place - 1], steps[place - 1]
            place -= 1
        keys[place], steps[place] = key, step
        n_moves += i - place
        if n_moves > 4 * len(keys):
            return False
    return True


def _added_up(keys: NDArray[np.uint64], steps: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """A place for infinity, then the keys at which the sum of all steps so far is a new one, and that sum."""
    new_keys, sums = np.empty(len(keys) + 1, np.uint64), np.zeros(len(keys) + 1, np.int64)
    n_new = 1
    total = 0
    for i in range(len(keys)):
        total += steps[i]
        is_last = i + 1 == len(keys) or keys[i + 1] != keys[i]  # of equal scores
        if is_last and total != sums[n_new - 1]:
            new_keys[n_new], sums[n_new] = keys[i], total
            n_new += 1
    return new_keys[:n_new], sums[:n_new]


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
