"""PSDS by hand, and scenarios that cannot be. Its laws stand in test_psds.py."""

from __future__ import annotations

import numpy as np
import pytest

from earmark.events import Event
from earmark.metrics.curves import (
    SCENARIO_1,
    SCENARIO_2,
    Criteria,
    Scenario,
    ScoredClips,
    psds,
    score_table,
    scored_clips,
)
from earmark.metrics.curves.psds import area

# Worked numbers


def dog_and_cat() -> ScoredClips:
    """An hour in four frames; the dog is in the first, the cat in the third, and is found as a dog first."""
    scores = {"a": [[0.5, 0.1], [0.1, 0.2], [0.9, 0.8], [0.1, 0.1]]}
    table = score_table(scores, classes=["dog", "cat"], hop_seconds=900.0)
    return scored_clips(table, {"a": [Event(0, 900, "dog"), Event(1800, 2700, "cat")]})


@pytest.mark.parametrize(
    ("scenario", "dog", "both"),
    [
        # The dog is found behind one false alarm per hour: 9 of 10 remain. Both: half until then, and all of the rest.
        (Scenario(Criteria(0.5, 0.5), alpha_st=0.0, max_rate=10.0), 0.9, 0.05 + 0.9),
        # Until then mean 1/2, deviation 1/2: nothing.
        (Scenario(Criteria(0.5, 0.5), alpha_st=1.0, max_rate=10.0), 0.9, 0.9),
        # The cross trigger: one in 900 s of cat are 4 per hour, half of that, one other class: 1 + 0.5 * 4 / 1 = 3.
        (Scenario(Criteria(0.5, 0.5, 0.5), alpha_ct=0.5, alpha_st=0.0, max_rate=10.0), 0.7, 0.15 + 0.7),
        # Divided by both classes: 1 + 0.5 * 4 / 2 = 2.
        (Scenario(Criteria(0.5, 0.5, 0.5), 0.5, 0.0, 10.0, cross_trigger_divisor="all"), 0.8, 0.1 + 0.8),
        # Three per hour are the very end: no room is left. Deviation as above.
        (Scenario(Criteria(0.5, 0.5, 0.5), alpha_ct=0.5, max_rate=3.0), 0.0, 0.0),
    ],
)
def test_the_dog_behind_one_false_alarm(scenario: Scenario, dog: float, both: float) -> None:
    found = psds(dog_and_cat(), scenario=scenario)
    assert found.of_class == pytest.approx({"dog": dog, "cat": 1.0})
    assert found.value == pytest.approx(both)


def test_the_curve_of_the_dog() -> None:
    found = psds(dog_and_cat(), scenario=Scenario(Criteria(0.5, 0.5, 0.5), alpha_ct=0.5, max_rate=10.0))
    # The hit comes at 0.5, when 0.9 has brought one false alarm (1 per hour) and one cross trigger (2 per hour).
    assert found.roc_of_class["dog"].rate.tolist() == [0.0, 3.0]
    assert found.roc_of_class["dog"].hit_rate.tolist() == [0.0, 1.0]
    assert found.roc_of_class["cat"].rate.tolist() == [0.0]
    assert (found.roc.rate.tolist(), found.roc.hit_rate.tolist()) == ([0.0, 3.0], [0.0, 1.0])
    assert area(found.roc, 10.0) == found.value == 0.7


def test_the_scenarios_of_the_challenge() -> None:
    assert SCENARIO_1 == Scenario(Criteria(0.7, 0.7, None), 0.0, 1.0, 100.0, "hour", "others")
    assert SCENARIO_2 == Scenario(Criteria(0.1, 0.1, 0.3), 0.5, 1.0, 100.0, "hour", "others")


def test_classes_that_the_reference_lacks_are_named_and_left_out() -> None:
    clips = dog_and_cat()
    only_cat = scored_clips(clips.scores, {"a": [Event(1800, 2700, "cat")]})
    found = psds(only_cat)
    assert (found.value, found.of_class, found.absent) == (1.0, {"cat": 1.0}, ("dog",))
    nothing = psds(scored_clips(clips.scores, {"a": []}))
    assert np.isnan(nothing.value)
    assert (nothing.of_class, nothing.absent) == ({}, ("dog", "cat"))


def test_one_class_has_no_others_to_trigger() -> None:
    table = score_table({"a": [[0.9], [0.5]]}, classes=["dog"], hop_seconds=1.0)
    clips = scored_clips(table, {"a": [Event(0.0, 1.0, "dog")]})
    assert psds(clips, scenario=SCENARIO_2).value == 1.0


def test_clips_without_frames_count_as_time() -> None:
    scores = {"a": np.array([[0.9], [0.8]]), "b": np.zeros((0, 1))}
    table = score_table(scores, classes=["dog"], hop_seconds=900.0)
    reference = {"a": [Event(900.0, 1800.0, "dog")], "b": []}
    durations = {"a": 1800.0, "b": 1800.0}
    scenario = Scenario(Criteria(1.0, 1.0), max_rate=4.0)
    # At 0.8 both frames are one run, of which half is right: never a hit.
    assert psds(scored_clips(table, reference, durations=durations), scenario=scenario).value == 0.0
    scenario = Scenario(Criteria(0.5, 0.5), max_rate=4.0)
    assert psds(scored_clips(table, reference, durations=durations), scenario=scenario).value == 1.0


# Wrong input


@pytest.mark.parametrize("options", [{"alpha_ct": 0.5}, {"criteria": Criteria(0.5, 0.5, 0.3)}])
def test_a_weight_of_cross_triggers_without_a_criterion_or_the_other_way_round(options: dict) -> None:
    with pytest.raises(ValueError, match=r"alpha_ct and criteria.cross_trigger must be given together"):
        Scenario(**{"criteria": Criteria(0.5, 0.5), **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha_st": -1.0}, "alpha_st must be at least 0"),
        ({"alpha_ct": np.nan}, "alpha_ct must be at least 0"),
        ({"max_rate": 0.0}, "max_rate must be above 0, got 0.0 - in false alarms per unit of time"),
        ({"max_rate": np.inf}, "max_rate must be a finite number"),
        ({"unit_of_time": "day"}, "unit_of_time must be one of second, minute, hour, got 'day'"),
        ({"cross_trigger_divisor": "other"}, "must be one of others, all, got 'other' - did you mean 'others'"),
    ],
)
def test_scenarios_that_cannot_be(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Scenario(Criteria(0.5, 0.5), **options)


def test_clips_without_any_time() -> None:
    clips = scored_clips(score_table({"a": np.zeros((0, 1))}, classes=["dog"], hop_seconds=1.0), {"a": []})
    with pytest.raises(ValueError, match="clips must have a length, got 0 s in all - are durations missing"):
        psds(clips)
