"""Event-based figures: an event is found when a prediction of its class begins and ends where it does, within collars.

Every event is paired with one prediction at most, and as many pairs are made as possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.checks import choice
from earmark.metrics.collars import DCASE_COLLARS, Collars, Pairs, within_collars
from earmark.metrics.counts import COMPATIBLE, Counts
from earmark.metrics.encoding import event_tables
from earmark.metrics.event_table import EventTable, check_same_grid
from earmark.metrics.inputs import AnyEvents
from earmark.metrics.matching import maximum_matching


@dataclass(frozen=True, eq=False)
class Decisions:
    """What became of every event.

    Args:
        found: rows of the reference that have a partner.
        missed: rows of the reference that have none.
        wrong: rows of the predictions that have none.
        substituted: those of `missed` for which a wrong prediction of another class stands.
    """

    found: NDArray[np.int64]
    missed: NDArray[np.int64]
    wrong: NDArray[np.int64]
    substituted: NDArray[np.int64]


def event_counts(
    reference: AnyEvents,
    predicted: AnyEvents,
    *,
    classes: Sequence[str] | None = None,
    onset_collar_seconds: float = 0.2,
    offset_collar_seconds: float = 0.2,
    offset_collar_fraction: float = 0.2,
    tolerance_seconds: float | None = None,
    zero_length: str | None = None,
    compatible: str | None = None,
) -> Counts:
    """Count which reference events were found and which predictions are right.

    Args:
        reference: file name -> its events; a file without events has an empty list. Or the path of a table, columns or
            a data frame: see `events_by_file`.
        predicted: file name -> its events; files that the reference does not have are ignored, with a warning.
        classes: the classes in the wanted order; None takes all that occur, sorted.
        onset_collar_seconds: see `Collars`.
        offset_collar_seconds: see `Collars`.
        offset_collar_fraction: see `Collars`.
        tolerance_seconds: see `Collars`; None is 1e-6, and 0 when compatible with sed_eval.
        zero_length: ``"drop"`` or ``"keep"`` for events that end where they begin, see `event_tables`; None is
            ``"drop"``, and ``"keep"`` when compatible with sed_eval.
        compatible: ``"sed_eval"`` gives that tool's own figures.

    Raises:
        ValueError: a label not in `classes`, impossible times, or an unknown option.

    Example:
        >>> from earmark.events import Event
        >>> reference = {"a.wav": [Event(1.0, 2.0, "dog"), Event(4.0, 9.0, "cat")]}
        >>> predicted = {"a.wav": [Event(1.2, 2.1, "dog"), Event(4.0, 8.0, "cat"), Event(6.0, 7.0, "dog")]}
        >>> counts = event_counts(reference, predicted)
        >>> counts.classes, counts.true_positives, counts.false_positives
        (('cat', 'dog'), array([1, 1]), array([0, 1]))
    """
    if compatible is not None:
        choice("compatible", compatible, COMPATIBLE)
    if tolerance_seconds is None:
        tolerance_seconds = DCASE_COLLARS.tolerance_seconds if compatible is None else 0.0
    if zero_length is None:
        zero_length = "drop" if compatible is None else "keep"
    collars = Collars(onset_collar_seconds, offset_collar_seconds, offset_collar_fraction, tolerance_seconds)
    tables = event_tables(reference, predicted, classes=classes, zero_length=zero_length)
    tables[2].warn()
    return count_events(tables[0], tables[1], collars=collars, compatible=compatible)


def count_events(
    reference: EventTable, predicted: EventTable, *, collars: Collars = DCASE_COLLARS, compatible: str | None = None
) -> Counts:
    """Count as `event_counts` does, from tables.

    Substitutions are pairs that lie within the collars of each other, differ in class, and have no partner yet. Which
    of several equally large matchings is taken, and so how many of them there are, depends on the order of the events:
    by time, or for sed_eval as they stand in the list.

    Example:
        >>> from earmark.events import Event
        >>> reference, predicted, _ = event_tables({"a.wav": [Event(0, 1, "dog")]}, {"a.wav": [Event(0, 1, "cat")]})
        >>> counts = count_events(reference, predicted)     # cat for dog: one of each, and one substitution
        >>> counts.classes, counts.false_positives, counts.false_negatives, counts.substitutions
        (('cat', 'dog'), array([1, 0]), array([0, 1]), 1)
    """
    decisions = decide_events(reference, predicted, collars=collars, compatible=compatible)
    n_classes = len(reference.classes)
    return Counts(
        "event",
        reference.classes,
        np.bincount(reference.class_index[decisions.found], minlength=n_classes),
        np.bincount(predicted.class_index[decisions.wrong], minlength=n_classes),
        np.bincount(reference.class_index[decisions.missed], minlength=n_classes),
        len(decisions.substituted),
        compatible,
    )


def decide_events(
    reference: EventTable, predicted: EventTable, *, collars: Collars = DCASE_COLLARS, compatible: str | None = None
) -> Decisions:
    """Return which events `count_events` counts as what.

    Example:
        >>> from earmark.events import Event
        >>> dogs = [Event(0, 1, "dog"), Event(5, 6, "dog")], [Event(5.1, 6.1, "dog"), Event(8, 9, "dog")]
        >>> reference, predicted, _ = event_tables({"a.wav": dogs[0]}, {"a.wav": dogs[1]})
        >>> decide_events(reference, predicted)
        Decisions(found=array([1]), missed=array([0]), wrong=array([1]), substituted=array([], dtype=int64))
    """
    check_same_grid(reference, predicted)
    in_list_order = compatible == "sed_eval"
    found, right = match_events(reference, predicted, collars=collars, in_list_order=in_list_order)
    is_missed, is_wrong = np.full(len(reference), True), np.full(len(predicted), True)
    is_missed[found], is_wrong[right] = False, False
    missed = np.flatnonzero(is_missed)
    substituted = _substituted(reference.rows(is_missed), predicted.rows(is_wrong), collars, in_list_order)
    return Decisions(found, missed, np.flatnonzero(is_wrong), missed[substituted])


def match_events(
    reference: EventTable, predicted: EventTable, *, collars: Collars = DCASE_COLLARS, in_list_order: bool = False
) -> Pairs:
    """Return the largest set of pairs of reference rows and predicted rows that are the same event.

    Args:
        reference: what is true.
        predicted: what was found.
        collars: how far apart the two may be.
        in_list_order: among equally large sets, the one that visiting the rows in their order gives, as sed_eval does;
            otherwise the one that visiting by time gives, whatever the order of the rows.

    Example:
        >>> from earmark.events import Event
        >>> dogs = [Event(0, 1, "dog"), Event(5, 6, "dog")], [Event(5.1, 6.1, "dog"), Event(8, 9, "dog")]
        >>> reference, predicted, _ = event_tables({"a.wav": dogs[0]}, {"a.wav": dogs[1]})
        >>> match_events(reference, predicted)     # the second of the reference is the first of the predictions
        (array([1]), array([0]))
    """
    pairs = within_collars(reference, predicted, reference.cell, predicted.cell, collars)
    rows, columns = pairs
    # Nearly all events have one candidate that has no other: those are pairs. Only the rest needs to be matched.
    is_only = (np.bincount(rows, minlength=len(reference))[rows] == 1) & (
        np.bincount(columns, minlength=len(predicted))[columns] == 1
    )
    if is_only.all():
        return pairs
    neighbours: dict[int, list[int]] = {}
    for row, column in _visited(rows[~is_only], columns[~is_only], reference, predicted, in_list_order):
        neighbours.setdefault(column, []).append(row)
    partners = maximum_matching(neighbours)
    return (
        np.concatenate([rows[is_only], np.array(list(partners), dtype=np.int64)]),
        np.concatenate([columns[is_only], np.array(list(partners.values()), dtype=np.int64)]),
    )


def _substituted(missed: EventTable, wrong: EventTable, collars: Collars, in_list_order: bool) -> NDArray[np.int64]:
    """Rows of misses that have a false positive of another class within the collars: first come, first served."""
    rows, columns = within_collars(missed, wrong, missed.file_index, wrong.file_index, collars)
    used_rows: set[int] = set()
    used_columns: set[int] = set()
    for row, column in _visited(rows, columns, missed, wrong, in_list_order):
        if row not in used_rows and column not in used_columns:
            used_rows.add(row)
            used_columns.add(column)
    return np.array(sorted(used_rows), dtype=np.int64)


def _visited(
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    reference: EventTable,
    predicted: EventTable,
    in_list_order: bool,
) -> list[tuple[int, int]]:
    """Pairs in the order in which they are visited."""
    if in_list_order:
        order = np.lexsort((columns, rows))
    else:
        # Events equal in onset and offset can be exchanged for each other, so nothing else need decide.
        order = np.lexsort(
            (
                predicted.offset_seconds[columns],
                predicted.onset_seconds[columns],
                reference.offset_seconds[rows],
                reference.onset_seconds[rows],
            )
        )
    return list(zip(rows[order].tolist(), columns[order].tolist(), strict=True))
