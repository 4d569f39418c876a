"""What `earmark evaluate` prints: tables a person wants to read."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from earmark.cli.evaluate_systems import Side
    from earmark.metrics.curves.evaluation import ScoreEvaluation
    from earmark.metrics.evaluation import Evaluation
    from earmark.metrics.uncertainty_report import AnyComparison, AnyUncertainty

# What the tables show, level by level.
SCORES = {level: ("F1", "P", "R") for level in ("event", "segment", "clip")}
COUNTS = {level: ("TP", "FP", "FN") for level in ("event", "segment", "clip")}
ERRORS = {"event": ("ER",), "segment": ("ER", "acc", "bal", "spec"), "clip": ("ER",)}
LEGEND = (
    "figures",
    "P precision: how much of what was predicted is right; R recall: how much of what is there was found; F1 their "
    "harmonic mean; ER error rate: (S substituted + D missed + I made up) / reference, 0 is best; acc accuracy; spec "
    "specificity: how much of what is not there was left alone; bal the mean of R and spec; TP found, FP made up, "
    "FN missed",
)


def full_text(
    system: Side,
    baseline: Side,
    sure: Mapping[str, Mapping[str, AnyUncertainty]],
    differences: Mapping[str, Mapping[str, AnyComparison]],
    *,
    width: int | None,
) -> str:
    """Return everything there is to say, as text with colours; see `report_text`.

    Of several runs only the means are told, with their intervals: each run alone would say too much.
    """
    width = None if width is None else max(80, width)
    blocks = []
    if len(system.scores) == 1:
        compatible = system.lists[0].compatible if system.lists else None
        blocks.append(curves_text(system.scores[0], width=width, compatible=compatible))
    blocks += [intervals_text(results, width=width) for results in sure.values()]
    blocks += [differences_text(results, width=width) for results in differences.values()]
    told = next(iter([*sure.values(), *differences.values()]), None)
    about = [] if told is None else _about_intervals(next(iter(told.values())), bool(differences))
    blocks.append(_list(_cautions_of_others(system, baseline) + about, width, fg="yellow"))
    if len(system.lists) == 1:
        # Last, because its end is what most people come for.
        blocks.append(report_text(system.lists[0], width=width))
    return "\n".join(block for block in blocks if block)


def _cautions_of_others(system: Side, baseline: Side) -> list[tuple[str, str]]:
    """What a reader has to know of runs that have no report of their own: nothing is left out in silence."""
    from earmark.metrics.cautions import cautions

    found = []
    if len(system.lists) > 1:
        found += _by_run("", [cautions(run) for run in system.lists])
    found += _by_run("baseline", [cautions(run) for run in baseline.lists])
    if len(system.scores) > 1 or baseline.scores:
        from earmark.metrics.curves.cautions import curve_cautions

        if len(system.scores) > 1:
            found += _by_run("", [curve_cautions(run) for run in system.scores])
        found += _by_run("baseline", [curve_cautions(run) for run in baseline.scores])
    return [("note", sentence) for sentence in found]


def _by_run(name: str, runs: list[list[str]]) -> list[str]:
    """Every sentence once, after the name of the system, and the numbers of the runs it is about if not of all."""
    found = []
    for sentence in dict.fromkeys(sentence for run in runs for sentence in run):
        numbers = [str(number) for number, run in enumerate(runs, start=1) if sentence in run]
        which = "" if len(numbers) == len(runs) else f"run {', '.join(numbers)}"
        found.append(": ".join([*(part for part in (f"{name} {which}".strip(),) if part), sentence]))
    return found


def curves_text(evaluation: ScoreEvaluation, *, width: int | None, compatible: str | None = None) -> str:
    """Return the figures of curves and PSDS, the mean on top, then class by class.

    Args:
        evaluation: of one run.
        width: see `report_text`.
        compatible: the tool whose figures the lists beside it have.
    """
    from earmark.metrics.curves.cautions import curve_cautions
    from earmark.metrics.curves.evaluation import COLUMNS, PSDS_COLUMNS, curve_rows, score_settings

    legend = (
        "at all thresholds: best F1 at each class's own best threshold, which no other data need share; AP average "
        "precision; AUC area under the ROC curve; PSDS in scenario 1 (exact times) and 2 (right class), of all classes "
        "together the mean of their curves less their deviation"
    )
    settings = [("scores", legend), *score_settings(evaluation)]
    notes = [("note", sentence) for sentence in curve_cautions(evaluation)]
    if compatible is not None:
        notes.append(("note", f"--compatible is for lists: {compatible} has no curves, these figures are earmark's"))
    blocks = [
        _table(curve_rows(evaluation), {**COLUMNS, **PSDS_COLUMNS}, n_totals=1, width=width),
        _list(settings, width, dim=True) + _list(notes, width, fg="yellow"),
    ]
    return "\n".join(blocks)


def intervals_text(results: Mapping[str, AnyUncertainty], *, width: int | None) -> str:
    """Return all figures over all classes with their intervals."""
    from earmark.metrics.uncertainty_report import how_sure, interval_table

    first = next(iter(results.values()))
    runs = "" if first.n_runs == 1 else f"means over {first.n_runs} runs; "
    header, rows = interval_table(results)
    return _styled(f"intervals, {runs}{how_sure(first)}\n\n", bold=True) + _fitting_tables(rows, header, width)


def differences_text(results: Mapping[str, AnyComparison], *, width: int | None) -> str:
    """Return by how much the figures are above those of the baseline."""
    from earmark.metrics.uncertainty_report import difference_table, how_sure

    first = next(iter(results.values()))
    header, rows = difference_table(results)
    title = _styled(f"system minus baseline, {how_sure(first)}\n\n", bold=True)
    return title + _fitting_tables(rows, header, width)


def _about_intervals(result: AnyUncertainty | AnyComparison, has_differences: bool) -> list[tuple[str, str]]:
    """What a reader of intervals and p-values has to know."""
    from earmark.metrics.uncertainty_report import uncertainty_cautions

    about = [("note", sentence) for sentence in uncertainty_cautions(result)]
    if has_differences:
        about.append(
            (
                "p",
                "how often a difference as large, in either direction, comes about when there is none; of 20 figures "
                "without any difference one has p below 0.05; near 0.05 it may disagree with the interval",
            )
        )
    return about


def report_text(evaluation: Evaluation, *, width: int | None) -> str:
    """Return the report as text with colours, at most `width` characters wide (but never below 80); None: as needed.

    The three figures most people come for stand last, because that is what a terminal shows.
    """
    from earmark.metrics.report import cautions, count_rows, error_rows, score_rows, settings_lines

    scores, event = score_rows(evaluation), evaluation.event
    width = None if width is None else max(80, width)
    headline = "   ".join(f"{level} {scores[0][1 + len(SCORES[level]) * place]}" for place, level in enumerate(SCORES))
    blocks = [
        f"{_many(evaluation.n_files, 'file')}, {_many(event.n_reference.sum(), 'reference event')}, "
        f"{_many(event.n_predicted.sum(), 'predicted event')}, {_many(len(event.classes), 'class')}\n",
        _table(scores, SCORES, n_totals=2, width=width),
        _table(error_rows(evaluation), ERRORS, n_totals=2, width=width),
        _table(count_rows(evaluation), COUNTS, n_totals=1, width=width),
        _list([LEGEND, *settings_lines(evaluation)], width, dim=True),
        _list([("note", sentence) for sentence in cautions(evaluation)], width, fg="yellow"),
        _styled(f"macro F1   {headline}", bold=True) + "\n",
    ]
    return "\n".join(block for block in blocks if block)


def _fitting_tables(rows: list[list[str]], header: Mapping[str, tuple[str, ...]], width: int | None) -> str:
    """One table, or where the window is too narrow one for each group of columns."""
    table = _table(rows, header, n_totals=0, width=width)
    if width is None or max(len(click.unstyle(line)) for line in table.splitlines()) <= width:
        return table
    tables, first = [], 1
    for level, columns in header.items():
        part = [[row[0], *row[first : first + len(columns)]] for row in rows]
        tables.append(_table(part, {level: columns}, n_totals=0, width=width))
        first += len(columns)
    return "\n".join(tables)


def _table(rows: list[list[str]], header: Mapping[str, tuple[str, ...]], *, n_totals: int, width: int | None) -> str:
    """Totals on top, then classes; a group of columns for each level; long names go on in the next line."""
    names = [column for columns in header.values() for column in columns]
    is_first = [place == 0 for columns in header.values() for place in range(len(columns))]
    levels = [level if place == 0 else "" for level, columns in header.items() for place in range(len(columns))]
    figure_widths = [
        max(5, len(level), len(column), *(len(row[place]) for row in rows)) + (2 if first else 1)
        for place, (level, column, first) in enumerate(zip(levels, names, is_first, strict=True), start=1)
    ]
    name_width = max(len(row[0]) for row in rows)
    if width is not None:
        name_width = max(8, min(name_width, width - sum(figure_widths)))
    lines = [
        " " * name_width + _styled("".join(_right(cells, figure_widths)).rstrip(), dim=True)
        for cells in ((levels, names) if any(levels) else (names,))
    ]
    for number, (name, *figures) in enumerate(rows):
        if number == n_totals:
            lines.append(_styled("-" * (name_width + sum(figure_widths)), dim=True))
        first, *others = _wrapped(name, name_width)
        cells = [
            _styled(cell, bold=number == 0, dim=not first)
            for first, cell in zip(is_first, _right(figures, figure_widths), strict=True)
        ]
        lines.append(_styled(f"{first:<{name_width}}", bold=number == 0) + "".join(cells))
        lines += others
    return "".join(f"{line}\n" for line in lines)


def _wrapped(name: str, width: int) -> list[str]:
    """The name in lines, cut behind blanks and underscores where that is possible."""
    if len(name) <= width:
        return [name]
    return [line.replace("_ ", "_") for line in textwrap.wrap(name.replace("_", "_ "), width)]


def _many(n: int, noun: str) -> str:
    """``1 file``, ``2,000 files``, ``3 classes``."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}{'es' if noun.endswith('s') else 's'}"


def _right(cells: list[str], widths: list[int]) -> list[str]:
    """Cells filled up with blanks on their left."""
    return [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]


def _list(lines: list[tuple[str, str]], width: int | None, *, fg: str | None = None, dim: bool = False) -> str:
    """Keywords on the left, sentences on the right."""
    indent = max((len(keyword) for keyword, _ in lines), default=0) + 2
    text = ""
    for keyword, sentence in lines:
        wrapped = [sentence]
        if width is not None:
            wrapped = textwrap.wrap(sentence, width - indent, break_on_hyphens=False)
        text += _styled(f"{keyword:<{indent}}", fg=fg, dim=dim) + f"\n{' ' * indent}".join(wrapped) + "\n"
    return text


def _styled(text: str, *, bold: bool = False, dim: bool = False, fg: str | None = None) -> str:
    """In colour; click prints it without where there is no terminal."""
    # Not False: to click that means "switch it off", and the code for it ends bold and dim alike.
    return click.style(text, bold=True if bold else None, dim=True if dim else None, fg=fg)
