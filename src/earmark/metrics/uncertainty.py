"""Intervals of all figures of event lists and tags: other recordings, and other runs of the same training."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from earmark.metrics.bootstrap import Interval, bounds_of, groups_of, run_weights, weight_pieces
from earmark.metrics.by_file import CountsByFile
from earmark.metrics.figures import MICRO, OF_ALL_CLASSES, Figures
from earmark.metrics.resampled import checked_runs, group_columns, observed, resampled


@dataclass(frozen=True)
class Uncertainty:
    """Every figure of one level with its interval.

    Args:
        level: ``"event"``, ``"segment"`` or ``"clip"``.
        classes: the names.
        unit: what was resampled: ``"group"``, or ``"clip"`` when no groups were given. Clips of one recording, patient
            or site resemble each other, and then an interval over clips is too narrow.
        n_units: how many of them there are.
        n_runs: over how many runs the figures are means; with more than one, runs were resampled as well.
        n_resamples: how often.
        confidence: the share of the resamples inside each interval.
        seed: of the generator.
        macro: figure (``"f1"``, ``"precision"``, ... see `figures_of`) -> interval of its mean over classes.
        micro: figure -> interval of the figure of all classes together.
        by_class: class -> figure -> interval.
        n_effective: how many units of equal size would scatter as much, see `Groups`.

    Example:
        >>> interval = Interval(0.5, 0.4, 0.6)
        >>> result = Uncertainty("clip", ("dog",), "clip", 90, 1, 1000, 0.95, 0, {"f1": interval}, {"f1": interval}, {})
        >>> result.macro["f1"].low
        0.4
    """

    level: str
    classes: tuple[str, ...]
    unit: str
    n_units: int
    n_runs: int
    n_resamples: int
    confidence: float
    seed: int
    macro: dict[str, Interval]
    micro: dict[str, Interval]
    by_class: dict[str, dict[str, Interval]]
    n_effective: float = math.inf


def uncertainty(
    runs: CountsByFile | Sequence[CountsByFile],
    *,
    groups: Mapping[str, str] | None = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Uncertainty:
    """Return every figure with the interval in which it lies in most resamples (percentile bootstrap).

    In each resample as many groups as there are are drawn with replacement, their counts are added up, and the figures
    are computed from the sums as `Counts` does. Of several runs the figure is the mean; then runs are drawn as well,
    all of them with the same groups, see `run_weights`. Two or three runs know little of how far runs scatter.

    With few groups any bootstrap is too narrow: 10 groups give an interval of 95 % that holds the truth in about 90 %.

    Args:
        runs: the counts by file of one system, or of several runs of it on the same files.
        groups: file name -> what it shares with others: recording, patient, site. None: clips are resampled.
        confidence: the share of the resamples inside the interval.
        n_resamples: how often.
        seed: the same seed draws the same groups, also at other levels with the same files.

    Raises:
        ValueError: a file without a group, fewer than two groups (or clips), or runs on different files.

    Example:
        >>> from earmark import Event, metrics
        >>> from earmark.metrics.by_file import event_counts_by_file
        >>> reference = {f"{number}.wav": [Event(0.0, 1.0, "dog")] for number in range(40)}
        >>> predicted = {name: events[: int(name[0]) % 2] for name, events in reference.items()}
        >>> tables = metrics.event_tables(reference, predicted)
        >>> result = uncertainty(event_counts_by_file(*tables[:2]), groups={name: name[0] for name in reference})
        >>> result.unit, result.n_units, result.n_runs
        ('group', 10, 1)
        >>> recall = result.macro["recall"]
        >>> recall.value, recall.low < 0.45, recall.high > 0.75
        (0.625, True, True)
    """
    listed = checked_runs(runs)
    drawn = groups_of(listed[0].files, groups)
    columns = group_columns(listed, drawn)
    weights = weight_pieces(drawn.n_groups, n_resamples, seed)
    figures = resampled(weights, run_weights(len(listed), n_resamples, seed), columns, listed[0])
    macro, micro, *of_classes = _rows(observed(columns, listed[0]), figures, confidence)
    return Uncertainty(
        level=listed[0].level,
        classes=listed[0].classes,
        unit=drawn.unit,
        n_units=drawn.n_groups,
        n_runs=len(listed),
        n_resamples=n_resamples,
        confidence=confidence,
        seed=seed,
        macro=macro,
        micro=micro,
        by_class=dict(zip(listed[0].classes, of_classes, strict=True)),
        n_effective=drawn.n_effective,
    )


def _rows(values: Figures, figures: Figures, confidence: float) -> list[dict[str, Interval]]:
    """Figure -> interval, of the macro mean, the micro mean, and every class."""
    rows: list[dict[str, Interval]] = [{} for _ in values["f1"]]
    for name, of_rows in values.items():
        low, high = bounds_of(figures[name], confidence=confidence)
        n_undefined = np.isnan(figures[name]).sum(axis=0)
        columns = (of_rows.tolist(), low.tolist(), high.tolist(), n_undefined.tolist())
        for index, numbers in enumerate(zip(*columns, strict=True)):
            if name not in OF_ALL_CLASSES or index == MICRO:
                rows[index][name] = Interval(*numbers)
    return rows
