"""Is one system better than another, or were the recordings kind to it? Paired: both on the same clips."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from earmark.checks import choice
from earmark.metrics.bootstrap import (
    Groups,
    bounds_of,
    groups_of,
    p_value_of,
    run_weights,
    swap_pieces,
    weight_pieces,
)
from earmark.metrics.by_file import CountsByFile
from earmark.metrics.figures import MICRO, OF_ALL_CLASSES, Figures
from earmark.metrics.resampled import (
    Columns,
    check_same_task,
    checked_runs,
    figures_from,
    group_columns,
    mean_over_runs,
    observed,
    resampled,
)

TESTS = ("bootstrap", "randomisation")


@dataclass(frozen=True)
class Difference:
    """By how much a figure of the system is above that of the baseline.

    Args:
        value: system minus baseline; NaN where one of them is undefined.
        low: the lower end of its interval.
        high: the upper end.
        p_value: how often a difference as large, in either direction, comes about when there is none.
        n_undefined: resamples in which one of the two was undefined. They are left out of the interval.

    Example:
        >>> Difference(value=0.04, low=0.01, high=0.07, p_value=0.008).n_undefined
        0
    """

    value: float
    low: float
    high: float
    p_value: float
    n_undefined: int = 0


@dataclass(frozen=True)
class Comparison:
    """Every figure of one level: the system minus the baseline.

    Args:
        level: ``"event"``, ``"segment"`` or ``"clip"``.
        classes: the names.
        unit: what was resampled: ``"group"``, or ``"clip"`` when no groups were given, which takes clips that share a
            source for separate evidence and so finds differences where there are none.
        n_units: how many of them there are.
        n_runs: of the system, and of the baseline; figures are means over them.
        n_resamples: how often.
        confidence: the share of the resamples inside each interval.
        test: what the p-values are from: ``"bootstrap"`` or ``"randomisation"``.
        seed: of the generator.
        macro: figure (``"f1"``, ``"precision"``, ... see `figures_of`) -> difference of its means over classes.
        micro: figure -> difference of the figures of all classes together.
        by_class: class -> figure -> difference.
        n_effective: how many units of equal size would scatter as much, see `Groups`.

    Example:
        >>> f1 = {"f1": Difference(0.04, 0.01, 0.07, 0.008)}
        >>> Comparison("clip", ("dog",), "clip", 90, (1, 1), 1000, 0.95, "bootstrap", 0, f1, f1, {}).macro["f1"].p_value
        0.008
    """

    level: str
    classes: tuple[str, ...]
    unit: str
    n_units: int
    n_runs: tuple[int, int]
    n_resamples: int
    confidence: float
    test: str
    seed: int
    macro: dict[str, Difference]
    micro: dict[str, Difference]
    by_class: dict[str, dict[str, Difference]]
    n_effective: float = math.inf


def compare(
    system: CountsByFile | Sequence[CountsByFile],
    baseline: CountsByFile | Sequence[CountsByFile],
    *,
    groups: Mapping[str, str] | None = None,
    test: str = "bootstrap",
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Comparison:
    """Return the difference of every figure with its interval and a two-sided p-value.

    Intervals are from the bootstrap always: in each resample the same groups are drawn for both, which takes away what
    makes recordings easy or hard for both alike. Runs, where there are several, are drawn for each side apart.

    Which test is right:

    - ``"bootstrap"``: the resampled differences, moved so that their middle is 0, and how many of them are at least as
      large as the one observed. It asks whether new recordings (and new runs, if there are several) would show a
      difference; use it when runs with different seeds stand for a recipe. It relies on many groups, some 20 at least.
    - ``"randomisation"``: in every group, by the toss of a coin, the predictions of the two are exchanged. If the two
      differ in nothing, that changes nothing, and the p-value is exact however few groups there are (the smallest one
      possible is about 2 / 2^groups). It asks whether these very runs differ on these very recordings; use it for two
      models, above all with few groups. It says nothing about how other seeds would have done.

    p-values of many figures and classes are not corrected for being many: of 20 tests without any difference one is
    below 0.05.

    Args:
        system: the counts by file of one system, or of several runs of it.
        baseline: the same of what it is compared with, on the same files.
        groups: file name -> what it shares with others: recording, patient, site. None: clips are resampled.
        test: ``"bootstrap"`` or ``"randomisation"``.
        confidence: the share of the resamples inside the interval.
        n_resamples: how often; the smallest p-value possible is 1 / (1 + n_resamples).
        seed: the same seed draws the same groups.

    Raises:
        ValueError: systems that were not scored on the same files, classes and reference; a file without a group; fewer
            than two groups (or clips); a randomisation with more runs on one side.

    Example:
        >>> from earmark import metrics
        >>> from earmark.metrics.by_file import clip_counts_by_file
        >>> tags = {f"{number}.wav": {"dog"} for number in range(100)}
        >>> half = {name: found if int(name[0]) % 2 else set() for name, found in tags.items()}
        >>> system, baseline = (
        ...     clip_counts_by_file(*metrics.tag_tables(tags, found, classes=["dog"])[:2]) for found in (tags, half)
        ... )
        >>> recall = compare(system, baseline, groups={name: name[:1] for name in tags}).macro["recall"]
        >>> round(recall.value, 2), recall.low > 0, recall.p_value < 0.05
        (0.45, True, True)
    """
    choice("test", test, TESTS)
    sides = [checked_runs(system, "system"), checked_runs(baseline, "baseline")]
    like = sides[0][0]
    check_same_task(like, sides[1][0], "system", "baseline")
    drawn = groups_of(like.files, groups)
    columns = [group_columns(side, drawn) for side in sides]
    values = _minus(*(observed(side, like) for side in columns))
    differences = _minus(
        *(
            resampled(
                weight_pieces(drawn.n_groups, n_resamples, seed),
                run_weights(len(side), n_resamples, seed, of_baseline=side is columns[1]),
                side,
                like,
            )
            for side in columns
        )
    )
    if test == "bootstrap":
        at_null = _minus(differences, values)
    else:
        at_null = _swapped(columns[0], columns[1], drawn, like, n_resamples, seed)
    macro, micro, *of_classes = _rows(values, differences, at_null, confidence)
    return Comparison(
        level=like.level,
        classes=like.classes,
        unit=drawn.unit,
        n_units=drawn.n_groups,
        n_runs=(len(sides[0]), len(sides[1])),
        n_resamples=n_resamples,
        confidence=confidence,
        test=test,
        seed=seed,
        macro=macro,
        micro=micro,
        by_class=dict(zip(like.classes, of_classes, strict=True)),
        n_effective=drawn.n_effective,
    )


def _minus(one: Figures, other: Figures) -> Figures:
    """The difference of every figure."""
    return {name: one[name] - other[name] for name in one}


def _swapped(
    system: Columns, baseline: Columns, groups: Groups, like: CountsByFile, n_resamples: int, seed: int
) -> Figures:
    """The differences when the two are exchanged in half of the groups: by name (resamples, 2 + classes)."""
    if len(system) != len(baseline):
        raise ValueError(
            f"test='randomisation' exchanges every run of the system for one of the baseline, got {len(system)} and "
            f"{len(baseline)} runs - test='bootstrap' takes any number"
        )
    change, totals = baseline - system, (system.sum(axis=1), baseline.sum(axis=1))  # (runs, groups, ...), (runs, ...)
    parts = []
    for is_swapped in swap_pieces(groups.n_groups, n_resamples, seed):
        moved = is_swapped.astype(np.float64) @ change  # (runs, rows, columns)
        sums = (totals[0][:, np.newaxis] + moved, totals[1][:, np.newaxis] - moved)
        all_runs = np.ones((len(is_swapped), len(system)), dtype=np.int64)
        parts.append(_minus(*(mean_over_runs(figures_from(side, like), all_runs) for side in sums)))
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _rows(values: Figures, differences: Figures, at_null: Figures, confidence: float) -> list[dict[str, Difference]]:
    """Figure -> difference, of the macro mean, the micro mean, and every class."""
    rows: list[dict[str, Difference]] = [{} for _ in values["f1"]]
    for name, of_rows in values.items():
        low, high = bounds_of(differences[name], confidence=confidence)
        p_values = p_value_of(of_rows, at_null[name])
        n_undefined = np.isnan(differences[name]).sum(axis=0)
        arrays = (of_rows, low, high, p_values, n_undefined)
        for index, numbers in enumerate(zip(*(array.tolist() for array in arrays), strict=True)):
            if name not in OF_ALL_CLASSES or index == MICRO:
                rows[index][name] = Difference(*numbers)
    return rows
