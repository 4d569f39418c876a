"""Whole numbers as weights of clips: the same as writing every clip out so many times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracles.weighted_cases import CLASSES, ScoreCase, score_case

from earmark.events import Event
from earmark.metrics.curves import weighted
from earmark.metrics.curves.collar import collar_curves
from earmark.metrics.curves.curve import Curves
from earmark.metrics.curves.intersection import Criteria, intersection_curves
from earmark.metrics.curves.items import clip_curves, segment_curves
from earmark.metrics.curves.psds import SCENARIO_1, SCENARIO_2, Scenario, psds, surely_over
from earmark.metrics.curves.scored_clips import ScoredClips
from earmark.metrics.curves.weighted import WeighableCurves, WeighablePsds

LEVELS = ("event", "segment", "clip", "intersection")
ALL_CROSSING = Scenario(
    Criteria(detection=0.5, reference=0.4, cross_trigger=0.2),
    alpha_ct=1.0,
    alpha_st=0.3,
    max_rate=40.0,
    unit_of_time="minute",
    cross_trigger_divisor="all",
)
SCENARIOS = {"1": SCENARIO_1, "2": SCENARIO_2, "all crossing": ALL_CROSSING}


def curves_of_level(case: ScoreCase, level: str) -> Curves:
    """The curves of one level."""
    clips = case.clips()
    if level == "event":
        return collar_curves(clips)
    if level == "segment":
        return segment_curves(clips)
    if level == "intersection":
        return intersection_curves(clips, criteria=Criteria(detection=0.5, reference=0.5))
    return clip_curves(clips.scores, {name: {event.label for event in found} for name, found in case.reference.items()})


def figures_of(curves: Curves) -> dict[str, list[float]]:
    """What the curves themselves say: mean, then every class."""
    figures = {
        "best_f1": [curves.macro_best.f1, *(curve.best.scores.f1 for curve in curves.of_class)],
        "average_precision": [curves.mean_average_precision, *(curve.average_precision for curve in curves.of_class)],
    }
    if curves.level in ("segment", "clip"):
        figures["auroc"] = [curves.mean_auroc, *(curve.auroc for curve in curves.of_class)]
    return figures


def random_weights(rng: np.random.Generator, n_resamples: int, n_clips: int = 8) -> np.ndarray:
    """Of a bootstrap: many clips not at all."""
    return np.array([np.bincount(rng.integers(0, n_clips, n_clips), minlength=n_clips) for _ in range(n_resamples)])


# Laws


@pytest.mark.parametrize("level", LEVELS)
def test_a_weight_is_that_many_copies_of_the_clip(rng: np.random.Generator, level: str) -> None:
    n_undefined = 0
    for _ in range(6):
        case, weights = score_case(rng), random_weights(rng, 6)
        found = WeighableCurves(curves_of_level(case, level)).under(weights)
        for row, of_clips in enumerate(weights.tolist()):
            expected = figures_of(curves_of_level(case.written_out(of_clips), level))
            assert found.keys() == expected.keys()
            for name, values in expected.items():
                np.testing.assert_allclose(found[name][row], values, rtol=1e-12, atol=1e-12, err_msg=name)
                n_undefined += int(np.isnan(values).any())
    assert n_undefined > 0  # some resamples lacked a class, or this tests less than it says


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_weight_is_that_many_copies_of_the_clip_for_psds(rng: np.random.Generator, name: str) -> None:
    n_undefined = n_between = 0
    for _ in range(6):
        case, weights = score_case(rng), random_weights(rng, 6)
        found = WeighablePsds(case.clips(), SCENARIOS[name]).under(weights)["psds"]
        for row, of_clips in enumerate(weights.tolist()):
            result = psds(case.written_out(of_clips).clips(), scenario=SCENARIOS[name])
            own = [result.of_class.get(label, np.nan) for label in CLASSES]
            np.testing.assert_allclose(found[row], [result.value, *own], rtol=1e-12, atol=1e-12)
            n_undefined += int(np.isnan(own).any())
            n_between += any(0 < value < 1 for value in own)
    assert n_undefined > 0
    assert n_between > 10


@pytest.mark.parametrize("level", LEVELS)
def test_weights_of_one_are_the_figures_themselves(rng: np.random.Generator, level: str) -> None:
    curves = curves_of_level(score_case(rng), level)
    system = WeighableCurves(curves)
    found = system.under(np.ones((1, 8), dtype=np.int64))
    for name, values in figures_of(curves).items():
        np.testing.assert_allclose(found[name][0], values, rtol=1e-12, err_msg=name)
    assert (system.level, system.files, system.classes) == (level, curves.files, CLASSES)
    np.testing.assert_array_equal(system.task, curves.reference_by_file)


def test_weights_of_one_are_the_psds_itself(rng: np.random.Generator) -> None:
    clips = score_case(rng).clips()
    for scenario in SCENARIOS.values():
        system, result = WeighablePsds(clips, scenario), psds(clips, scenario=scenario)
        found = system.under(np.ones((1, 8), dtype=np.int64))["psds"][0]
        np.testing.assert_allclose(found, [result.value, *result.of_class.values()], rtol=1e-12)
        assert (system.level, system.files, system.classes) == ("psds", clips.scores.files, CLASSES)


def test_twice_all_clips_is_no_other_system(rng: np.random.Generator) -> None:
    case = score_case(rng)
    for system in (WeighableCurves(collar_curves(case.clips())), WeighablePsds(case.clips(), SCENARIO_2)):
        for values in system.under(np.array([[1] * 8, [3] * 8])).values():
            np.testing.assert_allclose(values[0], values[1], rtol=1e-12)


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_not_looked_at_changes_nothing(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    seen: list[np.ndarray] = []

    def nothing_is_over(clips: ScoredClips, of_clips: np.ndarray, max_false_alarms: np.ndarray) -> np.ndarray:
        seen.append(surely_over(clips, of_clips, max_false_alarms))
        return np.full(len(CLASSES), -np.inf)

    for _ in range(4):
        clips, weights = score_case(rng, n_clips=40, n_levels=200).clips(), random_weights(rng, 10, 40)
        n_hours = clips.duration_seconds.sum() / 3600
        system = WeighablePsds(clips, replace(SCENARIOS[name], max_rate=4 / n_hours, unit_of_time="hour"))
        spared = system.under(weights)["psds"]
        with monkeypatch.context() as patch:
            patch.setattr(weighted, "surely_over", nothing_is_over)
            np.testing.assert_allclose(spared, system.under(weights)["psds"], rtol=1e-12, atol=1e-12)
    assert np.isfinite(seen).any()  # otherwise there was nothing to spare


def test_auroc_is_the_share_of_pairs_in_the_right_order(rng: np.random.Generator) -> None:
    names = [f"{number}.wav" for number in range(30)]
    scores = {name: [float(rng.integers(0, 5)), float(rng.integers(0, 5))] for name in names}
    tags = {name: {label for label in ("cat", "dog") if rng.random() < 0.4} for name in names}
    curves = clip_curves(scores, tags, classes=("cat", "dog"))
    weights = random_weights(rng, 5, 30)
    found = WeighableCurves(curves).under(weights)["auroc"]
    for row, of_clips in enumerate(weights.tolist()):
        drawn = [name for name, weight in zip(names, of_clips, strict=True) for _ in range(weight)]
        expected = []
        for index, label in enumerate(("cat", "dog")):
            pairs = [
                (scores[one][index], scores[other][index])
                for one in drawn
                for other in drawn
                if label in tags[one] and label not in tags[other]
            ]
            expected.append(sum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs))
        np.testing.assert_allclose(found[row], [sum(expected) / 2, *expected], rtol=1e-12)
        assert any(0 < value < 1 for value in expected)


# Worked numbers


def test_psds_of_a_clip_that_counts_twice() -> None:
    case = ScoreCase(
        {"a": np.array([[0.9, 0, 0]] * 4), "b": np.array([[0.8, 0, 0]] * 4), "c": np.array([[0.7, 0, 0]] * 4)},
        {"a": [], "b": [Event(0.0, 1.0, "cat")], "c": [Event(0.0, 1.0, "cat")]},
        {"a": 36.0, "b": 36.0, "c": 36.0},
    )
    found = WeighablePsds(case.clips(), SCENARIO_1).under(np.array([[1, 1, 1], [0, 1, 2], [2, 1, 0], [3, 0, 0]]))[
        "psds"
    ]
    # In 108 s three false alarms are 100 per hour. One comes first: of the picture two thirds are left; two: one third.
    np.testing.assert_allclose(found[:, 0], [2 / 3, 1.0, 1 / 3, np.nan], rtol=1e-12)
    np.testing.assert_allclose(found[:, 1], found[:, 0])
    assert np.isnan(found[:, 2:]).all()


def test_a_class_that_was_not_drawn_is_left_out_of_the_mean() -> None:
    curves = clip_curves({"a": [0.9, 0.1], "b": [0.1, 0.2], "c": [0.3, 0.9]}, {"a": {"cat"}, "b": {"dog"}, "c": set()},
                         classes=("cat", "dog"))  # fmt: skip
    found = WeighableCurves(curves).under(np.array([[1, 1, 1], [2, 0, 1], [0, 0, 3], [3, 0, 0]]))
    np.testing.assert_allclose(found["best_f1"], [[5 / 6, 1, 2 / 3], [1, 1, np.nan], [np.nan] * 3, [1, 1, np.nan]])
    np.testing.assert_allclose(found["auroc"], [[0.75, 1, 0.5], [1, 1, np.nan], [np.nan] * 3, [np.nan] * 3])


def test_no_clip_at_all_is_undefined(rng: np.random.Generator) -> None:
    case, nothing = score_case(rng), np.zeros((1, 8), dtype=np.int64)
    for system in (WeighableCurves(segment_curves(case.clips())), WeighablePsds(case.clips(), SCENARIO_2)):
        for values in system.under(nothing).values():
            assert np.isnan(values).all()
