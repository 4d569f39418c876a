"""2,000 random crowded evaluations and the rarer traps, against sed_eval's own figures."""

from __future__ import annotations

import math
from typing import Any

import pytest
from oracles.frozen import figures_for
from oracles.metrics_cases import Case, fingerprint, labels
from oracles.metrics_cases_crowded import N_CASES, crowded_cases
from oracles.metrics_cases_edges import edge_cases, every_millisecond_pair
from oracles.metrics_stored import as_events, assert_accuracies, assert_as_the_tool_says, assert_close, assert_errors

from earmark.metrics.clip import clip_counts, tags_from_events
from earmark.metrics.counts import Counts
from earmark.metrics.event import event_counts
from earmark.metrics.segment import SegmentCounts, segment_counts

CROWDED = crowded_cases()
EDGES = edge_cases()
# Where our answer is another one on purpose: files with one name in two spellings are one file for us.
OURS_DIFFERS = {"two ways to write an umlaut"}


def events(case: Case) -> Counts:
    return event_counts(
        as_events(case.reference),
        as_events(case.predicted),
        classes=labels(case),
        onset_collar_seconds=case.collar_seconds,
        offset_collar_seconds=case.collar_seconds,
        offset_collar_fraction=case.offset_fraction,
        compatible="sed_eval",
    )


def segments(case: Case) -> SegmentCounts:
    return segment_counts(
        as_events(case.reference),
        as_events(case.predicted),
        classes=labels(case),
        segment_seconds=case.segment_seconds,
        durations=case.durations if case.durations else None,
        compatible="sed_eval",
    )


def clips(case: Case) -> Counts:
    reference, predicted = (
        tags_from_events(as_events(side))
        if case.tags is None
        else {name: {*tags} for name, tags in case.tags[index].items()}
        for index, side in enumerate((case.reference, case.predicted))
    )
    return clip_counts(reference, predicted, classes=labels(case), compatible="sed_eval")


def assert_counts(counts: Counts, tool: dict[str, Any], *, more: tuple[Any, ...] = ()) -> None:
    arrays = (counts.n_reference, counts.n_predicted, counts.true_positives, *more)
    ours = {label: [int(array[index]) for array in arrays] for index, label in enumerate(counts.classes)}
    assert ours == tool["classes"]
    averages = [
        getattr(average, name) for average in (counts.macro, counts.micro) for name in ("precision", "recall", "f1")
    ]
    for figure, expected in zip(averages, [*tool["macro"], *tool["micro"]], strict=True):
        assert math.isnan(figure) if expected is None else abs(figure - expected) <= 1e-12
    if "substitutions" in tool:
        errors = [counts.substitutions, counts.deletions, counts.insertions]
        assert errors == [tool[name] for name in ("substitutions", "deletions", "insertions")]
        if counts.n_reference.sum() > 0:  # otherwise the tool divides by 2e-16
            assert abs(counts.error_rate - tool["error_rate"]) <= 1e-12


# A hundred at a time: a test of its own for each would take longer to report than to run.
@pytest.mark.parametrize("start", range(0, N_CASES, 100))
def test_crowded_lists_give_sed_evals_own_figures(start: int) -> None:
    figures = figures_for("sed_eval_crowded.json.gz", fingerprint(CROWDED))
    for case in CROWDED[start : start + 100]:
        tool = figures[case.name]
        assert_counts(events(case), tool["event"])
        counts = segments(case)
        assert_counts(counts, tool["segment"], more=(counts.true_negatives,))
        accuracies = counts.micro_accuracies
        assert_close(
            [getattr(accuracies, name) for name in ("accuracy", "balanced_accuracy", "sensitivity", "specificity")],
            tool["segment"]["accuracy"],
        )
        assert_counts(clips(case), tool["clip"])


def edge_figures() -> dict[str, Any]:
    return figures_for("sed_eval_edges.json", fingerprint([*EDGES, every_millisecond_pair()]))


@pytest.mark.filterwarnings("ignore::UserWarning")  # files on one side only are a warning of their own test
@pytest.mark.parametrize("case", [case for case in EDGES if case.name not in OURS_DIFFERS], ids=lambda case: case.name)
def test_rarer_traps_give_sed_evals_own_figures(case: Case) -> None:
    tool = edge_figures()[case.name]
    if "raises" in tool["segment"]:
        for count in (events, segments):  # the tool raises for segments only; we do for both
            with pytest.raises(ValueError, match="class"):
                count(case)
        return
    assert_as_the_tool_says(events(case), tool["event"])
    assert_errors(events(case), tool["event"])
    counts = segments(case)
    assert_as_the_tool_says(counts, tool["segment"], more=[counts.true_negatives])
    assert_errors(counts, tool["segment"])
    assert_accuracies(counts, tool["segment"])
    assert_as_the_tool_says(clips(case), tool["clip"])


def test_of_all_pairs_exactly_one_collar_apart_the_tool_sees_43_percent() -> None:
    pairs = every_millisecond_pair()
    tool = edge_figures()[pairs.name]["event"]
    assert tool["overall"] == [9801, 9801, 4245]
    assert_as_the_tool_says(events(pairs), tool)
    ours = event_counts(as_events(pairs.reference), as_events(pairs.predicted))
    assert ours.true_positives.tolist() == [9801]
