from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from oracles.bootstrap_cases import another_system, random_counts
from oracles.weighted_cases import score_case

from earmark.metrics.bootstrap import Interval
from earmark.metrics.comparison import Comparison, Difference, compare
from earmark.metrics.curves.evaluation import evaluate_scores
from earmark.metrics.curves.scores import score_table
from earmark.metrics.curves.uncertainty import CurveComparison, CurveUncertainty
from earmark.metrics.systems import score_comparison, score_uncertainty
from earmark.metrics.uncertainty import Uncertainty, uncertainty
from earmark.metrics.uncertainty_report import (
    as_json,
    difference_table,
    how_sure,
    interval_table,
    uncertainty_cautions,
)

INTERVAL, UNDEFINED = Interval(0.5, 0.41, 0.6004), Interval(math.nan, math.nan, math.nan, 1000)
OF_LISTS = Uncertainty("event", ("dog",), "clip", 90, 1, 1000, 0.95, 0, {"f1": INTERVAL}, {"f1": UNDEFINED}, {})
OF_CURVES = CurveUncertainty("psds", ("dog",), "group", 30, 3, 500, 0.9, {"psds": INTERVAL}, {})
DIFFERENCE = Difference(-0.04, -0.0004, 0.07, 0.0009)
NO_DIFFERENCE = Difference(math.nan, math.nan, math.nan, math.nan)
COMPARED = Comparison(
    "clip", (), "clip", 19, (1, 2), 1000, 0.95, "bootstrap", 0, {"f1": DIFFERENCE}, {"f1": NO_DIFFERENCE}, {}
)
CURVES_COMPARED = CurveComparison("event", (), "group", 30, (1, 1), 1000, 0.95, {"best_f1": DIFFERENCE}, {})


# Laws


def test_every_row_fits_the_header(rng: np.random.Generator) -> None:
    counts = {level: random_counts(rng, level) for level in ("event", "segment", "clip")}
    lists = {level: uncertainty(of_level, n_resamples=10) for level, of_level in counts.items()}
    differences = {
        level: compare(another_system(rng, of_level), of_level, n_resamples=10) for level, of_level in counts.items()
    }
    case = score_case(rng)
    run = evaluate_scores(score_table(case.scores, classes=["cat", "dog", "owl"], hop_seconds=0.25), case.reference)
    scores = score_uncertainty([run], n_resamples=10)
    score_differences = score_comparison([run], [run], n_resamples=10)
    for header, rows in (
        interval_table(lists),
        interval_table(scores),
        difference_table(differences),
        difference_table(score_differences),
    ):
        assert {len(row) for row in rows} == {1 + sum(map(len, header.values()))}
        assert len(rows) in (8, 10)
        assert len({row[0] for row in rows}) == len(rows)


def test_json_survives_writing_and_reading(rng: np.random.Generator) -> None:
    counts = random_counts(rng, "event")  # of which one class is nowhere, so undefined
    found = as_json({"event": uncertainty(counts, n_resamples=10)})
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    compared = as_json({"event": compare(another_system(rng, counts), counts, n_resamples=10)})
    assert json.loads(json.dumps(compared, allow_nan=False)) == compared
    case = score_case(rng)
    reference = {name: [event for event in events if event.label != "owl"] for name, events in case.reference.items()}
    run = evaluate_scores(score_table(case.scores, classes=["cat", "dog", "owl"], hop_seconds=0.25), reference)
    scores = as_json(score_uncertainty([run], n_resamples=10))
    assert json.loads(json.dumps(scores, allow_nan=False)) == scores
    differences = as_json(score_comparison([run], [run], n_resamples=10))
    assert json.loads(json.dumps(differences, allow_nan=False)) == differences


# Worked numbers


def test_rows_of_lists_by_hand() -> None:
    header, rows = interval_table({"event": OF_LISTS, "clip": replace(OF_LISTS, macro={}, micro={})})
    assert header == {"event": ("value", "from", "to"), "clip": ("value", "from", "to")}
    assert rows == [
        ["macro F1", "0.500", "0.410", "0.600", "-", "-", "-"],
        ["micro F1", "-", "-", "-", "-", "-", "-"],
    ]


def test_rows_of_curves_by_hand() -> None:
    figures = {"best_f1": INTERVAL, "average_precision": UNDEFINED, "auroc": INTERVAL}
    header, rows = interval_table({"clip": replace(OF_CURVES, overall=figures), "PSDS 1": OF_CURVES})
    assert header == {"": ("value", "from", "to")}
    assert rows == [
        ["clip best F1", "0.500", "0.410", "0.600"],
        ["clip AP", "-", "-", "-"],
        ["clip AUC", "0.500", "0.410", "0.600"],
        ["PSDS 1", "0.500", "0.410", "0.600"],
    ]


def test_differences_have_a_sign_and_small_p_values_are_below() -> None:
    header, rows = difference_table({"clip": COMPARED})
    assert header == {"clip": ("differ", "from", "to", "p")}
    assert rows == [["macro F1", "-0.040", "-0.000", "+0.070", "<0.001"], ["micro F1", "-", "-", "-", "-"]]
    at_the_edge = replace(CURVES_COMPARED, overall={"best_f1": replace(DIFFERENCE, p_value=0.001)})
    assert difference_table({"event": at_the_edge})[1] == [["event best F1", "-0.040", "-0.000", "+0.070", "0.001"]]


def test_what_the_intervals_are_is_said() -> None:
    assert how_sure(OF_LISTS) == "95 % over 90 clips, 1,000 resamples"
    assert how_sure(OF_CURVES) == "90 % over 30 groups, 500 resamples"
    assert how_sure(replace(OF_CURVES, confidence=0.999, n_units=2000)) == "99.9 % over 2,000 groups, 500 resamples"
    assert how_sure(CURVES_COMPARED) == "95 % over 30 groups, 1,000 resamples"


def test_clips_and_few_groups_are_cautioned() -> None:
    assert uncertainty_cautions(OF_CURVES) == []
    (clips,) = uncertainty_cautions(OF_LISTS)
    assert clips.startswith("intervals are over clips, because no groups were given: if clips share a recording")
    assert "--group" in clips
    assert uncertainty_cautions(COMPARED)[1] == "intervals over only 19 clips are too narrow, and p-values too small"
    assert uncertainty_cautions(replace(OF_CURVES, n_units=20)) == []
    few = replace(OF_CURVES, n_units=2)
    assert uncertainty_cautions(few) == ["intervals over only 2 groups are too narrow, and p-values too small"]
    assert uncertainty_cautions(replace(OF_CURVES, n_effective=20.0)) == []
    (uneven,) = uncertainty_cautions(replace(OF_CURVES, n_effective=8.4))
    assert uneven.startswith("a few groups hold most of the clips: intervals are as if over 8 groups, too narrow")


def test_json_by_hand() -> None:
    assert as_json({"PSDS 1": replace(OF_CURVES, by_class={"dog": {"psds": UNDEFINED}})}) == {
        "PSDS 1": {
            "level": "psds",
            "classes": ["dog"],
            "unit": "group",
            "n_units": 30,
            "n_runs": 3,
            "n_resamples": 500,
            "confidence": 0.9,
            "overall": {"psds": {"value": 0.5, "low": 0.41, "high": 0.6004, "n_undefined": 0}},
            "by_class": {"dog": {"psds": {"value": None, "low": None, "high": None, "n_undefined": 1000}}},
            "n_effective": None,
        }
    }
    compared = as_json({"clip": COMPARED})["clip"]
    assert isinstance(compared, dict)
    assert compared["n_runs"] == [1, 2]
    assert compared["macro"] == {
        "f1": {"value": -0.04, "low": -0.0004, "high": 0.07, "p_value": 0.0009, "n_undefined": 0}
    }


def test_nothing_is_an_empty_table() -> None:
    assert interval_table({}) == ({"": ("value", "from", "to")}, [])


# Wrong input


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinity_is_no_json_either(value: float) -> None:
    found = as_json({"PSDS 1": replace(OF_CURVES, overall={"psds": Interval(value, 0.0, value)})})
    json.dumps(found, allow_nan=False)
