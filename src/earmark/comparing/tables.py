"""The comparison as tables: for the terminal, for a spreadsheet, for a document."""

from __future__ import annotations

import math
from collections.abc import Sequence

from earmark.comparing.plan import BASELINE
from earmark.comparing.results import TITLES, Figure, Outcome

HEADER = ("pooling", "seeds", "mean", "interval", "sd", "minus linear", "its interval", "p", "p corrected")
# As many of these columns as fit into 80 letters, with their headings there.
IN_TERMINAL = {
    0: "pooling",
    2: "mean",
    3: "interval",
    4: "sd",
    5: "minus\nlinear",
    6: "its interval",
    8: "p cor-\nrected",
}


def main_rows(found: Outcome, figure: str) -> list[list[str]]:
    """Return a row per function, the best first: the figure, how sure it is, and its difference from linear softmax.

    Example:
        >>> main_rows(Outcome(("dog",), (0,), "clip", 9, 9.0, {}, {}), "loss")
        []
    """
    return [_main_row(row, found.figures[row][figure], found) for row in found.ranked(figure)]


def overview_rows(found: Outcome) -> tuple[list[str], list[list[str]]]:
    """Return the header, and a row per function with the means of all figures; the best of each has a star.

    Example:
        >>> overview_rows(Outcome(("dog",), (0,), "clip", 9, 9.0, {}, {}))
        (['pooling'], [])
    """
    best = {name: found.figures[found.ranked(name)[0]][name].mean.value for name in found.names}
    rows = []
    for row in found.ranked() if found.names else []:
        cells = []
        for name in found.names:
            value = found.figures[row][name].mean.value
            cells.append(f"{number(value)}{'*' if value == best[name] else ''}")
        rows.append([row, *cells])
    return ["pooling", *(TITLES[name] for name in found.names)], rows


def as_tsv(found: Outcome) -> str:
    """Return every figure of every function and class as one long table: what a spreadsheet or a script wants.

    Example:
        >>> as_tsv(Outcome(("dog",), (0,), "clip", 9, 9.0, {}, {})).split(chr(9))[:3]
        ['figure', 'class', 'pooling']
    """
    header = (
        "figure class pooling seeds mean low high sd difference difference_low difference_high p p_corrected".split()
    )
    lines = ["\t".join(header)]
    for name in found.names:
        for row in found.ranked(name):
            figure = found.figures[row][name]
            lines.append("\t".join([name, "", row, *_numbers(figure.mean, figure.difference, figure.p_holm)]))
            for label in found.classes:
                difference = figure.difference_by_class.get(label)
                lines.append("\t".join([name, label, row, *_numbers(figure.by_class[label], difference, math.nan)]))
    return "\n".join(lines) + "\n"


def as_markdown(found: Outcome, advice: str) -> str:
    """Return the advice and the tables for a document.

    Example:
        >>> as_markdown(Outcome(("dog",), (0,), "clip", 9, 9.0, {}, {}), "Stay with linear.").splitlines()[0]
        'Stay with linear.'
    """
    parts = [advice]
    if found.names:
        parts.append(
            f"**{TITLES[found.main]}**, mean over seeds:\n\n" + _markdown(HEADER, main_rows(found, found.main))
        )
        header, rows = overview_rows(found)
        parts.append("All figures (mean over seeds; * the best):\n\n" + _markdown(header, rows))
    if found.failures:
        parts.append("Failed runs:\n\n" + "\n".join(f"- {name}: {why}" for name, why in found.failures.items()))
    return "\n\n".join(parts) + "\n"


def number(value: float, *, signed: bool = False) -> str:
    """Return three decimals, or a dash for what is undefined.

    Example:
        >>> number(0.5), number(0.25, signed=True), number(math.nan)
        ('0.500', '+0.250', '-')
    """
    if math.isnan(value):
        return "-"
    return f"{value:+.3f}" if signed else f"{value:.3f}"


def p_text(value: float) -> str:
    """Return a p-value with three decimals; those below are said to be.

    Example:
        >>> p_text(0.0402), p_text(1e-9), p_text(math.nan)
        ('0.040', '<0.001', '-')
    """
    return "-" if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"


def _main_row(row: str, figure: Figure, found: Outcome) -> list[str]:
    """One function."""
    n_seeds = len(figure.of_seeds)
    seeds = str(n_seeds) if n_seeds == len(found.seeds) else f"{n_seeds} of {len(found.seeds)}"
    mean, difference = figure.mean, figure.difference
    cells = [row, seeds, number(mean.value), _interval(mean.low, mean.high), number(mean.seed_deviation)]
    if difference is None:
        return [*cells, "" if row == BASELINE else "-", "", "", ""]
    return [
        *cells,
        number(difference.value, signed=True),
        _interval(difference.low, difference.high, signed=True),
        p_text(difference.p_value),
        p_text(figure.p_holm),
    ]


def _interval(low: float, high: float, *, signed: bool = False) -> str:
    """Both ends."""
    return "-" if math.isnan(low) else f"{number(low, signed=signed)}..{number(high, signed=signed)}"


def _numbers(mean: object, difference: object, p_holm: float) -> list[str]:
    """The cells of the long table."""
    from earmark.comparing.sureness import Estimate

    assert isinstance(mean, Estimate)
    cells: list[float] = [mean.value, mean.low, mean.high, mean.seed_deviation]
    if isinstance(difference, Estimate):
        cells += [difference.value, difference.low, difference.high, difference.p_value, p_holm]
    else:
        cells += [math.nan] * 5
    return [str(mean.n_seeds), *("" if math.isnan(cell) else f"{cell:.6g}" for cell in cells)]


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
