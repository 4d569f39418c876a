"""Strong labels (what happens when), and the small tables that evaluation wants beside them."""

from __future__ import annotations

from pathlib import Path

from earmark.events import Event
from earmark.labels.cells import clean_filename, seconds
from earmark.labels.formats.choosing import Labels, read_events_file
from earmark.labels.formats.folder import read_events_folder
from earmark.labels.recordings import check_ends, recordings_in, true_names
from earmark.labels.table import Table, check_columns, read_table
from earmark.labels.weak import read_weak


def read_strong(
    path: Path | str, *, audio: Path | str | None = None, class_column: str | None = None
) -> dict[str, list[Event]]:
    r"""Read events: per recording, in the order of the file.

    - A TSV or CSV table with the columns filename, onset, offset (in seconds) and event_label, and perhaps score. A row
      whose onset, offset and label are empty says that the file has no event: it is kept, with an empty list.
    - An Audacity label track, a Raven selection table, JAMS, RTTM, a Label Studio export, a CSV of BirdNET-Analyzer:
      content and ending say which.
    - A folder of such files, one per recording and named after it (``a.wav.txt``, or ``a.txt``), at any depth.

    Events of zero length are kept; the metrics decide about them.

    Args:
        path: the file or folder.
        audio: the folder of the recordings, for formats that say less than a recording's name relative to it: ``a``
            becomes ``site 3/a.wav`` where that is the only recording it can mean. None: names stay as they are written.
        class_column: the column that holds the class, where a table has several or an unusual one.

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
    path = Path(path)
    if path.is_dir():
        labels = read_events_folder(path, class_column=class_column)
    else:
        labels = read_events_file(path, class_column=class_column)
    return labels.events if audio is None else _named(labels, Path(audio))


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


def _named(labels: Labels, folder: Path) -> dict[str, list[Event]]:
    """The events under the names of the recordings in a folder, none of them far beyond its recording's end."""
    recordings = recordings_in(folder)
    # What a table calls relative to the folder is taken at its word: it may list recordings that are not there.
    parts = {name: place for name, place in labels.places.items() if name not in labels.in_full}
    names = {name: name for name in labels.in_full} | true_names(parts, recordings)
    named: dict[str, list[Event]] = {}
    for name, in_file in labels.events.items():
        if names[name] in named:
            raise ValueError(
                f"{labels.places[name]}: {names[name]} has labels in another file, too - keep one of the two"
            )
        named[names[name]] = in_file
    check_ends(named, recordings)
    return named
