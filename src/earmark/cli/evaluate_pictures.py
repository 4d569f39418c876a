"""The pictures of `earmark evaluate --plot`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from earmark.metrics.curves.evaluation import ScoreEvaluation
    from earmark.metrics.uncertainty_report import AnyUncertainty


def draw(
    folder: Path,
    scores: Sequence[ScoreEvaluation],
    sure: Mapping[str, Mapping[str, AnyUncertainty]],
) -> list[Path]:
    """Draw what there is, and return the files.

    Args:
        folder: made if it is not there.
        scores: runs of the system as frame scores; each is a line in the curves.
        sure: their intervals, by kind.
    """
    from earmark.metrics.uncertainty_report import how_sure
    from earmark.report.canvas import save
    from earmark.report.curve_plots import class_intervals_figure, precision_recall_figure, psd_roc_figure

    pictures = {}
    for level in ("event", "segment", "clip") if scores else ():
        runs = [getattr(run, level) for run in scores]
        pictures[f"precision-recall-{level}"] = precision_recall_figure(
            curves={
                "scores" if len(runs) == 1 else f"run {number}": {
                    curve.label: (curve.recall, curve.precision) for curve in run.of_class
                }
                for number, run in enumerate(runs, start=1)
            },
            notes={} if len(runs) > 1 else {
                curve.label: f"F1 {curve.best.scores.f1:.2f}  AP {curve.average_precision:.2f}"
                for curve in runs[0].of_class
                if curve.n_reference > 0
            },
        )  # fmt: skip
    for run_number, run in enumerate(scores, start=1):
        for number, result in enumerate(run.psds, start=1):
            if result.of_class:
                of_run = "" if len(scores) == 1 else f"-run-{run_number}"
                pictures[f"psd-roc-{number}{of_run}"] = psd_roc_figure(
                    overall=(result.roc.rate, result.roc.hit_rate),
                    of_class={label: (roc.rate, roc.hit_rate) for label, roc in result.roc_of_class.items()},
                    max_rate=result.scenario.max_rate,
                    unit=result.scenario.unit_of_time,
                )
    for kind, results in sure.items():
        values, bounds = _by_class(results)
        note = how_sure(next(iter(results.values())))
        pictures[f"classes-{kind}"] = class_intervals_figure(values=values, intervals=bounds, note=note)
    if pictures:
        folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in pictures.items():
        paths.append(folder / f"{name}.png")
        save(figure, paths[-1])
    return paths


def _by_class(
    results: Mapping[str, AnyUncertainty],
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, tuple[float, float]]]]:
    """Name of a panel -> class -> value, and -> (low, high); the mean of all classes first."""
    from earmark.metrics.uncertainty import Uncertainty

    values: dict[str, dict[str, float]] = {}
    bounds: dict[str, dict[str, tuple[float, float]]] = {}
    for name, result in results.items():
        if isinstance(result, Uncertainty):
            key, title, overall = "f1", f"{name} F1", result.macro
        elif result.level == "psds":
            key, title, overall = "psds", name, result.overall
        else:
            key, title, overall = "best_f1", f"{name} best F1", result.overall
        rows = {"all classes": overall[key], **{label: row[key] for label, row in result.by_class.items()}}
        values[title] = {label: interval.value for label, interval in rows.items()}
        bounds[title] = {
            label: (interval.low, interval.high) for label, interval in rows.items() if not math.isnan(interval.low)
        }
    return values, bounds
