"""Rank correlation, for questions like "do long classes learn a small n?"."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray


def ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Number the values from 1 for the smallest; equal values share the mean of the places they fill.

    Example:
        >>> ranks([0.3, 5.0, 0.3, 0.1]).tolist()
        [2.5, 4.0, 2.5, 1.0]
    """
    _, place, counts = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True)
    last_place = np.cumsum(counts)
    return np.asarray((last_place - (counts - 1) / 2)[place], dtype=np.float64)


def spearman(first: ArrayLike, second: ArrayLike) -> float:
    """Spearman's rho: the Pearson correlation of the two rankings, from -1 to 1.

    rho = Cov(R(first), R(second)) / (sd(R(first)) * sd(R(second))).

    Args:
        first: values, shape (items,).
        second: values of the same items, shape (items,).

    Returns:
        rho, or NaN when all values on one side are equal, because then there is no order to compare.

    Raises:
        ValueError: the shapes differ, there are fewer than two items, or a value is not finite.

    Example:
        >>> spearman([0.2, 0.5, 4.0], [2.0, 1.5, 0.3])
        -1.0
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1 or len(x) < 2:
        raise ValueError(
            f"first and second must have the same shape (items,) with at least 2 items, "
            f"got {x.shape} and {y.shape} - is a class missing on one side?"
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("first and second must be finite, got NaN or infinity - leave out classes without events")
    x_rank, y_rank = ranks(x) - (len(x) + 1) / 2, ranks(y) - (len(y) + 1) / 2
    scale = math.sqrt(float(x_rank @ x_rank) * float(y_rank @ y_rank))
    return float(x_rank @ y_rank) / scale if scale > 0 else math.nan
