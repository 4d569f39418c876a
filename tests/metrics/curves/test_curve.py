from __future__ import annotations

import numpy as np
import pytest
from oracles.curves_cases import clips_of, random_clips, small_case
from oracles.curves_checks import raised

from earmark.metrics.curves import Curve, Curves, clip_curves, collar_curves, score_table, segment_curves
from earmark.metrics.curves.changes import changes_of
from earmark.metrics.curves.curve import curves_of


def random_items(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Scores of some items with ties, and which have the class: at least one that has, and one that has not."""
    n = int(rng.integers(2, 25))
    scores, holds = rng.integers(0, 8, n) / 8, rng.random(n) < rng.random()
    holds[:2] = True, False
    return scores, holds


def curve_of_items(scores: np.ndarray, holds: np.ndarray) -> Curve:
    names = [str(number) for number in range(len(scores))]
    return clip_curves(
        {name: [score] for name, score in zip(names, scores, strict=True)},
        {name: {"dog"} if held else set() for name, held in zip(names, holds, strict=True)},
        classes=("dog",),
    ).of_class[0]


def curves_from(**of_class: tuple[list[float], list[int], list[int], int]) -> Curves:
    """Curves by class: falling scores after infinity, hits and false alarms there, and what there is to find."""
    changes = [
        changes_of(
            np.array(score), np.zeros(len(score)), hits=np.diff(hits, prepend=0), false_alarms=np.diff(wrong, prepend=0)
        )
        for score, hits, wrong, _ in of_class.values()
    ]
    n_reference = np.array([[n for *_, n in of_class.values()]])
    return curves_of("event", tuple(of_class), lambda: changes, ("a.wav",), reference_by_file=n_reference)


# Laws


def test_precision_recall_and_f1_are_those_of_the_counts(rng: np.random.Generator) -> None:
    for _ in range(30):
        curve = curve_of_items(*random_items(rng))
        for index, (hits, wrong) in enumerate(zip(curve.true_positives, curve.false_positives, strict=True)):
            precision = hits / (hits + wrong) if hits + wrong else 1.0
            recall = hits / curve.n_reference
            f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
            found = curve.precision[index], curve.recall[index], curve.f1[index]
            np.testing.assert_allclose(found, (precision, recall, f1), atol=1e-15)
            assert curve.n_predicted[index] == hits + wrong


def test_the_best_point_is_the_best_of_all_thresholds(rng: np.random.Generator) -> None:
    for _ in range(100):
        scores, holds = random_items(rng)
        best = curve_of_items(scores, holds).best
        tried = {}
        for threshold in np.arange(-0.5, 9.0) / 8:
            found = scores >= threshold
            tried[threshold] = 2 * (found & holds).sum() / (found.sum() + holds.sum())
        assert best.scores.f1 == max(tried.values())
        # Of the equal ones the highest; between two scores it does not matter where.
        highest = max(threshold for threshold, f1 in tried.items() if f1 == best.scores.f1)
        assert ((scores >= best.threshold) == (scores >= highest)).all()
        assert best.true_positives == (holds & (scores >= highest)).sum()
        assert best.false_positives == (~holds & (scores >= highest)).sum()


def test_the_counts_at_the_threshold_of_a_point_are_the_points(rng: np.random.Generator) -> None:
    for _ in range(50):
        clips = clips_of(small_case(rng))
        for curve in (*collar_curves(clips, use_numba=False).of_class, *segment_curves(clips).of_class):
            for index in range(len(curve.score)):
                point = curve.at_point(index)
                again = curve.at_threshold(point.threshold)
                assert (again.true_positives, again.false_positives) == (point.true_positives, point.false_positives)
                assert again.threshold == point.threshold


def test_average_precision_by_its_definition(rng: np.random.Generator) -> None:
    for _ in range(100):
        scores, holds = random_items(rng)
        found: dict[int, float] = {}  # recall -> the best precision there
        for threshold in scores:
            hits, n_found = int((holds & (scores >= threshold)).sum()), int((scores >= threshold).sum())
            found[hits] = max(found.get(hits, 0.0), hits / n_found)
        expected, before = 0.0, 0
        for hits in sorted(found):
            expected += found[hits] * (hits - before) / holds.sum()
            before = hits
        assert abs(curve_of_items(scores, holds).average_precision - expected) < 1e-12


def test_auroc_is_the_chance_that_what_has_the_class_scores_higher(rng: np.random.Generator) -> None:
    for _ in range(100):
        scores, holds = random_items(rng)
        difference = scores[holds][:, None] - scores[~holds]
        expected = (difference > 0).mean() + (difference == 0).mean() / 2
        assert abs(curve_of_items(scores, holds).auroc - expected) < 1e-12


def test_other_scores_in_the_same_order_give_the_same_figures(rng: np.random.Generator) -> None:
    scores, holds = random_items(rng)
    one, other = curve_of_items(scores, holds), curve_of_items(raised(scores), holds)
    np.testing.assert_array_equal(raised(one.score[1:]), other.score[1:])
    assert (one.average_precision, one.auroc) == (other.average_precision, other.auroc)
    assert (one.best.scores, one.best.true_positives) == (other.best.scores, other.best.true_positives)


def test_the_mean_of_one_class_is_its_own_figure(rng: np.random.Generator) -> None:
    curves = segment_curves(random_clips(rng, n_clips=6, n_frames=40, n_classes=1))
    curve = curves.of_class[0]
    assert curves.macro_best == curve.best.scores
    assert abs(curves.micro_best.f1 - curve.best.scores.f1) < 1e-12
    assert curves.mean_average_precision == curve.average_precision
    assert curves.mean_auroc == curve.auroc


# Worked numbers


def test_the_best_of_equals_has_the_highest_threshold() -> None:
    # At 0.9: P = 1/1, R = 1/2, F1 = 2/3. At 0.5: TP = 2, FP = 2: 4/6, the same.
    curve = curves_from(dog=([0.9, 0.5], [1, 2], [0, 2], 2)).of_class[0]
    assert curve.best.threshold == 0.7
    assert (curve.best.true_positives, curve.best.false_positives) == (1, 0)
    assert curve.best.scores.f1 == 2 / 3


def test_best_to_accept_everything_or_nothing() -> None:
    everything, nothing, never = curves_from(
        dog=([0.5], [1], [0], 1), cat=([0.5], [0], [3], 1), bird=([], [], [], 1)
    ).of_class
    assert everything.best.threshold == -np.inf
    assert (nothing.best.threshold, nothing.best.scores.f1, nothing.best.scores.precision) == (np.inf, 0.0, 1.0)
    assert (never.best.threshold, never.best.scores.recall) == (np.inf, 0.0)  # no frame anywhere


def test_average_precision_of_three_points() -> None:
    # R 1/4 with P 1/1; R 3/4 with P 3/4; R 1 with P 4/8: 1 * 1/4 + 3/4 * 2/4 + 1/2 * 1/4 = 0.75
    curve = curves_from(dog=([0.9, 0.8, 0.1], [1, 3, 4], [0, 1, 4], 4)).of_class[0]
    assert curve.average_precision == 0.75
    # Nothing is ever found in the second: no recall to average over.
    assert curves_from(dog=([0.9], [0], [1], 4)).of_class[0].average_precision == 0.0


def test_of_one_recall_the_best_precision_counts_wherever_it_comes() -> None:
    # Event curves go back: 2 hits of 4 at 0.9, one of 1 at 0.5. R 1/2 with P 1, R 1 with P 1/2: 0.5 + 0.25.
    assert curves_from(dog=([0.9, 0.5], [2, 1], [2, 0], 2)).of_class[0].average_precision == 0.75


def test_of_events_the_best_precision_at_that_recall_or_more_counts() -> None:
    # One hit of three at 0.9; at 0.5 two of them are one, and there are two hits of two: P 1 at R 1, and so at R 1/2.
    arrays = np.array([np.inf, 0.9, 0.5]), np.array([0, 1, 2]), np.array([0, 2, 0])
    assert Curve("dog", *arrays, n_reference=2).average_precision == 1.0
    # Of segments, which never go back, each recall has its own: 1/3 * 1/2 + 1 * 1/2.
    assert Curve("dog", *arrays, n_reference=2, n_negatives=9).average_precision == pytest.approx(2 / 3)


def test_equal_scores_count_half() -> None:
    # Of 2 x 2 pairs one is right, two tie, one is wrong: (1 + 1) / 4
    assert curve_of_items(np.array([0.5, 0.5, 0.5, 0.9]), np.array([True, True, False, False])).auroc == 0.25
    assert curve_of_items(np.array([0.5, 0.5]), np.array([True, False])).auroc == 0.5


def test_between_neighbouring_numbers_the_threshold_is_the_upper_one() -> None:
    below = 0.7
    for _ in range(50):
        score = np.nextafter(below, 1)
        best = curves_from(dog=([score, below], [1, 1], [0, 1], 1)).of_class[0].best
        assert below < best.threshold <= score
        below = score


def test_thresholds_between_the_largest_numbers() -> None:
    assert curves_from(dog=([1.7e308, 1.5e308], [1, 1], [0, 1], 1)).of_class[0].best.threshold == 1.6e308


def test_the_point_at_a_threshold() -> None:
    curve = curves_from(dog=([0.9, 0.5], [1, 2], [0, 2], 2)).of_class[0]
    counts = [curve.at_threshold(threshold).true_positives for threshold in (np.inf, 0.91, 0.9, 0.51, 0.5, -np.inf)]
    assert counts == [0, 0, 1, 1, 2, 2]


def test_classes_that_the_reference_lacks_are_named_and_left_out() -> None:
    curves = curves_from(dog=([0.9], [1], [1], 1), cat=([0.9], [0], [7], 0))
    assert curves.absent == ("cat",)
    cat = curves.of_class[1]
    assert np.isnan([*cat.recall, *cat.f1, cat.average_precision, cat.auroc, cat.best.scores.f1]).all()
    assert cat.best.threshold == np.inf
    # The dog: P = 1/2, R = 1, F1 = 2/3; the cat's seven false alarms count nowhere.
    assert curves.macro_best.f1 == curves.micro_best.f1 == 2 / 3
    assert curves.mean_average_precision == 0.5


def test_means_of_two_classes() -> None:
    curves = curves_from(dog=([0.9], [1], [0], 1), cat=([0.9], [1], [3], 2))
    # Dog: P 1, R 1, F1 1. Cat: P 1/4, R 1/2, F1 2/6. Macro: 5/8, 3/4, 2/3. Together 2 hits, 3 false alarms of 3.
    assert curves.macro_best.precision == 5 / 8
    assert curves.macro_best.recall == 3 / 4
    assert curves.macro_best.f1 == pytest.approx(2 / 3)
    assert (curves.micro_best.precision, curves.micro_best.recall, curves.micro_best.f1) == (2 / 5, 2 / 3, 4 / 8)


def test_nothing_to_find_at_all() -> None:
    curves = curves_from(dog=([0.9], [0], [1], 0))
    figures = [curves.macro_best.f1, curves.micro_best.f1, curves.mean_average_precision, curves.mean_auroc]
    assert np.isnan(figures).all()


def test_auroc_without_both_kinds() -> None:
    assert np.isnan(curves_from(dog=([0.9], [1], [0], 1)).of_class[0].auroc)  # events: nobody counts where none is
    every_clip_has_one = clip_curves({"a": [0.9]}, {"a": {"dog"}}, classes=("dog",))
    assert np.isnan(every_clip_has_one.of_class[0].auroc)
    assert np.isnan(every_clip_has_one.mean_auroc)


def test_classes_and_levels_have_names() -> None:
    curves = clip_curves(score_table({"a": [[0.1, 0.2]]}, classes=["dog", "cat"], hop_seconds=1), {"a": {"dog"}})
    assert (curves.classes, curves.level, curves.files, curves.absent) == (("dog", "cat"), "clip", ("a",), ("cat",))
    assert curves.reference_by_file.tolist() == [[1, 0]]
    assert curves.items_by_file is not None
    assert curves.items_by_file.tolist() == [1]


# Wrong input


def test_a_threshold_that_is_no_number() -> None:
    with pytest.raises(ValueError, match="threshold must be a number, got nan"):
        curves_from(dog=([0.9], [1], [0], 1)).of_class[0].at_threshold(float("nan"))
