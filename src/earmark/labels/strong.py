"""Strong labels (what happens when), and the small tables that evaluation wants beside them."""

from __future__ import annotations

from pathlib import Path

from earmark.events import Event
from earmark.labels.cells import clean_filename, clean_label, seconds, span
from earmark.labels.table import Row, Table, check_columns, read_table
from earmark.labels.weak import read_weak


def read_strong(path: Path | str) -> dict[str, list[Event]]:
    r"""Read events: per file, in the order of the rows.

    A TSV or CSV file with the columns filename, onset, offset (in seconds) and event_label, and perhaps score. A row
    whose onset, offset and label are empty says that the file has no event: the file is kept, with an empty list.
    Events of zero length are kept as well; the metrics decide about them. Other columns are ignored.

    Raises:
        ValueError: naming file, line number and line, whatever is wrong with them.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "strong.tsv")
        ...     _ = file.write_text('filename\tonset\toffset\tevent_label\na.wav\t0.5\t1.25\tDog\nb.wav\t\t\t\n')
        ...     read_strong(file)
        {'a.wav': [Event(onset=0.5, offset=1.25, label='Dog', score=None)], 'b.wav': []}
    """
    example = "filename\tonset\toffset\tevent_label\na.wav\t0.5\t1.25\tDog\nb.wav\t\t\t"
    table = read_table(path, example=example)
    required = ("filename", "onset", "offset", "event_label")
    check_columns(table, required=required, optional=("score",), example=example)
    events: dict[str, list[Event]] = {}
    without_events: dict[str, Row] = {}
    cells = [table.column(name) for name in ("filename", "onset", "offset", "event_label", "score")]
    looks_odd = any("_" in "".join(column) for column in cells[1:3])  # float() takes "1_000", which is no time
    for row, name, onset, offset, label, score in zip(table.rows, *cells, strict=True):
        try:
            filename = clean_filename(name)
            if looks_odd or not onset or not offset:
                event = _event(onset, offset, label, score)
            else:
                event = _plain_event(onset, offset, label, score)
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


def read_tags(path: Path | str) -> dict[str, frozenset[str]]:
    r"""Read the classes each whole file contains, from weak labels in any form that `read_weak` takes.

    Raises:
        ValueError: as `read_weak`, and for rows that tag only a span or for which not every class was listened for:
            the figures of whole files cannot be computed from them.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "tags.tsv")
        ...     _ = file.write_text('filename\tevent_labels\na.wav\tDog\nb.wav\t\n')
        ...     read_tags(file)
        {'a.wav': frozenset({'Dog'}), 'b.wav': frozenset()}
    """
    tags = {}
    for clip in read_weak(path):
        if clip.onset is not None:
            raise ValueError(
                f"{clip.where}: tags of whole files are expected, this row tags {clip.onset:g}"
                f" to {clip.offset:g} s of {clip.filename} - remove onset and offset, or cut the file"
            )
        if clip.known is not None:
            raise ValueError(
                f"{clip.where}: every class must have been listened for, known_classes leaves some of"
                f" them open for {clip.filename} - evaluate on fully tagged files"
            )
        tags[clip.filename] = clip.labels
    return tags


def read_durations(path: Path | str) -> dict[str, float]:
    r"""Read the length of each file in seconds, from the columns filename and duration.

    Raises:
        ValueError: naming file, line number and line; also for a duration of zero and for a file that comes twice.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "durations.tsv")
        ...     _ = file.write_text('filename\tduration\na.wav\t9.98\n')
        ...     read_durations(file)
        {'a.wav': 9.98}
    """
    example = "filename\tduration\na.wav\t9.98"
    table = read_table(path, example=example)
    check_columns(table, required=("filename", "duration"), example=example)
    durations: dict[str, float] = {}
    for row in table.rows:
        try:
            filename = clean_filename(table.cell(row, "filename"))
            duration = seconds("duration", table.cell(row, "duration"))
            if duration == 0:
                raise ValueError(f"duration must be above 0, got {table.cell(row, 'duration')} - is {filename} empty?")
            if durations.setdefault(filename, duration) != duration:
                raise ValueError(f"{filename} has another duration above, {durations[filename]:g} s - which is right?")
        except ValueError as reason:
            raise table.error(row, reason) from None
    return durations


def read_groups(path: Path | str) -> dict[str, str]:
    r"""Read what each file belongs to (patient, site, recorder): column filename and one other.

    The other column is called group, or it is the only other one.

    Raises:
        ValueError: naming file, line number and line; also for an empty group and for a file in two groups.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "groups.tsv")
        ...     _ = file.write_text('filename\tpatient\na.wav\tP7\n')
        ...     read_groups(file)
        {'a.wav': 'P7'}
    """
    example = "filename\tgroup\na.wav\tpatient 7"
    table = read_table(path, example=example)
    check_columns(table, required=("filename",), example=example)
    column = _group_column(table)
    groups: dict[str, str] = {}
    for row in table.rows:
        try:
            filename, group = clean_filename(table.cell(row, "filename")), table.cell(row, column)
            if not group:
                raise ValueError(f"{column} of {filename} is empty - a file on its own needs a group of its own")
            if groups.setdefault(filename, group) != group:
                raise ValueError(
                    f"{filename} is in {column} {group!r} here and in {groups[filename]!r} above"
                    " - a file belongs to one group"
                )
        except ValueError as reason:
            raise table.error(row, reason) from None
    return groups


def _plain_event(onset: str, offset: str, label: str, score: str) -> Event | None:
    """The event of a row in which nothing is wrong, quickly; where something is, `_event` says what."""
    try:
        return Event(float(onset), float(offset), clean_label(label), _score(score) if score else None)
    except ValueError:
        return _event(onset, offset, label, score)


def _event(onset: str, offset: str, label: str, score: str) -> Event | None:
    """The event of one row; None when the row says there is none."""
    if not (onset or offset or label or score):
        return None
    if not onset and not offset:
        raise ValueError("onset and offset are empty, but label or score is not - when did it happen?")
    begin, end = span(onset, offset)
    return Event(begin, end, clean_label(label), _score(score))


def _score(text: str) -> float | None:
    """The probability in a cell; None when it is empty."""
    if not text:
        return None
    try:
        score = float(text)
    except ValueError:
        score = -1.0
    if not 0 <= score <= 1:
        raise ValueError(f"score must be a probability from 0 to 1, got {text!r} - is it a logit or a percentage?")
    return score


def _group_column(table: Table) -> str:
    """The column that holds the group."""
    others = [column for column in table.columns if column != "filename"]
    if "group" in others:
        return "group"
    if len(others) != 1:
        raise ValueError(
            f"{table.path}:1: one column must be called 'group' or be the only one beside filename,"
            f" got {', '.join(others) if others else 'none'} - which one says what belongs together?"
        )
    return others[0]
