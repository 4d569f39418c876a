"""Segment-based figures: time is cut into segments of equal length, and each class is in a segment or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.checks import choice, number
from earmark.metrics.accuracies import SegmentCounts
from earmark.metrics.counts import COMPATIBLE
from earmark.metrics.encoding import event_tables
from earmark.metrics.event_table import EventTable, check_line, check_same_grid, nanoseconds, one_form, reached_segments
from earmark.metrics.inputs import AnyEvents

LATE_NANOSECONDS = 1_000_000  # tables round to milliseconds: an event ends after its file when it is later by more


@dataclass(frozen=True, eq=False)
class _Runs:
    """Pieces of time in whole segments, sorted, none touching another one of its group.

    All groups lie one after the other on one line of `group_length` segments each.
    """

    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    group_length: int

    @property
    def cell(self) -> NDArray[np.int64]:
        """File and class of each run, as the tables number them: (runs,)."""
        return self.start // self.group_length


@dataclass(frozen=True, eq=False)
class SegmentDecisions:
    """How many segments were decided how, before they are added up.

    Args:
        reference_cell: (runs,) file and class of each run of reference segments, as `TagTable.cell` numbers them.
        n_reference: (runs,) its segments.
        n_found: (runs,) those of them that the predictions have too.
        predicted_cell: (predicted runs,).
        n_predicted: (predicted runs,).
        stretch_file: (stretches,) the file of each stretch of time in which nothing begins or ends.
        n_shared: (stretches,) in its segments, the classes of the side that has fewer.
        n_segments: (files,) all segments of a file.
        n_late_events: events of both sides that end after the duration given for their file.
    """

    reference_cell: NDArray[np.int64]
    n_reference: NDArray[np.int64]
    n_found: NDArray[np.int64]
    predicted_cell: NDArray[np.int64]
    n_predicted: NDArray[np.int64]
    stretch_file: NDArray[np.int64]
    n_shared: NDArray[np.int64]
    n_segments: NDArray[np.int64]
    n_late_events: int


def segment_counts(
    reference: AnyEvents,
    predicted: AnyEvents,
    *,
    classes: Sequence[str] | None = None,
    segment_seconds: float = 1.0,
    durations: Mapping[str, float] | None = None,
    zero_length: str | None = None,
    compatible: str | None = None,
) -> SegmentCounts:
    """Count the segments in which reference and predictions agree; an event fills every segment it reaches into.

    Args:
        reference: file name -> its events; a file without events has an empty list. Or the path of a table, columns or
            a data frame: see `events_by_file`.
        predicted: file name -> its events; files that the reference does not have are ignored, with a warning.
        classes: the classes in the wanted order; None takes all that occur, sorted.
        segment_seconds: length of a segment.
        durations: file name -> its length in seconds, which decides the true negatives; where an event ends later the
            file is that long, and `n_late_events` counts it. None: a file is as long as the last offset on either
            side.
        zero_length: ``"drop"`` or ``"keep"`` for events that end where they begin. Kept ones fill the segment they are
            in, and none on a border. None is ``"drop"``, and ``"keep"`` when compatible with sed_eval.
        compatible: ``"sed_eval"`` gives that tool's own figures: borders in floating point, and what lies beyond the
            duration is cut off.

    Raises:
        ValueError: a label not in `classes`, impossible times, a file without duration, or an unknown option.

    Example:
        >>> from earmark.events import Event
        >>> counts = segment_counts({"a.wav": [Event(0.5, 2.5, "dog")]}, {"a.wav": [Event(1.0, 3.5, "dog")]})
        >>> counts.true_positives, counts.false_positives, counts.false_negatives        # 0-3 against 1-4
        (array([2]), array([1]), array([1]))
    """
    if compatible is not None:
        choice("compatible", compatible, COMPATIBLE)
    if zero_length is None:
        zero_length = "drop" if compatible is None else "keep"
    tables = event_tables(reference, predicted, classes=classes, zero_length=zero_length)
    tables[2].warn()
    return count_segments(
        tables[0], tables[1], segment_seconds=segment_seconds, durations=durations, compatible=compatible
    )


def count_segments(
    reference: EventTable,
    predicted: EventTable,
    *,
    segment_seconds: float = 1.0,
    durations: Mapping[str, float] | None = None,
    compatible: str | None = None,
) -> SegmentCounts:
    """Count as `segment_counts` does, from tables.

    A segment in which classes were missed and others made up has as many substitutions as the fewer of the two.
    """
    decided = decide_segments(
        reference, predicted, segment_seconds=segment_seconds, durations=durations, compatible=compatible
    )
    n_classes = len(reference.classes)
    hits, n_true, n_predicted = (
        added_up(cell % max(1, n_classes), n_segments, n_classes)
        for cell, n_segments in (
            (decided.reference_cell, decided.n_found),
            (decided.reference_cell, decided.n_reference),
            (decided.predicted_cell, decided.n_predicted),
        )
    )
    return SegmentCounts(
        "segment",
        reference.classes,
        hits,
        n_predicted - hits,
        n_true - hits,
        int(decided.n_shared.sum() - hits.sum()),
        compatible,
        segment_seconds,
        int(decided.n_segments.sum()),
        decided.n_late_events,
    )


def decide_segments(
    reference: EventTable,
    predicted: EventTable,
    *,
    segment_seconds: float = 1.0,
    durations: Mapping[str, float] | None = None,
    compatible: str | None = None,
) -> SegmentDecisions:
    """Return the runs of segments that `count_segments` adds up by class; files or cells can be added up as well.

    Example:
        >>> from earmark.events import Event
        >>> reference, predicted, _ = event_tables({"a.wav": [Event(0, 3, "dog")]}, {"a.wav": [Event(2, 5, "dog")]})
        >>> decided = decide_segments(reference, predicted)
        >>> decided.n_reference, decided.n_found, decided.n_predicted, decided.n_segments
        (array([3]), array([1]), array([3]), array([5]))
    """
    check_same_grid(reference, predicted)
    number("segment_seconds", segment_seconds, at_least=1e-3, hint="in seconds, for instance 1.0")
    in_floating_point = compatible == "sed_eval"
    sides = (reference, predicted)
    spans = [_segments_of(side, segment_seconds, in_floating_point) for side in sides]
    lengths = np.zeros(len(reference.files), dtype=np.int64)
    for side, (_, stop) in zip(sides, spans, strict=True):
        np.maximum.at(lengths, side.file_index, stop)
    n_late_events = 0
    if durations is not None:
        seconds = _seconds_of(durations, reference.files)
        n_late_events = sum(_n_late(side, seconds) for side in sides)
        given = _n_segments(seconds, segment_seconds, in_floating_point)
        if in_floating_point:
            spans = [
                (start, np.minimum(stop, given[side.file_index]))
                for side, (start, stop) in zip(sides, spans, strict=True)
            ]
        lengths = given if in_floating_point else np.maximum(lengths, given)

    group_length = int(lengths.max(initial=0)) + 1
    check_line(reference, group_length)
    true_runs, predicted_runs = (
        _merged(side.cell, span, group_length) for side, span in zip(sides, spans, strict=True)
    )
    return SegmentDecisions(
        true_runs.cell,
        true_runs.stop - true_runs.start,
        _covered(true_runs, predicted_runs),
        predicted_runs.cell,
        predicted_runs.stop - predicted_runs.start,
        *_smaller_side(true_runs, predicted_runs, len(reference.classes)),
        lengths,
        n_late_events,
    )


def added_up(index: NDArray[np.int64], values: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Add up the values of every index from 0 to n - 1: (rows,), (rows,) -> (n,).

    Example:
        >>> added_up(np.array([0, 2, 0]), np.array([5, 6, 7]), 3)
        array([12,  0,  6])
    """
    # bincount adds in double precision, which is exact up to 2^53 segments.
    return np.bincount(index, weights=values, minlength=n).astype(np.int64)


def _segments_of(
    table: EventTable, segment_seconds: float, in_floating_point: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First segment, and the one after the last, of every event: (rows,), (rows,)."""
    if in_floating_point:
        return (
            np.floor(table.onset_seconds / segment_seconds).astype(np.int64),
            np.ceil(table.offset_seconds / segment_seconds).astype(np.int64),
        )
    return reached_segments(table.onset_nanoseconds, table.offset_nanoseconds, segment_seconds)


def _seconds_of(durations: Mapping[str, float], files: Sequence[str]) -> NDArray[np.float64]:
    """The duration of every file: (files,)."""
    durations = {one_form(name): seconds for name, seconds in durations.items()}
    missing = [name for name in files if name not in durations]
    if missing:
        raise ValueError(
            f"durations must have every file of the reference, {len(missing)} are missing (first: {missing[0]!r})"
        )
    seconds = [number(f"duration of {name}", durations[name], at_least=0, at_most=1e9) for name in files]
    return np.array(seconds, dtype=np.float64)


def _n_late(table: EventTable, seconds: NDArray[np.float64]) -> int:
    """How many events end after their file, given the duration of every file."""
    return int((table.offset_nanoseconds > nanoseconds(seconds)[table.file_index] + LATE_NANOSECONDS).sum())


def _n_segments(seconds: NDArray[np.float64], segment_seconds: float, in_floating_point: bool) -> NDArray[np.int64]:
    """Segments of every file, given its duration: (files,)."""
    if in_floating_point:
        return np.ceil(seconds / segment_seconds).astype(np.int64)
    ends = nanoseconds(seconds)
    return reached_segments(np.zeros_like(ends), ends, segment_seconds)[1]


def _merged(cell: NDArray[np.int64], span: tuple[NDArray[np.int64], NDArray[np.int64]], group_length: int) -> _Runs:
    """Events of one class in one file that overlap or touch, joined."""
    start, stop = (cell * group_length + edge for edge in span)
    has_length = start < stop
    start, stop = start[has_length], stop[has_length]
    order = np.argsort(start, kind="stable")  # which makes use of files that come one after the other already
    start, stop = start[order], np.maximum.accumulate(stop[order])
    is_first = np.append(True, start[1:] > stop[:-1])[: len(start)]
    is_last = np.append(is_first[1:], True)[: len(start)]
    return _Runs(start[is_first], stop[is_last], group_length)


def _covered(runs: _Runs, others: _Runs) -> NDArray[np.int64]:
    """How many segments of each run lie in the other runs: (runs,)."""
    before = np.append(0, np.cumsum(others.stop - others.start))  # segments in all runs before the nth
    start = np.append(others.start, np.iinfo(np.int64).max)

    def n_up_to(edge: NDArray[np.int64]) -> NDArray[np.int64]:
        n_ended = np.searchsorted(others.stop, edge, side="right")
        return before[n_ended] + np.maximum(0, edge - start[n_ended])

    return n_up_to(runs.stop) - n_up_to(runs.start)


def _smaller_side(
    true_runs: _Runs, predicted_runs: _Runs, n_classes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The file of every stretch of time, and in its segments the classes of the side that has fewer, added up."""
    edges = []
    for runs in (true_runs, predicted_runs):
        cell, inside = np.divmod(runs.start, runs.group_length)
        start = cell // max(1, n_classes) * runs.group_length + inside  # now on a line of files alone
        edges += [start, start + (runs.stop - runs.start)]
    edge = np.concatenate(edges)
    order = np.argsort(edge, kind="stable")
    edge = edge[order]
    lengths = np.diff(edge)  # also from one file to the next, where neither side has a class
    steps = np.repeat([[1, -1, 0, 0], [0, 0, 1, -1]], [len(part) for part in edges], axis=1)  # (2 sides, edges)
    n_true, n_predicted = (np.cumsum(side[order])[:-1] for side in steps)
    return edge[:-1] // true_runs.group_length, np.minimum(n_true, n_predicted) * lengths
