"""The figures of sed_scores_eval and psds_eval for made-up frame scores, and the comparison of our curves with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from earmark.events import Event
from earmark.metrics.counts import Scores
from earmark.metrics.curves import Criteria, Curves, Psds, Roc, Scenario, ScoredClips, score_table, scored_clips
from earmark.metrics.curves.intersection import CrossTriggers
from oracles.curves_checks import counts_at
from oracles.score_cases import ScoreCase

Figures = dict[str, Any]
CLOSE = 1e-12


def clips_of_case(case: ScoreCase) -> ScoredClips:
    """A case as our clips, as long as the tools are told they are."""
    scores = {name: np.array(rows).reshape(len(rows), len(case.classes)) for name, rows in case.scores.items()}
    table = score_table(scores, classes=case.classes, edge_seconds=case.borders)
    reference = {name: [Event(*row) for row in rows] for name, rows in case.reference.items()}
    return scored_clips(table, reference, durations=case.durations)


def criteria_of(settings: Mapping[str, Any]) -> Criteria:
    """Criteria by the tool's names."""
    return Criteria(settings["dtc_threshold"], settings["gtc_threshold"], settings["cttc_threshold"])


def scenario_of(settings: Mapping[str, Any]) -> Scenario:
    """A scenario by the tool's names; a criterion of cross triggers that have no weight changes nothing."""
    criteria = criteria_of(settings if settings["alpha_ct"] > 0 else {**settings, "cttc_threshold": None})
    weights = settings["alpha_ct"], settings["alpha_st"]
    return Scenario(criteria, *weights, max_rate=settings["max_efpr"], unit_of_time=settings["unit_of_time"])


def assert_counts(curves: Curves, tool: Figures) -> None:
    """Hits and false alarms (and what is rightly not found) at every threshold at which any of the two changes."""
    for curve in curves.of_class:
        scores, *counts = tool["curves"][curve.label]
        assert curve.n_reference == tool["n_ref"][curve.label]
        at, at_of_tool = counts_at(curve), _at(scores, list(zip(*counts, strict=True)), len(counts))
        for threshold in {*scores, *curve.score.tolist()}:
            hits, wrong, *right = at_of_tool(threshold) if threshold < math.inf else (0, 0)
            assert at(threshold) == (hits, wrong), (curve.label, threshold)
            if right:
                assert curve.n_negatives is not None
                assert curve.n_negatives - wrong == right[0]


def assert_cross_triggers(crossing: CrossTriggers, label: str, classes: Sequence[str], tool: Figures) -> None:
    """How often each other class is triggered, at every threshold."""
    scores = tool["curves"][label][0]
    for other, counts in tool["cts"][label].items():
        at_of_tool, mine = _at(scores, counts, None), crossing.other == classes.index(other)
        for threshold in {*scores, *crossing.score.tolist()}:
            assert crossing.steps[mine & (crossing.score >= threshold)].sum() == at_of_tool(threshold)


def assert_best(curves: Curves, tool: Figures) -> None:
    """F1, precision and recall at the best thresholds, the counts there, and the averages.

    Of points with equal F1 both sides take the one with the highest threshold; but the tool computes F1 from rounded
    precision and recall, so to it some of them are not equal.
    """
    best, is_tied = tool["best"], False
    for curve in curves.of_class:
        hits, wrong, n_reference = best["counts"][curve.label]
        assert abs(curve.best.scores.f1 - best["f1"][curve.label]) < CLOSE
        if hits != curve.best.true_positives and curve.best.scores.f1 == 2 * hits / (hits + wrong + n_reference):
            assert curve.best.threshold > float(best["threshold"][curve.label])
            is_tied = True
            continue
        _assert_scores(curve.best.scores, best, curve.label)
        point = curve.best
        assert [point.true_positives, point.false_positives, curve.n_reference] == best["counts"][curve.label]
        # Points at which nothing changes in sum are in the tool's list, so its midpoints are closer to the upper score.
        theirs = float(best["threshold"][curve.label])
        at_theirs = curve.at_threshold(_above(theirs))
        assert (at_theirs.true_positives, at_theirs.false_positives) == (point.true_positives, point.false_positives)
        assert point.threshold <= theirs + CLOSE
    assert abs(curves.macro_best.f1 - best["f1"]["macro_average"]) < CLOSE
    if not is_tied:
        _assert_scores(curves.macro_best, best, "macro_average")
        _assert_scores(curves.micro_best, best, "micro_average")


def assert_at_threshold(curves: Curves, tool: Figures, threshold: float) -> None:
    """F1, precision and recall of frames above a threshold."""
    for curve in curves.of_class:
        _assert_scores(curve.at_threshold(_above(threshold)).scores, tool["at_threshold"], curve.label)


def assert_areas(curves: Curves, tool: Figures) -> None:
    """Average precision and the area under the ROC curve; equal scores count half, as for scikit-learn."""
    for curve in curves.of_class:
        for theirs in (tool["average_precision"], tool["sklearn"]["average_precision"]):
            assert abs(curve.average_precision - theirs[curve.label]) < CLOSE
        if tool["sklearn"]["auroc"][curve.label] is None:
            assert math.isnan(curve.auroc)
            continue
        assert abs(curve.auroc - tool["sklearn"]["auroc"][curve.label]) < CLOSE
        # For sed_scores_eval they do not count at all.
        assert curve.n_negatives is not None
        tied = np.diff(curve.true_positives) * np.diff(curve.false_positives)
        share = float(tied.sum()) / 2 / curve.n_reference / curve.n_negatives
        assert abs(curve.auroc - share - tool["auroc_stable"]["None"][curve.label]) < CLOSE
        assert tied.any() or abs(curve.auroc - tool["auroc"]["None"][curve.label]) < CLOSE
    assert abs(curves.mean_average_precision - tool["average_precision"]["mean"]) < CLOSE


def assert_psds(found: Psds, tool: Figures) -> None:
    """The score, those of the classes, and the curves they are the areas of."""
    assert abs(found.value - tool["value"]) < CLOSE
    assert found.of_class.keys() == tool["classes"].keys()
    for label, value in tool["classes"].items():
        assert abs(found.of_class[label] - value) < CLOSE
    _assert_same_steps(found.roc, tool["roc"], found.scenario.max_rate)
    for label, (hit_rate, rate, _) in tool.get("class_rocs", {}).items():
        _assert_same_steps(found.roc_of_class[label], (hit_rate, rate), found.scenario.max_rate)


def _assert_same_steps(roc: Roc, tool: Sequence[Sequence[float]], max_rate: float) -> None:
    """Equal heights between any two rates of either curve that are not the same but for rounding."""
    hit_rate, rate = (np.array(values) for values in tool)
    every = np.unique([*roc.rate, *rate, max_rate])
    for begin, end in pairwise(every.tolist()):
        if end - begin > 1e-9 * max_rate:
            middle = (begin + end) / 2
            ours = roc.hit_rate[np.searchsorted(roc.rate, middle, side="right") - 1]
            theirs = hit_rate[np.searchsorted(rate, middle, side="right") - 1]
            assert abs(ours - theirs) < CLOSE, (begin, end)


def _assert_scores(scores: Scores, tool: Figures, name: str) -> None:
    for figure in ("f1", "precision", "recall"):
        assert abs(getattr(scores, figure) - tool[figure][name]) < CLOSE, (name, figure)


def _at(scores: Sequence[float], counts: Sequence[Any], n_counts: int | None) -> Callable[[float], Any]:
    """The tool's counts where frames are found whose score is at least a threshold; its scores rise."""
    nothing = 0 if n_counts is None else (0,) * n_counts

    def at(threshold: float) -> Any:
        reached = [count for score, count in zip(scores, counts, strict=True) if score >= threshold]
        return reached[0] if reached else nothing

    return at


def _above(threshold: float) -> float:
    """The tool finds frames above a threshold, we those at it."""
    return float(np.nextafter(threshold, math.inf))
