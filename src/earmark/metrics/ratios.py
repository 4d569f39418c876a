"""Division and means as figures of merit need them: what to do where there is nothing to divide by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64] | NDArray[np.float64]
TOOL_EPSILON = float(np.spacing(1))  # 2.2e-16, which sed_eval adds to the denominators of its rates and accuracies


def ratio(part: Numbers, whole: Numbers, *, empty: float) -> NDArray[np.float64]:
    """Return part / whole, and `empty` where whole is 0.

    Example:
        >>> ratio(np.array([3, 0]), np.array([4, 0]), empty=np.nan)
        array([0.75,  nan])
    """
    return np.divide(part, whole, out=np.full(np.shape(part), empty), where=whole > 0)


def tool_ratio(part: Numbers, whole: Numbers) -> NDArray[np.float64]:
    """Return part / (whole + 2.2e-16), as sed_eval divides.

    Where whole is 1 the last digit differs, and where it is 0 the result is 0 or astronomical.

    Example:
        >>> tool_ratio(np.array([3, 1, 0, 2]), np.array([4, 1, 0, 0])).tolist()
        [0.75, 0.9999999999999998, 0.0, 9007199254740992.0]
    """
    return part / (whole + TOOL_EPSILON)


def harmonic_mean(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 2PR / (P + R): NaN where one of them is, 0 where both are 0.

    Example:
        >>> harmonic_mean(np.array([0.5, 0.0, np.nan]), np.array([1.0, 0.0, 1.0]))
        array([0.66666667, 0.        ,        nan])
    """
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.where(np.isnan(total), np.nan, 0.0), where=total > 0)


def mean_of_known(figures: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the last axis of what is not NaN, NaN when nothing is known: (..., n) -> (...,).

    Example:
        >>> mean_of_known(np.array([[0.5, np.nan, 1.0], [np.nan, np.nan, np.nan]]))
        array([0.75,  nan])
    """
    is_known = ~np.isnan(figures)
    # Summed with zeros in the gaps, as np.nanmean does: another order of additions would differ in the last digit.
    return ratio(np.where(is_known, figures, 0.0).sum(axis=-1), is_known.sum(axis=-1), empty=np.nan)
