from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracles import metrics_slow
from oracles.metrics_cases import Case, Lists, cases, clips_case, crowded_case, labels
from oracles.metrics_stored import as_events, assert_as_the_tool_says, tool_figures

from earmark.events import Event
from earmark.metrics.collars import Collars
from earmark.metrics.encoding import event_tables
from earmark.metrics.event import count_events, event_counts, match_events

CROWDED = [crowded_case(seed) for seed in range(500, 540)]


def moved(lists: Lists, seconds: float) -> Lists:
    return {
        name: [(onset + seconds, offset + seconds, label) for onset, offset, label in rows]
        for name, rows in lists.items()
    }


def shuffled(lists: Lists, rng: np.random.Generator) -> Lists:
    names = [list(lists)[index] for index in rng.permutation(len(lists))]
    return {name: [lists[name][index] for index in rng.permutation(len(lists[name]))] for name in names}


def count(reference: Lists, predicted: Lists, *, offset_fraction: float = 0.2) -> tuple[list[list[int]], int]:
    counts = event_counts(
        as_events(reference), as_events(predicted), offset_collar_fraction=offset_fraction, zero_length="keep"
    )
    arrays = (counts.true_positives, counts.false_positives, counts.false_negatives)
    return [array.tolist() for array in arrays], counts.substitutions


def one_pair(
    true_event: tuple[float, float],
    found_event: tuple[float, float],
    *,
    onset: float = 0.2,
    offset: float = 0.2,
    fraction: float = 0.2,
    tolerance_seconds: float | None = None,
) -> int:
    counts = event_counts(
        {"a": [Event(*true_event, "dog")]},
        {"a": [Event(*found_event, "dog")]},
        onset_collar_seconds=onset,
        offset_collar_seconds=offset,
        offset_collar_fraction=fraction,
        tolerance_seconds=tolerance_seconds,
    )
    return int(counts.true_positives.sum())


# Laws


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_compatible_figures_are_sed_evals_own(case: Case) -> None:
    counts = event_counts(
        as_events(case.reference),
        as_events(case.predicted),
        classes=labels(case),
        offset_collar_fraction=case.offset_fraction,
        compatible="sed_eval",
    )
    assert_as_the_tool_says(counts, tool_figures()[case.name]["event"])


@pytest.mark.parametrize("case", [*CROWDED, *(clips_case(seed) for seed in range(50, 60))], ids=lambda case: case.name)
def test_counts_are_those_of_the_slow_second_implementation(case: Case) -> None:
    counts, _ = count(case.reference, case.predicted, offset_fraction=case.offset_fraction)
    expected = [
        metrics_slow.event_counts(case.reference, case.predicted, label, offset_fraction=case.offset_fraction)
        for label in labels(case)
    ]
    assert counts == [list(column) for column in zip(*expected, strict=True)] or not expected


def test_reference_against_itself_is_one() -> None:
    for case in CROWDED:
        counts = event_counts(as_events(case.reference), as_events(case.reference), zero_length="keep")
        assert counts.false_positives.sum() == counts.false_negatives.sum() == 0
        assert counts.true_positives.sum() == sum(map(len, case.reference.values()))


def test_swapping_the_sides_exchanges_false_positives_and_false_negatives() -> None:
    # With a collar that depends on the reference's length alone it would not.
    for case in CROWDED:
        forward, _ = count(case.reference, case.predicted, offset_fraction=0)
        backward, _ = count(case.predicted, case.reference, offset_fraction=0)
        assert forward == [backward[0], backward[2], backward[1]]


@pytest.mark.parametrize("seconds", [0.1, 1 / 3, 86_400.123_456_7])
def test_shifting_all_times_changes_nothing(seconds: float) -> None:
    for case in CROWDED:
        assert count(case.reference, case.predicted) == count(
            moved(case.reference, seconds), moved(case.predicted, seconds)
        )


def test_the_order_of_files_and_rows_changes_nothing(rng: np.random.Generator) -> None:
    sensitive = [case for case in cases() if case.name == "leftovers depend on the order"]
    assert (
        tool_figures()["the same in reverse"]["event"]["substitutions"]
        != (tool_figures()["leftovers depend on the order"]["event"]["substitutions"])
    )  # in the tool it does change
    for case in [*CROWDED, *sensitive * 5]:
        assert count(case.reference, case.predicted) == count(
            shuffled(case.reference, rng), shuffled(case.predicted, rng)
        )


def test_splitting_the_files_and_adding_is_all_at_once() -> None:
    for case in CROWDED:
        reference, predicted, _ = event_tables(as_events(case.reference), as_events(case.predicted))
        parts = [
            count_events(*(table.rows(table.file_index % 2 == part) for table in (reference, predicted)))
            for part in (0, 1)
        ]
        np.testing.assert_array_equal(
            count_events(reference, predicted).true_positives, parts[0].true_positives + parts[1].true_positives
        )


def test_matched_rows_are_of_one_file_and_class_and_none_twice() -> None:
    for case in CROWDED:
        reference, predicted, _ = event_tables(as_events(case.reference), as_events(case.predicted))
        rows, columns = match_events(reference, predicted)
        np.testing.assert_array_equal(reference.cell[rows], predicted.cell[columns])
        assert len(set(rows.tolist())) == len(rows) == len(set(columns.tolist()))


# Worked numbers


def test_every_pair_exactly_one_collar_apart_is_a_hit() -> None:
    # In floating point 0.5 - 0.3 is 0.2, 1.2 - 1.0 is 0.19999999999999996 and 0.9 - 0.7 is 0.20000000000000007.
    onsets = [step / 1000 for step in range(9801)]
    reference = {str(onset): [Event(onset, 12.0, "dog")] for onset in onsets}
    predicted = {str(onset): [Event((step + 200) / 1000, 12.0, "dog")] for step, onset in enumerate(onsets)}
    assert event_counts(reference, predicted).true_positives.tolist() == [9801]
    in_floating_point = event_counts(reference, predicted, tolerance_seconds=0).true_positives[0]
    assert in_floating_point == sum((step + 200) / 1000 - onset <= 0.2 for step, onset in enumerate(onsets))
    assert 0.42 < in_floating_point / 9801 < 0.44


def test_the_tolerance_is_half_of_its_rounding() -> None:
    assert one_pair((1.0, 2.0), (1.2000004, 2.0)) == 1  # 0.4 µs above, rounds to 0
    assert one_pair((1.0, 2.0), (1.2000006, 2.0)) == 0  # 0.6 µs above, rounds to 1
    assert one_pair((1.0, 2.0), (1.204, 2.0), tolerance_seconds=0.01) == 1
    assert one_pair((1.0, 2.0), (1.206, 2.0), tolerance_seconds=0.01) == 0


def test_the_offset_collar_is_the_larger_of_the_two() -> None:
    assert one_pair((0.0, 10.0), (0.0, 8.0)) == 1  # 20 % of 10 s is 2 s
    assert one_pair((0.0, 10.0), (0.0, 7.99)) == 0
    assert one_pair((0.0, 0.5), (0.0, 0.7)) == 1  # 20 % of 0.5 s is 0.1 s, 200 ms is more
    assert one_pair((0.0, 0.5), (0.0, 0.71)) == 0
    assert one_pair((0.0, 7.0), (0.0, 9.0)) == 0  # the reference's length counts, not the prediction's


def test_collars_can_be_chosen() -> None:
    assert one_pair((1.0, 2.0), (1.5, 2.0), onset=0.5) == 1
    assert one_pair((1.0, 2.0), (1.0, 3.0), offset=1.0) == 1
    assert one_pair((1.0, 2.0), (1.0, 2.5), fraction=0.5) == 1
    assert one_pair((1.0, 2.0), (1.001, 2.0), onset=0.0) == 0


def test_matching_is_optimal_where_first_come_first_served_is_not() -> None:
    # The first prediction could take either event, the second only the first one.
    reference = {"a": [Event(1.0, 2.0, "dog"), Event(1.3, 2.3, "dog")]}
    predicted = {"a": [Event(1.15, 2.15, "dog"), Event(0.9, 1.9, "dog")]}
    assert event_counts(reference, predicted).true_positives.tolist() == [2]


def test_false_alarms_in_a_clip_without_events_count() -> None:
    counts = event_counts({"a": [Event(0, 1, "dog")], "b": []}, {"a": [Event(0, 1, "dog")], "b": [Event(0, 1, "dog")]})
    assert (counts.true_positives[0], counts.false_positives[0]) == (1, 1)


def test_events_at_the_very_start_stay_in_their_file_and_class() -> None:
    reference = {"a": [Event(0.0, 0.1, "dog")], "b": [], "c": [Event(0.0, 0.1, "cat")]}
    predicted = {"a": [Event(0.0, 0.1, "cat")], "b": [Event(0.0, 0.1, "dog")], "c": []}
    counts = event_counts(reference, predicted)
    assert counts.true_positives.tolist() == [0, 0]
    assert counts.substitutions == 1  # in a


def test_a_substitution_is_a_miss_with_another_class_in_its_place() -> None:
    reference = {"a": [Event(1.0, 2.0, "dog"), Event(5.0, 6.0, "dog")], "b": [Event(1.0, 2.0, "cat")]}
    predicted = {"a": [Event(1.1, 2.1, "cat"), Event(7.0, 8.0, "cat")], "b": []}
    counts = event_counts(reference, predicted)
    assert (counts.substitutions, counts.deletions, counts.insertions) == (1, 2, 1)
    assert counts.error_rate == pytest.approx(4 / 3)


def test_zero_length_events_follow_the_tool_when_compatible() -> None:
    events = {"a": [Event(0.0, 0.0, "dog")]}
    assert event_counts(events, events, compatible="sed_eval").true_positives.tolist() == [1]
    with pytest.warns(UserWarning, match="1 reference and 1 predicted events of zero length are left out"):
        assert event_counts(events, events).absent == ("dog",)


def test_nothing_on_one_side_or_both() -> None:
    assert event_counts({"a": []}, {}).classes == ()
    assert event_counts({"a": [Event(0, 1, "dog")]}, {}).false_negatives.tolist() == [1]
    assert event_counts({"a": []}, {"a": [Event(0, 1, "dog")]}).false_positives.tolist() == [1]


# Wrong input


def test_wrong_input_is_named() -> None:
    good = {"a": [Event(0, 1, "dog")]}
    with pytest.raises(ValueError, match=r"onset_seconds must be at least 0 and at most 1e\+06, got -0.2 - in sec"):
        event_counts(good, good, onset_collar_seconds=-0.2)
    with pytest.raises(ValueError, match="offset_fraction must be at least 0, got nan"):
        event_counts(good, good, offset_collar_fraction=float("nan"))
    with pytest.raises(ValueError, match="compatible must be one of sed_eval, got 'dcase'"):
        event_counts(good, good, compatible="dcase")
    with pytest.warns(UserWarning, match="1 predicted files are not in the reference"):
        event_counts(good, {"b": []})
    table, other, _ = event_tables(good, good)
    with pytest.raises(ValueError, match="must have the same files"):
        count_events(table, replace(other, files=("b",)), collars=Collars())
