r"""How sure a figure is: what it would have been with other recordings of the same kind.

Clips of one recording, patient or site resemble each other, so they do not count as separate evidence: groups are drawn
with replacement, as many as there are, and every clip counts as often as its group was drawn. Only where no groups are
given are clips drawn, and the result says so, because such an interval is too narrow when clips share a source.

Everything here works with any figure that can be computed when each clip has a whole number as its weight: 0 for a
clip that was not drawn, 2 for one that counts twice.

Example:
    >>> groups = groups_of(["1.wav", "2.wav", "3.wav"], {"1.wav": "Ada", "2.wav": "Ada", "3.wav": "Bob"})
    >>> n_errors = np.array([1, 2, 6])                                    # of the clips: 3 per clip
    >>> weights = resampled_weights(groups.n_groups, n_resamples=500)     # (500 resamples, 2 groups)
    >>> of_clips = weights[:, groups.index]                               # (500 resamples, 3 clips)
    >>> interval_of(3.0, of_clips @ n_errors / of_clips.sum(axis=1))      # between Ada alone and Bob alone
    Interval(value=3.0, low=1.5, high=6.0, n_undefined=0)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.checks import number
from earmark.metrics.event_table import one_form

N_IN_PIECE = 1 << 21  # numbers in one piece of the weights: 16 MB of 64-bit ones
SAME = 1e-12  # differences closer than this are equal: sums in another order differ by less, figures by more
GROUPS, SWAPS, RUNS, RUNS_OF_BASELINE = range(4)  # what is drawn, each from a sequence of its own


@dataclass(frozen=True, eq=False)
class Groups:
    """What belongs together, and so is drawn together.

    Args:
        unit: ``"group"``, or ``"clip"`` when no groups were given and every clip is one of its own.
        names: of the groups.
        index: (files,) position in `names` of every file's group.

    Example:
        >>> groups = Groups("group", ("patient 1", "patient 2"), np.array([0, 1, 1, 1]))
        >>> groups.n_groups, groups.n_effective     # 16 / (1 + 9)
        (2, 1.6)
    """

    unit: str
    names: tuple[str, ...]
    index: NDArray[np.int64]

    @property
    def n_groups(self) -> int:
        """How many there are."""
        return len(self.names)

    @property
    def n_effective(self) -> float:
        """As many groups of equal size would scatter as much: fewer than there are, when a few hold most files."""
        sizes = np.bincount(self.index, minlength=self.n_groups)
        return float(sizes.sum() ** 2 / (sizes**2).sum())

    def added(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add up what belongs together: (files, ...) -> (groups, ...).

        Example:
            >>> Groups("group", ("patient 1", "patient 2"), np.array([1, 0, 1])).added(np.array([[5], [6], [7]]))
            array([[ 6],
                   [12]])
        """
        order = np.argsort(self.index, kind="stable")
        first = np.searchsorted(self.index[order], np.arange(self.n_groups))
        return np.add.reduceat(values[order], first, axis=0)


@dataclass(frozen=True)
class Interval:
    """A figure, and where it lies in most resamples.

    Args:
        value: the figure itself; NaN where it is undefined.
        low: the lower end of the interval.
        high: the upper end.
        n_undefined: resamples in which there was nothing to divide by, for instance because no group with the class was
            drawn. They are left out of the interval.

    Example:
        >>> Interval(value=0.62, low=0.55, high=0.68)
        Interval(value=0.62, low=0.55, high=0.68, n_undefined=0)
    """

    value: float
    low: float
    high: float
    n_undefined: int = 0


def groups_of(files: Sequence[str], group_of: Mapping[str, str] | None = None) -> Groups:
    """Return which files belong together.

    Args:
        files: names, none twice.
        group_of: file name -> its group (recording, patient, site); it may have more files than these. None: every file
            is a group of its own, and the unit is ``"clip"``.

    Raises:
        ValueError: a file without a group or in two, a group that is no name, or fewer than two groups.

    Example:
        >>> groups = groups_of(["a.wav", "b.wav", "c.wav"], {"a.wav": "Ada", "b.wav": "Bob", "c.wav": "Ada"})
        >>> groups.unit, groups.names, groups.index
        ('group', ('Ada', 'Bob'), array([0, 1, 0]))
    """
    unit = "clip" if group_of is None else "group"
    if group_of is None:
        names, index = tuple(files), np.arange(len(files))
    else:
        known = _in_one_form(group_of)
        missing = [name for name in files if one_form(name) not in known]
        if missing:
            raise ValueError(
                f"groups must have every file that was scored, {len(missing)} of {len(files)} are missing (first: "
                f"{missing[0]!r}) - a file on its own needs a group of its own"
            )
        of_files = [known[one_form(name)] for name in files]
        names = tuple(sorted(set(of_files)))
        position = {name: number for number, name in enumerate(names)}
        index = np.array([position[name] for name in of_files], dtype=np.int64)
    if len(names) < 2:
        few = f"only {names[0]!r}" if names else "none"
        hint = " - another column as group?" if group_of is not None else ""
        raise ValueError(f"intervals need at least 2 {unit}s, got {few}{hint}")
    return Groups(unit, names, index)


def resampled_weights(n_groups: int, n_resamples: int = 1000, seed: int = 0) -> NDArray[np.int64]:
    """Return how often each group is drawn when as many as there are are drawn with replacement.

    The same arguments give the same weights, so that figures computed apart belong to the same resamples.

    Returns:
        (resamples, groups); every row adds up to the number of groups.

    Raises:
        ValueError: fewer than one group or resample, or a seed that is not a whole number from 0.

    Example:
        >>> weights = resampled_weights(4, n_resamples=1000, seed=3)
        >>> weights.shape, np.unique(weights.sum(axis=1))
        ((1000, 4), array([4]))
    """
    return np.concatenate(list(weight_pieces(n_groups, n_resamples, seed)))


def weight_pieces(n_groups: int, n_resamples: int = 1000, seed: int = 0) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of `resampled_weights` a few at a time, so that 100,000 groups need no gigabyte.

    Example:
        >>> [piece.shape for piece in weight_pieces(1_000_000, n_resamples=5)]
        [(2, 1000000), (2, 1000000), (1, 1000000)]
    """
    yield from _drawn(GROUPS, n_groups, n_groups, n_resamples, seed)


def run_weights(n_runs: int, n_resamples: int = 1000, seed: int = 0, *, of_baseline: bool = False) -> NDArray[np.int64]:
    """Return how often each run of a system (one per training seed) is drawn: (resamples, runs).

    Drawn apart from the groups: every resample is other recordings and other runs, each run with the same recordings.
    What a system is compared with has draws of its own, because its first run has nothing in common with the other's.

    One run fewer than there are is drawn. Then the mean of the drawn ones scatters, on average, just as the mean of
    that many new runs does; drawing all of 3 would make it scatter by a factor of sqrt(2 / 3) too little.

    Example:
        >>> np.unique(run_weights(3, n_resamples=1000).sum(axis=1)), np.unique(run_weights(1, n_resamples=1000))
        (array([2]), array([1]))
    """
    what = RUNS_OF_BASELINE if of_baseline else RUNS
    return np.concatenate(list(_drawn(what, n_runs, max(1, n_runs - 1), n_resamples, seed)))


def swap_pieces(n_groups: int, n_resamples: int = 1000, seed: int = 0) -> Iterator[NDArray[np.int64]]:
    """Yield, a few rows at a time, in which groups two systems are exchanged: (rows, groups), 0 or 1.

    Example:
        >>> swaps = next(swap_pieces(6, n_resamples=1000))
        >>> swaps.shape, np.unique(swaps)
        ((1000, 6), array([0, 1]))
    """
    rng, sizes = _start(SWAPS, n_groups, n_resamples, seed)
    for n_rows in sizes:
        yield rng.integers(0, 2, (n_rows, n_groups))


def bounds_of(
    resampled: NDArray[np.float64], *, confidence: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return between which values the middle `confidence` of the resampled figures lies (the percentile interval).

    What is NaN is left out; where nothing else is, the bounds are NaN.

    Args:
        resampled: (resamples, ...).
        confidence: the share of the resamples inside, between 0 and 1.

    Returns:
        the lower and the upper bounds, both (...).

    Raises:
        ValueError: no resample, or a confidence outside 0 to 1.

    Example:
        >>> low, high = bounds_of(np.linspace(0.0, 100.0, 101), confidence=0.5)
        >>> float(low), float(high)
        (25.0, 75.0)
    """
    number("confidence", confidence, above=0, at_most=1, hint="a share, for instance 0.95")
    if len(resampled) == 0:
        raise ValueError("resampled must have at least one resample, got none")
    in_order = np.sort(resampled, axis=0)  # NaN last
    last = np.maximum(0, np.count_nonzero(~np.isnan(resampled), axis=0) - 1)
    bounds = []
    for share in ((1 - confidence) / 2, (1 + confidence) / 2):
        place = last * share
        below = np.floor(place).astype(np.int64)
        ends = [
            np.take_along_axis(in_order, row[np.newaxis], axis=0)[0] for row in (below, np.minimum(below + 1, last))
        ]
        bounds.append(ends[0] + (place - below) * (ends[1] - ends[0]))
    return bounds[0], bounds[1]


def interval_of(value: float, resampled: NDArray[np.float64], *, confidence: float = 0.95) -> Interval:
    """Return a figure with its interval, from the same figure of every resample: (resamples,).

    Example:
        >>> interval_of(50.0, np.append(np.linspace(0.0, 100.0, 101), np.nan), confidence=0.5)
        Interval(value=50.0, low=25.0, high=75.0, n_undefined=1)
    """
    low, high = bounds_of(resampled, confidence=confidence)
    return Interval(float(value), float(low), float(high), int(np.isnan(resampled).sum()))


def p_value_of(difference: NDArray[np.float64], at_null: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return how often a difference as large as this one, in either direction, comes about by chance.

    .. math:: p = \frac{1 + \#\{b : |d_b| \ge |d|\}}{1 + B}

    The observed difference counts as one of the draws, so that p is never 0. Draws that are NaN do not count.

    Args:
        difference: the one observed: (...).
        at_null: (resamples, ...) differences as they are when there is none: of a randomisation as they come, of a
            bootstrap centred at 0, which is ``resampled - difference``.

    Returns:
        (...), from 1 / (1 + resamples) to 1; NaN where the difference is.

    Example:
        >>> resampled = np.random.default_rng(0).normal(loc=0.1, scale=0.05, size=999)
        >>> print(f"{p_value_of(np.array(0.1), resampled - 0.1):.2f}")     # two standard errors from 0
        0.04
    """
    n_known = np.count_nonzero(~np.isnan(at_null), axis=0)
    n_as_large = np.count_nonzero(np.abs(at_null) >= np.abs(difference) - SAME, axis=0)  # NaN is not
    return np.where(np.isnan(difference), np.nan, (1 + n_as_large) / (1 + n_known))


def _in_one_form(group_of: Mapping[str, str]) -> dict[str, str]:
    """The groups by the name of the file in one unicode form."""
    known: dict[str, str] = {}
    for name, group in group_of.items():
        if not isinstance(group, str) or not group:
            raise ValueError(f"groups must be names, got {group!r} for {name!r}")
        if known.setdefault(one_form(name), group) != group:
            raise ValueError(
                f"groups must have every file once, got {name!r} in {known[one_form(name)]!r} and in {group!r} - the "
                "same name in two unicode forms"
            )
    return known


def _drawn(what: int, n: int, n_drawn: int, n_resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """How often each of n is drawn, a few resamples at a time: (rows, n)."""
    rng, sizes = _start(what, n, n_resamples, seed)
    for n_rows in sizes:
        drawn = rng.integers(0, n, (n_rows, n_drawn)) + n * np.arange(n_rows)[:, np.newaxis]
        yield np.bincount(drawn.ravel(), minlength=n_rows * n).reshape(n_rows, n)


def _start(what: int, n: int, n_resamples: int, seed: int) -> tuple[np.random.Generator, list[int]]:
    """A generator of its own for what is drawn, and into how many rows at a time the resamples are cut."""
    number("n_runs" if what in (RUNS, RUNS_OF_BASELINE) else "n_groups", n, at_least=1, whole=True)
    number("n_resamples", n_resamples, at_least=1, whole=True)
    number("seed", seed, at_least=0, whole=True)
    rows = max(1, N_IN_PIECE // n)
    sizes = [min(rows, n_resamples - start) for start in range(0, n_resamples, rows)]
    return np.random.default_rng([what, seed]), sizes
