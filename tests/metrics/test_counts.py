from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from oracles import metrics_slow
from oracles.metrics_cases import clips_case, crowded_case, labels
from oracles.metrics_stored import as_events

from earmark.events import Event
from earmark.metrics.counts import Counts
from earmark.metrics.event import event_counts
from earmark.metrics.segment import segment_counts

RATES = ("error_rate", "deletion_rate", "insertion_rate")


def counts_of(
    *,
    tp: list[int],
    fp: list[int],
    fn: list[int],
    level: str = "event",
    substitutions: int = 0,
    compatible: str | None = None,
) -> Counts:
    classes = tuple(f"class {number}" for number in range(len(tp)))
    return Counts(level, classes, np.array(tp), np.array(fp), np.array(fn), substitutions, compatible)


def as_float(figure: Fraction | None) -> float:
    return math.nan if figure is None else float(figure)


# Laws


def test_everything_right_is_one() -> None:
    counts = counts_of(tp=[3, 1], fp=[0, 0], fn=[0, 0])
    assert counts.macro == counts.micro
    assert (counts.macro.precision, counts.macro.recall, counts.macro.f1) == (1.0, 1.0, 1.0)
    assert counts.error_rate == 0.0


def test_exchanging_the_two_kinds_of_error_exchanges_precision_and_recall(rng: np.random.Generator) -> None:
    tp, fp, fn = rng.integers(0, 9, (3, 20)).tolist()
    one, other = counts_of(tp=tp, fp=fp, fn=fn), counts_of(tp=tp, fp=fn, fn=fp)
    np.testing.assert_array_equal(one.precision, other.recall)
    np.testing.assert_array_equal(one.f1, other.f1)
    assert one.macro.precision == other.macro.recall


def test_f1_is_the_harmonic_mean(rng: np.random.Generator) -> None:
    tp, fp, fn = rng.integers(1, 9, (3, 20))
    counts = counts_of(tp=tp.tolist(), fp=fp.tolist(), fn=fn.tolist())
    np.testing.assert_allclose(counts.f1, 2 / (1 / counts.precision + 1 / counts.recall), rtol=1e-14)


def test_our_macro_f1_is_never_above_what_sed_eval_skips_to(rng: np.random.Generator) -> None:
    for _ in range(50):
        tp, fp, fn = rng.integers(0, 3, (3, 5)).tolist()
        ours, tool = counts_of(tp=tp, fp=fp, fn=fn), counts_of(tp=tp, fp=fp, fn=fn, compatible="sed_eval")
        assert math.isnan(tool.macro.f1) or ours.macro.f1 <= tool.macro.f1 + 1e-15


def test_error_rates_are_those_of_the_slow_second_implementation(rng: np.random.Generator) -> None:
    for _ in range(30):
        tp, fp, fn = rng.integers(0, 3, (3, 5)).tolist()
        counts = counts_of(tp=tp, fp=fp, fn=fn)
        expected = [metrics_slow.error_rates(triple) for triple in zip(tp, fp, fn, strict=True)]
        for place, name in enumerate(RATES):
            column = [rates[place] for rates in expected]
            np.testing.assert_allclose(getattr(counts, f"class_{name}"), [*map(as_float, column)], rtol=1e-15)
            mean = as_float(metrics_slow.mean(column))
            np.testing.assert_allclose(getattr(counts.macro_errors, name), mean, rtol=1e-14)


@pytest.mark.parametrize("compatible", [None, "sed_eval"])
def test_the_parts_of_an_error_rate_add_up(compatible: str | None) -> None:
    for case in (crowded_case(720), crowded_case(721), clips_case(120)):
        sides = as_events(case.reference), as_events(case.predicted)
        for counts in (
            event_counts(*sides, classes=labels(case), zero_length="keep", compatible=compatible),
            segment_counts(*sides, classes=labels(case), zero_length="keep", compatible=compatible),
        ):
            micro = counts.micro_errors
            assert micro.error_rate == counts.error_rate
            parts = (micro.substitution_rate, micro.deletion_rate, micro.insertion_rate)
            assert sum(parts) == pytest.approx(micro.error_rate, rel=1e-14)
            np.testing.assert_allclose(
                counts.class_deletion_rate + counts.class_insertion_rate, counts.class_error_rate, rtol=1e-14
            )


# Worked numbers


def test_per_class_macro_and_micro() -> None:
    counts = counts_of(tp=[6, 1], fp=[2, 1], fn=[2, 3])
    np.testing.assert_array_equal(counts.precision, [0.75, 0.5])  # 6/8, 1/2
    np.testing.assert_array_equal(counts.recall, [0.75, 0.25])  # 6/8, 1/4
    np.testing.assert_allclose(counts.f1, [0.75, 1 / 3])  # 12/16, 2/6
    assert counts.macro.f1 == pytest.approx((0.75 + 1 / 3) / 2)
    assert counts.micro.f1 == pytest.approx(14 / 22)  # 2 * 7 / (2 * 7 + 3 + 5)
    assert counts.micro.precision == 0.7
    assert counts.micro.recall == pytest.approx(7 / 12)


def test_a_class_on_one_side_counts_zero_and_on_neither_side_is_named() -> None:
    counts = counts_of(tp=[1, 0, 0, 0], fp=[0, 0, 2, 0], fn=[0, 3, 0, 0])
    np.testing.assert_array_equal(counts.f1, [1, 0, 0, np.nan])
    np.testing.assert_array_equal(counts.precision, [1, 0, 0, np.nan])
    np.testing.assert_array_equal(counts.recall, [1, 0, 0, np.nan])
    assert counts.absent == ("class 3",)
    assert counts.macro.f1 == pytest.approx(1 / 3)


def test_sed_eval_skips_what_is_undefined_each_figure_for_itself() -> None:
    counts = counts_of(tp=[1, 0, 0], fp=[0, 0, 2], fn=[0, 3, 0], compatible="sed_eval")
    np.testing.assert_array_equal(counts.f1, [1, np.nan, np.nan])
    np.testing.assert_array_equal(counts.precision, [1, np.nan, 0])
    np.testing.assert_array_equal(counts.recall, [1, 0, np.nan])
    assert (counts.macro.precision, counts.macro.recall, counts.macro.f1) == (0.5, 0.5, 1.0)


def test_sed_eval_skips_made_up_classes_wholly_at_clip_level() -> None:
    counts = counts_of(tp=[1, 0], fp=[0, 2], fn=[0, 0], compatible="sed_eval", level="clip")
    np.testing.assert_array_equal(counts.precision, [1, np.nan])
    assert counts.macro.precision == 1.0


def test_error_rate() -> None:
    counts = counts_of(tp=[5, 0], fp=[2, 1], fn=[1, 2], substitutions=2)
    assert (counts.substitutions, counts.deletions, counts.insertions) == (2, 1, 1)
    assert counts.error_rate == 0.5  # (2 + 1 + 1) / (6 + 2)


def test_error_rates_per_class_and_their_mean() -> None:
    counts = counts_of(tp=[5, 1, 0], fp=[2, 1, 4], fn=[3, 0, 0], substitutions=2)
    np.testing.assert_array_equal(counts.class_deletion_rate, [0.375, 0, np.nan])
    np.testing.assert_array_equal(counts.class_insertion_rate, [0.25, 1, np.nan])
    np.testing.assert_array_equal(counts.class_error_rate, [0.625, 1, np.nan])  # the third has no reference
    assert (counts.macro_errors.error_rate, counts.macro_errors.deletion_rate) == (0.8125, 0.1875)
    assert math.isnan(counts.macro_errors.substitution_rate)
    micro = counts.micro_errors
    assert micro.error_rate == pytest.approx(8 / 9)  # 2 + 1 + 5 of 9
    assert micro.substitution_rate == pytest.approx(2 / 9)
    assert micro.deletion_rate == pytest.approx(1 / 9)
    assert micro.insertion_rate == pytest.approx(5 / 9)


def test_compatible_error_rates_are_sed_evals_own_to_the_last_digit() -> None:
    # What sed_eval 0.2.1 prints for these lists, with a class that nobody has.
    reference = {
        "a": [Event(1.0, 2.0, "dog"), Event(5.0, 6.0, "dog"), Event(5.5, 7.0, "owl")],
        "b": [Event(0.0, 3.0, "dog")],
    }
    predicted = {"a": [Event(1.1, 2.0, "dog"), Event(5.0, 6.0, "cat"), Event(5.5, 7.0, "owl")], "b": []}
    counts = event_counts(reference, predicted, classes=["cat", "dog", "owl", "pig"], compatible="sed_eval")
    assert counts.class_error_rate.tolist() == [4503599627370496.0, 0.6666666666666666, 0.0, 0.0]
    macro, micro = counts.macro_errors, counts.micro_errors
    assert (macro.error_rate, macro.deletion_rate) == (1125899906842624.2, 0.16666666666666666)
    assert macro.insertion_rate == 1125899906842624.0
    assert (micro.error_rate, micro.substitution_rate) == (0.5, 0.25)
    assert (micro.deletion_rate, micro.insertion_rate) == (0.25, 0.0)
    segments = segment_counts(reference, predicted, classes=["cat", "dog", "owl", "pig"], compatible="sed_eval")
    assert segments.class_error_rate.tolist() == [4503599627370496.0, 0.8, 0.0, 0.0]
    assert segments.macro_errors.error_rate == 1125899906842624.2
    assert (segments.micro_errors.error_rate, segments.micro_errors.substitution_rate) == (
        0.5714285714285714,
        0.14285714285714285,
    )
    assert counts_of(tp=[0], fp=[2], fn=[1], compatible="sed_eval").class_insertion_rate[0] == 1.9999999999999996
    tenths = counts_of(tp=[9], fp=[2], fn=[1], compatible="sed_eval")
    assert tenths.class_error_rate[0] == 0.30000000000000004  # 0.1 + 0.2, and not 3 / 10


def test_sed_eval_has_no_error_rate_of_clips() -> None:
    counts = counts_of(tp=[0], fp=[2], fn=[0], compatible="sed_eval", level="clip")
    assert math.isnan(counts.error_rate)
    assert math.isnan(counts.class_error_rate[0])


def test_nothing_at_all_is_undefined() -> None:
    for counts in (counts_of(tp=[0], fp=[0], fn=[0]), counts_of(tp=[], fp=[], fn=[])):
        assert all(math.isnan(value) for value in (counts.macro.f1, counts.micro.precision, counts.error_rate))


def test_one_empty_side_is_zero_for_us_and_undefined_for_sed_eval() -> None:
    assert counts_of(tp=[0], fp=[0], fn=[4]).micro.precision == 0.0
    assert math.isnan(counts_of(tp=[0], fp=[0], fn=[4], compatible="sed_eval").micro.precision)
    assert math.isnan(counts_of(tp=[0], fp=[0], fn=[4], compatible="sed_eval").micro.f1)


# Wrong input


def test_wrong_input_is_named() -> None:
    with pytest.raises(ValueError, match=r"true_positives must have one count per class, 2 in all, got shape \(1,\)"):
        Counts("event", ("cat", "dog"), np.array([1]), np.array([1, 1]), np.array([1, 1]))
    with pytest.raises(ValueError, match="level must be one of event, segment, clip, got 'frame'"):
        counts_of(tp=[1], fp=[0], fn=[0], level="frame")
    with pytest.raises(ValueError, match="compatible must be one of sed_eval, got 'sedeval' - did you mean 'sed_eval'"):
        counts_of(tp=[1], fp=[0], fn=[0], compatible="sedeval")
