from __future__ import annotations

import json

import pytest

from earmark.events import Event
from earmark.metrics.evaluation import Evaluation, evaluate
from earmark.metrics.report import as_json, cautions, count_rows, score_rows, settings_lines


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


def test_nothing_to_say_is_nothing_said() -> None:
    reference = {"a": [Event(1.0, 2.0, "dog")]}
    assert cautions(evaluate(reference, reference)) == []


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


def test_large_counts_are_grouped() -> None:
    reference = {"a": [Event(float(second), second + 1.0, "dog") for second in range(0, 4000, 2)]}
    assert count_rows(evaluate(reference, {"a": []}))[0][3] == "2,000"


def test_cautions_name_everything_that_does_not_count(evaluation: Evaluation) -> None:
    assert cautions(evaluation) == [
        "1 event of zero length was dropped (1 reference, 0 predicted); --zero-length keep counts them",
        "1 predicted file is not in the reference: 1 event ignored (first: z)",
        "1 reference file without any predicted row: nothing was found there",
        "on neither side, so left out of the event, segment and clip means: owl",
        "the class 'cat' is predicted, but not one reference has it",
    ]


def test_ignored_tags_are_named_where_they_are_not_those_of_the_events() -> None:
    events = {"a": [Event(1.0, 2.0, "dog")]}
    result = evaluate(events, events, predicted_tags={"a": {"dog"}, "y": {"cat", "dog"}, "z": {"cat"}})
    assert cautions(result) == [
        "2 predicted files are not in the reference: 3 tags ignored (first: y)",
        "on neither side, so left out of the event, segment and clip means: cat",
    ]
    result = evaluate(events, events, reference_tags={"a": {"dog", "owl"}})
    assert cautions(result) == ["on neither side, so left out of the event and segment means: owl"]


def test_classes_that_sed_eval_leaves_out_of_macro_f1_are_named() -> None:
    reference = {"a": [Event(1.0, 2.0, "dog"), Event(4.0, 5.0, "owl")]}
    predicted = {"a": [Event(1.0, 2.0, "dog"), Event(4.0, 5.0, "cat")]}
    made_up = "the class 'cat' is predicted, but not one reference has it"
    assert cautions(evaluate(reference, predicted)) == [made_up]  # and it counts 0, as the owl does
    assert cautions(evaluate(reference, predicted, compatible="sed_eval")) == [
        "F1 undefined (missing on one side or both), so left out of the event, segment and clip means: cat, owl",
        made_up,
    ]


def test_a_class_that_is_made_up_is_likely_a_typing_error() -> None:
    reference, predicted = {"a": [Event(1.0, 2.0, "dog")]}, {"a": [Event(1.0, 2.0, "dogg")]}
    assert cautions(evaluate(reference, predicted)) == [
        "the class 'dogg' is predicted, but not one reference has it - did you mean 'dog'?"
    ]


def test_settings_say_how_it_was_counted(evaluation: Evaluation) -> None:
    lines = dict(settings_lines(evaluation))
    assert lines["event"] == (
        "onset within 200 ms, offset within 200 ms or 20% of the reference event's length, best matching"
    )
    assert lines["segment"] == "1 s, 6 segments in all; a file ends with its last event (no durations given)"
    assert lines["clip"] == "3 clips; reference tags derived from the events, predicted tags derived from the events"
    assert lines["means"].startswith("a class that one side lacks counts 0")
    events = {"a": [Event(1.0, 2.0, "dog")]}
    other = dict(
        settings_lines(
            evaluate(events, events, durations={"a": 12.0}, reference_tags={"a": {"dog"}}, compatible="sed_eval")
        )
    )
    assert other["segment"] == "1 s, 12 segments in all; durations as given"
    assert other["clip"].endswith("reference tags as given, predicted tags derived from the events")
    assert other["means"].startswith("as sed_eval has them")


def test_json_by_hand(evaluation: Evaluation) -> None:
    everything = json.loads(json.dumps(as_json(evaluation)))
    assert everything["policy"] == "earmark"
    assert everything["event"]["macro"] == {"f1": pytest.approx(1 / 3), "precision": 0.5, "recall": 0.25}
    assert everything["event"]["classes"]["owl"]["f1"] is None
    assert everything["event"]["classes"]["dog"] == {
        "f1": pytest.approx(2 / 3),
        "precision": 1.0,
        "recall": 0.5,
        "true_positives": 1,
        "false_positives": 0,
        "false_negatives": 1,
    }
    assert everything["event"]["error_rate"] == 1.0  # one miss, one made up, of two
    assert everything["event"]["onset_collar_seconds"] == 0.2
    assert everything["event"]["absent"] == ["owl"]
    assert everything["segment"]["n_segments"] == 6
    assert everything["segment"]["true_negatives"] == {"cat": 5, "dog": 4, "owl": 6}
    assert everything["clip"]["reference_tags"] == "derived from events"
    assert everything["zero_length"] == {"policy": "drop", "n_dropped_reference": 1, "n_dropped_predicted": 0}
    assert (everything["ignored_files"], everything["n_ignored_events"]) == (["z"], 1)
    assert everything["n_unpredicted_files"] == 1
    assert everything["cautions"] == cautions(evaluation)
