from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from oracles.metrics_cases import Case, cases, clips_case, crowded_case
from oracles.metrics_stored import as_events

from earmark.metrics.by_file import (
    CountsByFile,
    clip_counts_by_file,
    event_counts_by_file,
    segment_counts_by_file,
)
from earmark.metrics.clip import count_clips
from earmark.metrics.counts import Counts
from earmark.metrics.encoding import event_tables
from earmark.metrics.event import count_events
from earmark.metrics.event_table import EventTable
from earmark.metrics.segment import count_segments

ALL = [*cases(), *(crowded_case(seed) for seed in range(700, 720)), *(clips_case(seed) for seed in range(90, 110))]
ARRAYS = ("true_positives", "false_positives", "false_negatives")
COMPATIBLE = (None, "sed_eval")


def tables(case: Case) -> tuple[EventTable, EventTable]:
    return event_tables(as_events(case.reference), as_events(case.predicted), zero_length="keep")[:2]


def both_ways(case: Case, compatible: str | None) -> list[tuple[CountsByFile, Counts]]:
    """By file and all at once, at every level."""
    reference, predicted = tables(case)
    durations = case.durations if case.durations else None
    segments = {"segment_seconds": case.segment_seconds}
    return [
        (
            event_counts_by_file(reference, predicted, compatible=compatible),
            count_events(reference, predicted, compatible=compatible),
        ),
        (
            segment_counts_by_file(reference, predicted, durations=durations, compatible=compatible, **segments),
            count_segments(reference, predicted, durations=durations, compatible=compatible, **segments),
        ),
        (
            clip_counts_by_file(reference.tags(), predicted.tags(), compatible=compatible),
            count_clips(reference.tags(), predicted.tags(), compatible=compatible),
        ),
    ]


# Laws


@pytest.mark.parametrize("compatible", COMPATIBLE)
def test_files_add_up_to_the_counts(compatible: str | None) -> None:
    for case in ALL:
        for by_file, counts in both_ways(case, compatible):
            total = by_file.total()
            assert type(total) is type(counts)
            for name in ARRAYS:
                np.testing.assert_array_equal(getattr(total, name), getattr(counts, name), err_msg=case.name)
            for name in ("level", "classes", "substitutions", "compatible", "segment_seconds", "n_segments"):
                assert getattr(total, name, None) == getattr(counts, name, None), (case.name, name)
            assert getattr(total, "n_late_events", 0) == getattr(counts, "n_late_events", 0)


@pytest.mark.parametrize("compatible", COMPATIBLE)
def test_a_file_among_others_counts_as_it_does_alone(compatible: str | None) -> None:
    for case in ALL[::3]:
        every_file = [by_file for by_file, _ in both_ways(case, compatible)]
        for number, name in enumerate(every_file[0].files):
            alone = replace(
                case,
                reference={name: case.reference[name]},
                predicted={name: case.predicted.get(name, [])},
                durations={name: case.durations[name]} if case.durations else {},
            )
            for of_all, (of_one, _) in zip(every_file, both_ways(alone, compatible), strict=True):
                columns = [of_all.classes.index(label) for label in of_one.classes]
                for array in ARRAYS:
                    np.testing.assert_array_equal(getattr(of_all, array)[number, columns], getattr(of_one, array)[0])
                assert of_all.substitutions[number] == of_one.substitutions[0], (case.name, of_all.level)
                assert of_all.n_segments[number] == of_one.n_segments[0]


@pytest.mark.parametrize("count", [event_counts_by_file, segment_counts_by_file])
def test_splitting_the_files_and_adding_is_all_at_once(
    count: Callable[[EventTable, EventTable], CountsByFile],
) -> None:
    for case in ALL[::3]:
        reference, predicted = tables(case)
        whole = count(reference, predicted)
        halves = [
            count(*(table.rows(table.file_index % 2 == part) for table in (reference, predicted))) for part in (0, 1)
        ]
        for name in (*ARRAYS, "substitutions", "n_segments"):
            np.testing.assert_array_equal(getattr(whole, name), getattr(halves[0], name) + getattr(halves[1], name))


# Worked numbers


def test_each_file_has_its_own_row() -> None:
    reference = {"a": [(0.0, 1.0, "dog")], "b": [(0.0, 3.0, "dog")], "c": []}
    predicted = {"a": [(0.0, 1.0, "cat")], "b": [(0.0, 3.0, "dog"), (7.0, 9.0, "cat")], "c": [(0.0, 2.0, "dog")]}
    events, segments, clips = (by_file for by_file, _ in both_ways(Case("three files", reference, predicted), None))
    assert events.classes == ("cat", "dog")
    assert events.true_positives.tolist() == [[0, 0], [0, 1], [0, 0]]
    assert events.false_positives.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert events.false_negatives.tolist() == [[0, 1], [0, 0], [0, 0]]
    assert events.substitutions.tolist() == [1, 0, 0]
    assert segments.true_positives.tolist() == [[0, 0], [0, 3], [0, 0]]
    assert segments.false_positives.tolist() == [[1, 0], [2, 0], [0, 2]]
    assert (segments.substitutions.tolist(), segments.n_segments.tolist()) == ([1, 0, 0], [1, 9, 2])
    assert clips.false_positives.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert (clips.substitutions.tolist(), clips.n_segments.tolist()) == ([1, 0, 0], [0, 0, 0])


def test_nothing_at_all() -> None:
    for by_file, counts in both_ways(Case("no file", {}, {}), None):
        assert (by_file.true_positives.shape, counts.true_positives.shape) == ((0, 0), (0,))


# Wrong input


def test_wrong_input_is_named() -> None:
    grid, row = np.zeros((2, 1), dtype=np.int64), np.zeros(2, dtype=np.int64)
    good = CountsByFile("event", ("a", "b"), ("dog",), grid, grid, grid, row, row)
    with pytest.raises(
        ValueError, match=r"false_negatives must have shape \(2, 1\) for 2 files and 1 classes, got \(1"
    ):
        replace(good, false_negatives=grid[:1])
    with pytest.raises(ValueError, match=r"n_segments must have shape \(2,\)"):
        replace(good, n_segments=grid)
    with pytest.raises(ValueError, match="level must be one of event, segment, clip, got 'events'"):
        replace(good, level="events")
    with pytest.raises(ValueError, match="compatible must be one of sed_eval"):
        replace(good, compatible="dcase")
    reference, predicted = tables(cases()[0])
    with pytest.raises(ValueError, match="must have the same files"):
        event_counts_by_file(reference, replace(predicted, files=("other",)))
