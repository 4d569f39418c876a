"""sed_eval's own figures for the named cases, and the comparison with ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

from earmark.events import Event
from earmark.metrics.counts import Counts, Scores
from earmark.metrics.segment import SegmentCounts
from oracles.frozen import figures_for
from oracles.metrics_cases import Lists, cases, fingerprint


@cache
def tool_figures() -> dict[str, Any]:
    """Case -> level -> the tool's figures."""
    return figures_for("sed_eval_named.json", fingerprint(cases()))


def as_events(lists: Lists) -> dict[str, list[Event]]:
    """Rows as our events."""
    return {name: [Event(*row) for row in rows] for name, rows in lists.items()}


def assert_as_the_tool_says(counts: Counts, tool: dict[str, Any], *, more: Sequence[Any] = ()) -> None:
    """Counts equal, figures within 1e-12, NaN where the tool has none; `more` are further counts per class."""
    for index, label in enumerate(counts.classes):
        arrays = (counts.n_reference, counts.n_predicted, counts.true_positives, *more)
        expected = tool["classes"][label]
        assert [int(array[index]) for array in arrays] == expected[: len(arrays)], label
        scores = Scores(float(counts.precision[index]), float(counts.recall[index]), float(counts.f1[index]))
        assert_scores(scores, expected[len(arrays) :])
    assert_scores(counts.macro, tool["macro"])
    assert_scores(counts.micro, tool["micro"])
    if "substitutions" in tool:
        assert counts.substitutions == tool["substitutions"]
        assert counts.error_rate == tool["error_rate"]


def assert_errors(counts: Counts, tool: dict[str, Any]) -> None:
    """All error rates: per class, their means, and overall with its three counts."""
    assert [counts.deletions, counts.insertions] == [tool["deletions"], tool["insertions"]]
    rates = tool["error_rates"]
    of_class = (counts.class_error_rate, counts.class_deletion_rate, counts.class_insertion_rate)
    for index, label in enumerate(counts.classes):
        assert_close([float(rate[index]) for rate in of_class], rates["classes"][label])
    macro, micro = counts.macro_errors, counts.micro_errors
    assert_close([macro.error_rate, macro.deletion_rate, macro.insertion_rate], rates["macro"])
    overall = [micro.error_rate, micro.substitution_rate, micro.deletion_rate, micro.insertion_rate]
    assert_close(overall, rates["micro"])


def assert_accuracies(counts: SegmentCounts, tool: dict[str, Any]) -> None:
    """All accuracies: per class, their means, and overall."""
    names = ("accuracy", "balanced_accuracy", "sensitivity", "specificity")
    for index, label in enumerate(counts.classes):
        assert_close([float(getattr(counts, name)[index]) for name in names], tool["accuracy"]["classes"][label])
    for ours, theirs in ((counts.macro_accuracies, "macro"), (counts.micro_accuracies, "micro")):
        assert_close([getattr(ours, name) for name in names], tool["accuracy"][theirs])


def assert_close(ours: Sequence[float], tool: Sequence[float | None]) -> None:
    """Within 1e-12 of the figure, as some of the tool's are astronomical; or undefined on both sides."""
    for figure, expected in zip(ours, tool, strict=True):
        if expected is None:
            assert math.isnan(figure)
        else:
            assert math.isclose(figure, expected, rel_tol=1e-12, abs_tol=1e-12), (figure, expected)


def assert_scores(scores: Scores, expected: Sequence[float | None]) -> None:
    """Within 1e-12, or undefined on both sides."""
    for ours, theirs in zip((scores.precision, scores.recall, scores.f1), expected, strict=True):
        assert math.isnan(ours) if theirs is None else abs(ours - theirs) <= 1e-12
