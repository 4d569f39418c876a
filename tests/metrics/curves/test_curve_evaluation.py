from __future__ import annotations

import json
import math

import numpy as np
import pytest
from oracles.weighted_cases import CLASSES, score_case

from earmark.events import Event
from earmark.metrics.collars import Collars
from earmark.metrics.curves.collar import collar_curves
from earmark.metrics.curves.evaluation import (
    COLUMNS,
    PSDS_COLUMNS,
    ScoreEvaluation,
    curve_cautions,
    curve_rows,
    curves_as_json,
    evaluate_scores,
    score_settings,
)
from earmark.metrics.curves.items import clip_curves, segment_curves
from earmark.metrics.curves.psds import SCENARIO_1, SCENARIO_2, psds
from earmark.metrics.curves.scores import ScoreTable, score_table


def frames(**columns: list[float]) -> ScoreTable:
    """One clip a.wav of frames of 1 s, the scores of each class in a row."""
    return score_table({"a.wav": np.array([*columns.values()]).T}, classes=[*columns], hop_seconds=1.0)


def two_clips(classes: list[str], first: list[list[float]], second: list[list[float]]) -> ScoreTable:
    """Clips a.wav and b.wav of frames of 1 s."""
    return score_table({"a.wav": first, "b.wav": second}, classes=classes, hop_seconds=1.0)


@pytest.fixture
def evaluation(rng: np.random.Generator) -> ScoreEvaluation:
    """Random clips."""
    case = score_case(rng)
    table = score_table(case.scores, classes=CLASSES, hop_seconds=0.25)
    return evaluate_scores(table, case.reference, durations=case.durations)


# Laws


def test_the_parts_are_those_of_the_functions(evaluation: ScoreEvaluation) -> None:
    clips = evaluation.clips
    tags = {name: set[str]() for name in clips.scores.files}
    for row in range(len(clips.reference)):
        name = clips.reference.files[clips.reference.file_index[row]]
        tags[name].add(CLASSES[clips.reference.class_index[row]])
    expected = collar_curves(clips), segment_curves(clips), clip_curves(clips.scores, tags)
    for curves, other in zip(evaluation.levels, expected, strict=True):
        assert curves.level == other.level
        for curve, like in zip(curves.of_class, other.of_class, strict=True):
            np.testing.assert_array_equal(curve.score, like.score)
            np.testing.assert_array_equal(curve.true_positives, like.true_positives)
            np.testing.assert_array_equal(curve.false_positives, like.false_positives)
    for result, scenario in zip(evaluation.psds, (SCENARIO_1, SCENARIO_2), strict=True):
        assert result.value == psds(clips, scenario=scenario).value


def test_rows_have_a_name_and_all_columns(evaluation: ScoreEvaluation) -> None:
    n_columns = sum(map(len, COLUMNS.values())) + sum(map(len, PSDS_COLUMNS.values()))
    rows = curve_rows(evaluation)
    assert {len(row) for row in rows} == {1 + n_columns}
    assert [row[0] for row in rows] == ["mean", *CLASSES]


def test_the_mean_of_the_rows_is_the_mean_of_the_classes(evaluation: ScoreEvaluation) -> None:
    mean, *classes = ([float(cell) for cell in row[1:9]] for row in curve_rows(evaluation))
    np.testing.assert_allclose(np.mean(classes, axis=0), mean, atol=0.001)
    one, two = (result.value for result in evaluation.psds)  # which punishes differences between classes
    assert one != two
    assert curve_rows(evaluation)[0][9:] == [f"{one:.3f}", f"{two:.3f}"]


def test_json_survives_writing_and_reading(evaluation: ScoreEvaluation) -> None:
    everything = curves_as_json(evaluation)
    assert json.loads(json.dumps(everything, allow_nan=False)) == everything


def test_json_has_what_the_rows_have(evaluation: ScoreEvaluation) -> None:
    everything = curves_as_json(evaluation)
    for place, label in enumerate(CLASSES, start=1):
        figures: list[object] = []
        for level in ("event", "segment", "clip"):
            of_class = everything[level]["classes"][label]  # type: ignore[index]
            figures += [of_class["best_f1"], of_class["average_precision"]]
            figures += [of_class["auroc"]] if level != "event" else []
        figures += [everything[f"psds_{number}"]["classes"][label] for number in (1, 2)]  # type: ignore[index]
        assert curve_rows(evaluation)[place][1:] == [f"{figure:.3f}" for figure in figures]


# Worked numbers


def test_rows_by_hand() -> None:
    scores = two_clips(["dog"], [[0.1], [0.9], [0.2], [0.6]], [[0.7], [0.1], [0.1], [0.1]])
    result = evaluate_scores(scores, {"a.wav": [Event(1.0, 2.0, "dog"), Event(3.0, 4.0, "dog")], "b.wav": []})
    # 0.9 right, 0.7 wrong, 0.6 right: P is 1, 1/2, 2/3 and R 1/2, 1/2, 1. Best F1 is 2 * 2 / (3 + 2).
    # Of 2 segments with it and 6 without, 11 of 12 pairs are in the right order. Clip a is above clip b.
    # In 8 s one false alarm is far too much for PSDS: only what comes before it counts, half of the dogs.
    expected = ["0.800", "0.833", "0.800", "0.833", "0.917", "1.000", "1.000", "1.000", "0.500", "0.500"]
    assert curve_rows(result) == [["mean", *expected], ["dog", *expected]]


def test_json_by_hand() -> None:
    scores = two_clips(["dog"], [[0.1], [0.9], [0.2], [0.6]], [[0.7], [0.1], [0.1], [0.1]])
    result = evaluate_scores(scores, {"a.wav": [Event(1.0, 2.0, "dog"), Event(3.0, 4.0, "dog")], "b.wav": []})
    everything = curves_as_json(result)
    assert everything["event"] == {
        "macro_best": {"f1": 0.8, "precision": 2 / 3, "recall": 1.0},
        "micro_best": {"f1": 0.8, "precision": 2 / 3, "recall": 1.0},
        "mean_average_precision": pytest.approx(5 / 6),
        "mean_auroc": None,
        "classes": {
            "dog": {
                "best_f1": 0.8,
                "best_precision": 2 / 3,
                "best_recall": 1.0,
                "best_threshold": pytest.approx(0.4),
                "average_precision": pytest.approx(5 / 6),
                "auroc": None,
                "n_reference": 2,
            }
        },
    }
    assert everything["psds_1"] == {
        "value": 0.5,
        "classes": {"dog": 0.5},
        "max_rate": 100.0,
        "unit_of_time": "hour",
        "roc": {"rate": [0.0], "hit_rate": [0.5]},
    }
    del everything["event"], everything["segment"], everything["clip"], everything["psds_1"], everything["psds_2"]
    assert everything == {
        "settings": {
            "onset_seconds": 0.2,
            "offset_seconds": 0.2,
            "offset_fraction": 0.2,
            "tolerance_seconds": 1e-6,
            "segment_seconds": 1.0,
            "median_seconds": 0.0,
            "durations": "last frame or event",
        },
        "n_merged_events": 0,
        "n_zero_length_events": 0,
        "ignored_files": [],
        "absent": [],
        "reference_tags": "derived from events",
        "cautions": [],
    }


def test_a_class_without_reference_is_a_dash_and_none_and_named() -> None:
    scores = two_clips(["dog", "Air horn, truck horn"], [[0.9, 0.9]], [[0.1, 0.2]])
    result = evaluate_scores(scores, {"a.wav": [Event(0.0, 1.0, "dog")], "b.wav": []})
    assert curve_rows(result)[0][1:] == ["1.000"] * 10  # the mean is that of the dogs
    assert curve_rows(result)[2] == ["Air horn, truck horn", *["-"] * 10]
    horns = curves_as_json(result)["event"]["classes"]["Air horn, truck horn"]  # type: ignore[index]
    assert horns.pop("n_reference") == 0
    assert set(horns.values()) == {None}
    assert curve_cautions(result) == [
        'no reference event, so left out of the means of curves and PSDS: "Air horn, truck horn"'
    ]


def test_no_event_at_all_is_no_figure_at_all() -> None:
    result = evaluate_scores(frames(dog=[0.1, 0.9]), {"a.wav": []})
    assert curve_rows(result) == [["mean", *["-"] * 10], ["dog", *["-"] * 10]]
    everything = curves_as_json(result)
    assert json.loads(json.dumps(everything, allow_nan=False)) == everything
    assert everything["psds_1"]["value"] is None  # type: ignore[index]
    assert everything["absent"] == ["dog"]


def test_best_when_nothing_is_found_has_no_threshold() -> None:
    result = evaluate_scores(frames(dog=[0.9, 0.9, 0.9]), {"a.wav": [Event(1.0, 2.0, "dog")]})
    assert math.isinf(result.event.of_class[0].best.threshold)
    dog = curves_as_json(result)["event"]["classes"]["dog"]  # type: ignore[index]
    assert (dog["best_f1"], dog["best_threshold"]) == (0.0, None)


def test_joined_and_empty_references_are_counted_and_said() -> None:
    events = [Event(0.0, 1.0, "dog"), Event(1.0, 2.0, "dog"), Event(0.5, 1.5, "dog"), Event(2.0, 2.0, "dog")]
    scores = two_clips(["dog"], [[0.9], [0.8], [0.1]], [[0.1]])
    result = evaluate_scores(scores, {"a.wav": events, "b.wav": []})
    assert curve_cautions(result) == [
        "2 reference events overlap or touch another one of their class and were joined with it for curves and PSDS",
        "1 reference event of zero length left out of curves and PSDS",
    ]
    everything = curves_as_json(result)
    assert (everything["n_merged_events"], everything["n_zero_length_events"]) == (2, 1)
    assert everything["cautions"] == curve_cautions(result)
    one = evaluate_scores(scores, {"a.wav": events[:2], "b.wav": []})
    assert curve_cautions(one) == [
        "1 reference event overlaps or touches another one of its class and was joined with it for curves and PSDS"
    ]


def test_scores_of_other_clips_are_ignored_and_said() -> None:
    scores = two_clips(["dog"], [[0.9], [0.1]], [[0.9], [0.9]])
    result = evaluate_scores(scores, {"a.wav": [Event(0.0, 1.0, "dog")]})
    assert (result.event.files, result.clip.files) == (("a.wav",), ("a.wav",))
    assert curve_rows(result)[0][1:3] == ["1.000", "1.000"]
    assert curve_cautions(result)[0] == "1 clip with scores not in the reference, ignored (first: b.wav)"
    assert curves_as_json(result)["ignored_files"] == ["b.wav"]


def test_given_tags_replace_those_of_the_events_and_lack_other_classes() -> None:
    scores = two_clips(["dog", "owl"], [[0.9, 0.1]], [[0.1, 0.9]])
    reference = {"a.wav": [Event(0.0, 1.0, "dog")], "b.wav": []}
    result = evaluate_scores(scores, reference, reference_tags={"a.wav": set(), "b.wav": {"owl"}})
    assert result.has_tags
    assert (result.event.absent, result.clip.absent) == (("owl",), ("dog",))
    assert curves_as_json(result)["reference_tags"] == "given"
    assert curve_cautions(result) == [
        "no reference event, so left out of the means of event curves and PSDS: owl",
        "in no reference segment, so left out of the means of segment curves: owl",
        "no reference tag, so left out of the means of clip curves: dog",
    ]


def test_a_class_in_every_clip_has_no_auc_and_is_named() -> None:
    result = evaluate_scores(frames(dog=[0.9, 0.1]), {"a.wav": [Event(0.0, 1.0, "dog")]})
    assert curve_rows(result)[0][5:9] == ["1.000", "1.000", "1.000", "-"]
    assert curve_cautions(result) == ["in every clip, so without AUC of clips: dog"]
    everywhere = evaluate_scores(frames(dog=[0.9, 0.1]), {"a.wav": [Event(0.0, 2.0, "dog")]})
    assert curve_cautions(everywhere)[0] == "in every segment, so without AUC of segments: dog"


def test_events_behind_the_end_of_a_clip_are_said() -> None:
    scores = two_clips(["dog"], [[0.9], [0.1], [0.1], [0.9]], [[0.1]])
    reference = {"a.wav": [Event(0.0, 1.0, "dog"), Event(3.0, 4.0, "dog")], "b.wav": []}
    result = evaluate_scores(scores, reference, durations={"a.wav": 3.5, "b.wav": 1.0})
    assert curve_cautions(result) == [
        "1 reference event ends after the clip does - are the durations in seconds, and of these clips?"
    ]
    shorter = evaluate_scores(scores, reference, durations={"a.wav": 0.5, "b.wav": 1.0})
    assert curve_cautions(shorter)[0].startswith("2 reference events end after the clip does")
    assert curve_cautions(evaluate_scores(scores, reference, durations={"a.wav": 4.0, "b.wav": 1.0})) == []


def test_settings_reach_the_curves() -> None:
    scores, reference = frames(dog=[0.1, 0.9, 0.1, 0.1]), {"a.wav": [Event(1.4, 2.0, "dog")]}
    assert evaluate_scores(scores, reference).event.macro_best.f1 == 0.0
    wide = evaluate_scores(scores, reference, collars=Collars(onset_seconds=0.5))
    assert wide.event.macro_best.f1 == 1.0
    assert evaluate_scores(scores, reference).segment.items_by_file is not None
    half = evaluate_scores(scores, reference, segment_seconds=0.5).segment
    assert half.items_by_file is not None
    assert half.items_by_file.tolist() == [8]
    longer = evaluate_scores(scores, reference, durations={"a.wav": 9.0})
    assert longer.clips.duration_seconds.tolist() == [9.0]
    for use_numba in (None, False):
        assert evaluate_scores(scores, reference, use_numba=use_numba).psds[1].value == 1.0


# Wrong input


def test_wrong_input_is_named() -> None:
    scores = frames(dog=[0.1, 0.9])
    with pytest.raises(ValueError, match="reference: unknown class 'cat'"):
        evaluate_scores(scores, {"a.wav": [Event(0.0, 1.0, "cat")]})
    with pytest.raises(ValueError, match=r"scores must have every file of the reference, 1 of 1 are missing"):
        evaluate_scores(scores, {"b.wav": []})
    with pytest.raises(ValueError, match="durations must have every file of the reference, 1 are missing"):
        evaluate_scores(scores, {"a.wav": []}, durations={"b.wav": 1.0})
    with pytest.raises(ValueError, match=r"scores must have every file of the tags, 1 are missing \(first: 'b.wav'\)"):
        evaluate_scores(scores, {"a.wav": []}, reference_tags={"b.wav": set()})
    with pytest.raises(ValueError, match="segment_seconds must be"):
        evaluate_scores(scores, {"a.wav": []}, segment_seconds=0.0)
    with pytest.raises(ValueError, match="clips must have a length, got 0 s in all"):
        evaluate_scores(score_table({"a.wav": np.zeros((0, 1))}, classes=["dog"], hop_seconds=1.0), {"a.wav": []})


def test_the_median_filter_and_the_settings_are_told() -> None:
    scores = score_table({"a.wav": [[0.1], [0.9], [0.2], [0.8], [0.7]]}, classes=["dog"], hop_seconds=0.1)
    plain, filtered = (
        evaluate_scores(scores, {"a.wav": [(0.0, 0.3, "dog")]}, median_seconds=seconds, segment_seconds=0.1)
        for seconds in (0.0, 0.3)
    )
    assert [keyword for keyword, _ in score_settings(plain)] == ["clips", "levels"]
    assert score_settings(filtered)[-1] == ("median", "scores filtered with a window of 0.3 s, in whole frames")
    np.testing.assert_array_equal(filtered.clips.scores.values, [[0.1, 0.2, 0.8, 0.7, 0.7]])
    np.testing.assert_array_equal(plain.clips.scores.values, scores.values)
