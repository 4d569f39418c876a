"""Curves and PSDS when every clip has a whole number as its weight: what resampling computes, over and over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from earmark.metrics.curves.changes import Changes
from earmark.metrics.curves.curve import Curve, Curves
from earmark.metrics.curves.intersection import CrossTriggers, intersection_changes
from earmark.metrics.curves.psds import SECONDS_PER_UNIT, Scenario, area, combined, steps_of, surely_over
from earmark.metrics.curves.scored_clips import ScoredClips
from earmark.metrics.ratios import mean_of_known

Weights = NDArray[np.int64]  # (resamples, files)
Figures = dict[str, NDArray[np.float64]]  # by name (resamples, 1 + classes), the mean or whole of all classes first


class Weighable(Protocol):
    """What resampling needs to know of a system: its clips, its classes, and its figures under weights."""

    @property
    def files(self) -> tuple[str, ...]:
        """The clips."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes."""

    @property
    def level(self) -> str:
        """What the figures are about."""

    @property
    def task(self) -> NDArray[np.int64]:
        """Numbers that are the same for two systems if they were measured against the same reference."""

    def under(self, weights: Weights) -> Figures:
        """Return the figures of every resample."""


@dataclass(frozen=True, eq=False)
class WeighableCurves:
    """Best F1, average precision and AUROC of curves; events have no AUROC.

    Args:
        curves: of all clips.

    Example:
        >>> from earmark.metrics.curves.items import clip_curves
        >>> scores, tags = {"a": [0.9], "b": [0.8], "c": [0.1]}, {"a": {"dog"}, "b": set(), "c": {"dog"}}
        >>> system = WeighableCurves(clip_curves(scores, tags, classes=("dog",)))
        >>> figures = system.under(np.array([[1, 1, 1], [2, 1, 0]]))
        >>> figures["best_f1"][:, 0], figures["auroc"][:, 0]     # without c, which is low, the curve is perfect
        (array([0.8, 1. ]), array([0.5, 1. ]))
    """

    curves: Curves

    @property
    def files(self) -> tuple[str, ...]:
        """The clips."""
        return self.curves.files

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes."""
        return self.curves.classes

    @property
    def level(self) -> str:
        """What was counted."""
        return self.curves.level

    @property
    def task(self) -> NDArray[np.int64]:
        """What each clip holds."""
        return self.curves.reference_by_file

    def under(self, weights: Weights) -> Figures:
        """Return the figures of every resample: by name (resamples, 1 + classes)."""
        n_reference = weights @ self.curves.reference_by_file  # (resamples, classes)
        items = self.curves.items_by_file
        n_items = None if items is None else weights @ items
        figures = np.empty((3, len(weights), len(self.classes)))
        for index, changes in enumerate(self.curves.changes):
            entries = _Sorted.of(changes)
            for row, weight in enumerate(weights):
                n = int(n_reference[row, index])
                n_negatives = None if n_items is None else int(n_items[row]) - n
                figures[:, row, index] = _figures(entries, weight, n, n_negatives)
        names = ("best_f1", "average_precision") if items is None else ("best_f1", "average_precision", "auroc")
        return {name: _with_mean(figures[place]) for place, name in enumerate(names)}


@dataclass(frozen=True, eq=False)
class WeighablePsds:
    """PSDS, and every class's own.

    Args:
        clips: scores, reference and durations.
        scenario: what the score rewards and punishes.
        use_numba: see `fast.is_wanted`.
    """

    clips: ScoredClips
    scenario: Scenario
    use_numba: bool | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The clips."""
        return self.clips.scores.files

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes."""
        return self.clips.scores.classes

    @property
    def level(self) -> str:
        """What the figures are about."""
        return "psds"

    @property
    def task(self) -> NDArray[np.int64]:
        """What each clip holds."""
        return self.clips.reference_by_file

    def under(self, weights: Weights) -> Figures:
        """Return the scores of every resample: by name (resamples, 1 + classes)."""
        scenario, clips = self.scenario, self.clips
        unit = SECONDS_PER_UNIT[scenario.unit_of_time]
        seconds = weights @ clips.duration_seconds  # (resamples,)
        above = surely_over(clips, weights, scenario.max_rate * seconds / unit)
        changes, crossing = intersection_changes(
            clips, criteria=scenario.criteria, above=above, use_numba=self.use_numba
        )
        n_reference = weights @ clips.reference_by_file  # (resamples, classes)
        class_seconds = weights @ clips.reference_seconds_by_file
        divisor = max(len(self.classes) - (scenario.cross_trigger_divisor == "others"), 1)
        weight_ct = np.full(class_seconds.shape, scenario.alpha_ct / divisor)
        cost = np.divide(weight_ct, class_seconds, out=np.zeros(class_seconds.shape), where=class_seconds > 0)
        figures = np.full((len(weights), 1 + len(self.classes)), np.nan)
        sorted_changes = [_SortedPsds.of(*of_class) for of_class in zip(changes, crossing, strict=True)]
        for row, weight in enumerate(weights):
            rocs = {}
            for index, entries in enumerate(sorted_changes):
                n = int(n_reference[row, index])
                if n > 0:
                    rate, hits = entries.rates(weight, cost[row], float(seconds[row]))
                    rocs[index] = steps_of(rate * unit, hits, n, scenario.max_rate)
                    figures[row, 1 + index] = area(rocs[index], scenario.max_rate)
            if rocs:
                whole = combined(list(rocs.values()), alpha_st=scenario.alpha_st)
                figures[row, 0] = area(whole, scenario.max_rate)
        return {"psds": figures}


@dataclass(frozen=True, eq=False)
class _Sorted:
    """The changes of one class from the highest score down; `is_last` where the next score is another one."""

    file_index: NDArray[np.int32]
    hits: NDArray[np.int32]
    false_alarms: NDArray[np.int32]
    is_last: NDArray[np.bool_]

    @staticmethod
    def of(changes: Changes) -> _Sorted:
        order = np.argsort(-changes.score)
        score = changes.score[order]
        is_last = np.append(score[1:] < score[:-1], True)[: len(score)]
        return _Sorted(changes.file_index[order], changes.hits[order], changes.false_alarms[order], is_last)


@dataclass(frozen=True, eq=False)
class _SortedPsds:
    """Changes and cross triggers of one class together, from the highest score down."""

    file_index: NDArray[np.int64]
    hits: NDArray[np.int64]
    false_alarms: NDArray[np.int64]
    other: NDArray[np.int64]  # the class triggered
    triggers: NDArray[np.int64]  # 0 where the change is none of cross triggers
    is_last: NDArray[np.bool_]

    @staticmethod
    def of(changes: Changes, crossing: CrossTriggers) -> _SortedPsds:
        score = np.concatenate([changes.score, crossing.score])
        order = np.argsort(-score)
        score = score[order]
        none_here, none_there = np.zeros(len(changes.score), np.int64), np.zeros(len(crossing.score), np.int64)
        return _SortedPsds(
            file_index=np.concatenate([changes.file_index, crossing.file_index])[order],
            hits=np.concatenate([changes.hits, none_there])[order],
            false_alarms=np.concatenate([changes.false_alarms, none_there])[order],
            other=np.concatenate([none_here, crossing.other])[order],
            triggers=np.concatenate([none_here, crossing.steps])[order],
            is_last=np.append(score[1:] < score[:-1], True)[: len(score)],
        )

    def rates(
        self, weight: NDArray[np.int64], cost: NDArray[np.float64], seconds: float
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Effective false alarms per second, and hits, at every threshold: (points,), (points,)."""
        of_change = weight[self.file_index]
        hits = np.cumsum(of_change * self.hits)[self.is_last]
        wrong = np.cumsum(of_change * self.false_alarms)[self.is_last]
        rate = wrong / seconds
        if cost.any():
            crossed = np.cumsum(of_change * self.triggers * cost[self.other])[self.is_last]
            rate = rate + np.maximum(crossed, 0.0)  # what is taken back leaves a rounding error
        return np.append(0.0, rate), np.append(0, hits)


def _figures(
    entries: _Sorted, weight: NDArray[np.int64], n_reference: int, n_negatives: int | None
) -> tuple[float, float, float]:
    """Best F1, average precision and AUROC of one class in one resample."""
    of_change = weight[entries.file_index]
    hits, wrong = (
        np.append(0, np.cumsum(of_change * steps)[entries.is_last]) for steps in (entries.hits, entries.false_alarms)
    )
    curve = Curve("", np.zeros(0), hits, wrong, n_reference, n_negatives)
    if n_reference == 0:
        return np.nan, np.nan, np.nan
    return float(curve.f1.max()), curve.average_precision, curve.auroc


def _with_mean(of_class: NDArray[np.float64]) -> NDArray[np.float64]:
    """(resamples, classes) -> (resamples, 1 + classes): first the mean over the classes that are there."""
    return np.column_stack([mean_of_known(of_class), of_class])
