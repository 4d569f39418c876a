from __future__ import annotations

import pytest
from oracles import metrics_slow
from oracles.metrics_cases import Case, cases, clips_case, labels
from oracles.metrics_stored import as_events, assert_as_the_tool_says, tool_figures

from earmark.metrics.clip import clip_counts, tags_from_events
from earmark.metrics.counts import Counts

CLIPS = [clips_case(seed) for seed in range(70, 90)]


def count(case: Case, *, swapped: bool = False) -> Counts:
    sides = [tags_from_events(as_events(side)) for side in (case.reference, case.predicted)]
    return clip_counts(sides[swapped], sides[not swapped])


def arrays(counts: Counts) -> list[list[int]]:
    return [array.tolist() for array in (counts.true_positives, counts.false_positives, counts.false_negatives)]


# Laws


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_compatible_figures_are_sed_evals_own(case: Case) -> None:
    counts = clip_counts(
        tags_from_events(as_events(case.reference)),
        tags_from_events(as_events(case.predicted)),
        classes=labels(case),
        compatible="sed_eval",
    )
    assert_as_the_tool_says(counts, tool_figures()[case.name]["clip"])


@pytest.mark.parametrize("case", CLIPS, ids=lambda case: case.name)
def test_counts_are_those_of_the_slow_second_implementation(case: Case) -> None:
    expected = [metrics_slow.clip_counts(case.reference, case.predicted, label) for label in labels(case)]
    assert arrays(count(case)) == [list(column) for column in zip(*expected, strict=True)]


def test_swapping_the_sides_exchanges_false_positives_and_false_negatives() -> None:
    for case in CLIPS:
        assert arrays(count(case)) == [arrays(count(case, swapped=True))[place] for place in (0, 2, 1)]
        assert count(case).substitutions == count(case, swapped=True).substitutions


# Worked numbers


def test_counts_and_substitutions_by_hand() -> None:
    reference = {"a": {"cat", "dog"}, "b": {"owl"}, "c": set[str](), "d": {"cat"}}
    predicted = {"a": {"dog", "owl"}, "b": {"owl"}, "c": {"owl"}}
    counts = clip_counts(reference, predicted)
    assert counts.classes == ("cat", "dog", "owl")
    assert arrays(counts) == [[0, 1, 1], [0, 0, 2], [2, 0, 0]]
    assert (counts.substitutions, counts.deletions, counts.insertions) == (1, 1, 1)  # in a; d; c


def test_tags_of_other_clips_are_ignored_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="1 predicted files are not in the reference"):
        counts = clip_counts({"a": {"dog"}}, {"a": {"dog"}, "b": {"dog"}})
    assert arrays(counts) == [[1], [0], [0]]


# Wrong input


def test_wrong_input_is_named() -> None:
    with pytest.raises(ValueError, match="unknown class 'dog'"):
        clip_counts({"a": {"dog"}}, {}, classes=["cat"])
    with pytest.raises(ValueError, match="compatible must be one of sed_eval, got 'sed-eval'"):
        clip_counts({"a": {"dog"}}, {}, compatible="sed-eval")
