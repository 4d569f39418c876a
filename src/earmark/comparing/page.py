"""The report of a comparison: one HTML page, and every picture in it as a PNG beside it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import earmark
from earmark.comparing.advice import Advice, over
from earmark.comparing.measuring import N_RESAMPLES
from earmark.comparing.parts import NAMES
from earmark.comparing.plan import BASELINE
from earmark.comparing.results import LOWER_IS_BETTER, TITLES, Outcome
from earmark.comparing.steps import Compared
from earmark.comparing.tables import HEADER, main_rows, overview_rows
from earmark.files import write_atomic
from earmark.report import comparison_plots, plots
from earmark.report.page import Section, write_page
from earmark.report.page_blocks import Block, Cell, Commands, KeyFigures, Picture, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_CLASSES = 60  # a picture with more rows would be no picture
_COLUMNS = [column for column, name in enumerate(HEADER) if name != "p"]  # as many as fit; comparison.tsv has all


def write_report(compared: Compared, said: Advice) -> Path:
    """Write ``report.html`` and ``figures/*.png`` into the comparison's folder and return the page's path."""
    out = compared.asked.out
    picture = _Pictures(out / "figures")
    sections = [_failed(compared)] if compared.outcome.failures else []
    if compared.outcome.names:
        sections += [
            _result(compared, said, picture),
            _all_figures(compared, picture),
            _by_class(compared, picture),
            *_learned(compared, picture),
            _learning(compared, picture),
        ]
    sections += [_data(compared), _how(compared)]
    path = out / "report.html"
    write_page(
        path,
        title="Which pooling for these data?",
        lead=said.sentence,
        sections=sections,
        footer=f"earmark {earmark.__version__}; made by: earmark compare",
    )
    return path


class _Pictures:
    """Writes each figure as a PNG and returns it as a part of the page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, name: str, figure: Figure, *, alt: str, caption: str = "") -> Picture:
        png = plots.png_bytes(figure)
        write_atomic(self.folder / f"{name}.png", png)
        return Picture(png, alt, caption)


def _result(compared: Compared, said: Advice, picture: _Pictures) -> Section:
    """The figure that decides."""
    found = compared.outcome
    title = TITLES[found.main]
    rows: list[list[Cell]] = [[row[column] for column in _COLUMNS] for row in main_rows(found, found.main)]
    keys = {}
    others = [row for row in found.ranked() if row != BASELINE]
    for row in (said.row if said.row not in (None, BASELINE) else next(iter(others), BASELINE), BASELINE):
        if row in found.figures:
            keys[f"{title}, {row}"] = f"{found.figures[row][found.main].mean.value:.2f}"
    text = (f"{' '.join(said.cautions)}\n\n" if said.cautions else "") + (
        f"{title} on clips that no run learned from and by which neither epoch nor threshold was chosen, over"
        f" {over(found)}. Intervals (95 %) say how far the mean may be from that of other {found.unit}s and other"
        f" seeds; sd is the deviation between seeds. The difference from {BASELINE} softmax is taken between runs of"
        f" the same seed on the same resamples. “p corrected” is Holm's correction for"
        f" {max(1, len(found.figures) - 1)} functions: without it, one of twenty equals is below 0.05 by chance."
    )
    table = Table(f"{title}, the best first", [HEADER[column] for column in _COLUMNS], rows)
    blocks: list[Block] = [KeyFigures(keys), table]
    figure = differences_figure(found)
    if figure is not None:
        blocks.append(
            picture(
                "differences",
                figure,
                alt=f"Dots with intervals: {title} of each function minus that of linear softmax, whose line is at 0",
                caption=(
                    f"{title} minus that of {BASELINE} softmax (dashed), with its interval, which is not corrected for"
                    " the number of functions; small dots: single seeds."
                ),
            )
        )
    return Section("The result", text, blocks)


def differences_figure(found: Outcome) -> Figure | None:
    """Differences from linear softmax in the figure that decides; nothing where there are none."""
    figures = {row: found.figures[row][found.main] for row in found.ranked()}
    if BASELINE not in figures or all(figure.difference is None for figure in figures.values()):
        return None
    of_baseline = figures[BASELINE].of_seeds
    dots = {BASELINE: comparison_plots.Dot(0.0, math.nan, math.nan)}
    for row, figure in figures.items():
        if figure.difference is not None:
            single = [value - of_baseline[seed] for seed, value in figure.of_seeds.items() if seed in of_baseline]
            difference = figure.difference
            dots[row] = comparison_plots.Dot(difference.value, difference.low, difference.high, tuple(single))
    in_order = {row: dots[row] for row in figures if row in dots}
    title = f"{TITLES[found.main]} minus {BASELINE}"
    return comparison_plots.intervals_figure(
        panels={title: in_order}, reference=BASELINE, lower_is_better=[title] if found.main in LOWER_IS_BETTER else []
    )


def _all_figures(compared: Compared, picture: _Pictures) -> Section:
    """Every figure, as dots and as a table."""
    found = compared.outcome
    order = found.ranked()
    panels = {TITLES[name]: {row: _dot(found.figures[row][name]) for row in order} for name in found.names}
    figure = comparison_plots.intervals_figure(
        panels=panels, reference=BASELINE, lower_is_better=[TITLES[name] for name in LOWER_IS_BETTER]
    )
    header, rows = overview_rows(found)
    cells: list[list[Cell]] = [[*row] for row in rows]
    text = (
        "Thresholds of tags, and where events are known all settings of decoding, were chosen on the held-out clips, in"
        " the same way for every function. mAP, AUROC, loss and PSDS need none."
    )
    return Section(
        "All figures",
        text,
        [
            picture(
                "figures",
                figure,
                alt="Dots with intervals: every figure of each function; a dashed line at that of linear softmax",
                caption=f"Mean over seeds with its interval; small dots: single seeds; dashed: {BASELINE} softmax.",
            ),
            Table("Means over seeds; * the best of a column", header, cells),
        ],
    )


def _by_class(compared: Compared, picture: _Pictures) -> Section:
    """Where the differences come from."""
    found = compared.outcome
    name = found.main
    rows = [row for row in found.ranked() if found.figures[row][name].difference_by_class]
    blocks: list[Block] = []
    baseline = found.figures.get(BASELINE)
    if rows and baseline is not None:
        order = sorted(found.classes, key=lambda label: _nan_last(-baseline[name].by_class[label].value))[
            :_MOST_CLASSES
        ]
        differences = {row: _column(found.figures[row][name].difference_by_class, order) for row in rows}
        sure = {
            row: np.array([_is_sure(found.figures[row][name].difference_by_class[label]) for label in order])
            for row in rows
        }
        figure = comparison_plots.class_differences_figure(
            classes=[f"{label}  {_two(baseline[name].by_class[label].value)}" for label in order],
            differences=differences,
            is_sure=sure,
            reference=BASELINE,
            lower_is_better=name in LOWER_IS_BETTER,
        )
        blocks.append(
            picture(
                "differences_by_class",
                figure,
                alt=f"Table of colours: {TITLES[name]} of each function minus that of linear softmax, class by class",
                caption=(
                    f"{TITLES[name]} minus that of {BASELINE} softmax, which stands behind each class. Bold: the"
                    " interval does not hold 0 (not corrected for the number of classes)."
                ),
            )
        )
    return Section("Class by class", "", blocks)


def _learned(compared: Compared, picture: _Pictures) -> list[Section]:
    """The pooling parameter of each class, where there is one."""
    found = compared.outcome
    values: dict[str, dict[int, NDArray[np.float64]]] = {}
    names: dict[str, str] = {}
    for row in found.ranked():
        for seed in found.figures[row][found.main].of_seeds:
            metrics = _metrics(compared.run(row, seed))
            parameter = metrics["pooling_parameter"]
            if parameter is not None:
                names[row] = {"n": "n, the learned exponent", "alpha": "α"}.get(parameter, parameter)
                values.setdefault(row, {})[seed] = np.array([metrics[parameter][label] for label in found.classes])
    if not values or len(found.classes) > _MOST_CLASSES:
        return []
    figure = comparison_plots.parameters_figure(
        classes=found.classes, values=values, names=names, systems=found.ranked()
    )
    text = (
        "Functions with a parameter of their own learn it for each class: the larger, the fewer frames speak for a"
        " clip. Where seeds agree the data decide; where they scatter the parameter hardly matters."
    )
    alt = "Dots: the learned parameter of every class for each function, one dot per seed"
    return [Section("What the functions learned", text, [picture("parameters", figure, alt=alt)])]


def _learning(compared: Compared, picture: _Pictures) -> Section:
    """Loss and held-out figures over time, the mean over the seeds."""
    found = compared.outcome
    curves = [_curves(compared, row) for row in found.ranked()]
    figure = plots.training_figure(curves, classes=found.classes)
    return Section(
        "How they learned",
        "Means over the seeds. The held-out clips choose the epoch; the test clips are not in this picture.",
        [picture("training", figure, alt="Curves: training loss, held-out loss and tag F1 of every function")],
    )


def _curves(compared: Compared, row: str) -> plots.TrainingCurves:
    """The curves of all seeds of a function, averaged as far as all of them go."""
    seeds = compared.outcome.figures[row][compared.outcome.main].of_seeds
    runs = [plots.run_curves(row, compared.run(row, seed)) for seed in seeds]
    losses = _mean([run.losses for run in runs])
    return plots.TrainingCurves(
        row,
        steps=np.arange(1, len(losses) + 1),
        losses=losses,
        epochs=min((run.epochs for run in runs), key=len),
        held_out={title: _mean([run.held_out[title] for run in runs]) for title in runs[0].held_out},
    )


def _mean(curves: Sequence[NDArray[np.floating]]) -> NDArray[np.float64]:
    """The mean of curves, as far as the shortest goes."""
    length = min(map(len, curves))
    averaged: NDArray[np.float64] = np.mean([curve[:length] for curve in curves], axis=0)
    return averaged


def _data(compared: Compared) -> Section:
    """What was in which part."""
    sizes = compared.sizes()
    has_groups = compared.asked.columns.group is not None
    header = ["class", *NAMES]
    rows: list[list[Cell]] = [["all clips", *(sizes[name]["clips"] for name in NAMES)]]
    if has_groups:
        rows.append(["groups", *(sizes[name]["groups"] for name in NAMES)])
    for label in compared.outcome.classes:
        rows.append([label, *(sizes[name]["clips_of_class"][label] for name in NAMES)])
    text = (
        "The same clips in every run. No group stands in two parts. Which clip is where stands in learn.tsv and"
        " test.tsv."
    )
    if not has_groups:
        text += " No --group was given, so every file is a group of its own."
    if compared.asked.strong is not None:
        n_marked = len(compared.truth.with_events)
        text += f" Events are known in {n_marked} of the {sizes['test']['clips']} test clips."
        if compared.asked.learn_strong:
            text += " Events of the clips to learn from were learned from as well."
    if compared.unreadable:
        text += f" {len(compared.unreadable)} clips could not be read and are in no part."
    return Section("The data", text, [Table("Clips in each part", header, rows)])


def _how(compared: Compared) -> Section:
    """How to do it again."""
    asked = compared.asked
    text = (
        f"Every run had the same clips, and those of one seed the same first weights and the same batches;"
        f" {asked.config.training.epochs} epochs each. Each is a folder that earmark train left (runs/), ready for"
        f" earmark export. Groups were resampled {N_RESAMPLES} times. The data were divided once: how much another"
        " choice of clips to learn from would change stands in no interval."
    )
    return Section("How this was made", text, [Commands(shlex.join(asked.command))])


def _failed(compared: Compared) -> Section:
    """Runs that did not come to their end."""
    rows: list[list[Cell]] = [[name, why] for name, why in compared.outcome.failures.items()]
    text = "They are left out of all figures. The same command with --resume does them again, and only those."
    return Section("Failed runs", text, [Table("Failed runs", ["run", "why"], rows)])


def _dot(figure: Any) -> comparison_plots.Dot:
    """A figure as it is drawn."""
    return comparison_plots.Dot(figure.mean.value, figure.mean.low, figure.mean.high, tuple(figure.of_seeds.values()))


def _metrics(run: Path) -> dict[str, Any]:
    """What a run said about itself."""
    import json

    found: dict[str, Any] = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    return found


def _column(by_class: Mapping[str, Any], order: Sequence[str]) -> NDArray[np.float64]:
    """The differences in this order of the classes."""
    return np.array([by_class[label].value for label in order])


def _is_sure(difference: Any) -> bool:
    """Whether the interval does not hold 0."""
    return bool(difference.low > 0 or difference.high < 0)


def _nan_last(value: float) -> float:
    """For sorting."""
    return math.inf if math.isnan(value) else value


def _two(value: float) -> str:
    """Two decimals, or a dash."""
    return "–" if math.isnan(value) else f"{value:.2f}"
