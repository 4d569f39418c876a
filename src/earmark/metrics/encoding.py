"""From event lists and tag lists by file to tables: encoded once, counted as often as one likes.

The files that count are those of the reference: where nobody listened, nothing is right or wrong. What was predicted
for other files is left out, and how much that was is kept to be told.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from earmark.checks import choice, known_labels, names
from earmark.events import Event
from earmark.metrics.event_table import EventTable, TagTable, one_form
from earmark.metrics.inputs import AnyEvents, AnyTags, events_by_file, tags_by_file

Value = TypeVar("Value")


@dataclass(frozen=True)
class LeftOut:
    """What is in the lists but not in the tables.

    Args:
        ignored_files: predicted files that the reference does not have.
        n_ignored: the events or tags in them.
        n_unpredicted_files: reference files that the predictions do not mention; nothing was found there, and they
            do count.
        n_zero_length_reference: reference events without a length that were dropped.
        n_zero_length_predicted: predicted events without a length that were dropped.

    Example:
        >>> left_out = event_tables({"a.wav": [Event(2.0, 2.0, "dog")]}, {"b.wav": [Event(0.0, 1.0, "dog")]})[2]
        >>> left_out.ignored_files, left_out.n_unpredicted_files, left_out.n_zero_length_reference
        (('b.wav',), 1, 1)
    """

    ignored_files: tuple[str, ...] = ()
    n_ignored: int = 0
    n_unpredicted_files: int = 0
    n_zero_length_reference: int = 0
    n_zero_length_predicted: int = 0

    def warn(self) -> None:
        """Warn of it in the name of the function that the caller called, where no report will say it.

        Example:
            >>> with warnings.catch_warnings(record=True) as caught:
            ...     warnings.simplefilter("always")
            ...     LeftOut(ignored_files=("b.wav",), n_ignored=1).warn()
            >>> print(caught[0].message)
            1 predicted files are not in the reference and are ignored (first: 'b.wav')
        """
        if self.ignored_files:
            warnings.warn(
                f"{len(self.ignored_files)} predicted files are not in the reference and are ignored "
                f"(first: {self.ignored_files[0]!r})",
                stacklevel=3,
            )
        if self.n_zero_length_reference + self.n_zero_length_predicted > 0:
            warnings.warn(
                f"{self.n_zero_length_reference} reference and {self.n_zero_length_predicted} predicted "
                "events of zero length are left out; zero_length='keep' counts them",
                stacklevel=3,
            )


def event_tables(
    reference: AnyEvents,
    predicted: AnyEvents,
    *,
    classes: Sequence[str] | None = None,
    zero_length: str = "drop",
) -> tuple[EventTable, EventTable, LeftOut]:
    """Encode two event lists over the files of the reference.

    File and class names that differ in their unicode form alone are the same; ``a.wav`` and ``a.flac`` are not.

    Args:
        reference: file name -> its events; a file without events has an empty list, and false alarms in it count.
            Or the path of a table, columns or a data frame: see `events_by_file`.
        predicted: the same of the predictions.
        classes: the classes in the wanted order; None takes all that occur in the files that count, sorted.
        zero_length: ``"drop"`` leaves out events that end where they begin ("in the clip, but never heard"), on both
            sides; ``"keep"`` counts them.

    Returns:
        the reference, the predictions, and what was left out.

    Raises:
        ValueError: a label that is not in `classes`, or times that cannot be.

    Example:
        >>> lists = {"a.wav": [Event(0, 1, "dog")], "b.wav": []}, {"c.wav": [Event(0, 1, "cat")]}
        >>> reference, predicted, left_out = event_tables(*lists)
        >>> reference.files, reference.classes, len(predicted), left_out.ignored_files
        (('a.wav', 'b.wav'), ('dog',), 0, ('c.wav',))
    """
    by_file = events_by_file("reference", reference), events_by_file("predicted", predicted)
    return encode_events(*by_file, classes=classes, zero_length=zero_length)


def encode_events(
    reference: Mapping[str, Sequence[Event]],
    predicted: Mapping[str, Sequence[Event]],
    *,
    classes: Sequence[str] | None,
    zero_length: str,
) -> tuple[EventTable, EventTable, LeftOut]:
    """Encode as `event_tables` does, from mappings alone.

    Example:
        >>> len(encode_events({"a.wav": [Event(0, 1, "dog")]}, {}, classes=None, zero_length="drop")[0])
        1
    """
    choice("zero_length", zero_length, ["drop", "keep"])
    files = _numbered(reference)
    counted, ignored = _split(predicted, files)
    sides = {"reference": reference, "predicted": counted}
    labels = {event.label for by_file in sides.values() for events in by_file.values() for event in events}
    names, number = _class_numbers(labels, classes, sides)
    tables, n_dropped = [], []
    for side, by_file in sides.items():
        try:
            table = _event_table(by_file, files, names, number)
        except ValueError as error:
            raise ValueError(f"{side}: {error}") from None
        has_length = table.onset_nanoseconds < table.offset_nanoseconds
        is_dropped = ~has_length if zero_length == "drop" else np.zeros_like(has_length)
        tables.append(table.rows(~is_dropped) if is_dropped.any() else table)
        n_dropped.append(int(is_dropped.sum()))
    n_ignored = sum(len(predicted[name]) for name in ignored)
    return tables[0], tables[1], LeftOut(ignored, n_ignored, _n_missing(files, counted), *n_dropped)


def tag_tables(
    reference_tags: AnyTags,
    predicted_tags: AnyTags,
    *,
    classes: Sequence[str] | None = None,
) -> tuple[TagTable, TagTable, LeftOut]:
    """Encode two tag lists over the files of the reference, as `event_tables` does with events.

    Args:
        reference_tags: file name -> the classes in it. Or the path of a table, columns or a data frame, of tags or of
            events: see `tags_by_file`.
        predicted_tags: the same of the predictions.
        classes: the classes in the wanted order; None takes all that occur in the files that count, sorted.

    Raises:
        ValueError: a tag that is not in `classes`.

    Example:
        >>> reference, predicted, left_out = tag_tables({"a.wav": {"dog"}, "b.wav": set()}, {"a.wav": {"cat", "dog"}})
        >>> len(reference), len(predicted), left_out.n_unpredicted_files
        (1, 2, 1)
    """
    by_file = tags_by_file("reference_tags", reference_tags), tags_by_file("predicted_tags", predicted_tags)
    return encode_tags(*by_file, classes=classes)


def encode_tags(
    reference_tags: Mapping[str, AbstractSet[str]],
    predicted_tags: Mapping[str, AbstractSet[str]],
    *,
    classes: Sequence[str] | None,
) -> tuple[TagTable, TagTable, LeftOut]:
    """Encode as `tag_tables` does, from mappings alone.

    Example:
        >>> len(encode_tags({"a.wav": {"dog"}}, {}, classes=None)[0])
        1
    """
    files = _numbered(reference_tags)
    counted, ignored = _split(predicted_tags, files)
    labels = {tag for side in (reference_tags, counted) for tags in side.values() for tag in tags}
    sides = {"reference_tags": reference_tags, "predicted_tags": counted}
    names, number = _class_numbers(labels, classes, sides)
    tables = []
    for by_file in (reference_tags, counted):
        # A set, because two spellings of one name are one.
        cells = {files[one_form(name)] * len(names) + number[tag] for name, tags in by_file.items() for tag in tags}
        cell = np.sort(np.fromiter(cells, dtype=np.int64, count=len(cells)))
        tables.append(TagTable(tuple(files), names, cell // max(1, len(names)), cell % max(1, len(names))))
    n_ignored = sum(len(predicted_tags[name]) for name in ignored)
    return tables[0], tables[1], LeftOut(ignored, n_ignored, _n_missing(files, counted))


def _event_table(
    by_file: Mapping[str, Sequence[Event]], files: Mapping[str, int], names: tuple[str, ...], number: Mapping[str, int]
) -> EventTable:
    """One side as a table, its rows in the order of the list."""
    events = [event for found in by_file.values() for event in found]
    file_index = np.repeat(
        np.array([files[one_form(name)] for name in by_file], dtype=np.int64),
        np.array([len(found) for found in by_file.values()], dtype=np.int64),
    )
    return EventTable(
        tuple(files),
        names,
        file_index,
        np.array([number[event.label] for event in events], dtype=np.int64),
        np.array([event.onset for event in events], dtype=np.float64),
        np.array([event.offset for event in events], dtype=np.float64),
    )


def _numbered(by_file: Iterable[str]) -> dict[str, int]:
    """File name -> its number, in the order given."""
    return {name: number for number, name in enumerate(dict.fromkeys(one_form(name) for name in by_file))}


def _split(by_file: Mapping[str, Value], files: Mapping[str, int]) -> tuple[dict[str, Value], tuple[str, ...]]:
    """What concerns `files`, and the names of all other files."""
    return (
        {name: value for name, value in by_file.items() if one_form(name) in files},
        tuple(name for name in by_file if one_form(name) not in files),
    )


def _n_missing(files: Mapping[str, int], by_file: Iterable[str]) -> int:
    """How many of `files` are not mentioned."""
    return len(files) - len({one_form(name) for name in by_file})


def _class_numbers(
    labels: AbstractSet[str],
    classes: Sequence[str] | None,
    sides: Mapping[str, Mapping[str, Iterable[Event | str]]],
) -> tuple[tuple[str, ...], dict[str, int]]:
    """The class names in one unicode form, and for every label as it is written the number of its class."""
    spellings = {label: one_form(label) for label in labels}
    for label in spellings:
        if not label or label != label.strip():
            where = next(f"{side}: {name}" for side, by_file in sides.items() for name, items in by_file.items()
                         if label in _labels(items))  # fmt: skip
            raise ValueError(f"{where}: a class must have a name without blanks around it, got {label!r} - strip it")
    if classes is None:
        in_order = tuple(sorted(set(spellings.values())))
    else:
        in_order = names("classes", [one_form(name) for name in names("classes", classes)])
    position = {name: index for index, name in enumerate(in_order)}
    if not position.keys() >= set(spellings.values()):
        for side, by_file in sides.items():
            for name, items in by_file.items():
                found = sorted(spellings[label] for label in _labels(items))
                known_labels(found, in_order, where=f"{side}: {name}")
    return in_order, {label: position[name] for label, name in spellings.items()}


def _labels(items: Iterable[Event | str]) -> set[str]:
    """The classes of one file, of its events or its tags."""
    return {item if isinstance(item, str) else item.label for item in items}
