from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracles.curves_cases import clips_of, random_clips, reference_of, small_case
from oracles.curves_checks import (
    WITH_AND_WITHOUT_NUMBA,
    assert_same_curves,
    counts_at,
    needs_numba,
    points,
    raised,
)
from oracles.curves_slow import intersection_counts, thresholds

from earmark.detection.decoding import decode
from earmark.detection.settings import ClassDecoding, Decoding
from earmark.events import Event
from earmark.metrics.curves import Criteria, intersection_curves, median_filtered, score_table, scored_clips
from earmark.metrics.curves import runs as runs_module
from earmark.metrics.curves.intersection import CrossTriggers, intersection_changes
from earmark.timeline import Timeline

CRITERIA = (("0.7", "0.7", None), ("0.1", "0.1", "0.3"), ("0.5", "0.3", "0.5"), ("1", "1", "1"), ("0.3", "0.9", "0.1"))


def criteria_of(dtc: str, gtc: str, cttc: str | None) -> Criteria:
    return Criteria(float(dtc), float(gtc), None if cttc is None else float(cttc))


def crossed_at(crossing: CrossTriggers, threshold: float, other: int) -> int:
    """How often a class is triggered at a threshold."""
    return int(crossing.steps[(crossing.score >= threshold) & (crossing.other == other)].sum())


# Laws


@pytest.mark.parametrize("use_numba", WITH_AND_WITHOUT_NUMBA)
def test_as_counted_one_threshold_after_the_other(rng: np.random.Generator, use_numba: bool) -> None:
    n_crossed = 0
    for _ in range(120):
        case, chosen = small_case(rng), CRITERIA[rng.integers(len(CRITERIA))]
        clips, criteria = clips_of(case), criteria_of(*chosen)
        curves = intersection_curves(clips, criteria=criteria, use_numba=use_numba)
        _, crossing = intersection_changes(clips, criteria=criteria, above=None, use_numba=use_numba)
        for index, (label, curve) in enumerate(zip(case.classes, curves.of_class, strict=True)):
            at = counts_at(curve)
            assert np.isfinite([*curve.score[1:], *crossing[index].score]).all()  # what is never swallowed never ends
            for threshold in thresholds(case, label):
                dtc, gtc, cttc = chosen
                hits, wrong, crossed = intersection_counts(case, label, threshold, dtc=dtc, gtc=gtc, cttc=cttc)
                assert at(threshold) == (hits, wrong)
                for other_index, other in enumerate(case.classes):
                    expected = crossed.get(other, 0)  # of its own class nothing is triggered
                    assert crossed_at(crossing[index], threshold, other_index) == expected
                    n_crossed += expected
    assert n_crossed > 100


@pytest.mark.parametrize("median_seconds", [0.0, 0.2])
def test_false_alarms_and_hits_are_all_that_decoding_finds(rng: np.random.Generator, median_seconds: float) -> None:
    clips = random_clips(rng, n_clips=10, n_frames=60)
    table, reference = clips.scores, reference_of(clips)
    smooth = replace(clips, scores=median_filtered(table, seconds=median_seconds))
    curves = intersection_curves(smooth, criteria=Criteria(1e-3, 1e-3), use_numba=False)
    for threshold in (0.15, 0.5, 0.7):
        settings = ClassDecoding(threshold=threshold, median_seconds=median_seconds)
        decoding = Decoding("fixed", table.classes, (settings,) * 3)
        for curve in curves.of_class:
            hits = wrong = 0
            for name in table.files:
                found = decode(table.only([name]).values.T, decoding=decoding, timeline=Timeline(16, 1))
                mine = [event for event in found if event.label == curve.label]
                true = [event for event in reference[name] if event.label == curve.label]
                # With next to nothing demanded all that meet are right: an event and a detection.
                meets = np.array([[a.onset < b.offset and b.onset < a.offset for b in mine] for a in true])
                meets = meets.reshape(len(true), len(mine))
                hits, wrong = hits + meets.any(axis=1).sum(), wrong + (~meets.any(axis=0)).sum()
            assert counts_at(curve)(threshold) == (hits, wrong)


@needs_numba
def test_with_and_without_numba_bit_for_bit(rng: np.random.Generator) -> None:
    clips, criteria = random_clips(rng, n_clips=20, n_frames=100), Criteria(0.5, 0.5, 0.3)
    one, other = (intersection_curves(clips, criteria=criteria, use_numba=use_numba) for use_numba in (True, False))
    assert_same_curves(one, other)


def test_looking_at_few_frames_at_a_time_changes_nothing(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    clips, criteria = random_clips(rng, n_clips=8, n_frames=50), Criteria(0.5, 0.5, 0.3)
    expected = intersection_curves(clips, criteria=criteria, use_numba=False)
    monkeypatch.setattr(runs_module, "_CHUNK_FRAMES", 70)
    assert_same_curves(intersection_curves(clips, criteria=criteria, use_numba=False), expected)


def test_cross_triggers_change_neither_hits_nor_false_alarms(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=8, n_frames=50)
    assert_same_curves(
        intersection_curves(clips, criteria=Criteria(0.5, 0.5)),
        intersection_curves(clips, criteria=Criteria(0.5, 0.5, 0.3)),
    )


def test_what_is_of_no_interest_changes_nothing_above_it(rng: np.random.Generator) -> None:
    for _ in range(40):
        case = small_case(rng)
        clips, criteria = clips_of(case), Criteria(0.5, 0.5, 0.3)
        above = rng.integers(-5, 11, len(case.classes)) / 10
        every, every_crossing = intersection_changes(clips, criteria=criteria, above=None, use_numba=False)
        some, some_crossing = intersection_changes(clips, criteria=criteria, above=above, use_numba=False)
        for index, limit in enumerate(above):
            for threshold in np.arange(-0.6, 1.1, 0.05).round(2):
                if threshold > limit:
                    for name in ("hits", "false_alarms"):
                        sums = [
                            int(getattr(one[index], name)[one[index].score >= threshold].sum()) for one in (every, some)
                        ]
                        assert sums[0] == sums[1]
                    for other in range(len(above)):
                        crossed = [crossed_at(one[index], threshold, other) for one in (every_crossing, some_crossing)]
                        assert crossed[0] == crossed[1]
            assert (some[index].score > limit).all()
            assert (some_crossing[index].score > limit).all()


def test_other_scores_in_the_same_order_change_thresholds_only(rng: np.random.Generator) -> None:
    clips, criteria = random_clips(rng, n_clips=8, n_frames=50), Criteria(0.5, 0.5)
    other = replace(clips, scores=replace(clips.scores, values=raised(clips.scores.values)))
    found = [intersection_curves(one, criteria=criteria).of_class for one in (clips, other)]
    for one, two in zip(*found, strict=True):
        assert [counts for _, counts in points(one)] == [counts for _, counts in points(two)]


def test_the_counts_of_two_sets_of_clips_add_up(rng: np.random.Generator) -> None:
    clips, criteria = random_clips(rng, n_clips=9, n_frames=50), Criteria(0.3, 0.6)
    reference = reference_of(clips)
    parts = [
        intersection_curves(scored_clips(clips.scores, {name: reference[name] for name in names}), criteria=criteria)
        for names in (clips.scores.files[:4], clips.scores.files[4:])
    ]
    for index, curve in enumerate(intersection_curves(clips, criteria=criteria).of_class):
        for threshold in np.arange(0.0, 1.0, 0.03):
            counts = [counts_at(part.of_class[index])(threshold) for part in parts]
            assert counts_at(curve)(threshold) == tuple(np.sum(counts, axis=0))


def test_shifting_all_times_changes_nothing(rng: np.random.Generator) -> None:
    clips, criteria = random_clips(rng, n_clips=9, n_frames=50), Criteria(0.5, 0.5)
    later = {
        name: [Event(event.onset + 7.25, event.offset + 7.25, event.label) for event in events]
        for name, events in reference_of(clips).items()
    }
    shifted = scored_clips(replace(clips.scores, edge_seconds=clips.scores.edge_seconds + 7.25), later)
    one, other = (intersection_curves(each, criteria=criteria) for each in (clips, shifted))
    assert_same_curves(one, other)


# Worked numbers


@pytest.mark.parametrize(("inside", "counts"), [(0.7, (1, 0)), (0.6999996, (1, 0)), (0.6999994, (0, 1))])
def test_exactly_enough_of_a_detection_is_enough(inside: float, counts: tuple[int, int]) -> None:
    # One second is found, `inside` of it in the event: rounded to microseconds 0.7 is reached.
    scores = score_table({"a": [[0.9]]}, classes=["dog"], edge_seconds={"a": [0.0, 1.0]})
    clips = scored_clips(scores, {"a": [Event(0.0, inside, "dog")]})
    assert points(intersection_curves(clips, criteria=Criteria(0.7, 0.7)).of_class[0]) == [
        (np.inf, (0, 0)),
        (0.9, counts),
    ]


@pytest.mark.parametrize(("found", "counts"), [(0.7, (1, 0)), (0.6999996, (1, 0)), (0.6999994, (0, 0))])
def test_exactly_enough_of_an_event_is_enough(found: float, counts: tuple[int, int]) -> None:
    # All that is found is in the event of one second: no false alarm; a hit when it covers enough of it.
    scores = score_table({"a": [[0.9]]}, classes=["dog"], edge_seconds={"a": [0.0, found]})
    clips = scored_clips(scores, {"a": [Event(0.0, 1.0, "dog")]})
    assert counts_at(intersection_curves(clips, criteria=Criteria(0.7, 0.7)).of_class[0])(0.9) == counts


@pytest.mark.parametrize(("inside", "crossed"), [(0.3, 1), (0.2999996, 1), (0.2999994, 0)])
def test_exactly_enough_of_a_false_alarm_triggers_across(inside: float, crossed: int) -> None:
    scores = score_table({"a": [[0.9, 0.0]]}, classes=["dog", "cat"], edge_seconds={"a": [0.0, 1.0]})
    clips = scored_clips(scores, {"a": [Event(0.0, inside, "cat")]})
    _, crossing = intersection_changes(clips, criteria=Criteria(0.5, 0.5, 0.3), above=None, use_numba=False)
    assert crossed_at(crossing[0], 0.9, 1) == crossed


def test_several_detections_cover_one_event_together() -> None:
    # The event is 0 to 4 s. At 0.9 one second of four: 0.25. At 0.8 the second piece: 0.5 is enough.
    scores = score_table({"a": [[0.9], [0.1], [0.8], [0.1]]}, classes=["dog"], hop_seconds=1.0)
    curve = intersection_curves(scored_clips(scores, {"a": [Event(0.0, 4.0, "dog")]}), criteria=Criteria(0.5, 0.5))
    assert points(curve.of_class[0]) == [(np.inf, (0, 0)), (0.8, (1, 0))]


def test_one_detection_hits_several_events() -> None:
    # Three of four seconds found are in the two events, which are covered entirely.
    scores = score_table({"a": [[0.9]] * 4}, classes=["dog"], hop_seconds=1.0)
    clips = scored_clips(scores, {"a": [Event(0.0, 2.0, "dog"), Event(3.0, 4.0, "dog")]})
    assert counts_at(intersection_curves(clips, criteria=Criteria(0.75, 1.0)).of_class[0])(0.9) == (2, 0)
    assert counts_at(intersection_curves(clips, criteria=Criteria(0.76, 1.0)).of_class[0])(0.9) == (0, 1)


def test_irrelevant_detections_cover_nothing() -> None:
    # 0 to 2 s is found, half of it in the event of one second, which it covers: but half is not 0.7.
    scores = score_table({"a": [[0.9], [0.9], [0.1]]}, classes=["dog"], hop_seconds=1.0)
    clips = scored_clips(scores, {"a": [Event(1.0, 2.0, "dog")]})
    assert counts_at(intersection_curves(clips, criteria=Criteria(0.7, 0.7)).of_class[0])(0.9) == (0, 1)


def test_one_false_alarm_triggers_two_other_classes() -> None:
    classes = ["dog", "cat", "bird"]
    scores = score_table({"a": [[0.9, 0.0, 0.0]] * 2 + [[0.1, 0.0, 0.0]]}, classes=classes, hop_seconds=1.0)
    clips = scored_clips(scores, {"a": [Event(0.0, 1.0, "cat"), Event(0.5, 1.5, "bird")]})
    _, crossing = intersection_changes(clips, criteria=Criteria(0.5, 0.5, 0.4), above=None, use_numba=False)
    # Two seconds are found, one of them in either: half. At 0.1 it is a third of three seconds: not enough.
    assert [crossed_at(crossing[0], 0.9, other) for other in (1, 2)] == [1, 1]
    assert [crossed_at(crossing[0], 0.1, other) for other in (1, 2)] == [0, 0]


def test_a_moment_of_which_half_is_no_microsecond_is_a_false_alarm_all_the_same() -> None:
    scores = {"a": [[0.9, 0.1]], "b": [[0.8, 0.1]]}
    edges = {"a": [0.0, 4e-7], "b": [0.0, 1.0]}
    table = score_table(scores, classes=["dog", "cat"], edge_seconds=edges)
    clips = scored_clips(table, {"a": [Event(0.0, 1.0, "cat")], "b": [Event(0.0, 1.0, "dog")]})
    curve = intersection_curves(clips, criteria=Criteria(0.5, 0.5, 0.5)).of_class[0]
    assert points(curve) == [(np.inf, (0, 0)), (0.9, (0, 1)), (0.8, (1, 1))]


def test_clips_without_events_or_frames() -> None:
    table = score_table({"a": np.zeros((0, 1)), "b": np.array([[0.3]])}, classes=["dog"], hop_seconds=1.0)
    clips = scored_clips(table, {"a": [Event(0.0, 1.0, "dog")], "b": []})
    curve = intersection_curves(clips, criteria=Criteria(0.5, 0.5, 0.5)).of_class[0]
    assert points(curve) == [(np.inf, (0, 0)), (0.3, (0, 1))]
    nothing = scored_clips(table, {"a": [], "b": []})
    assert intersection_curves(nothing, criteria=Criteria(0.5, 0.5, 0.5)).absent == ("dog",)


# Wrong input


@pytest.mark.parametrize("name", ["detection", "reference", "cross_trigger"])
@pytest.mark.parametrize("value", [0.0, -0.1, 1.1, 70.0, np.nan])
def test_a_part_that_is_none(name: str, value: float) -> None:
    parts = {"detection": 0.5, "reference": 0.5, name: value}
    with pytest.raises(ValueError, match=rf"{name} must be above 0 and at most 1, got {value} - a part of a length"):
        Criteria(**parts)
