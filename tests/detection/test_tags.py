"""Tags of clips and of the spans of long recordings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earmark.detection.settings import ClassDecoding, Decoding
from earmark.detection.tags import clip_probs, has_tag, span_tags
from earmark.timeline import Timeline

GRID = Timeline(sample_rate=10, hop_samples=5)  # 0.5 s per frame


# --- laws ---


def test_pooled_is_between_the_lowest_and_the_highest_frame(rng: np.random.Generator) -> None:
    for scale in (0.0, 1.0, 1e3, 1e300):
        probs, scores = rng.random((30, 4)), scale * rng.normal(size=(30, 4))
        pooled = clip_probs(probs, scores, rule="softmax")
        assert (probs.min(axis=0) <= pooled).all()
        assert (pooled <= probs.max(axis=0)).all()
        assert (pooled <= clip_probs(probs, None, rule="max")).all()


def test_pooling_equal_frames_gives_just_that(rng: np.random.Generator) -> None:
    for prob in rng.random(200):
        scores = rng.normal(size=(30, 1))
        assert clip_probs(np.full((30, 1), prob), scores, rule="softmax").tolist() == [prob]


def test_neither_a_shift_of_the_scores_nor_the_order_of_frames_matters(rng: np.random.Generator) -> None:
    probs, scores, order = rng.random((30, 4)), rng.normal(size=(30, 4)), rng.permutation(30)
    pooled = clip_probs(probs, scores, rule="softmax")
    np.testing.assert_allclose(clip_probs(probs, scores - 5000.0, rule="softmax"), pooled, rtol=1e-10)
    np.testing.assert_allclose(clip_probs(probs[order], scores[order], rule="softmax"), pooled, rtol=1e-12)


def test_frames_with_a_score_of_minus_infinity_have_no_weight(rng: np.random.Generator) -> None:
    probs, scores = rng.random((30, 4)), rng.normal(size=(30, 4))
    scores[20:] = -np.inf
    np.testing.assert_array_equal(
        clip_probs(probs, scores, rule="softmax"), clip_probs(probs[:20], scores[:20], rule="softmax")
    )


def test_every_span_is_pooled_as_a_clip_of_its_own(rng: np.random.Generator) -> None:
    probs, scores = rng.random((25, 3)).astype(np.float32), rng.normal(size=(25, 3)).astype(np.float32)
    for rule in ("softmax", "max"):
        spans = span_tags(probs, scores, rule=rule, span_seconds=5, timeline=GRID)
        assert [(span.onset, span.offset) for span in spans] == [(0, 5), (5, 10), (10, 12.5)]
        for index, span in enumerate(spans):
            own = slice(10 * index, 10 * index + 10)
            np.testing.assert_array_equal(span.clip_probs, clip_probs(probs[own], scores[own], rule=rule))


def test_spans_do_not_depend_on_what_follows(rng: np.random.Generator) -> None:
    probs, scores = rng.random((400, 2)), rng.normal(size=(400, 2))
    grid = Timeline(sample_rate=22050, hop_samples=1460)
    whole = span_tags(probs, scores, rule="softmax", span_seconds=10, timeline=grid)
    part = span_tags(probs[:303], scores[:303], rule="softmax", span_seconds=10, timeline=grid)
    assert len(part) == 2
    for one, other in zip(part, whole, strict=False):
        assert (one.onset, one.offset) == (other.onset, other.offset)
        np.testing.assert_array_equal(one.clip_probs, other.clip_probs)


# --- worked numbers ---


def test_linear_softmax_by_hand() -> None:
    # Scores log y: the weights are 0.2 and 0.6 over 0.8, so (0.04 + 0.36) / 0.8 = 0.5.
    probs = np.array([[0.2], [0.6]])
    assert clip_probs(probs, np.log(probs), rule="softmax") == pytest.approx([0.5], rel=1e-15)


def test_softmax_weights_by_hand() -> None:
    # Scores 0 and log 3: the weights are 1/4 and 3/4, so 0.25 * 0.4 + 0.75 * 0.8 = 0.7.
    assert clip_probs([[0.4], [0.8]], [[0.0], [math.log(3)]], rule="softmax") == pytest.approx([0.7], rel=1e-15)


def test_extreme_scores_neither_overflow_nor_underflow() -> None:
    assert clip_probs([[0.4], [0.8]], [[1e300], [-1e300]], rule="softmax").tolist() == [0.4]
    assert clip_probs([[0.4], [0.8]], [[-1e6], [-1e6]], rule="softmax") == pytest.approx([0.6])
    # Power pooling of a silent class: log 0 everywhere, and the clip has the class with probability 0.
    assert clip_probs([[0.0], [0.0]], [[-np.inf], [-np.inf]], rule="softmax").tolist() == [0.0]


def test_maximum_by_hand() -> None:
    assert clip_probs([[0.4, 0.1], [0.3, 0.8]], None, rule="max").tolist() == [0.4, 0.8]


def test_spans_that_are_no_whole_number_of_frames_do_not_drift() -> None:
    # 15.10 frames per second: 10 s are 151.03 frames, 1000 s 15102.7. Span k begins with frame ceil(151.03 k).
    grid = Timeline(sample_rate=22050, hop_samples=1460)
    spans = span_tags(np.zeros((15_200, 1)), None, rule="max", span_seconds=10, timeline=grid)
    assert len(spans) == 101
    assert spans[1].onset == spans[0].offset == 152 * 1460 / 22050
    assert spans[100].onset == 15_103 * 1460 / 22050  # 1000.02 s; a span of 151 frames each would begin at 999.80 s


def test_spans_that_are_no_whole_number_of_samples_do_not_drift() -> None:
    # 0.24 s are 2.4 samples: the borders are 2.4, 4.8, 7.2, 9.6 and 12, each rounded, and not 2, 4, 6, 8 and 10.
    grid = Timeline(sample_rate=10, hop_samples=1)
    spans = span_tags(np.zeros((12, 1)), None, rule="max", span_seconds=0.24, timeline=grid)
    assert [(span.onset, span.offset) for span in spans] == [(0, 0.2), (0.2, 0.5), (0.5, 0.7), (0.7, 1.0), (1.0, 1.2)]


def test_duration_cuts_the_last_span_and_leaves_out_the_padding() -> None:
    spans = span_tags(
        [[0.1], [0.2], [0.3], [0.9]], None, rule="max", span_seconds=1, timeline=GRID, duration_seconds=1.3
    )
    assert [(span.onset, span.offset, span.clip_probs.tolist()) for span in spans] == [(0, 1, [0.2]), (1, 1.3, [0.3])]


def test_no_frames_no_spans() -> None:
    assert span_tags(np.empty((0, 2)), None, rule="max", span_seconds=1, timeline=GRID) == []


def test_a_probability_at_the_threshold_is_a_tag() -> None:
    decoding = Decoding("tuned", ("cat", "dog"), (ClassDecoding(threshold=0.9, clip_threshold=0.3), ClassDecoding()))
    assert has_tag([[0.3, 0.5], [0.29, 0.49]], decoding=decoding).tolist() == [[True, True], [False, False]]


def test_a_clip_threshold_between_neighbouring_float32_values_separates_them() -> None:
    lower = np.float32(0.7)
    upper = np.nextafter(lower, np.float32(1))
    decoding = Decoding.fixed(["dog"], threshold=(float(lower) + float(upper)) / 2)
    assert has_tag(np.array([[lower], [upper]]), decoding=decoding).tolist() == [[False], [True]]


# --- wrong input ---


def test_wrong_rule() -> None:
    with pytest.raises(ValueError, match="rule must be one of softmax, max, got 'sofmax' - did you mean 'softmax'"):
        clip_probs([[0.5]], [[0.0]], rule="sofmax")


def test_softmax_without_scores() -> None:
    with pytest.raises(ValueError, match="scores must be given for rule 'softmax', got None"):
        clip_probs([[0.5]], None, rule="softmax")


@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_wrong_scores(score: float) -> None:
    with pytest.raises(ValueError, match=f"not NaN, got {score} in frame 1, class number 0"):
        clip_probs([[0.5], [0.5]], [[0.0], [score]], rule="softmax")


def test_wrong_shapes() -> None:
    with pytest.raises(ValueError, match=r"scores must hold numbers, got type .+ - is it text, or has it None"):
        clip_probs([[0.5]], [["0.5"]], rule="softmax")
    with pytest.raises(ValueError, match=r"scores must have the shape of frame_probs \(2, 1\), got \(1, 2\)"):
        clip_probs([[0.5], [0.5]], [[0.0, 0.0]], rule="softmax")
    with pytest.raises(ValueError, match=r"frame_probs must have shape \(frames, classes\), got \(2,\)"):
        clip_probs([0.5, 0.5], None, rule="max")
    with pytest.raises(ValueError, match="frame_probs must hold at least one frame, got none"):
        clip_probs(np.empty((0, 2)), None, rule="max")


def test_wrong_probabilities() -> None:
    with pytest.raises(ValueError, match=r"frame_probs must be from 0 to 1, got 3\.0 in frame 1, class number 0"):
        span_tags([[0.5], [3.0]], None, rule="max", span_seconds=1, timeline=GRID)
    with pytest.raises(ValueError, match="clip_probs must be from 0 to 1, got nan in clip 0, class 'dog'"):
        has_tag([[np.nan]], decoding=Decoding.fixed(["dog"]))


def test_wrong_spans() -> None:
    with pytest.raises(ValueError, match=r"span_seconds must be at least 0.5, got 0.4"):
        span_tags([[0.5]], None, rule="max", span_seconds=0.4, timeline=GRID)
    with pytest.raises(ValueError, match="duration_seconds must be at least 0, got -1"):
        span_tags([[0.5]], None, rule="max", span_seconds=1, timeline=GRID, duration_seconds=-1)
