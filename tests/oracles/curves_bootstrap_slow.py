"""Intervals of curves once more: plain Python, one threshold, one resample, one run and one clip after the other.

PSDS is that of the clips written out as often as they were drawn, so that nothing is weighed at all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from earmark.metrics.curves.curve import Curves
from earmark.metrics.curves.psds import Scenario, psds
from oracles.weighted_cases import CLASSES, ScoreCase

Rows = dict[str, list[float]]  # figure -> mean of the classes, every class
Weights = Sequence[Sequence[int]]


def figures(curves: Curves, weights: Sequence[int]) -> Rows:
    """Best F1, average precision and (of segments and clips) AUROC, when each clip counts so often."""
    has_auroc = curves.items_by_file is not None
    rows: Rows = {name: [] for name in ("best_f1", "average_precision", *(["auroc"] if has_auroc else []))}
    for index, changes in enumerate(curves.changes):
        steps = list(
            zip(
                changes.score.tolist(),
                changes.file_index.tolist(),
                changes.hits.tolist(),
                changes.false_alarms.tolist(),
                strict=True,
            )
        )
        n_reference = sum(
            weight * row[index] for weight, row in zip(weights, curves.reference_by_file.tolist(), strict=True)
        )
        best_f1, precision_at = 0.0, {0: 1.0}
        for threshold in sorted({score for score, *_ in steps}):
            hits = sum(weights[clip] * step for score, clip, step, _ in steps if score >= threshold)
            wrong = sum(weights[clip] * step for score, clip, _, step in steps if score >= threshold)
            precision = hits / (hits + wrong) if hits + wrong > 0 else 1.0
            precision_at[hits] = max(precision_at.get(hits, 0.0), precision)
            if n_reference > 0:
                best_f1 = max(best_f1, 2 * hits / (hits + wrong + n_reference))
        rows["best_f1"].append(best_f1 if n_reference > 0 else math.nan)
        rows["average_precision"].append(_area(precision_at, n_reference, rises_only=has_auroc))
        if has_auroc:
            rows["auroc"].append(_right_order(steps, weights))
    return {name: [_mean(values), *values] for name, values in rows.items()}


def psds_figures(case: ScoreCase, weights: Sequence[int], scenario: Scenario) -> Rows:
    """PSDS, and every class's own."""
    result = psds(case.written_out(weights).clips(), scenario=scenario)
    return {"psds": [result.value, *(result.of_class.get(label, math.nan) for label in CLASSES)]}


def weights_of_clips(files: Sequence[str], group_of: Mapping[str, str], of_groups: Sequence[int]) -> list[int]:
    """The weights of the groups, in the order of their names, as those of the clips."""
    of_name = dict(zip(sorted(set(group_of.values())), of_groups, strict=True))
    return [of_name[group_of[name]] for name in files]


def _area(precision_at: Mapping[int, float], n_reference: int, *, rises_only: bool) -> float:
    """Average precision; where recall can fall again, the best precision at this recall or more."""
    if n_reference == 0:
        return math.nan
    total, before = 0.0, 0
    for hits in sorted(precision_at):
        precision = precision_at[hits]
        if not rises_only:
            precision = max(value for more, value in precision_at.items() if more >= hits)
        total += (hits - before) / n_reference * precision
        before = hits
    return total


def _right_order(steps: Sequence[tuple[float, int, int, int]], weights: Sequence[int]) -> float:
    """The share of pairs of one item with the class and one without it in which the first scores higher."""
    with_it = [(score, weights[clip]) for score, clip, step, _ in steps if step]
    without = [(score, weights[clip]) for score, clip, _, step in steps if step]
    n_pairs = sum(weight for _, weight in with_it) * sum(weight for _, weight in without)
    if n_pairs == 0:
        return math.nan
    right = sum(
        weight * other * (1.0 if score > score_without else 0.5 if score == score_without else 0.0)
        for score, weight in with_it
        for score_without, other in without
    )
    return right / n_pairs


def _mean(values: Sequence[float]) -> float:
    """Of those that are known."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
