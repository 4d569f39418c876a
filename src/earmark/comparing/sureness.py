r"""How sure a mean over seeds is, and a difference between two: other recordings, and other seeds.

Two things are a matter of chance: which groups of recordings stand in the test, and which seeds the runs were given.
The variance of a mean over S seeds is the sum of both,

.. math:: v = v_{\text{groups}} + s^2_{\text{seeds}} / S

with v_groups from resampling whole groups, all runs on the same ones, and s_seeds the deviation between seeds. G groups
drawn from G scatter by (G - 1) / G too little; v_groups is larger by that. A difference is that of runs of the same
seed, which begin with the same weights and see the same batches. Interval and p-value are those of Student's t, whose
degrees of freedom are Welch and Satterthwaite's:

.. math:: f = v^2 / (v_{\text{groups}}^2 / (G - 1) + (s^2_{\text{seeds}} / S)^2 / (S - 1))

Why not resample the seeds as well? Of two or three there is nothing to draw from. Where seeds scatter three times as
much as groups, a bootstrap over 3 of them finds "p < 0.05" in 11 of 100 comparisons of equals and this in 7 (2 seeds:
20 and 11), as benchmarks/compare.py measures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
_SAME = 1e-12  # errors smaller than this are none: sums in another order differ by less, figures by more


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds, or a difference of two, and how sure it is.

    Args:
        value: the mean over the seeds that have one; NaN when none has.
        low: lower end of the interval; NaN where nothing can be said.
        high: upper end.
        seed_deviation: standard deviation between seeds; NaN of a single one.
        n_seeds: how many there are.
        group_error: standard error from the choice of groups.
        seed_error: standard error from the choice of seeds: 0 of a single one, which says nothing about others.
        freedom: degrees of freedom.
        p_value: how often chance alone makes a difference as large; NaN for a mean.

    Example:
        >>> Estimate(0.5, 0.4, 0.6, 0.02, 3, 0.04, 0.01, 20.0).p_value
        nan
    """

    value: float
    low: float
    high: float
    seed_deviation: float
    n_seeds: int
    group_error: float
    seed_error: float
    freedom: float
    p_value: float = math.nan


def estimate(
    values: Sequence[float],
    resampled: NDArray[np.float64],
    *,
    n_groups: float,
    of_difference: bool = False,
    least: float = -math.inf,
    most: float = math.inf,
) -> Estimate:
    """Return a mean over seeds with its interval; of differences, the p-value that their mean is 0 belongs to it.

    Of a single group nothing is known but the mean.

    Args:
        values: of every seed, on all groups; NaN where a run has none.
        resampled: (seeds, resamples) the same in every resample of the groups.
        n_groups: how many groups there are, or how many of equal size would scatter as much.
        of_difference: whether 0 would mean that two are equal.
        least, most: the ends of the range of the figure, which no interval leaves.

    Example:
        >>> resampled = 0.5 + np.array([[-0.03, 0.0, 0.03], [-0.03, 0.0, 0.03]])     # a standard error of 0.03
        >>> found = estimate([0.49, 0.51], resampled, n_groups=10)                   # 0.03 * sqrt(10 / 9)
        >>> round(found.value, 3), round(found.group_error, 4), round(found.seed_error, 3), round(found.freedom, 1)
        (0.5, 0.0316, 0.01, 10.0)
    """
    known = np.isfinite(np.asarray(values, dtype=np.float64))
    of_seeds = np.asarray(values, dtype=np.float64)[known]
    n_seeds = len(of_seeds)
    if n_seeds == 0:
        return Estimate(math.nan, math.nan, math.nan, math.nan, 0, math.nan, math.nan, math.nan)
    value = float(of_seeds.mean())
    means = resampled[known].mean(axis=0)
    means = means[np.isfinite(means)]
    is_known = len(means) > 1 and n_groups > 1
    group_variance = float(means.var(ddof=1)) * n_groups / (n_groups - 1) if is_known else math.nan
    seed_deviation = float(of_seeds.std(ddof=1)) if n_seeds > 1 else math.nan
    seed_variance = seed_deviation**2 / n_seeds if n_seeds > 1 else 0.0
    variance = group_variance + seed_variance
    errors = (math.sqrt(group_variance), math.sqrt(seed_variance))
    if not variance > _SAME**2:
        # Nothing scatters: all the same, or nothing known. A difference of 0 everywhere is none.
        p_value = 1.0 if of_difference and is_known and abs(value) <= _SAME else math.nan
        low = high = value if is_known else math.nan
        return Estimate(value, low, high, seed_deviation, n_seeds, *errors, math.nan, p_value)
    parts = group_variance**2 / (n_groups - 1) + (seed_variance**2 / (n_seeds - 1) if n_seeds > 1 else 0.0)
    freedom = variance**2 / parts
    error = math.sqrt(variance)
    reach = t_quantile(0.5 + CONFIDENCE / 2, freedom) * error
    p_value = 2 * t_cdf(-abs(value) / error, freedom) if of_difference else math.nan
    low, high = max(least, value - reach), min(most, value + reach)
    return Estimate(value, low, high, seed_deviation, n_seeds, *errors, freedom, p_value)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for being many, by Holm's method: the chance that even one of them is wrong.

    The smallest is multiplied by their number, the next by one less, and so on; none may be below the one before.
    NaN stays NaN and does not count.

    Example:
        >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]     # 3 * 0.01, then 2 * 0.03, then no less than that
        [0.03, 0.06, 0.06]
    """
    corrected = [math.nan] * len(p_values)
    order = sorted((place for place, p in enumerate(p_values) if not math.isnan(p)), key=lambda place: p_values[place])
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[place]))
        corrected[place] = highest
    return corrected


def t_cdf(t: float, freedom: float) -> float:
    """Return the chance that Student's t with these degrees of freedom is below `t`.

    Example:
        >>> round(t_cdf(1.0, 1.0), 6)     # 1/2 + arctan(1) / pi
        0.75
    """
    tail = 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))
    return 1 - tail if t > 0 else tail


def t_quantile(share: float, freedom: float) -> float:
    """Return the value below which Student's t stays with this chance.

    Example:
        >>> round(t_quantile(0.975, 2.0), 3)
        4.303
    """
    if share < 0.5:
        return -t_quantile(1 - share, freedom)
    low, high = 0.0, 1.0
    while t_cdf(high, freedom) < share:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, freedom) < share else (low, middle)
    return (low + high) / 2


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz's way of evaluating it)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # there the fraction is slow; the other end is fast
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, 10_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + step * d)
            c = 1 + step / c
            result *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * result
