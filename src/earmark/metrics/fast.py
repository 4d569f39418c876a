"""The few loops that the extra `[fast]` compiles with numba. Everything here has a NumPy twin, tested equal."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

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
    """The twin of `earmark.metrics.runs._smaller_neighbours`: one pass with a stack."""
    import numba

    compiled: SmallerNeighbours = numba.njit(cache=True, nogil=True)(_smaller_neighbours)
    return compiled


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
