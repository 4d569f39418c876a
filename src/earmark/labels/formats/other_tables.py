"""CSV tables of other programs, known by the names of their columns."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from earmark.events import Event
from earmark.labels.cells import clean_filename, clean_label, probability, span
from earmark.labels.formats.naming import recording_of
from earmark.labels.table import Table, read_table


class Layout(NamedTuple):
    """What a program calls its columns; a table has them all, perhaps without the file and the score."""

    kind: str
    onset: str
    offset: str
    label: str
    filename: str
    score: str


# One more program is one more line here.
LAYOUTS = (
    Layout("a CSV of BirdNET-Analyzer", "Start (s)", "End (s)", "Common name", "File", "Confidence"),
    Layout("a CSV of opensoundscape", "start_time", "end_time", "annotation", "audio_file", "score"),
)


def layout_of(header: str) -> Layout | None:
    """Return whose table this is, by the line that names its columns; None: nobody's that is known here.

    Example:
        >>> layout_of("Start (s),End (s),Scientific name,Common name,Confidence,File").kind
        'a CSV of BirdNET-Analyzer'
        >>> layout_of("filename,onset,offset,event_label") is None
        True
    """
    cells = {cell.strip(' "') for cell in header.replace("\t", ",").split(",")}
    return next((layout for layout in LAYOUTS if {layout.onset, layout.offset, layout.label} <= cells), None)


def read_other_table(
    path: Path | str, layout: Layout, *, name: str | None = None, class_column: str | None = None
) -> dict[str, list[Event]]:
    """Read events from a table with the columns of `layout`: per recording, in the order of the rows.

    Args:
        path: the file.
        layout: as `layout_of` found it.
        name: the recording of a table that names none; None: what `path` is named after.
        class_column: another column with the class, for instance ``Scientific name``.

    Raises:
        ValueError: naming file, line number and line, whatever is wrong with them.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "a.BirdNET.results.csv")
        ...     _ = file.write_text("Start (s),End (s),Common name,Confidence\\n3.0,6.0,Eurasian Wren,0.75\\n")
        ...     read_other_table(file, LAYOUTS[0])
        {'a': [Event(onset=3.0, offset=6.0, label='Eurasian Wren', score=0.75)]}
    """
    table = read_table(path, example=f"{layout.filename},{layout.onset},{layout.offset},{layout.label}")
    own_name = recording_of(path) if name is None else name
    if not table.rows and layout.filename not in table.columns:
        return {own_name: []}
    label_column = _label_column(table, layout, class_column)
    events: dict[str, list[Event]] = {}
    columns = (layout.filename, layout.onset, layout.offset, label_column, layout.score)
    for row, *cells in zip(table.rows, *(table.column(column) for column in columns), strict=True):
        filename, onset, offset, label, score = cells
        try:
            in_file = events.setdefault(clean_filename(filename) if filename else own_name, [])
            if label or onset or offset:
                in_file.append(Event(*span(onset, offset), clean_label(label), probability(score), table.where(row)))
        except ValueError as reason:
            raise table.error(row, f"{reason} (read as {layout.kind})") from None
    return events


def _label_column(table: Table, layout: Layout, class_column: str | None) -> str:
    """The column with the class."""
    if class_column is not None and class_column not in table.columns:
        raise ValueError(
            f"{table.path}:1: no column {class_column!r} (the columns are: {', '.join(table.columns)})"
            " - which one holds the class?"
        )
    return layout.label if class_column is None else class_column
