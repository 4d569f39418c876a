"""A TSV or CSV file as rows that know where they stand, so that every complaint can name file, line and row."""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

from earmark.audio.finding import AUDIO_SUFFIXES
from earmark.labels.text import read_lines

# What other programs call the columns, and how they say that times are not in seconds.
_OTHER_NAMES = {
    "filename": ("audio", "recording", "uri", "clip"),
    "onset": ("start", "begin", "start_time", "begin_time", "start (s)"),
    "offset": ("end", "stop", "end_time", "stop_time", "end (s)"),
    "event_label": ("label", "class", "species", "annotation", "tag"),
    "event_labels": ("tags", "labels", "classes", "species", "annotations", "tag", "class"),
}
_OTHER_UNIT = re.compile(r"(\b|_)(ms|msec|milliseconds|samples?|frames?)(\b|_|$)", re.IGNORECASE)


class Row(NamedTuple):
    """One row: its cells in the order of the columns, the number of its line, and the line as it stands."""

    cells: list[str]
    line_number: int
    line: str


@dataclass(frozen=True)
class Table:
    """A label file that was split into cells, not yet understood.

    Args:
        path: the file, as the caller named it.
        columns: the header.
        rows: every row that is not blank; all have as many cells as there are columns.
    """

    path: str
    columns: tuple[str, ...]
    rows: list[Row]

    def where(self, row: Row) -> str:
        """File and line, for instance ``weak.tsv:17``."""
        return f"{self.path}:{row.line_number}"

    def cell(self, row: Row, column: str) -> str:
        """What `row` holds in `column`; empty when the file does not have the column."""
        return row.cells[self.columns.index(column)] if column in self.columns else ""

    def column(self, column: str) -> list[str]:
        """The cells of `column`, one per row; empty ones when the file does not have the column."""
        if column not in self.columns:
            return [""] * len(self.rows)
        index = self.columns.index(column)
        return [row.cells[index] for row in self.rows]

    def error(self, row: Row, reason: object) -> ValueError:
        """The ValueError that says `reason`, with file, line number and the line itself."""
        return ValueError(f"{self.where(row)}: {reason}\n    {row.line}")


def read_table(
    path: Path | str,
    *,
    list_columns: Collection[str] = (),
    example: str = "filename\tlabel\na.wav\tDog",
    fits_rows: bool = False,
) -> Table:
    r"""Split a TSV or CSV file into rows; a tab in the header line makes it TSV.

    UTF-8 with or without a byte order mark, any line ends, quoted cells. Blank rows are left out.

    In CSV all quotes belong to the format. TSV is often written by hand, without such quotes, so there the quotes
    in the `list_columns` belong to the labels (``"Air horn, truck horn",Car``) - unless the column's name is
    quoted too, or a cell begins with three quotes: then a program quoted them.

    Args:
        path: the file.
        list_columns: columns whose cells are comma-separated lists.
        example: a header and a row, shown when the file has no header.
        fits_rows: whether empty cells may be missing at the end of a row, or too many, as programs write tables for
            themselves.

    Raises:
        ValueError: with file, line number and line: no header, a column twice, a row with too few or too many
            fields, quotes that do not match, or bytes that are not UTF-8. Also for a file that is no table at all.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "weak.tsv")
        ...     _ = file.write_text('filename\tevent_labels\na.wav\tDog,Cat\n')
        ...     table = read_table(file)
        >>> table.columns, table.rows[0].cells, table.rows[0].line_number
        (('filename', 'event_labels'), ['a.wav', 'Dog,Cat'], 2)
    """
    name = Path(path).as_posix()
    lines = read_lines(path)
    header = lines[0] if lines else ""
    if not header.strip():
        raise ValueError(f"{name}:1: the first line must name the columns, but it is empty")
    if "\t" not in header and "," not in header and ";" in header:
        raise ValueError(
            f"{name}:1: columns must be separated by tabs or commas, got semicolons - save it as TSV; a spreadsheet"
            f" that writes semicolons may also write 0,5 for 0.5, which must be 0.5 here\n    {header}"
        )
    is_tsv = "\t" in header
    records = _tsv_records(lines, list_columns) if is_tsv else _csv_records(lines, name)
    if is_tsv and _is_plain(lines):
        # As tuples are made, without the function of Row, which takes four times as long.
        records = map(partial(tuple.__new__, Row), zip([line.split("\t") for line in lines], count(1), lines))
    columns = tuple(cell.strip() for cell in next(records).cells)
    if fits_rows:
        columns = columns[: max((i + 1 for i, column in enumerate(columns) if column), default=0)]
        records = (row if len(row.cells) == len(columns) else _fitted(row, len(columns)) for row in records)
    _check_header(columns, name, header, example)
    table = Table(path=name, columns=columns, rows=[row for row in records if any(row.cells)])
    for row in table.rows:
        if len(row.cells) != len(columns):
            raise table.error(row, _wrong_field_count(row, columns, is_tsv=is_tsv))
    return table


def check_columns(table: Table, *, required: Sequence[str], optional: Sequence[str] = (), example: str) -> None:
    """Raise ValueError when a required column is missing or an optional one is misspelt.

    Args:
        table: what `read_table` gave.
        required: columns that must be there.
        optional: columns with a meaning. Any other column is fine, unless it looks like one of these, misspelt.
        example: a header and a row, shown when the header is wrong.
    """
    place = f"{table.path}:1"
    found = ", ".join(table.columns)
    unknown = [column for column in table.columns if column not in required and column not in optional]
    shown = _indented(example)
    missing = [column for column in required if column not in table.columns]
    if missing:
        likely = [(_nearest(column, unknown, cutoff=0.6), column) for column in missing]
        guesses = [f"is {name!r} meant to be {column!r}?" for name, column in likely if name is not None]
        guess = " ".join(guesses) if guesses else "is the first line a header?"
        nearest, wanted = likely[0]
        if nearest is not None and _OTHER_UNIT.search(nearest):
            guess = f"{nearest!r} does not hold seconds; convert it, and call it {wanted!r}."
        raise ValueError(
            f"{place}: no column {missing[0]!r} (the columns are: {found}) - {guess}"
            f" Expected, for instance:\n    {shown}"
        )
    for column in optional:
        near = None if column in table.columns else _nearest(column, unknown, cutoff=0.8)
        if near is not None:
            raise ValueError(
                f"{place}: unknown column {near!r} - did you mean {column!r}? Expected, for instance:\n    {shown}"
            )


def _indented(example: str) -> str:
    """The lines of an example as they stand in a message."""
    return "\n    ".join(example.splitlines())


def _nearest(column: str, unknown: Sequence[str], *, cutoff: float) -> str | None:
    """The unknown column that is most likely `column` misspelt, in whatever case."""
    folded = {name.casefold(): name for name in unknown}
    near = difflib.get_close_matches(column, folded, n=1, cutoff=cutoff)
    near = near if near else [name for name in _OTHER_NAMES.get(column, ()) if name in folded]
    return folded[near[0]] if near else None


def _is_plain(lines: list[str]) -> bool:
    """Whether the cells are just what stands between the tabs: without quotes, and without blanks around them."""
    text = "\n".join(["", *lines, ""])
    return not any(mark in text for mark in ('"', " \t", "\t ", " \n", "\n "))


def _tsv_records(lines: list[str], list_columns: Collection[str]) -> Iterator[Row]:
    """The rows of a TSV file, header first."""
    columns = lines[0].split("\t")
    # Compared as they stand: a program that quotes everything has quoted the name of the column as well.
    keeps_quotes = [column.strip() in list_columns for column in columns]
    yield Row([_unquote(column) for column in columns], 1, lines[0])
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split("\t")
        if " " in line:
            cells = [cell.strip() for cell in cells]
        if '"' in line:
            for i, cell in enumerate(cells):
                belongs_to_label = i < len(keeps_quotes) and keeps_quotes[i] and not cell.startswith('"""')
                cells[i] = cell if belongs_to_label else _unquote(cell)
        yield Row(cells, number, line)


def _csv_records(lines: list[str], name: str) -> Iterator[Row]:
    """The rows of a CSV file, header first; a quoted cell may run over several lines."""
    reader = csv.reader((f"{line}\n" for line in lines), strict=True, skipinitialspace=True)
    while True:
        start = reader.line_num  # lines read so far, so the next row begins at lines[start]
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(
                f"{name}:{start + 1}: the quotes do not match ({error}) - a label with a comma in a"
                f' list is written """Air horn, truck horn"",Car"\n    {lines[start]}'
            ) from None
        yield Row([cell.strip() for cell in cells], start + 1, lines[start])


def _fitted(row: Row, n_columns: int) -> Row:
    """The row with as many cells as there are columns, where only empty ones are missing or too many."""
    if any(row.cells[n_columns:]):
        return row
    missing = [""] * (n_columns - len(row.cells))
    return row._replace(cells=[*row.cells[:n_columns], *missing])


def _unquote(cell: str) -> str:
    """The cell without the quotes around all of it; ``"a, b",c`` stays as it is."""
    text = cell.strip()
    if len(text) >= 2 and text[0] == text[-1] == '"' and '"' not in text[1:-1].replace('""', ""):
        return text[1:-1].replace('""', '"').strip()
    return text


def _check_header(columns: tuple[str, ...], name: str, header: str, example: str) -> None:
    """Raise ValueError when the first line is a row already, when a column has no name, or two have the same."""
    recordings = [column for column in columns if Path(column).suffix.casefold() in AUDIO_SUFFIXES]
    if recordings:
        raise ValueError(
            f"{name}:1: the first line must name the columns, got the recording {recordings[0]!r} - is the header"
            f" missing? Expected, for instance:\n    {_indented(example)}"
        )
    for i, column in enumerate(columns):
        if not column:
            raise ValueError(f"{name}:1: column {i + 1} has no name - a separator too many at the end?\n    {header}")
        if column in columns[:i]:
            raise ValueError(f"{name}:1: the column {column!r} appears twice\n    {header}")


def _wrong_field_count(row: Row, columns: tuple[str, ...], *, is_tsv: bool) -> str:
    """What is wrong with a row that has too few or too many fields."""
    said = f"{len(columns)} field{'s' * (len(columns) > 1)} expected ({', '.join(columns)}), got {len(row.cells)}"
    if len(row.cells) > len(columns) and not is_tsv and re.search(r"(^|,)\d+,\d+,\d+,\d+(,|$)", row.line):
        return f"{said} - decimal commas, as a European export has them? write 0.5 for 0,5"
    if len(row.cells) > len(columns) and not is_tsv:
        return f'{said} - a comma inside a cell? quote the cell: "Dog,Cat"'
    if len(row.cells) < len(columns) and is_tsv:
        if "\t" not in row.line:
            return f"{said} - spaces instead of tabs, or did an editor strip the tab before an empty last column?"
        return f"{said} - an empty last column still needs its tab; did an editor strip it?"
    return f"{said} - is a separator missing or doubled?"
