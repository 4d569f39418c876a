"""Raven selection tables, and the tables of programs that write for Raven, such as BirdNET-Analyzer."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from earmark.events import Event
from earmark.labels.cells import clean_filename, clean_label, probability, span
from earmark.labels.formats.naming import recording_of
from earmark.labels.table import Row, Table, read_table

KIND = "a Raven selection table"
BEGIN, END = "Begin Time (s)", "End Time (s)"
OFFSET = "File Offset (s)"

# Columns that people and programs keep the class in, the likeliest first.
LABEL_COLUMNS = ("Species", "Annotation", "Label", "Class", "Common Name", "Tags", "Tag", "Event", "Sound Type")
# BirdNET-Analyzer's row for a recording in which it found nothing, where it was asked for one.
_BIRDNET_COLUMN, _BIRDNET_NONE = "Species Code", "nocall"
# What Raven itself measures and counts; everything with a unit in brackets is another of its measurements.
_MEASURED = frozenset(
    "selection,view,channel,confidence,score,notes,comments,rating,occupancy,begin file,end file,begin path,end path,"
    "begin date,end date,begin date time,begin hour,begin sample,end sample,species code,scientific name".split(",")
)
_EXAMPLE = f"Selection\tView\tChannel\t{BEGIN}\t{END}\tLow Freq (Hz)\tHigh Freq (Hz)\tSpecies"

# Of a row: what makes two rows, of different views, one selection.
_Key = tuple[str, str, str]


def is_raven(header: str) -> bool:
    """Return whether a line names the columns of a selection table.

    Example:
        >>> is_raven("Selection\\tView\\tChannel\\tBegin Time (s)\\tEnd Time (s)"), is_raven("filename\\tonset")
        (True, False)
    """
    cells = {cell.strip(' "').casefold() for cell in re.split("[\t,;]", header)}
    return BEGIN.casefold() in cells or {"selection", "view"} <= cells


def read_raven(path: Path | str, *, name: str | None = None, class_column: str | None = None) -> dict[str, list[Event]]:
    r"""Read a Raven selection table: per recording, in the order of the rows.

    A selection that stands there once per view (waveform and spectrogram) is one event. Where the table covers several
    recordings (Begin File or Begin Path), an event begins at File Offset (s) in its recording; Begin Time (s) counts
    through all of them. A table with nothing but a header is a recording without events.

    Args:
        path: the file.
        name: the recording of a table that names none; None: what `path` is named after.
        class_column: the column with the class; None: the one of `LABEL_COLUMNS` that there is, or the only one that
            Raven does not know.

    Raises:
        ValueError: naming file, line number and line, whatever is wrong with them.

    Example:
        >>> import tempfile
        >>> rows = "Selection\tView\tBegin Time (s)\tEnd Time (s)\tSpecies\n1\tSpectrogram 1\t0.5\t1.25\tdog\n"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "a.Table.1.selections.txt")
        ...     _ = file.write_text(rows)
        ...     read_raven(file)
        {'a': [Event(onset=0.5, offset=1.25, label='dog', score=None)]}
    """
    table = _with_known_names(read_table(path, example=_EXAMPLE, fits_rows=True))
    own_name = recording_of(path) if name is None else name
    if not table.rows:
        return {own_name: []}
    label_column = _label_column(table, class_column)
    starts_in_file = _check_files(table)
    is_birdnet = _BIRDNET_COLUMN in table.columns
    columns = ["Selection", "View", "Channel", "Begin File", "Begin Path", BEGIN, END, OFFSET, label_column]
    cells = [table.column(column) for column in (*columns, "Confidence" if is_birdnet else "Score")]
    events: dict[str, list[Event]] = {}
    first_views: dict[_Key, tuple[str, str, str]] = {}
    names: dict[tuple[str, str], str] = {}
    for row, number, view, channel, file, file_path, begin, end, offset, label, score in zip(
        table.rows, *cells, strict=True
    ):
        try:
            if (file, file_path) not in names:
                names[file, file_path] = clean_filename(file_path or file) if file_path or file else own_name
            recording = names[file, file_path]
            if number and view and not _is_first_view(first_views, (number, channel, recording), (view, begin, end)):
                continue
            onset, length_end = _times(begin, end, offset if starts_in_file else "")
            in_file = events.setdefault(recording, [])
            if not label:
                raise ValueError(f"the column {label_column!r} is empty - what was heard? or delete the selection")
            if not (is_birdnet and label == _BIRDNET_NONE):
                probable = probability(score) if is_birdnet else None
                in_file.append(Event(onset, length_end, clean_label(label), probable, table.where(row)))
        except ValueError as reason:
            raise _error(table, row, reason) from None
    return events


def _with_known_names(table: Table) -> Table:
    """The table with Raven's own columns in Raven's own spelling, whatever case they came in."""
    known = {column.casefold(): column for column in ("Selection", "View", "Channel", "Begin File", "Begin Path",
             "End File", "Confidence", "Score", _BIRDNET_COLUMN, BEGIN, END, OFFSET)}  # fmt: skip
    columns = tuple(known.get(column.casefold(), column) for column in table.columns)
    table = Table(path=table.path, columns=columns, rows=table.rows)
    for column in (BEGIN, END):
        if column not in columns:
            others = [name for name in columns if re.search(r"\(ms\)|sample|clock", name, re.IGNORECASE)]
            unknown = [name for name in columns if name not in (BEGIN, END, *others)]
            near = difflib.get_close_matches(column, unknown, n=1, cutoff=0.8)
            wrong = f"{others[0]!r} does not count seconds; " if others else ""
            hint = f"is {near[0]!r} meant?" if near else f"{wrong}show it in Raven and save the table again"
            raise ValueError(
                f"{table.path}:1: no column {column!r} (the columns are: {', '.join(columns)})"
                f" - {hint} (read as {KIND})"
            )
    return table


def _label_column(table: Table, class_column: str | None) -> str:
    """The column that says what was heard."""
    of_case = {column.casefold(): column for column in table.columns}
    others = [column for column in table.columns if not _is_measured(column)]
    if class_column is not None:
        if class_column.casefold() not in of_case:
            raise ValueError(
                f"{table.path}:1: no column {class_column!r} (the columns are: {', '.join(table.columns)})"
                " - which one holds the class?"
            )
        return of_case[class_column.casefold()]
    usual = [of_case[name.casefold()] for name in LABEL_COLUMNS if name.casefold() in of_case]
    usual = [column for column in usual if any(table.column(column))] if len(usual) > 1 else usual
    choices = usual if usual else others
    if len(choices) == 1:
        return choices[0]
    if choices:
        raise ValueError(
            f"{table.path}:1: which column holds the class, {' or '.join(map(repr, choices))}?"
            f" say so with class_column (earmark evaluate --class-column), or remove the others (read as {KIND})"
        )
    raise ValueError(
        f"{table.path}:1: no column says what was heard (the columns are: {', '.join(table.columns)})"
        f" - add an annotation column in Raven, such as Species (read as {KIND})"
    )


def _is_measured(column: str) -> bool:
    """Whether Raven measured what stands in the column."""
    return column.endswith(")") or column.casefold() in _MEASURED


def _check_files(table: Table) -> bool:
    """Whether the table says where in their file events begin; ValueError where it must and does not."""
    files, ends = table.column("Begin File"), table.column("End File")
    for row, begin, end in zip(table.rows, files, ends, strict=True) if any(ends) else ():
        if begin and end and begin != end:
            raise _error(table, row, f"the selection begins in {begin} and ends in {end} - cut it in two in Raven")
    if any(table.column(OFFSET)):
        return True
    several = set(zip(files, table.column("Begin Path"), strict=True))
    if len(several) > 1:
        raise ValueError(
            f"{table.path}:1: covers {len(several)} recordings, but has no column {OFFSET!r}, and {BEGIN} counts"
            f" through all of them - show {OFFSET} in Raven and save the table again; where the times of every"
            f" recording begin at 0 all the same, copy them into a column of this name (read as {KIND})"
        )
    return False


def _is_first_view(seen: dict[_Key, tuple[str, str, str]], key: _Key, place: tuple[str, str, str]) -> bool:
    """Whether this row is the first view of its selection, or a selection of its own that has the same number."""
    view, begin, end = seen.setdefault(key, place)
    if view == place[0]:
        return True
    if (begin, end) != place[1:]:
        raise ValueError(
            f"selection {key[0]} lasts from {place[1]} to {place[2]} s in the view {place[0]!r}, but from {begin} to"
            f" {end} s in {view!r} - were two tables joined?"
        )
    return False


def _times(begin: str, end: str, offset: str) -> tuple[float, float]:
    """Onset and offset in the recording."""
    try:
        onset, last = float(begin), float(end)
    except ValueError:
        span(begin, end)
        raise
    if not 0 <= onset <= last or "_" in begin + end:
        span(begin, end)
    if not offset:
        return onset, last
    in_file, _ = span(offset, offset)
    # As many decimals as a float of the sum has: 7200.1 - 7200.0 is 0.1 here.
    return in_file, round(in_file + (last - onset), 9)


def _error(table: Table, row: Row, reason: object) -> ValueError:
    """The complaint about one row."""
    return table.error(row, f"{reason} (read as {KIND})")
