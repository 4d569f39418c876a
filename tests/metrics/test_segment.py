from __future__ import annotations

import numpy as np
import pytest
from oracles import metrics_slow
from oracles.metrics_cases import Case, Lists, cases, clips_case, crowded_case, labels
from oracles.metrics_stored import as_events, assert_as_the_tool_says, tool_figures

from earmark.events import Event
from earmark.metrics.accuracies import SegmentCounts
from earmark.metrics.segment import segment_counts

CROWDED = [crowded_case(seed) for seed in range(600, 640)]


def count(reference: Lists, predicted: Lists, *, segment_seconds: float = 1.0) -> SegmentCounts:
    return segment_counts(
        as_events(reference), as_events(predicted), segment_seconds=segment_seconds, zero_length="keep"
    )


def arrays(counts: SegmentCounts) -> list[list[int]]:
    return [array.tolist() for array in (counts.true_positives, counts.false_positives, counts.false_negatives)]


# Laws


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_compatible_figures_are_sed_evals_own(case: Case) -> None:
    counts = segment_counts(
        as_events(case.reference),
        as_events(case.predicted),
        classes=labels(case),
        segment_seconds=case.segment_seconds,
        compatible="sed_eval",
        durations=case.durations if case.durations else None,
    )
    assert_as_the_tool_says(counts, tool_figures()[case.name]["segment"], more=[counts.true_negatives])


@pytest.mark.parametrize("case", [*CROWDED, *(clips_case(seed) for seed in range(60, 70))], ids=lambda case: case.name)
def test_counts_are_those_of_the_slow_second_implementation(case: Case) -> None:
    expected = [
        metrics_slow.segment_counts(case.reference, case.predicted, label, segment_seconds=case.segment_seconds)
        for label in labels(case)
    ]
    counts = count(case.reference, case.predicted, segment_seconds=case.segment_seconds)
    assert arrays(counts) == [list(column) for column in zip(*expected, strict=True)] or not expected


def test_reference_against_itself_is_one() -> None:
    for case in CROWDED:
        counts = count(case.reference, case.reference)
        assert counts.false_positives.sum() == counts.false_negatives.sum() == counts.substitutions == 0


def test_swapping_the_sides_exchanges_false_positives_and_false_negatives() -> None:
    for case in CROWDED:
        forward, backward = count(case.reference, case.predicted), count(case.predicted, case.reference)
        assert arrays(forward) == [arrays(backward)[place] for place in (0, 2, 1)]
        assert forward.substitutions == backward.substitutions
        assert forward.n_segments == backward.n_segments


def test_shifting_by_whole_segments_changes_nothing_but_true_negatives() -> None:
    for case in CROWDED:
        moved = [
            {
                name: [(onset + 3600, offset + 3600, label) for onset, offset, label in rows]
                for name, rows in side.items()
            }
            for side in (case.reference, case.predicted)
        ]
        assert arrays(count(moved[0], moved[1])) == arrays(count(case.reference, case.predicted))


def test_the_order_of_rows_changes_nothing(rng: np.random.Generator) -> None:
    for case in CROWDED:
        reference, predicted = (
            {name: [rows[index] for index in rng.permutation(len(rows))] for name, rows in side.items()}
            for side in (case.reference, case.predicted)
        )
        assert arrays(count(reference, predicted)) == arrays(count(case.reference, case.predicted))


def test_substitutions_are_the_smaller_kind_of_error_of_every_segment() -> None:
    for case in CROWDED:
        expected = 0
        for name in case.reference:
            true_cells, found_cells = (
                {(second, label) for label in labels(case) for second in metrics_slow.filled(side[name], label, 1.0)}
                for side in (case.reference, case.predicted)
            )
            missed = [second for second, _ in true_cells - found_cells]
            made_up = [second for second, _ in found_cells - true_cells]
            expected += sum(min(missed.count(second), made_up.count(second)) for second in set(missed))
        assert count(case.reference, case.predicted).substitutions == expected


def test_segments_of_any_length_do_not_drift(rng: np.random.Generator) -> None:
    for parts in (3, 7, 11):  # a third of a second is no whole number of nanoseconds
        length, n = 1 / parts, 3_000_000
        first = int(rng.integers(0, n - 200))
        truth, found = ([(index * length, (index + 100) * length, "dog")] for index in (first, first + 100))
        counts = count({"a": truth}, {"a": found}, segment_seconds=length)
        assert arrays(counts) == [[0], [100], [100]]


# Worked numbers


def test_an_event_fills_every_segment_it_reaches_into() -> None:
    counts = count({"a": [(0.9, 2.1, "dog")]}, {"a": [(1.0, 2.0, "dog")]})
    assert arrays(counts) == [[1], [0], [2]]  # segments 0, 1, 2 against segment 1
    assert (counts.n_segments, counts.true_negatives.tolist()) == (3, [0])


def test_floating_point_noise_adds_no_segment() -> None:
    noisy = {"a": [(0.1 * 3, 3.0000000000000004, "dog")]}  # from 0.30000000000000004
    assert count(noisy, noisy).n_segments == 3
    assert arrays(count(noisy, noisy, segment_seconds=0.1)) == [[27], [0], [0]]
    single = {"a": [(0.0, float(np.nextafter(np.float32(5), np.float32(6))), "dog")]}  # float32: 5.00000048
    assert count(single, single).n_segments == 5
    compatible = segment_counts(as_events(noisy), as_events(noisy), compatible="sed_eval")
    assert compatible.n_segments == 4


def test_overlapping_events_of_a_class_fill_a_segment_once() -> None:
    counts = count({"a": [(0.0, 3.0, "dog"), (1.0, 2.0, "dog"), (2.0, 5.0, "dog")]}, {"a": [(0.0, 1.0, "dog")]})
    assert arrays(counts) == [[1], [0], [4]]


def test_durations_give_true_negatives() -> None:
    reference = {"a": [Event(0.0, 2.0, "dog")], "b": []}
    counts = segment_counts(reference, {"a": [], "b": []}, durations={"a": 9.5, "b": 3.0, "c": 99.0})
    assert (counts.n_segments, counts.true_negatives.tolist()) == (13, [11])  # 10 + 3, of which 2 were missed
    beyond = segment_counts({"a": [Event(0.0, 12.0, "dog")]}, {"a": []}, durations={"a": 10.0})
    assert (beyond.n_segments, beyond.false_negatives.tolist()) == (12, [12])  # an annotation beyond the end counts
    cut = segment_counts({"a": [Event(0.0, 12.0, "dog")]}, {"a": []}, durations={"a": 10.0}, compatible="sed_eval")
    assert (cut.n_segments, cut.false_negatives.tolist()) == (10, [10])


def test_events_that_end_after_their_file_are_counted() -> None:
    reference = {"a": [Event(0.0, 12.0, "dog"), Event(0.0, 3.0, "cat")], "b": [Event(0.0, 3.0, "dog")], "c": []}
    predicted = {"a": [Event(9.0, 10.0, "dog")], "b": [Event(0.0, 4.0, "dog")], "c": [Event(0.0, 0.1, "dog")]}
    durations = {"a": 10.0, "b": 3.0, "c": 0.0}
    late = segment_counts(reference, predicted, durations=durations)
    assert late.n_late_events == 3  # the first dog in a, the prediction in b, that in c
    assert segment_counts(reference, predicted, durations=durations, compatible="sed_eval").n_late_events == 3
    assert segment_counts(reference, predicted).n_late_events == 0
    for end, n_late_events in ((10.001, 0), (10.0011, 1)):  # a table of milliseconds may say 10.000 for 10.0005
        late = segment_counts({"a": [Event(0, end, "dog")]}, {"a": []}, durations={"a": 10.0})
        assert late.n_late_events == n_late_events


def test_durations_find_files_in_either_unicode_form() -> None:
    for name in ("Tu\u0308r.wav", "T\u00fcr.wav"):
        assert segment_counts({"Tu\u0308r.wav": []}, {}, durations={name: 4.0}, classes=["dog"]).n_segments == 4


def test_zero_length_events_fill_the_segment_they_are_in_when_kept() -> None:
    events = {"a": [(1.5, 1.5, "dog"), (3.0, 3.0, "cat")]}
    counts = count(events, events)
    assert dict(zip(counts.classes, counts.true_positives.tolist(), strict=True)) == {"cat": 0, "dog": 1}
    with pytest.warns(UserWarning, match="2 reference and 2 predicted events of zero length"):
        assert segment_counts(as_events(events), as_events(events)).absent == ("cat", "dog")


def test_nothing_on_one_side_or_both() -> None:
    assert count({"a": []}, {}).n_segments == 0
    assert arrays(count({"a": [(0, 2, "dog")]}, {})) == [[0], [0], [2]]
    assert arrays(count({"a": []}, {"a": [(0, 2, "dog")]})) == [[0], [2], [0]]


# Wrong input


def test_wrong_input_is_named() -> None:
    good = {"a": [Event(0, 1, "dog")]}
    with pytest.raises(ValueError, match=r"segment_seconds must be at least 0.001, got 0"):
        segment_counts(good, good, segment_seconds=0)
    with pytest.raises(ValueError, match=r"durations must have every file of the .*, 1 are missing \(first: 'a'\)"):
        segment_counts(good, good, durations={"a.wav": 10.0})
    with pytest.raises(ValueError, match=r"duration of a must be at least 0 .*, got -1"):
        segment_counts(good, good, durations={"a": -1})
    with pytest.raises(ValueError, match="compatible must be one of sed_eval, got 'psds_eval'"):
        segment_counts(good, good, compatible="psds_eval")
