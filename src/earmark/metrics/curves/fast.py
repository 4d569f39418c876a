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
RunsOf = Callable[
    [NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]],
    tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]],
]


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
def compiled_runs() -> RunsOf:
    """The twin of `earmark.metrics.curves.runs._runs_of`: one pass with a stack."""
    compiled: RunsOf = _compiled(_runs_of)
    return compiled


@functools.cache
def compiled_falling_sums() -> FallingSums:
    """The twin of `earmark.metrics.curves.changes._falling_sums`: a radix sort, then one pass."""
    keyed, radix_sorted, settle = _compiled(_keyed), _compiled(_radix_sorted), _compiled(_settle)
    add_up = _compiled(_added_up)

    def falling_sums(
        score: NDArray[np.float64], hits: NDArray[np.int32], false_alarms: NDArray[np.int32]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        # The highest 33 bits tell nearly all scores apart; the few that are left are exchanged one by one.
        keys, steps = radix_sorted(*keyed(score, hits, false_alarms), 31)
        if not settle(keys, steps):
            keys, steps = radix_sorted(*keyed(score, hits, false_alarms), 0)
        bits, found_hits, wrong = add_up(keys, steps)
        return bits.view(np.float64), found_hits, wrong

    return falling_sums


def _keyed(
    score: NDArray[np.float64], hits: NDArray[np.int32], false_alarms: NDArray[np.int32]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Keys that rise as scores fall, and both steps in one number.

    As whole numbers the bits of positive scores rise with them, those of negative ones fall; turned round, the highest
    has the lowest key. Hits stand above false alarms in a step: neither is ever negative when added up.
    """
    bits = (score + 0.0).view(np.int64)  # + 0 makes -0 and 0, which are equal, the same bits too
    keys, steps = bits.view(np.uint64), np.empty(len(bits), np.int64)
    for i in range(len(bits)):
        keys[i] = bits[i] if bits[i] < 0 else bits[i] ^ 0x7FFFFFFFFFFFFFFF
        steps[i] = (np.int64(hits[i]) << 32) + false_alarms[i]
    return keys, steps


def _radix_sorted(
    keys: NDArray[np.uint64], steps: NDArray[np.int64], lowest_bit: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Rising keys and what belongs to them, sorted by the bits from the lowest one up, 11 at a time.

    Both arrays are used up: memory is what this costs most.
    """
    n_keys = len(keys)
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


def _added_up(
    keys: NDArray[np.uint64], steps: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Infinity, then the scores (their bits) at which the sum of steps is a new one; hits and false alarms there."""
    bits, hits = np.empty(len(keys) + 1, np.int64), np.empty(len(keys) + 1, np.int64)
    wrong = np.empty(len(keys) + 1, np.int64)
    bits[0], hits[0], wrong[0] = 0x7FF0000000000000, 0, 0
    n_new = 1
    total = last_total = 0
    for i in range(len(keys)):
        total += steps[i]
        is_last = i + 1 == len(keys) or keys[i + 1] != keys[i]  # of equal scores
        if is_last and total != last_total:
            key = np.int64(keys[i])
            bits[n_new] = key if key < 0 else key ^ 0x7FFFFFFFFFFFFFFF
            hits[n_new], wrong[n_new] = total >> 32, total & 0xFFFFFFFF
            last_total = total
            n_new += 1
    return bits[:n_new], hits[:n_new], wrong[:n_new]


def _runs_of(
    values: NDArray[np.float64], frame: NDArray[np.int64], is_new: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """First frame, the one after the last, top and bottom of every run.

    What is on the stack (places in `frame`) has no lower score behind it yet, and its scores rise. When a lower score
    comes, or the stretch ends, the run of each higher one is known: from behind the one below it up to here.
    """
    n_frames = len(frame)
    first, end = np.empty(n_frames, np.int64), np.empty(n_frames, np.int64)
    top, bottom = np.empty(n_frames), np.empty(n_frames)
    stack = np.empty(n_frames + 1, np.int64)
    n_runs = height = begin = 0
    for i in range(n_frames + 1):
        is_end = i == n_frames or is_new[i]
        score = -np.inf if is_end else values[frame[i]]
        while height > 0 and values[frame[stack[height - 1]]] > score:
            height -= 1
            place = stack[height]
            before = stack[height - 1] if height > 0 else begin - 1
            first[n_runs], end[n_runs] = frame[place] - (place - before - 1), frame[place] + (i - place)
            top[n_runs] = values[frame[place]]
            bottom[n_runs] = max(values[frame[before]], score) if height > 0 else score
            n_runs += 1
        if i == n_frames:
            break
        if is_end:
            begin = i
            score = values[frame[i]]
        if score == -np.inf:
            begin = i + 1
        else:
            # Of equal scores the last one stands for the run: it is nearest to what comes.
            if height == 0 or values[frame[stack[height - 1]]] < score:
                height += 1
            stack[height - 1] = i
    return first[:n_runs], end[:n_runs], top[:n_runs], bottom[:n_runs]
