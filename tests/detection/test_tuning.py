"""Thresholds from tags."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from earmark.detection.settings import ClassDecoding, Decoding
from earmark.detection.tags import has_tag
from earmark.detection.tuning import Tuned, tune_thresholds_from_tags


def tune_one(probs: list[float], tags: list[bool], *, known: list[bool] | None = None) -> Tuned:
    """One class, "dog"."""
    is_known = [True] * len(probs) if known is None else known
    return tune_thresholds_from_tags(
        np.array(probs)[:, None], np.array(tags)[:, None], np.array(is_known)[:, None], start=Decoding.fixed(["dog"])
    )


def f1_of(is_predicted: np.ndarray, is_positive: np.ndarray, is_known: np.ndarray) -> float:
    """From the three counts, over all classes given."""
    hits = (is_predicted & is_positive & is_known).sum()
    false_alarms = (is_predicted & ~is_positive & is_known).sum()
    misses = (~is_predicted & is_positive & is_known).sum()
    return float(2 * hits / (2 * hits + false_alarms + misses))


def random_clips(rng: np.random.Generator, n_clips: int, n_classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities in tenths, so that many are equal, 0 or 1; tags that they know something about; what is known."""
    probs = rng.integers(0, 11, size=(n_clips, n_classes)) / 10
    return probs, rng.random((n_clips, n_classes)) < 0.2 + 0.5 * probs, rng.random((n_clips, n_classes)) < 0.8


# --- laws ---


def test_no_other_threshold_is_better(rng: np.random.Generator) -> None:
    for _ in range(200):
        probs, tags, known = random_clips(rng, int(rng.integers(3, 12)), 1)
        tuned = tune_thresholds_from_tags(probs, tags, known, start=Decoding.fixed(["dog"]))
        if tuned.untuned:
            continue
        best = max(f1_of(probs >= threshold, tags, known) for threshold in np.arange(-0.5, 11) / 10)
        assert tuned.f1["dog"] == best
        assert f1_of(has_tag(probs, decoding=tuned.decoding), tags, known) == best


def test_classes_are_tuned_independently(rng: np.random.Generator) -> None:
    probs, tags, known = random_clips(rng, 40, 3)
    together = tune_thresholds_from_tags(probs, tags, known, start=Decoding.fixed(["a", "b", "c"]))
    for index, label in enumerate("abc"):
        one = slice(index, index + 1)
        alone = tune_thresholds_from_tags(probs[:, one], tags[:, one], known[:, one], start=Decoding.fixed([label]))
        assert alone.decoding.settings[0] == together.decoding.settings[index]
        assert alone.f1[label] == together.f1[label]


def test_what_is_not_known_counts_neither_way(rng: np.random.Generator) -> None:
    probs, tags, known = random_clips(rng, 40, 2)
    start = Decoding.fixed(["a", "b"])
    expected = tune_thresholds_from_tags(probs, tags, known, start=start)
    assert tune_thresholds_from_tags(probs, tags ^ ~known, known, start=start) == expected
    changed = np.where(known, probs, 0.123)
    assert tune_thresholds_from_tags(changed, tags, known, start=start) == expected


def test_micro_ascent_ends_where_no_single_class_can_do_better(rng: np.random.Generator) -> None:
    for _ in range(20):
        probs, tags, known = random_clips(rng, 10, 4)
        start = Decoding.fixed(list("abcd"))
        own = tune_thresholds_from_tags(probs, tags, known, start=start)
        tuned = tune_thresholds_from_tags(probs, tags, known, start=start, micro_ascent=True, seed=3)
        is_predicted = has_tag(probs, decoding=tuned.decoding)
        reached = f1_of(is_predicted, tags, known)
        assert reached >= f1_of(has_tag(probs, decoding=own.decoding), tags, known)
        for index, threshold in itertools.product(range(4), np.arange(-0.5, 11) / 10):
            if "abcd"[index] in tuned.untuned:
                continue
            if (probs[known[:, index], index].max(initial=0) == 1) and threshold > 1:
                continue  # no threshold of at most 1 rejects a probability of 1
            other = is_predicted.copy()
            other[:, index] = probs[:, index] >= threshold
            assert f1_of(other, tags, known) <= reached


def test_micro_ascent_with_one_class_changes_nothing(rng: np.random.Generator) -> None:
    probs, tags, known = random_clips(rng, 30, 1)
    start = Decoding.fixed(["dog"])
    assert tune_thresholds_from_tags(probs, tags, known, start=start, micro_ascent=True) == tune_thresholds_from_tags(
        probs, tags, known, start=start
    )


# --- worked numbers ---


def test_threshold_is_the_middle_of_the_gap() -> None:
    # In eighths, exact in floating point: (2/8 + 7/8) / 2 = 9/16.
    tuned = tune_one([1 / 8, 7 / 8, 2 / 8, 1.0], [False, True, False, True])
    setting = ClassDecoding(threshold=9 / 16, clip_threshold=9 / 16)
    assert tuned == Tuned(Decoding("tuned", ("dog",), (setting,)), {"dog": 1.0}, ())


def test_best_f1_by_hand() -> None:
    # From above: 0.9 yes, 0.7 no, 0.6 yes, 0.2 no. F1 of the first k, with 2 positives:
    # k=1: 2*1/(1+2) = 2/3; k=2: 2*1/(2+2) = 1/2; k=3: 2*2/(3+2) = 4/5; k=4: 2*2/(4+2) = 2/3.
    tuned = tune_one([0.9, 0.7, 0.6, 0.2], [True, False, True, False])
    assert tuned.f1 == {"dog": 0.8}
    assert tuned.decoding.of("dog").clip_threshold == pytest.approx(0.4)  # (0.2 + 0.6) / 2


def test_of_equal_f1_the_widest_gap_wins() -> None:
    # 0.9 yes, 0.5 no, 0.45 no, 0.4 yes, 0.1 no: k=1 gives 2*1/(1+2) = 2/3, k=4 gives 2*2/(4+2) = 2/3.
    # The gap behind k=1 is 0.9 - 0.5 = 0.4, behind k=4 it is 0.4 - 0.1 = 0.3.
    probs, tags = [0.9, 0.5, 0.45, 0.4, 0.1], [True, False, False, True, False]
    assert tune_one(probs, tags).decoding.of("dog").clip_threshold == pytest.approx(0.7)
    assert tune_one([0.7, *probs[1:]], tags).decoding.of("dog").clip_threshold == pytest.approx(0.25)  # 0.2 against 0.3


def test_of_equal_gaps_the_nearest_to_a_half_wins() -> None:
    # In sixteenths, exact in floating point: gaps of 4 behind k=1 and behind k=4, thresholds 12 and 5, then 9 and 2.
    tags = [True, False, False, True, False]
    for probs, nearest in (([14, 10, 9, 7, 3], 5), ([11, 7, 6, 4, 0], 9)):
        tuned = tune_one([prob / 16 for prob in probs], tags)
        assert tuned.decoding.of("dog").clip_threshold == nearest / 16


def test_probabilities_of_exactly_0_and_1() -> None:
    assert tune_one([1.0, 0.0], [True, False]).decoding.of("dog").clip_threshold == 0.5
    # Every clip is best: 2*2/(3+2) = 4/5 against 2*1/(2+2). The lowest probability is 0, and so is the threshold.
    tuned = tune_one([1.0, 1.0, 0.0], [True, False, True])
    assert (tuned.decoding.of("dog").clip_threshold, tuned.f1["dog"]) == (0.0, 0.8)


def test_neighbouring_numbers_have_no_middle_and_are_separated_all_the_same() -> None:
    upper = float(np.nextafter(0.7, 1))
    assert tune_one([0.7, upper], [False, True]).decoding.of("dog").clip_threshold == upper


def test_a_class_of_which_too_little_is_known_keeps_its_settings() -> None:
    start = Decoding(
        "duration",
        ("none", "all", "dog"),
        tuple(
            ClassDecoding(threshold=0.4, low_threshold=0.2, median_seconds=0.3, clip_threshold=0.6) for _ in range(3)
        ),
    )
    tags = np.array([[False, True, True], [False, True, False], [True, False, False]])
    known = np.array([[True, True, True], [True, True, True], [False, False, True]])
    tuned = tune_thresholds_from_tags(np.array([[0.75] * 3, [0.5] * 3, [0.25] * 3]), tags, known, start=start)
    assert tuned.untuned == ("none", "all")
    assert tuned.f1 == {"dog": 1.0}
    assert tuned.decoding.mode == "tuned"
    assert tuned.decoding.settings[:2] == start.settings[:2]
    # The window stays, and the low threshold stays half of the threshold: 0.2 / 0.4 of 0.625.
    assert tuned.decoding.of("dog") == ClassDecoding(
        threshold=0.625, low_threshold=0.3125, median_seconds=0.3, clip_threshold=0.625
    )


def test_below_a_threshold_of_zero_there_is_nothing() -> None:
    start = Decoding("fixed", ("dog",), (ClassDecoding(threshold=0.4, low_threshold=0.2),))
    # The only positive clip has the lowest probability there can be: every clip must be accepted.
    tuned = tune_thresholds_from_tags([[0.0], [0.0]], [[True], [False]], [[True], [True]], start=start)
    setting = tuned.decoding.of("dog")
    assert (setting.threshold, setting.low_threshold) == (0.0, None)


def test_micro_ascent_gives_up_a_class_that_costs_more_than_it_finds() -> None:
    # "good": 4 of 4 found. "bad": 1 positive with the lowest of 6 probabilities: on its own best at 6 predicted,
    # 2*1/(6+1). Pooled: with it 2*5/(10+5) = 0.667; without any of it 2*4/(4+5) = 0.889.
    good = [0.9, 0.9, 0.9, 0.9, 0.1, 0.1]
    bad = [0.7, 0.6, 0.5, 0.4, 0.3, 0.2]
    probs = np.array([good, bad]).T
    tags = np.array([[True] * 4 + [False] * 2, [False] * 5 + [True]]).T
    known = np.full((6, 2), True)
    start = Decoding.fixed(["good", "bad"])
    own = tune_thresholds_from_tags(probs, tags, known, start=start)
    assert own.f1 == {"good": 1.0, "bad": 2 / 7}
    assert own.decoding.of("bad").clip_threshold == pytest.approx(0.1)  # below 0.2: (0 + 0.2) / 2
    micro = tune_thresholds_from_tags(probs, tags, known, start=start, micro_ascent=True)
    assert micro.f1 == {"good": 1.0, "bad": 0.0}
    assert micro.decoding.of("bad").clip_threshold == pytest.approx(0.85)  # above 0.7: (0.7 + 1) / 2


def test_micro_ascent_counts_the_classes_that_keep_their_threshold() -> None:
    # "dog" from above: yes, 3 no, 2 yes, no. On its own k=6 is best: 2*3/(6+3) = 0.667 against 2*1/(1+3) = 0.5 for k=1.
    dog, dog_tags = [0.9, 0.5, 0.5, 0.5, 0.4, 0.4, 0.1], [True, False, False, False, True, True, False]
    # "all" is in all 7 clips and found in all: k=1 gives 2*8/(8+10) = 0.889, k=6 gives 2*10/(13+10) = 0.870.
    probs, tags = np.array([dog, [0.9] * 7]).T, np.array([dog_tags, [True] * 7]).T
    start = Decoding.fixed(["dog", "all"])
    tuned = tune_thresholds_from_tags(probs, tags, np.full((7, 2), True), start=start, micro_ascent=True)
    assert tuned.untuned == ("all",)
    assert tuned.decoding.of("dog").clip_threshold == pytest.approx(0.7)  # (0.5 + 0.9) / 2
    # "cat" is in none and found in all: k=1 gives 2*8/(15+10) = 0.64, k=6 gives 2*10/(20+10) = 0.667.
    probs, tags = np.array([dog, [0.9] * 7, [0.9] * 7]).T, np.array([dog_tags, [True] * 7, [False] * 7]).T
    start = Decoding.fixed(["dog", "all", "cat"])
    tuned = tune_thresholds_from_tags(probs, tags, np.full((7, 3), True), start=start, micro_ascent=True)
    assert tuned.decoding.of("dog").clip_threshold == pytest.approx(0.25)  # (0.1 + 0.4) / 2


# --- wrong input ---


def test_wrong_shapes_and_types() -> None:
    start = Decoding.fixed(["dog"])
    with pytest.raises(ValueError, match=r"tags must have the shape of clip_probs \(2, 1\), got \(1, 2\)"):
        tune_thresholds_from_tags([[0.1], [0.2]], [[True, False]], [[True], [True]], start=start)
    with pytest.raises(ValueError, match=r"known must have the shape of clip_probs \(2, 1\), got \(2,\)"):
        tune_thresholds_from_tags([[0.1], [0.2]], [[True], [False]], [True, True], start=start)
    with pytest.raises(ValueError, match="tags must be of type bool, got float64 - are these probabilities"):
        tune_thresholds_from_tags([[0.1], [0.2]], [[0.9], [0.1]], [[True], [True]], start=start)


def test_wrong_probabilities() -> None:
    with pytest.raises(ValueError, match="clip_probs must be from 0 to 1, got nan in clip 1, class 'dog'"):
        tune_thresholds_from_tags([[0.1], [np.nan]], [[True], [False]], [[True], [True]], start=Decoding.fixed(["dog"]))
