from __future__ import annotations

import numpy as np
import pytest
from oracles.curves_cases import clips_of, events_of, random_clips, reference_of, scores_of, small_case
from oracles.curves_checks import assert_same_curves, counts_at
from oracles.curves_slow import clip_counts, segment_counts, thresholds

from earmark.detection.decoding import decode
from earmark.detection.settings import Decoding
from earmark.events import Event
from earmark.metrics.curves import clip_curves, score_table, scored_clips, segment_curves
from earmark.metrics.segment import segment_counts as counts_of_lists
from earmark.timeline import Timeline


def tags_of(reference: dict[str, list[Event]]) -> dict[str, set[str]]:
    return {name: {event.label for event in events} for name, events in reference.items()}


# Laws


@pytest.mark.parametrize("seconds", ["1", "0.3", "0.05"])
def test_segments_as_counted_one_threshold_after_the_other(rng: np.random.Generator, seconds: str) -> None:
    for _ in range(60):
        case = small_case(rng)
        curves = segment_curves(clips_of(case), segment_seconds=float(seconds))
        for label, curve in zip(case.classes, curves.of_class, strict=True):
            at = counts_at(curve)
            for threshold in thresholds(case, label):
                assert at(threshold) == segment_counts(case, label, threshold, seconds=seconds)


def test_clips_as_counted_one_threshold_after_the_other(rng: np.random.Generator) -> None:
    for _ in range(100):
        case = small_case(rng)
        case.scores.update({name: [[-0.5] * len(case.classes)] for name, rows in case.scores.items() if not rows})
        case.edges.update({name: [0.0, 0.1] for name, edges in case.edges.items() if len(edges) == 1})
        curves = clip_curves(scores_of(case), tags_of(events_of(case)))
        for label, curve in zip(case.classes, curves.of_class, strict=True):
            at = counts_at(curve)
            for threshold in thresholds(case, label):
                assert at(threshold) == clip_counts(case, label, threshold)


@pytest.mark.parametrize("segment_seconds", [1.0, 0.5])
def test_segments_at_a_threshold_are_those_of_decoded_events(rng: np.random.Generator, segment_seconds: float) -> None:
    clips = random_clips(rng, n_clips=12, n_frames=37)
    curves = segment_curves(clips, segment_seconds=segment_seconds)
    table = clips.scores
    reference = reference_of(clips)
    for threshold in (0.2, 0.5, 0.75):
        decoding = Decoding.fixed(table.classes, threshold=threshold)
        found = {
            name: decode(table.only([name]).values.T, decoding=decoding, timeline=Timeline(16, 1))
            for name in table.files
        }
        counts = counts_of_lists(reference, found, classes=table.classes, segment_seconds=segment_seconds)
        for index, curve in enumerate(curves.of_class):
            expected = counts.true_positives[index], counts.false_positives[index]
            assert counts_at(curve)(threshold) == expected
            assert curve.n_reference == counts.n_reference[index]


def test_segments_with_and_without_the_class_are_all_segments(rng: np.random.Generator) -> None:
    for _ in range(30):
        curves = segment_curves(clips_of(small_case(rng)))
        assert curves.items_by_file is not None
        for curve in curves.of_class:
            assert curve.n_negatives is not None
            assert curve.n_reference + curve.n_negatives == curves.items_by_file.sum()
            assert curve.true_positives[-1] == curve.n_reference  # below every score everything is found
            assert curve.false_positives[-1] == curve.n_negatives


def test_a_clip_scores_as_its_best_frame(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=20, n_frames=15)
    tags = {name: {label for label in clips.scores.classes if rng.random() < 0.4} for name in clips.scores.files}
    values = clips.scores.values.reshape(3, 20, 15).max(axis=2).T
    of_clips = dict(zip(clips.scores.files, values, strict=True))
    assert_same_curves(clip_curves(clips.scores, tags), clip_curves(of_clips, tags, classes=clips.scores.classes))


def test_a_segment_as_long_as_a_clip_is_the_clip(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=20, n_frames=16)  # of one second
    holds = clips.reference_by_file > 0
    tags = {
        name: {label for label, held in zip(clips.scores.classes, row, strict=True) if held}
        for name, row in zip(clips.scores.files, holds, strict=True)
    }
    assert_same_curves(segment_curves(clips, segment_seconds=1.0), clip_curves(clips.scores, tags))


def test_segments_of_any_length_do_not_drift() -> None:
    scores = score_table({"a": np.zeros((1, 1))}, classes=["dog"], hop_seconds=100_000.0)
    clips = scored_clips(scores, {"a": [(0.0, 100_000.0, "dog")]})
    assert segment_curves(clips, segment_seconds=1 / 3).of_class[0].n_reference == 300_000


# Worked numbers


def test_frames_and_events_belong_to_every_segment_they_reach_into() -> None:
    # Frames of 0.75 s over segments of 1 s: 0 in the first, 1 in both, 2 in the second and third, 3 in the third.
    scores = score_table({"a.wav": [[0.1], [0.6], [0.4], [0.9]]}, classes=["dog"], hop_seconds=0.75)
    curve = segment_curves(scored_clips(scores, {"a.wav": [Event(0.9, 1.1, "dog")]})).of_class[0]
    # Segments: 0.6 and 0.6, which hold the dog, and 0.9, which does not.
    assert curve.score.tolist() == [np.inf, 0.9, 0.6]
    assert (curve.true_positives.tolist(), curve.false_positives.tolist()) == ([0, 0, 2], [0, 1, 1])
    assert (curve.n_reference, curve.n_negatives) == (2, 1)


def test_less_than_half_a_microsecond_is_not_in_a_segment() -> None:
    scores = score_table({"a.wav": [[0.5]]}, classes=["dog"], edge_seconds={"a.wav": [0.0, 1.0000004]})
    assert segment_curves(scored_clips(scores, {"a.wav": [Event(0.0, 1.1 + 2.2 - 2.3, "dog")]})).items_by_file == [1]
    scores = score_table({"a.wav": [[0.5]]}, classes=["dog"], edge_seconds={"a.wav": [0.0, 1.0000006]})
    assert segment_curves(scored_clips(scores, {"a.wav": []})).items_by_file == [2]


def test_segments_behind_the_last_frame_score_lowest() -> None:
    reference = {"a.wav": [Event(2.0, 3.0, "dog")]}
    for lowest, score in ((0.5, 0.0), (-0.5, -0.5)):
        scores = score_table({"a.wav": [[0.5], [lowest]]}, classes=["dog"], hop_seconds=0.5)
        curve = segment_curves(scored_clips(scores, reference, durations={"a.wav": 3.0})).of_class[0]
        # One segment of frames, 0.5, and two without; one of these holds the dog.
        assert curve.score.tolist() == [np.inf, 0.5, score]
        assert (curve.true_positives.tolist(), curve.false_positives.tolist()) == ([0, 0, 1], [0, 1, 2])


def test_nothing_behind_the_end_of_a_clip_counts() -> None:
    scores = score_table({"a.wav": [[0.5], [0.7]]}, classes=["dog"], hop_seconds=1.0)
    clips = scored_clips(scores, {"a.wav": [Event(0.0, 2.0, "dog")]}, durations={"a.wav": 1.0})
    curve = segment_curves(clips).of_class[0]
    assert (curve.score.tolist(), curve.true_positives.tolist(), curve.n_negatives) == ([np.inf, 0.5], [0, 1], 0)


def test_clips_without_frames_score_lowest() -> None:
    scores = score_table({"a": [[0.4]], "b": np.zeros((0, 1))}, classes=["dog"], hop_seconds=1.0)
    curve = clip_curves(scores, {"a": set(), "b": {"dog"}}).of_class[0]
    assert (curve.score.tolist(), curve.true_positives.tolist()) == ([np.inf, 0.4, 0.0], [0, 0, 1])
    assert curve.auroc == 0.0


def test_clips_of_two_classes() -> None:
    scores = {"a": [0.9, 0.1], "b": [0.4, 0.2], "c": [0.6, 0.3]}
    tags = {"a": {"dog"}, "b": {"dog", "cat"}, "c": set[str]()}
    curves = clip_curves(scores, tags, classes=("dog", "cat"))
    # Dog: right, wrong, right: P 1 at R 1/2, P 2/3 at R 1. Cat: wrong, right: P 1/2 at R 1.
    assert curves.of_class[0].average_precision == pytest.approx(1 / 2 + 2 / 3 / 2)
    assert curves.of_class[1].average_precision == 1 / 2
    assert curves.mean_average_precision == pytest.approx((5 / 6 + 1 / 2) / 2)
    # Dog: of the two pairs a-c and b-c one is right. Cat: of b-a and b-c one.
    assert curves.mean_auroc == 1 / 2


def test_unicode_forms_of_one_name_are_one() -> None:
    scores = {"k\u00fcche": [0.9], "b": [0.1]}
    tags = {"ku\u0308che": {"Tu\u0308r"}, "k\u00fcche": set[str](), "b": set[str]()}
    curves = clip_curves(scores, tags, classes=("T\u00fcr",))
    assert (curves.files, curves.of_class[0].n_reference) == (("k\u00fcche", "b"), 1)


# Wrong input


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e-4, np.nan])
def test_a_segment_without_length(seconds: float) -> None:
    clips = scored_clips(score_table({"a": [[0.1]]}, classes=["dog"], hop_seconds=1), {"a": []})
    with pytest.raises(ValueError, match=r"segment_seconds must be at least 0.001, got .* in seconds"):
        segment_curves(clips, segment_seconds=seconds)


def test_scores_per_clip_without_classes() -> None:
    with pytest.raises(ValueError, match="classes must be given for scores per clip, got None"):
        clip_curves({"a": [0.1]}, {"a": set()})


@pytest.mark.parametrize("values", [[0.1], [0.1, np.nan], [np.inf, 0.1], [[0.1, 0.2]], [0.1, 0.2, 0.3]])
def test_scores_per_clip_that_are_not_one_number_per_class(values: list) -> None:
    with pytest.raises(ValueError, match=r"scores\['a'\] must be 2 finite numbers, one per class"):
        clip_curves({"a": values}, {"a": set()}, classes=("dog", "cat"))


def test_a_clip_without_scores() -> None:
    with pytest.raises(ValueError, match=r"scores must have every file of the tags, 1 are missing \(first: 'b'\)"):
        clip_curves({"a": [0.1]}, {"a": set(), "b": set()}, classes=("dog",))


def test_no_tags() -> None:
    with pytest.raises(ValueError, match="tags must have at least one file, got none"):
        clip_curves({"a": [0.1]}, {}, classes=("dog",))


def test_a_tag_that_is_no_class() -> None:
    with pytest.raises(ValueError, match=r"tags of a: unknown class 'dgo' .* did you mean 'dog'"):
        clip_curves({"a": [0.1]}, {"a": {"dgo"}}, classes=("dog",))


def test_one_clip_or_class_twice() -> None:
    with pytest.raises(ValueError, match=r"scores must have every file once, got .* in two unicode forms"):
        clip_curves({"u\u0308": [0.1], "\u00fc": [0.2]}, {"\u00fc": set()}, classes=("dog",))
    for classes in (("dog", "dog"), ("u\u0308", "\u00fc")):
        with pytest.raises(ValueError, match="classes must be different names"):
            clip_curves({"a": [0.1, 0.2]}, {"a": set()}, classes=classes)
