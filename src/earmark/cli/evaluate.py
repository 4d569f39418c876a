"""`earmark evaluate`: predicted events against reference events, as a table a person wants to read."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    from earmark.metrics.evaluation import Evaluation

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


@click.command("evaluate", short_help="Compare predicted events with reference events.")
@click.option(
    "--reference",
    required=True,
    metavar="TSV",
    type=click.Path(path_type=Path),
    help="What is true: filename, onset, offset, event_label. A row with a file name alone: no event there.",
)
@click.option(
    "--predicted",
    required=True,
    metavar="TSV",
    type=click.Path(path_type=Path),
    help="What was found, in the same columns.",
)
@click.option(
    "--reference-tags",
    metavar="TSV",
    type=click.Path(path_type=Path),
    help="Clip labels for the clip-level figures; without it they are derived from the events.",
)
@click.option(
    "--predicted-tags",
    metavar="TSV",
    type=click.Path(path_type=Path),
    help="Predicted clip labels; without it they are derived from the events.",
)
@click.option(
    "--durations",
    metavar="TSV",
    type=click.Path(path_type=Path),
    help="filename, duration: where files end; without it a file ends with its last event.",
)
@click.option(
    "--zero-length",
    type=click.Choice(["drop", "keep"]),
    help="Events that end where they begin. [default: drop; keep with --compatible]",
)
@click.option("--compatible", type=click.Choice(["sed_eval"]), help="The figures as this tool gives them.")
@click.option(
    "--json",
    "json_path",
    metavar="FILE",
    help="Write everything as JSON; - writes it to standard output, instead of the table.",
)
def command(
    reference: Path,
    predicted: Path,
    reference_tags: Path | None,
    predicted_tags: Path | None,
    durations: Path | None,
    zero_length: str | None,
    compatible: str | None,
    json_path: str | None,
) -> None:
    """Compare predicted events with reference events, and print F1, precision and recall.

    \b
    event    onset within 200 ms, offset within 200 ms or 20 % of the event's length
    segment  is the class in this second, yes or no
    clip     is the class in this clip, yes or no
    """
    from earmark.files import write_atomic
    from earmark.labels.strong import read_durations, read_tags
    from earmark.metrics.evaluation import evaluate
    from earmark.metrics.report import as_json

    if json_path is not None and Path(json_path).is_dir():
        raise ValueError(f"--json must be a file to write, got the folder {json_path}")
    evaluation = evaluate(
        reference,
        predicted,
        reference_tags=None if reference_tags is None else read_tags(reference_tags),
        predicted_tags=None if predicted_tags is None else read_tags(predicted_tags),
        durations=None if durations is None else read_durations(durations),
        zero_length=zero_length,
        compatible=compatible,
    )
    if json_path is not None:
        text = json.dumps(as_json(evaluation), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        if json_path == "-":
            click.echo(text, nl=False)
            return
        write_atomic(json_path, text)
    # Where nobody's window limits it, every name stays on one line. click leaves the colours out there.
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    click.echo(report_text(evaluation, width=width), nl=False)
    if json_path is not None:
        click.echo(f"wrote {json_path}", err=True)


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


def _table(rows: list[list[str]], header: Mapping[str, tuple[str, ...]], *, n_totals: int, width: int | None) -> str:
    """Totals on top, then classes; a group of columns for each level; long names go on in the next line."""
    is_first = [place == 0 for columns in header.values() for place in range(len(columns))]
    levels = [level if place == 0 else "" for level, columns in header.items() for place in range(len(columns))]
    figure_widths = [
        max(5, len(level), *(len(row[place]) for row in rows)) + (2 if first else 1)
        for place, (level, first) in enumerate(zip(levels, is_first, strict=True), start=1)
    ]
    name_width = max(len(row[0]) for row in rows)
    if width is not None:
        name_width = max(8, min(name_width, width - sum(figure_widths)))
    lines = [
        " " * name_width + _styled("".join(_right(cells, figure_widths)).rstrip(), dim=True)
        for cells in (levels, [column for columns in header.values() for column in columns])
    ]
    for number, (name, *figures) in enumerate(rows):
        if number == n_totals:
            lines.append(_styled("-" * (name_width + sum(figure_widths)), dim=True))
        first, *others = textwrap.wrap(name, name_width)
        cells = [
            _styled(cell, bold=number == 0, dim=not first)
            for first, cell in zip(is_first, _right(figures, figure_widths), strict=True)
        ]
        lines.append(_styled(f"{first:<{name_width}}", bold=number == 0) + "".join(cells))
        lines += others
    return "".join(f"{line}\n" for line in lines)


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
