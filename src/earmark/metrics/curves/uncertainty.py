"""How sure curves and PSDS are, and whether one system's are better than another's on the same clips."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.metrics.bootstrap import (
    Groups,
    Interval,
    bounds_of,
    groups_of,
    p_value_of,
    run_weights,
    weight_pieces,
)
from earmark.metrics.comparison import Difference
from earmark.metrics.curves.curve import Curves
from earmark.metrics.curves.psds import SCENARIO_1, Scenario
from earmark.metrics.curves.scored_clips import ScoredClips
from earmark.metrics.curves.weighted import Figures, Weighable, WeighableCurves, WeighablePsds
from earmark.metrics.resampled import mean_over_runs


@dataclass(frozen=True)
class CurveUncertainty:
    """Every figure of curves, or of PSDS, with its interval.

    Args:
        level: ``"event"``, ``"segment"``, ``"clip"``, ``"intersection"`` or ``"psds"``.
        classes: the names.
        unit: what was resampled: ``"group"``, or ``"clip"`` when no groups were given. Clips of one recording, patient
            or site resemble each other, and then an interval over clips is too narrow.
        n_units: how many of them there are.
        n_runs: over how many runs the figures are means.
        n_resamples: how often.
        confidence: the share of the resamples inside each interval.
        overall: figure (``"best_f1"``, ``"average_precision"``, ``"auroc"``; ``"psds"``) -> interval of all classes.
        by_class: class -> figure -> interval.
        n_effective: how many units of equal size would scatter as much, see `Groups`.
    """

    level: str
    classes: tuple[str, ...]
    unit: str
    n_units: int
    n_runs: int
    n_resamples: int
    confidence: float
    overall: dict[str, Interval]
    by_class: dict[str, dict[str, Interval]]
    n_effective: float = math.inf


@dataclass(frozen=True)
class CurveComparison:
    """Every figure of curves, or of PSDS: the system minus the baseline.

    Args:
        level, classes, unit, n_units, n_resamples, confidence: as in `CurveUncertainty`.
        n_runs: of the system, and of the baseline.
        overall: figure -> difference of all classes.
        by_class: class -> figure -> difference.
        n_effective: how many units of equal size would scatter as much, see `Groups`.
    """

    level: str
    classes: tuple[str, ...]
    unit: str
    n_units: int
    n_runs: tuple[int, int]
    n_resamples: int
    confidence: float
    overall: dict[str, Difference]
    by_class: dict[str, dict[str, Difference]]
    n_effective: float = math.inf


def curve_uncertainty(
    runs: Curves | ScoredClips | Sequence[Curves] | Sequence[ScoredClips],
    *,
    scenario: Scenario = SCENARIO_1,
    groups: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
    use_numba: bool | None = None,
) -> CurveUncertainty:
    """Return best F1, average precision and AUROC of curves, or the PSDS of scored clips, with their intervals.

    In each resample as many groups as there are are drawn with replacement; everything is computed anew from the clips
    drawn, each class's best threshold too, so the best F1 is as hopeful in every resample as it is in the data. A class
    that a resample lacks is left out of it.

    Args:
        runs: the curves of one system, or of several runs of it on the same clips; or, for PSDS, its scored clips.
        scenario: of the PSDS.
        groups: file name -> what it shares with others: recording, patient, site. None: clips are resampled.
        confidence: the share of the resamples inside the interval.
        n_resamples: how often.
        seed: the same seed draws the same groups, also for lists.
        use_numba: see `collar_curves`.

    Raises:
        ValueError: a file without a group, fewer than two groups (or clips), or runs on different clips.

    Example:
        >>> from earmark.metrics.curves.items import clip_curves
        >>> scores = {f"{number}.wav": [number / 40] for number in range(40)}
        >>> tags = {name: {"dog"} if int(name[:-4]) % 3 else set() for name in scores}
        >>> curves = clip_curves(scores, tags, classes=("dog",))
        >>> result = curve_uncertainty(curves, groups={name: name[0] for name in scores}, n_resamples=200)
        >>> interval = result.overall["auroc"]
        >>> result.unit, result.n_units, interval.low < interval.value < interval.high
        ('group', 10, True)
    """
    systems = _systems(runs, scenario, use_numba, "runs")
    drawn = groups_of(systems[0].files, groups)
    values = _observed(systems)
    figures = _resampled(systems, drawn, n_resamples, seed, of_baseline=False)
    rows = []
    for row in range(1 + len(systems[0].classes)):
        intervals = {}
        for name, of_rows in figures.items():
            low, high = bounds_of(of_rows[:, row], confidence=confidence)
            n_undefined = int(np.isnan(of_rows[:, row]).sum())
            intervals[name] = Interval(float(values[name][row]), float(low), float(high), n_undefined)
        rows.append(intervals)
    return CurveUncertainty(
        level=systems[0].level,
        classes=systems[0].classes,
        unit=drawn.unit,
        n_units=drawn.n_groups,
        n_runs=len(systems),
        n_resamples=n_resamples,
        confidence=confidence,
        overall=rows[0],
        by_class=dict(zip(systems[0].classes, rows[1:], strict=True)),
        n_effective=drawn.n_effective,
    )


def compare_curves(
    system: Curves | ScoredClips | Sequence[Curves] | Sequence[ScoredClips],
    baseline: Curves | ScoredClips | Sequence[Curves] | Sequence[ScoredClips],
    *,
    scenario: Scenario = SCENARIO_1,
    groups: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
    use_numba: bool | None = None,
) -> CurveComparison:
    """Return by how much the figures of a system are above those of a baseline, with interval and p-value.

    In each resample the same groups are drawn for both. The p-value is that of the bootstrap, see
    `earmark.metrics.comparison.compare`. (Exchanging scores between two systems would need scores that mean the same.)

    Args:
        system: the curves (or, for PSDS, the scored clips) of one system, or of several runs of it.
        baseline: the same of what it is compared with, on the same clips.
        scenario, groups, confidence, n_resamples, seed, use_numba: as in `curve_uncertainty`.

    Raises:
        ValueError: systems measured on different clips or references; otherwise as `curve_uncertainty`.

    Example:
        >>> from earmark.metrics.curves.items import clip_curves
        >>> tags = {f"{number}.wav": {"dog"} if number % 3 else set() for number in range(60)}
        >>> good = clip_curves({name: [len(found)] for name, found in tags.items()}, tags, classes=("dog",))
        >>> bad = clip_curves({name: [int(name[0])] for name in tags}, tags, classes=("dog",))
        >>> difference = compare_curves(good, bad, n_resamples=200).overall["auroc"]
        >>> difference.value > 0, difference.low > 0, difference.p_value < 0.05
        (True, True, True)
    """
    sides = [_systems(system, scenario, use_numba, "system"), _systems(baseline, scenario, use_numba, "baseline")]
    _check_same_task(sides[0][0], sides[1][0], "system", "baseline")
    drawn = groups_of(sides[0][0].files, groups)
    values = [_observed(side) for side in sides]
    figures = [_resampled(side, drawn, n_resamples, seed, of_baseline=number == 1) for number, side in enumerate(sides)]
    rows: list[dict[str, Difference]] = [{} for _ in range(1 + len(sides[0][0].classes))]
    for name in figures[0]:
        value, resampled = values[0][name] - values[1][name], figures[0][name] - figures[1][name]
        low, high = bounds_of(resampled, confidence=confidence)
        columns = (value, low, high, p_value_of(value, resampled - value), np.isnan(resampled).sum(axis=0))
        for row, numbers in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            rows[row][name] = Difference(*numbers)
    return CurveComparison(
        level=sides[0][0].level,
        classes=sides[0][0].classes,
        unit=drawn.unit,
        n_units=drawn.n_groups,
        n_runs=(len(sides[0]), len(sides[1])),
        n_resamples=n_resamples,
        confidence=confidence,
        overall=rows[0],
        by_class=dict(zip(sides[0][0].classes, rows[1:], strict=True)),
        n_effective=drawn.n_effective,
    )


def _systems(
    runs: Curves | ScoredClips | Sequence[Curves] | Sequence[ScoredClips],
    scenario: Scenario,
    use_numba: bool | None,
    name: str,
) -> list[Weighable]:
    """The runs as something that can be weighed, if they are about the same thing."""
    listed: list[Curves | ScoredClips] = [runs] if isinstance(runs, Curves | ScoredClips) else [*runs]
    if not listed:
        raise ValueError(f"{name} must have at least one run, got none")
    systems: list[Weighable] = [
        WeighableCurves(run) if isinstance(run, Curves) else WeighablePsds(run, scenario, use_numba) for run in listed
    ]
    for number, system in enumerate(systems[1:], start=2):
        _check_same_task(systems[0], system, f"the first of the {name}", f"number {number} of the {name}")
    return systems


def _check_same_task(one: Weighable, other: Weighable, name: str, other_name: str) -> None:
    """Raise ValueError unless both were measured on the same clips, against the same reference, in the same way."""
    if one.level != other.level:
        raise ValueError(f"{name} and {other_name} must have the same level, got {one.level!r} and {other.level!r}")
    for what in ("files", "classes"):
        sides = {name: getattr(one, what), other_name: getattr(other, what)}
        if sides[name] != sides[other_name]:
            raise ValueError(
                f"{name} and {other_name} must have the same {what} in the same order; {_what_differs(sides)}"
                " - measure both against the same reference, with scores of the same classes"
            )
    if not np.array_equal(one.task, other.task):
        differs = (one.task != other.task).any(axis=1)
        raise ValueError(
            f"{name} and {other_name} must be measured against the same reference, but it differs in"
            f" {int(differs.sum())} clips (first: {one.files[int(np.argmax(differs))]!r})"
        )


def _what_differs(sides: Mapping[str, tuple[str, ...]]) -> str:
    """Which names one of two sides alone has."""
    (one, names), (other, other_names) = sides.items()
    alone = {one: sorted({*names} - {*other_names}), other: sorted({*other_names} - {*names})}
    parts = [f"{len(found)} are in {side} alone (first: {found[0]!r})" for side, found in alone.items() if found]
    return " and ".join(parts) if parts else "they are in another order"


def _observed(systems: Sequence[Weighable]) -> dict[str, NDArray[np.float64]]:
    """The figures themselves, the mean over runs: by name (1 + classes,)."""
    all_once = np.ones((1, len(systems[0].files)), dtype=np.int64)
    of_runs = _stacked([system.under(all_once) for system in systems])
    return {name: rows[0] for name, rows in mean_over_runs(of_runs, np.ones((1, len(systems)), np.int64)).items()}


def _resampled(
    systems: Sequence[Weighable], groups: Groups, n_resamples: int, seed: int, *, of_baseline: bool
) -> Figures:
    """The figures of every resample, the mean over the runs drawn: by name (resamples, 1 + classes)."""
    of_runs, parts, start = run_weights(len(systems), n_resamples, seed, of_baseline=of_baseline), [], 0
    for piece in weight_pieces(groups.n_groups, n_resamples, seed):
        of_clips = piece[:, groups.index]  # (rows, files)
        figures = _stacked([system.under(of_clips) for system in systems])
        parts.append(mean_over_runs(figures, of_runs[start : start + len(piece)]))
        start += len(piece)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _stacked(figures: Sequence[Figures]) -> Figures:
    """By name (resamples, rows) of several runs -> by name (runs, resamples, rows)."""
    return {name: np.stack([of_run[name] for of_run in figures]) for name in figures[0]}
