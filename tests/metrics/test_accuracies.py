from __future__ import annotations

import math

import numpy as np
import pytest
from oracles import metrics_slow
from oracles.metrics_cases import Case, clips_case, crowded_case, labels
from oracles.metrics_stored import as_events

from earmark.events import Event
from earmark.metrics.accuracies import Accuracies, SegmentCounts
from earmark.metrics.segment import segment_counts

NAMES = ("sensitivity", "specificity", "balanced_accuracy", "accuracy")
CASES = [*(crowded_case(seed) for seed in range(700, 720)), *(clips_case(seed) for seed in range(110, 120))]


def counts_of(
    *, tp: list[int], fp: list[int], fn: list[int], n_segments: int, compatible: str | None = None
) -> SegmentCounts:
    classes = tuple(f"class {number}" for number in range(len(tp)))
    arrays = (np.array(tp), np.array(fp), np.array(fn))
    return SegmentCounts("segment", classes, *arrays, compatible=compatible, n_segments=n_segments)


def figures(accuracies: Accuracies) -> list[float]:
    return [getattr(accuracies, name) for name in NAMES]


# Laws


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_accuracies_are_those_of_the_slow_second_implementation(case: Case) -> None:
    counts = segment_counts(
        as_events(case.reference), as_events(case.predicted), segment_seconds=case.segment_seconds, zero_length="keep"
    )
    sides = (case.reference, case.predicted)
    answers = {
        label: metrics_slow.segment_answers(*sides, label, segment_seconds=case.segment_seconds)
        for label in labels(case)
    }
    present = [label for label in labels(case) if any(map(any, answers[label]))]
    expected = {label: metrics_slow.accuracies(answers[label]) for label in present}
    for index, label in enumerate(counts.classes):
        for name, figure in zip(NAMES, expected.get(label, [None] * 4), strict=True):
            assert_is(getattr(counts, name)[index], figure)
    for place, name in enumerate(NAMES):
        assert_is(
            getattr(counts.macro_accuracies, name), metrics_slow.mean(expected[label][place] for label in present)
        )
    together = metrics_slow.accuracies([answer for label in present for answer in answers[label]])
    if present:
        for name, figure in zip(NAMES, together, strict=True):
            assert_is(getattr(counts.micro_accuracies, name), figure)


def assert_is(ours: float, expected: object) -> None:
    if expected is None:
        assert math.isnan(ours)
    else:
        assert ours == pytest.approx(float(expected), abs=1e-12)  # type: ignore[arg-type]


def test_everything_right_is_one() -> None:
    counts = counts_of(tp=[3, 1], fp=[0, 0], fn=[0, 0], n_segments=10)
    assert counts.macro_accuracies == counts.micro_accuracies == Accuracies(1.0, 1.0, 1.0, 1.0)


def test_sensitivity_is_recall() -> None:
    counts = counts_of(tp=[3, 0, 0], fp=[1, 2, 0], fn=[1, 0, 0], n_segments=10)
    np.testing.assert_array_equal(counts.sensitivity, counts.recall)


# Worked numbers


def test_per_class_macro_and_micro() -> None:
    counts = counts_of(tp=[2, 1], fp=[1, 0], fn=[1, 3], n_segments=10)
    np.testing.assert_array_equal(counts.true_negatives, [6, 6])
    np.testing.assert_allclose(counts.specificity, [6 / 7, 1.0])
    np.testing.assert_allclose(counts.balanced_accuracy, [(2 / 3 + 6 / 7) / 2, 0.625])
    np.testing.assert_allclose(counts.accuracy, [0.8, 0.7])
    assert counts.macro_accuracies.accuracy == 0.75
    assert counts.micro_accuracies.specificity == pytest.approx(12 / 13)
    assert counts.micro_accuracies.accuracy == 0.75


def test_a_class_that_nobody_has_makes_nothing_look_better() -> None:
    counts = counts_of(tp=[1, 0, 0], fp=[0, 2, 0], fn=[1, 0, 0], n_segments=4)
    assert counts.absent == ("class 2",)
    np.testing.assert_array_equal(counts.accuracy, [0.75, 0.5, np.nan])
    assert counts.micro_accuracies.accuracy == 0.625  # 5 of 8, not 9 of 12
    tool = counts_of(tp=[1, 0, 0], fp=[0, 2, 0], fn=[1, 0, 0], n_segments=4, compatible="sed_eval")
    np.testing.assert_array_equal(tool.accuracy, [0.75, 0.5, 1.0])
    assert tool.micro_accuracies.accuracy == 0.75


def test_a_class_in_every_segment_has_no_specificity() -> None:
    counts = counts_of(tp=[3, 1], fp=[0, 0], fn=[1, 0], n_segments=4)
    np.testing.assert_array_equal(counts.specificity, [np.nan, 1.0])
    np.testing.assert_array_equal(counts.balanced_accuracy, [np.nan, 1.0])
    assert counts.macro_accuracies.specificity == 1.0
    assert counts_of(tp=[3], fp=[0], fn=[1], n_segments=4, compatible="sed_eval").specificity.tolist() == [0.0]


def test_nothing_at_all_is_undefined_and_zero_for_sed_eval() -> None:
    for classes in ([0], []):
        ours = counts_of(tp=classes, fp=classes, fn=classes, n_segments=0)
        assert np.isnan(figures(ours.macro_accuracies) + figures(ours.micro_accuracies)).all()
        tool = counts_of(tp=classes, fp=classes, fn=classes, n_segments=0, compatible="sed_eval")
        assert figures(tool.micro_accuracies) == [0.0] * 4


def test_compatible_accuracies_are_sed_evals_own_to_the_last_digit() -> None:
    # What sed_eval 0.2.1 prints for these lists.
    reference = {
        "a": [Event(1.0, 2.0, "dog"), Event(5.0, 6.0, "dog"), Event(5.5, 7.0, "owl")],
        "b": [Event(0.0, 3.0, "dog")],
    }
    predicted = {"a": [Event(1.1, 2.0, "dog"), Event(5.0, 6.0, "cat"), Event(5.5, 7.0, "owl")], "b": []}
    counts = segment_counts(reference, predicted, classes=["cat", "dog", "owl", "pig"], compatible="sed_eval")
    assert counts.sensitivity.tolist() == [0.0, 0.2, 1.0, 0.0]
    assert counts.specificity.tolist() == [0.9, 1.0, 1.0, 1.0]
    assert counts.balanced_accuracy.tolist() == [0.45, 0.6, 1.0, 0.5]
    assert counts.accuracy.tolist() == [0.9, 0.6, 1.0, 1.0]
    assert figures(counts.macro_accuracies) == [0.3, 0.975, 0.6375, 0.875]
    assert figures(counts.micro_accuracies) == [0.42857142857142855, 0.9696969696969697, 0.6991341991341992, 0.875]
    # One segment with, and it was found: 1 / (1 + 2.2e-16).
    assert counts_of(tp=[1], fp=[0], fn=[0], n_segments=1, compatible="sed_eval").accuracy[0] == 0.9999999999999998
