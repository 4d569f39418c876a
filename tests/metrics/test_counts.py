from __future__ import annotations

import math

import numpy as np
import pytest

from earmark.metrics.counts import Counts


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
