"""Strong labels as earmark writes them: a TSV or CSV table with the columns filename, onset, offset, event_label."""

from __future__ import annotations

from pathlib import Path

from earmark.events import Event
from earmark.labels.cells import clean_filename, clean_label, probability, span
from earmark.labels.table import Row, check_columns, read_table

_EXAMPLE = "filename\tonset\toffset\tevent_label\na.wav\t0.5\t1.25\tDog\nb.wav\t\t\t"


def read_events_table(
    path: Path | str, *, name: str | None = None, class_column: str | None = None
) -> dict[str, list[Event]]:
    r"""Read events from a table: per file, in the order of the rows.

    Args:
        path: the file.
        name: the recording, where the table may do without the column filename; None: it may not.
        class_column: the column with the classes; None: event_label.

    Raises:
        ValueError: naming file, line number and line, whatever is wrong with them.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "strong.tsv")
        ...     _ = file.write_text('filename\tonset\toffset\tevent_label\na.wav\t0.5\t1.25\tDog\nb.wav\t\t\t\n')
        ...     read_events_table(file)
        {'a.wav': [Event(onset=0.5, offset=1.25, label='Dog', score=None)], 'b.wav': []}
    """
    label_column = "event_label" if class_column is None else class_column
    table = read_table(path, example=_EXAMPLE)
    required = ("filename", "onset", "offset", label_column)
    if table.columns[:2] == required[1:3] and label_column not in table.columns:
        raise ValueError(
            f"{table.path}:1: the columns {', '.join(table.columns)} are those of frame scores, but events are expected"
            " here (filename, onset, offset, event_label) - are they meant for --scores?"
        )
    has_own_name = name is not None and "filename" not in table.columns
    check_columns(table, required=required[1:] if has_own_name else required, optional=("score",), example=_EXAMPLE)
    events: dict[str, list[Event]] = {} if name is None or not has_own_name else {name: []}
    without_events: dict[str, Row] = {}
    cells = [table.column(column) for column in (*required, "score")]
    looks_odd = any("_" in "".join(column) for column in cells[1:3])  # float() takes "1_000", which is no time
    for row, file, onset, offset, label, score in zip(table.rows, *cells, strict=True):
        try:
            filename = clean_filename(name if name is not None and has_own_name else file)
            if looks_odd or not onset or not offset:
                event = _event(onset, offset, label, score, table.where(row))
            else:
                event = _plain_event(onset, offset, label, score, table.where(row))
        except ValueError as reason:
            raise table.error(row, reason) from None
        in_file = events.setdefault(filename, [])
        if event is None:
            without_events[filename] = row
        else:
            in_file.append(event)
    for filename, row in without_events.items():
        if events[filename]:
            raise table.error(
                row,
                f"this row says {filename} has no event, but other rows give it"
                f" {len(events[filename])} - are onset, offset and label missing here?",
            )
    return events


def _plain_event(onset: str, offset: str, label: str, score: str, where: str) -> Event | None:
    """The event of a row in which nothing is wrong, quickly; where something is, `_event` says what."""
    try:
        return Event(float(onset), float(offset), clean_label(label), probability(score) if score else None, where)
    except ValueError:
        return _event(onset, offset, label, score, where)


def _event(onset: str, offset: str, label: str, score: str, where: str) -> Event | None:
    """The event of one row; None when the row says there is none."""
    if not (onset or offset or label or score):
        return None
    if not onset and not offset:
        raise ValueError("onset and offset are empty, but label or score is not - when did it happen?")
    begin, end = span(onset, offset)
    return Event(begin, end, clean_label(label), probability(score), where)
