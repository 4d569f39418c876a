"""What the runs came to: every function's figures, how sure they are, and how they differ from linear softmax."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earmark.comparing.measuring import Measured
from earmark.comparing.plan import BASELINE
from earmark.comparing.sureness import Estimate, estimate, holm

# What the figures are called; the first that there is is the one that decides.
TITLES = {
    "event_f1": "event F1",
    "segment_f1": "segment F1",
    "psds_1": "PSDS 1",
    "psds_2": "PSDS 2",
    "clip_f1": "clip F1",
    "average_precision": "mAP",
    "auroc": "AUROC",
    "loss": "loss",
}
LOWER_IS_BETTER = ("loss",)
OF_EVENTS = ("event_f1", "segment_f1", "psds_1", "psds_2")  # on the test clips whose events are known


@dataclass(frozen=True)
class Figure:
    """One figure of one function.

    Args:
        mean: over the seeds.
        of_seeds: seed -> value; a run that failed has none.
        difference: from linear softmax, over the seeds that both have; None for linear itself.
        p_holm: its p-value, corrected for the number of functions; NaN for linear itself.
        by_class: class -> mean over the seeds.
        difference_by_class: class -> difference; not corrected for the number of classes.

    Example:
        >>> one = Estimate(0.5, 0.4, 0.6, 0.02, 3, 0.04, 0.01, 20.0)
        >>> Figure(one, {0: 0.5}, None, math.nan, {}, {}).mean.value
        0.5
    """

    mean: Estimate
    of_seeds: dict[int, float]
    difference: Estimate | None
    p_holm: float
    by_class: dict[str, Estimate]
    difference_by_class: dict[str, Estimate]


@dataclass(frozen=True)
class Outcome:
    """All figures of all functions.

    Args:
        classes: the names.
        seeds: of the runs.
        unit: what was resampled, ``"group"`` or ``"clip"``.
        n_units: how many of them the figure that decides is taken over: those of the test, or those with known events.
        n_effective: how many of equal size would scatter as much.
        figures: function -> name of the figure -> figure; functions of which every run failed have none.
        failures: function and seed -> why the run failed.

    Example:
        >>> Outcome(("dog",), (0, 1, 2), "group", 41, 38.0, {"linear": {}}, {}).names
        ()
    """

    classes: tuple[str, ...]
    seeds: tuple[int, ...]
    unit: str
    n_units: int
    n_effective: float
    figures: dict[str, dict[str, Figure]]
    failures: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The figures that there are, the one that decides first."""
        there = {name for of_row in self.figures.values() for name in of_row}
        return tuple(name for name in TITLES if name in there)

    @property
    def main(self) -> str:
        """The figure that decides."""
        return self.names[0]

    def ranked(self, figure: str | None = None) -> list[str]:
        """The functions, the best first."""
        name = self.main if figure is None else figure
        sign = 1 if name in LOWER_IS_BETTER else -1

        def worth(row: str) -> float:
            value = self.figures[row][name].mean.value
            return math.inf if math.isnan(value) else sign * value

        return sorted(self.figures, key=worth)


def outcome(
    measured: Mapping[tuple[str, int], Measured],
    *,
    rows: Sequence[str],
    seeds: Sequence[int],
    classes: Sequence[str],
    groups: Sequence[str],
    groups_with_events: Sequence[str] = (),
    unit: str,
    failures: Mapping[str, str],
) -> Outcome:
    """Put the figures of all runs together.

    Args:
        measured: function and seed -> figures of the run; runs that failed are missing.
        rows: the functions.
        seeds: of the runs.
        classes: the names.
        groups: of each test clip.
        groups_with_events: of each test clip whose events are known.
        unit: ``"group"`` or ``"clip"``.
        failures: why runs are missing.

    Example:
        >>> run = Measured({"loss": np.array([0.5, 0.5])}, {"loss": np.array([[0.4, 0.4], [0.6, 0.6]])})
        >>> found = outcome({("linear", 0): run, ("max", 0): run}, rows=["linear", "max"], seeds=[0], classes=["dog"],
        ...                 groups=["Ada", "Bob"], unit="group", failures={})
        >>> found.figures["max"]["loss"].difference.value, found.n_units
        (0.0, 2)
    """
    there = {False: _counted(groups), True: _counted(groups_with_events)}
    figures: dict[str, dict[str, Figure]] = {}
    for row in rows:
        runs = {seed: measured[row, seed] for seed in seeds if (row, seed) in measured}
        baseline = {seed: measured[BASELINE, seed] for seed in seeds if (BASELINE, seed) in measured}
        if runs:
            names = next(iter(runs.values())).values
            against = {} if row == BASELINE else baseline
            figures[row] = {name: _figure(name, runs, against, classes, there[name in OF_EVENTS][1]) for name in names}
    found = Outcome(tuple(classes), tuple(seeds), unit, *there[False], figures, dict(failures))
    if found.names and found.main in OF_EVENTS:
        found = replace(found, n_units=there[True][0], n_effective=there[True][1])
    for name in found.names:
        others = [row for row in figures if figures[row][name].difference is not None]
        differences = [figures[row][name].difference for row in others]
        corrected = holm([math.nan if one is None else one.p_value for one in differences])
        for row, p in zip(others, corrected, strict=True):
            figures[row][name] = replace(figures[row][name], p_holm=p)
    return found


def _counted(groups: Sequence[str]) -> tuple[int, float]:
    """How many groups there are, and how many of equal size would scatter as much."""
    sizes = np.unique(groups, return_counts=True)[1]
    return len(sizes), float(sizes.sum() ** 2 / max(1, (sizes**2).sum()))


def _figure(
    name: str,
    runs: Mapping[int, Measured],
    baseline: Mapping[int, Measured],
    classes: Sequence[str],
    n_groups: float,
) -> Figure:
    """One figure of one function."""
    shared = [seed for seed in runs if seed in baseline]

    def one(place: int) -> Estimate:
        return estimate(
            [float(run.values[name][place]) for run in runs.values()],
            np.stack([run.resampled[name][:, place] for run in runs.values()]),
            n_groups=n_groups,
            least=0.0,
            most=math.inf if name in LOWER_IS_BETTER else 1.0,
        )

    def minus(place: int) -> Estimate:
        return estimate(
            [float(runs[seed].values[name][place] - baseline[seed].values[name][place]) for seed in shared],
            np.stack([_resampled_difference(runs[seed], baseline[seed], name, place) for seed in shared]),
            n_groups=n_groups,
            of_difference=True,
        )

    places = range(1, 1 + len(classes))
    return Figure(
        mean=one(0),
        of_seeds={seed: float(run.values[name][0]) for seed, run in runs.items()},
        difference=minus(0) if shared else None,
        p_holm=math.nan,
        by_class=dict(zip(classes, map(one, places), strict=True)),
        difference_by_class=dict(zip(classes, map(minus, places), strict=True)) if shared else {},
    )


def _resampled_difference(run: Measured, baseline: Measured, name: str, place: int) -> NDArray[np.float64]:
    """One figure's difference in every resample, the same groups on both sides: (resamples,)."""
    difference: NDArray[np.float64] = run.resampled[name][:, place] - baseline.resampled[name][:, place]
    return difference


def as_json(found: Outcome) -> dict[str, Any]:
    """Return everything as plain dictionaries; what is no finite number is null.

    Example:
        >>> as_json(Outcome(("dog",), (0,), "clip", 9, 9.0, {}, {}))["n_units"]
        9
    """
    plain: dict[str, Any] = _plain(asdict(found))
    return plain


def _plain(value: Any) -> Any:
    """The value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
