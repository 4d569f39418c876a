"""Anybody's events and tags, as mappings: from mappings, paths of tables, columns as arrays, or data frames."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from pathlib import Path
from typing import Protocol, TypeGuard, cast

from earmark.checks import did_you_mean, number
from earmark.events import Event

EVENT_COLUMNS = ("filename", "onset", "offset", "event_label")
TAG_COLUMNS = ("filename", "event_label")
# What each column may be called.
SPELLINGS = {
    "filename": ("filename",),
    "onset": ("onset",),
    "offset": ("offset",),
    "event_label": ("event_label", "label"),
    "event_labels": ("event_labels",),
    "score": ("score",),
}


class DataFrame(Protocol):
    """What is needed of a data frame, whichever library it comes from."""

    @property
    def columns(self) -> Iterable[object]:
        """The names of its columns."""

    def __getitem__(self, column: str, /) -> Iterable[object]:
        """One column, row by row."""


AnyEvents = Mapping[str, Iterable[object]] | Sequence[Iterable[object]] | DataFrame | str | Path
AnyTags = AnyEvents
Columns = dict[str, list[object]]
_EVENTS, _TEXTS, _LISTS = frozenset({Event}), frozenset({str}), frozenset({list, tuple})


def events_by_file(name: str, events: AnyEvents) -> Mapping[str, Sequence[Event]]:
    """Return the events of every file, whatever they come as.

    Args:
        name: what to call them in messages.
        events: one of

            - a mapping: file name -> its events, each an `Event` or ``(onset, offset, label)``;
            - the path of a table of strong labels, as `read_strong` reads it;
            - columns: filenames, onsets, offsets and labels, as four arrays or lists, or as a mapping or a data frame
              with the columns filename, onset, offset and event_label (or label), and perhaps score. A row with a
              file name alone (the rest empty, None or NaN) is a file without events, as in a table.

    Raises:
        ValueError: naming `name` and the row or the file, whatever is wrong with them.

    Example:
        >>> columns = ["a.wav", "a.wav", "b.wav"], [0.5, 2.0, None], [1.0, 2.5, None], ["dog", "cat", None]
        >>> {file: [event.label for event in found] for file, found in events_by_file("reference", columns).items()}
        {'a.wav': ['dog', 'cat'], 'b.wav': []}
        >>> events_by_file("reference", {"a.wav": [(0.5, 1.0, "dog")]})["a.wav"][0].offset
        1.0
    """
    if isinstance(events, str | Path):
        from earmark.labels.strong import read_strong  # not above: it loads the readers of audio, which few calls need

        return read_strong(events)
    if _is_by_file(events):
        if _is_ready(events):
            return cast("Mapping[str, Sequence[Event]]", events)
        return {file: _events_of_file(name, file, found) for file, found in events.items()}
    return _events_of_rows(name, _columns(name, events, (EVENT_COLUMNS,)))


def tags_by_file(name: str, tags: AnyTags) -> Mapping[str, AbstractSet[str]]:
    """Return the classes in every file, whatever they come as.

    Args:
        name: what to call them in messages.
        tags: one of

            - a mapping: file name -> its classes, or its events as `events_by_file` takes them;
            - the path of a table of weak labels, as `read_tags` reads it, or of strong ones;
            - columns: filenames and labels, as two arrays or lists with one label per row, or as a mapping or a data
              frame with the columns filename and label, or filename and event_labels (a comma-separated list). A row
              without label is a file without tags. Columns of events will do as well.

    Raises:
        ValueError: naming `name` and the row or the file, whatever is wrong with them.

    Example:
        >>> tags = tags_by_file("reference_tags", (["a.wav", "a.wav", "b.wav"], ["dog", "cat", ""]))
        >>> {file: sorted(labels) for file, labels in tags.items()}
        {'a.wav': ['cat', 'dog'], 'b.wav': []}
        >>> tags_by_file("reference_tags", {"a.wav": [Event(0.5, 1.0, "dog")]})
        {'a.wav': frozenset({'dog'})}
    """
    if isinstance(tags, str | Path):
        return _read_tags(tags)
    if _is_by_file(tags):
        return {file: _tags_of_file(name, file, found) for file, found in tags.items()}
    columns = _columns(name, tags, (TAG_COLUMNS, EVENT_COLUMNS))
    return _labels(_events_of_rows(name, columns)) if "onset" in columns else _tags_of_rows(name, columns)


def _is_by_file(given: AnyEvents) -> TypeGuard[Mapping[str, Iterable[object]]]:
    """Whether it is a mapping of files, and not one of columns."""
    return isinstance(given, Mapping) and "filename" not in given


def _labels(events: Mapping[str, Iterable[Event]]) -> dict[str, frozenset[str]]:
    """The classes of the events of every file."""
    return {file: frozenset(event.label for event in found) for file, found in events.items()}


def _read_tags(path: str | Path) -> Mapping[str, AbstractSet[str]]:
    """Tags from a table of weak labels, or of strong ones."""
    from earmark.labels.strong import read_strong, read_tags
    from earmark.labels.table import read_table

    is_strong = not Path(path).is_dir() and "event_label" in read_table(path).columns
    return _labels(read_strong(path)) if is_strong else read_tags(path)


def _columns(name: str, given: AnyEvents, layouts: Sequence[tuple[str, ...]]) -> Columns:
    """Columns by their names, each as a list, all equally long; `layouts` are those that may come without names."""
    columns: Columns
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        table = cast("DataFrame", given)
        found = [str(column) for column in (given if isinstance(given, Mapping) else table.columns)]
        spelt = {column: [one for one in spellings if one in found] for column, spellings in SPELLINGS.items()}
        columns = {column: _as_list(table[ones[0]]) for column, ones in spelt.items() if ones}
        is_list = layouts[0] == TAG_COLUMNS and "event_labels" in columns
        missing = [
            column for column in layouts[0] if column not in columns and not (column == "event_label" and is_list)
        ]
        if missing:
            near = did_you_mean(missing[0], found)
            raise ValueError(f"{name}: no column {missing[0]!r} (the columns are: {', '.join(found)}){near}")
    else:
        arrays = given if isinstance(given, list | tuple) else ()
        names = [layout for layout in layouts if len(arrays) == len(layout)]
        if not names or any(isinstance(values, str) for values in arrays):
            wanted = " or ".join(f"{len(layout)} arrays ({', '.join(layout)})" for layout in layouts)
            raise ValueError(
                f"{name} must be a mapping of file names, the path of a table, {wanted} or a data frame with such"
                f" columns, got {given!r:.80}"
            )
        columns = {column: _as_list(values) for column, values in zip(names[0], arrays, strict=True)}
    if len({len(values) for values in columns.values()}) > 1:
        lengths = ", ".join(f"{column} {len(values)}" for column, values in columns.items())
        raise ValueError(f"{name}: the columns must be equally long, got {lengths} rows")
    return columns


def _as_list(values: Iterable[object]) -> list[object]:
    """A column as plain Python values."""
    return list(values.tolist()) if hasattr(values, "tolist") else list(values)


def _events_of_rows(name: str, columns: Columns) -> dict[str, list[Event]]:
    """The events of every file, from columns."""
    from earmark.labels.cells import clean_filename, clean_label

    n_rows = len(columns["filename"])
    scores = columns.get("score", [None] * n_rows)
    by_file: dict[str, list[Event]] = {}
    without_events: dict[str, int] = {}
    rows = zip(*(columns[column] for column in EVENT_COLUMNS), scores, strict=True)
    for row, (file, onset, offset, label, score) in enumerate(rows):
        try:
            filename = clean_filename(_text("filename", file))
            in_file = by_file.setdefault(filename, [])
            if all(_is_missing(value) for value in (onset, offset, label)):
                without_events[filename] = row
            else:
                times = (_number("onset", onset), _number("offset", offset))
                in_file.append(Event(*times, clean_label(_text("event_label", label)), _probability(score)))
        except ValueError as reason:
            raise _in_row(name, row, reason) from None
    for filename, row in without_events.items():
        if by_file[filename]:
            n_events = len(by_file[filename])
            complaint = f"{filename} has no event here, but other rows give it {n_events} - which is right?"
            raise _in_row(name, row, complaint)
    return by_file


def _tags_of_rows(name: str, columns: Columns) -> dict[str, set[str]]:
    """The classes of every file, from columns."""
    from earmark.labels.cells import clean_filename, clean_label, split_labels

    is_one = "event_label" in columns
    by_file: dict[str, set[str]] = {}
    labels = columns["event_label" if is_one else "event_labels"]
    for row, (file, label) in enumerate(zip(columns["filename"], labels, strict=True)):
        try:
            in_file = by_file.setdefault(clean_filename(_text("filename", file)), set())
            if not _is_missing(label):
                text = _text("label", label)
                in_file |= {clean_label(text)} if is_one else split_labels(text)
        except ValueError as reason:
            raise _in_row(name, row, reason) from None
    return by_file


def _is_ready(events: Mapping[str, Iterable[object]]) -> bool:
    """Whether it is a mapping from texts to lists of events already, as everything of ours is: nothing to convert."""
    if not (_TEXTS.issuperset(map(type, events)) and _LISTS.issuperset(map(type, events.values()))):
        return False
    return _EVENTS.issuperset(map(type, chain.from_iterable(events.values())))


def _events_of_file(name: str, file: str, found: Iterable[object]) -> Sequence[Event]:
    """The events of one file of a mapping."""
    if not isinstance(file, str):
        raise ValueError(f"{name}: file names must be text, got {file!r}")
    if isinstance(found, list | tuple) and _EVENTS.issuperset(map(type, found)):
        return found
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise ValueError(f"{name}: {file}: the events must be a list, got {found!r:.80}")
    events = []
    for number_in_file, event in enumerate(found):
        if not isinstance(event, Event):
            where = f"{name}: {file}: event {number_in_file} (the first is 0)"
            if not isinstance(event, list | tuple) or len(event) != 3:
                raise ValueError(f"{where} must be an Event or (onset, offset, label), got {event!r:.80}")
            try:
                times = (_number("onset", event[0]), _number("offset", event[1]))
                event = Event(*times, _text("label", event[2]))
            except ValueError as reason:
                raise ValueError(f"{where}: {reason}") from None
        events.append(event)
    return events


def _tags_of_file(name: str, file: str, found: Iterable[object]) -> AbstractSet[str]:
    """The classes of one file of a mapping, from their names or from events."""
    if not isinstance(file, str):
        raise ValueError(f"{name}: file names must be text, got {file!r}")
    if isinstance(found, str) or not isinstance(found, Iterable):
        guess = f" - did you mean {{{found!r}}}?" if isinstance(found, str) else ""
        raise ValueError(f"{name}: {file}: the classes must be a set of names, got {found!r:.80}{guess}")
    listed = list(found)
    if all(isinstance(label, str) for label in listed):
        return frozenset(map(str, listed))
    return frozenset(event.label for event in _events_of_file(name, file, listed))


def _is_missing(value: object) -> bool:
    """Whether a cell is empty: None, NaN, an empty text, or what a data frame has in its place."""
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas; comparing them gives no yes or no
        return True
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _number(column: str, value: object) -> float:
    """A finite number."""
    if _is_missing(value):
        raise ValueError(f"{column} must be a number, got {value!r} - is the cell empty?")
    return float(number(column, cast("float", value), hint="is it text?" if isinstance(value, str) else ""))


def _probability(value: object) -> float | None:
    """The score of an event."""
    if _is_missing(value):
        return None
    hint = "a probability; is it a logit or a percentage?"
    return float(number("score", cast("float", value), at_least=0, at_most=1, hint=hint))


def _text(column: str, value: object) -> str:
    """A name."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        raise ValueError(f"{column} must be text, got {value!r}")
    return str(value)  # NumPy has a kind of its own, which would say so in every message


def _in_row(name: str, row: int, reason: object) -> ValueError:
    """The ValueError that says `reason`, and where."""
    return ValueError(f"{name}: row {row} (the first is 0): {reason}")
