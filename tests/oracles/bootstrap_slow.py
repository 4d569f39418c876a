"""The bootstrap once more: plain Python, one resample, one run and one file after the other, figures from `Counts`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from earmark.metrics.accuracies import SegmentCounts
from earmark.metrics.by_file import CountsByFile
from earmark.metrics.counts import Counts

Rows = dict[str, list[float]]  # figure -> macro mean, micro mean, every class


def counts_under(by_file: CountsByFile, weights: Sequence[int]) -> Counts:
    """The counts when each file counts as often as its weight says."""

    def total(of_file: Sequence[int]) -> int:
        return sum(int(weight) * int(value) for weight, value in zip(weights, of_file, strict=True))

    hits, wrong, missed = (
        np.array([total(column) for column in array.T.tolist()], dtype=np.int64)
        for array in (by_file.true_positives, by_file.false_positives, by_file.false_negatives)
    )
    substitutions = total(by_file.substitutions.tolist())
    counts = Counts(by_file.level, by_file.classes, hits, wrong, missed, substitutions, by_file.compatible)
    if by_file.level == "segment":
        return SegmentCounts(**vars(counts), n_segments=total(by_file.n_segments.tolist()))
    return counts


def figures(counts: Counts) -> Rows:
    """Every figure that the properties of `Counts` give."""
    rows = {
        name: [getattr(counts.macro, name), getattr(counts.micro, name), *getattr(counts, name).tolist()]
        for name in ("f1", "precision", "recall")
    }
    for name in ("error_rate", "deletion_rate", "insertion_rate"):
        means = [getattr(counts.macro_errors, name), getattr(counts.micro_errors, name)]
        rows[name] = [*means, *getattr(counts, f"class_{name}").tolist()]
    nowhere = [math.nan] * len(counts.classes)
    rows["substitution_rate"] = [math.nan, counts.micro_errors.substitution_rate, *nowhere]
    if isinstance(counts, SegmentCounts):
        for name in ("sensitivity", "specificity", "balanced_accuracy", "accuracy"):
            means = [getattr(counts.macro_accuracies, name), getattr(counts.micro_accuracies, name)]
            rows[name] = [*means, *getattr(counts, name).tolist()]
    return rows


def mean_of_runs(of_runs: Sequence[Rows], weights: Sequence[int]) -> Rows:
    """The mean over runs, each as often as its weight says, without those in which a figure is undefined."""
    means: Rows = {}
    for name, first in of_runs[0].items():
        means[name] = []
        for row in range(len(first)):
            known = [
                rows[name][row]
                for rows, weight in zip(of_runs, weights, strict=True)
                for _ in range(weight)
                if not math.isnan(rows[name][row])
            ]
            means[name].append(math.fsum(known) / len(known) if known else math.nan)
    return means


def every_resample(
    runs: Sequence[CountsByFile],
    group_of: Mapping[str, str],
    weights: Sequence[Sequence[int]],
    of_runs: Sequence[Sequence[int]],
) -> list[Rows]:
    """The figures of every resample; weights are those of the groups in the order of their names."""
    names = sorted(set(group_of.values()))
    resamples = []
    for of_groups, of_run in zip(weights, of_runs, strict=True):
        of_name = dict(zip(names, of_groups, strict=True))
        of_files = [of_name[group_of[file]] for file in runs[0].files]
        resamples.append(mean_of_runs([figures(counts_under(run, of_files)) for run in runs], of_run))
    return resamples


def every_swap(
    system: CountsByFile, baseline: CountsByFile, group_of: Mapping[str, str], swaps: Sequence[Sequence[int]]
) -> list[Rows]:
    """The differences when the two are exchanged in some groups, file by file."""
    names = sorted(set(group_of.values()))
    resamples = []
    for is_swapped in swaps:
        of_name = dict(zip(names, is_swapped, strict=True))
        stay = [1 - of_name[group_of[file]] for file in system.files]
        go = [1 - value for value in stay]
        sides = [
            figures(_together(counts_under(one, stay), counts_under(other, go)))
            for one, other in ((system, baseline), (baseline, system))
        ]
        resamples.append(minus(sides[0], sides[1]))
    return resamples


def minus(one: Rows, other: Rows) -> Rows:
    """The difference of every figure."""
    return {name: [a - b for a, b in zip(one[name], other[name], strict=True)] for name in one}


def bounds(values: Sequence[float], confidence: float) -> tuple[float, float]:
    """The interval in which the middle share of the values lies, from the sorted list."""
    known = sorted(value for value in values if not math.isnan(value))
    if not known:
        return math.nan, math.nan
    ends = []
    for share in ((1 - confidence) / 2, 1 - (1 - confidence) / 2):
        place = share * (len(known) - 1)
        below = math.floor(place)
        above = min(below + 1, len(known) - 1)
        ends.append(known[below] * (1 - place + below) + known[above] * (place - below))
    return ends[0], ends[1]


def p_value(difference: float, at_null: Sequence[float]) -> float:
    """How many draws are as far from 0 as the difference, which is one of them."""
    if math.isnan(difference):
        return math.nan
    known = [value for value in at_null if not math.isnan(value)]
    return (1 + sum(abs(value) > abs(difference) - 1e-12 for value in known)) / (1 + len(known))


def _together(one: Counts, other: Counts) -> Counts:
    """The sum of two counts of the same level."""
    total = Counts(
        one.level,
        one.classes,
        one.true_positives + other.true_positives,
        one.false_positives + other.false_positives,
        one.false_negatives + other.false_negatives,
        one.substitutions + other.substitutions,
        one.compatible,
    )
    if isinstance(one, SegmentCounts) and isinstance(other, SegmentCounts):
        return SegmentCounts(**vars(total), n_segments=one.n_segments + other.n_segments)
    return total
