from __future__ import annotations

import json

import pytest

from earmark.events import Event
from earmark.metrics.cautions import cautions
from earmark.metrics.evaluation import Evaluation, evaluate
from earmark.metrics.report import as_json, count_rows, error_rows, score_rows, settings_lines


@pytest.fixture
def evaluation() -> Evaluation:
    """Two dogs, one found; a cat made up; an owl that was never heard; a file nobody listened to."""
    reference = {"a": [Event(1.0, 2.0, "dog"), Event(4.0, 5.0, "dog"), Event(0.0, 0.0, "owl")], "b": [], "c": []}
    predicted = {"a": [Event(1.0, 2.0, "dog")], "b": [Event(0.0, 1.0, "cat")], "z": [Event(0.0, 1.0, "cat")]}
    return evaluate(reference, predicted)


# Laws


def test_rows_have_a_name_and_three_figures_per_level(evaluation: Evaluation) -> None:
    assert {len(row) for row in score_rows(evaluation) + count_rows(evaluation)} == {10}
    assert [row[0] for row in score_rows(evaluation)][2:] == [row[0] for row in count_rows(evaluation)][1:]


def test_json_survives_writing_and_reading(evaluation: Evaluation) -> None:
    everything = as_json(evaluation)
    assert json.loads(json.dumps(everything, allow_nan=False)) == everything


# Worked numbers


def test_rows_by_hand(evaluation: Evaluation) -> None:
    assert [row[:4] for row in score_rows(evaluation)] == [
        ["macro mean", "0.333", "0.500", "0.250"],  # dog and cat; nobody has the owl
        ["micro mean", "0.500", "0.500", "0.500"],  # 1 hit, 1 made up, 1 missed
        ["cat", "0.000", "0.000", "0.000"],
        ["dog", "0.667", "1.000", "0.500"],
        ["owl", "-", "-", "-"],
    ]
    assert [row[:4] for row in count_rows(evaluation)] == [
        ["all classes", "1", "1", "1"],
        ["cat", "0", "1", "0"],
        ["dog", "1", "0", "1"],
        ["owl", "0", "0", "0"],
    ]


def test_error_rows_by_hand(evaluation: Evaluation) -> None:
    assert error_rows(evaluation) == [
        ["macro mean", "0.500", "0.500", "0.833", "0.583", "0.917", "0.000"],
        ["micro mean", "1.000", "1.000", "0.833", "0.700", "0.900", "1.000"],
        ["cat", "-", "-", "0.833", "0.417", "0.833", "-"],  # made up in 1 of 6 segments; found in none
        ["dog", "0.500", "0.500", "0.833", "0.750", "1.000", "0.000"],
        ["owl", "-", "-", "-", "-", "-", "-"],
    ]
    events = {"a": [Event(1.0, 2.0, "dog")], "b": []}
    compatible = evaluate(events, {"a": [], "b": [Event(0.0, 1.0, "cat")]}, compatible="sed_eval")
    assert error_rows(compatible)[2][1] == "5e+15"  # one cat, divided by 2.2e-16


def test_duplicates_are_told_by_side() -> None:
    events = [Event(1.0, 2.0, "dog"), Event(1.0, 2.0, "dog"), Event(1.5, 3.0, "dog")]
    everything = as_json(evaluate({"a": events}, {"a": [*events, events[0]]}))
    assert everything["duplicates"] == {"reference": 1, "predicted": 2}
    assert everything["overlapping"] == {"reference": 1, "predicted": 1}


def test_large_counts_are_grouped() -> None:
    reference = {"a": [Event(float(second), second + 1.0, "dog") for second in range(0, 4000, 2)]}
    assert count_rows(evaluate(reference, {"a": []}))[0][3] == "2,000"


def test_settings_say_how_it_was_counted(evaluation: Evaluation) -> None:
    lines = dict(settings_lines(evaluation))
    assert lines["event"] == (
        "onset within 200 ms, offset within 200 ms or 20% of the reference event's length, best matching"
    )
    assert lines["segment"] == "1 s, 6 segments in all; a file ends with its last event (no durations given)"
    assert lines["clip"] == "3 clips; reference tags derived from the events, predicted tags derived from the events"
    assert lines["means"].startswith("a class that one side lacks counts 0")
    assert lines["errors"] == "event 0 S + 1 D + 1 I of 2; segment 0 S + 1 D + 1 I of 2; clip 0 S + 0 D + 1 I of 1"
    events = {"a": [Event(1.0, 2.0, "dog")]}
    other = dict(
        settings_lines(
            evaluate(events, events, durations={"a": 12.0}, reference_tags={"a": {"dog"}}, compatible="sed_eval")
        )
    )
    assert other["segment"] == "1 s, 12 segments in all; durations as given"
    late = dict(settings_lines(evaluate(events, events, durations={"a": 1.0})))
    assert late["segment"] == "1 s, 2 segments in all; durations as given, or longer where an event ends later"
    cut = dict(settings_lines(evaluate(events, events, durations={"a": 1.0}, compatible="sed_eval")))
    assert cut["segment"] == "1 s, 1 segments in all; durations as given"
    assert other["clip"].endswith("reference tags as given, predicted tags derived from the events")
    assert other["means"].startswith("as sed_eval has them")


def test_json_by_hand(evaluation: Evaluation) -> None:
    everything = json.loads(json.dumps(as_json(evaluation)))
    assert everything["policy"] == "earmark"
    assert everything["event"]["macro"] == {
        "f1": pytest.approx(1 / 3),
        "precision": 0.5,
        "recall": 0.25,
        "error_rate": 0.5,  # of the dogs; without a reference the cat has none
        "deletion_rate": 0.5,
        "insertion_rate": 0.0,
    }
    assert everything["event"]["micro"] == {
        "f1": 0.5,
        "precision": 0.5,
        "recall": 0.5,
        "error_rate": 1.0,
        "deletion_rate": 0.5,
        "insertion_rate": 0.5,
        "substitution_rate": 0.0,
    }
    assert everything["event"]["classes"]["cat"]["error_rate"] is None
    assert everything["event"]["classes"]["owl"]["f1"] is None
    assert everything["event"]["classes"]["dog"] == {
        "f1": pytest.approx(2 / 3),
        "precision": 1.0,
        "recall": 0.5,
        "error_rate": 0.5,
        "deletion_rate": 0.5,
        "insertion_rate": 0.0,
        "true_positives": 1,
        "false_positives": 0,
        "false_negatives": 1,
    }
    assert everything["event"]["error_rate"] == 1.0  # one miss, one made up, of two
    assert everything["event"]["onset_collar_seconds"] == 0.2
    assert everything["event"]["absent"] == ["owl"]
    assert everything["segment"]["n_segments"] == 6
    assert everything["segment"]["true_negatives"] == {"cat": 5, "dog": 4, "owl": 6}
    dog = everything["segment"]["classes"]["dog"]  # one of 6 seconds found, one missed
    assert (dog["accuracy"], dog["sensitivity"], dog["specificity"], dog["balanced_accuracy"]) == (
        5 / 6,
        0.5,
        1.0,
        0.75,
    )
    assert everything["segment"]["micro"]["accuracy"] == pytest.approx(10 / 12)  # without the owl
    assert everything["segment"]["macro"]["accuracy"] == pytest.approx(5 / 6)
    assert "accuracy" not in everything["event"]["micro"]
    assert everything["duplicates"] == everything["overlapping"] == {"reference": 0, "predicted": 0}
    assert everything["clip"]["reference_tags"] == "derived from events"
    assert everything["zero_length"] == {"policy": "drop", "n_dropped_reference": 1, "n_dropped_predicted": 0}
    assert (everything["ignored_files"], everything["n_ignored_events"]) == (["z"], 1)
    assert everything["n_unpredicted_files"] == everything["clip"]["n_unpredicted_clips"] == 1
    assert everything["segment"]["n_late_events"] == 0
    assert everything["cautions"] == cautions(evaluation)
