"""Precision, recall and what follows from them at every threshold at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from earmark.metrics.counts import Counts, Scores
from earmark.metrics.curves.changes import Changes
from earmark.metrics.ratios import mean_of_known


@dataclass(frozen=True)
class BestPoint:
    """The point of a curve with the highest F1; of equals the one with the highest threshold.

    Args:
        threshold: half way between the lowest score that is accepted and the highest that is not; infinite when it is
            best to find nothing, -inf when everything is accepted.
        scores: precision, recall and F1 there.
        true_positives: hits there.
        false_positives: false alarms there.
    """

    threshold: float
    scores: Scores
    true_positives: int
    false_positives: int


@dataclass(frozen=True, eq=False)
class Curve:
    r"""The counts of one class at every threshold, and the figures that follow from them.

    All arrays are (points,), from an infinite threshold down; a point holds for thresholds t with
    score[i] >= t > score[i + 1], where a frame is found when its score is at least t.

    .. math:: P = \frac{TP}{TP + FP}, \quad R = \frac{TP}{n_\mathrm{reference}}, \quad
              F_1 = \frac{2 TP}{TP + FP + n_\mathrm{reference}}

    Args:
        label: the class.
        score: what the threshold must fall to.
        true_positives: hits.
        false_positives: false alarms.
        n_reference: what there is to find.
        n_negatives: segments or clips without the class; None where nobody can count what is not there, for events.

    Example:
        >>> curve = Curve("dog", np.array([np.inf, 0.9, 0.5, 0.2]), np.array([0, 1, 1, 2]), np.array([0, 0, 1, 3]), 2)
        >>> curve.precision, curve.recall, curve.f1.round(3)
        (array([1. , 1. , 0.5, 0.4]), array([0. , 0.5, 0.5, 1. ]), array([0.   , 0.667, 0.5  , 0.571]))
        >>> curve.best.threshold, curve.average_precision     # 1 * 0.5 + 0.4 * 0.5
        (0.7, 0.7)
    """

    label: str
    score: NDArray[np.float64]
    true_positives: NDArray[np.int64]
    false_positives: NDArray[np.int64]
    n_reference: int
    n_negatives: int | None = None

    @property
    def n_predicted(self) -> NDArray[np.int64]:
        """What is found at each point: (points,)."""
        return self.true_positives + self.false_positives

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of what is found that is right, 1 where nothing is found: (points,)."""
        found = self.n_predicted
        return np.divide(self.true_positives, found, out=np.ones(len(found)), where=found > 0)

    @property
    def recall(self) -> NDArray[np.float64]:
        """Share of the reference that is found, NaN when the reference has none: (points,)."""
        if self.n_reference == 0:
            return np.full(len(self.score), np.nan)
        return self.true_positives / self.n_reference

    @property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of precision and recall, NaN when the reference has none: (points,)."""
        if self.n_reference == 0:
            return np.full(len(self.score), np.nan)
        return 2 * self.true_positives / (self.n_predicted + self.n_reference)

    @property
    def best(self) -> BestPoint:
        """The point with the highest F1."""
        if self.n_reference == 0:
            return BestPoint(np.inf, Scores(np.nan, np.nan, np.nan), 0, 0)
        f1 = self.f1
        return self.at_point(int(np.argmax(f1)))

    @property
    def average_precision(self) -> float:
        r"""The precision averaged over recall, NaN when the reference has none.

        .. math:: AP = \sum_k (R_k - R_{k-1}) P_k

        R_1 < R_2 < ... are the different recalls of the curve and P_k the best precision at recall R_k. Of events
        recall can fall again when the threshold does (two detections become one); P_k is then the best precision at
        recall R_k or more.
        """
        if self.n_reference == 0:
            return float("nan")
        best = np.full(int(self.true_positives.max()) + 1, -1.0)  # precision at so many hits
        np.maximum.at(best, self.true_positives, self.precision)
        if self.n_negatives is None:
            best = np.maximum.accumulate(best[::-1])[::-1]
        reached = np.flatnonzero(best >= 0)
        return float((best[reached[1:]] * np.diff(reached)).sum() / self.n_reference)

    @property
    def auroc(self) -> float:
        r"""The area under true positive rate against false positive rate, NaN without both kinds, or for events.

        The chance that something with the class scores higher than something without it; equal scores count half.
        """
        if self.n_reference == 0 or not self.n_negatives:
            return float("nan")
        hit_rate, alarm_rate = self.true_positives / self.n_reference, self.false_positives / self.n_negatives
        return float((np.diff(alarm_rate) * (hit_rate[1:] + hit_rate[:-1]) / 2).sum())

    def at_threshold(self, threshold: float) -> BestPoint:
        """Return the point at a threshold: frames are found whose score is at least this."""
        if np.isnan(threshold):
            raise ValueError("threshold must be a number, got nan - did a figure without a value become a threshold?")
        return self.at_point(int(np.searchsorted(-self.score, -threshold, side="right")) - 1)

    def at_point(self, index: int) -> BestPoint:
        """Return point number `index`, with the threshold in the middle of where it holds."""
        score = float(self.score[index])
        below = float(self.score[index + 1]) if index + 1 < len(self.score) else -math.inf
        middle = score if score == math.inf else score / 2 + below / 2
        if not below < middle and below > -math.inf:
            middle = score  # between neighbouring numbers there is none
        hits, wrong, n = int(self.true_positives[index]), int(self.false_positives[index]), self.n_reference
        precision = hits / (hits + wrong) if hits + wrong > 0 else 1.0
        recall, f1 = (hits / n, 2 * hits / (hits + wrong + n)) if n > 0 else (math.nan, math.nan)
        return BestPoint(middle, Scores(precision, recall, f1), hits, wrong)


@dataclass(frozen=True, eq=False)
class Curves:
    """The curves of all classes.

    Args:
        level: ``"event"``, ``"segment"``, ``"clip"`` or ``"intersection"``.
        of_class: one curve per class.
        make_changes: makes what the curves are made of, once more: one per class. Only resampling asks for them, and
            they take more memory than all curves.
        files: the clips.
        reference_by_file: (files, classes) what there is to find in each clip.
        items_by_file: (files,) segments of each clip, or 1 for clips; None for events, which nobody can count where
            they are not.

    A class that the reference lacks has no recall: it is named in `absent` and left out of every mean.
    """

    level: str
    of_class: tuple[Curve, ...]
    make_changes: Callable[[], Iterable[Changes]]
    files: tuple[str, ...]
    reference_by_file: NDArray[np.int64]
    items_by_file: NDArray[np.int64] | None = None

    @cached_property
    def changes(self) -> tuple[Changes, ...]:
        """What the curves are made of, one per class."""
        return tuple(self.make_changes())

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return tuple(curve.label for curve in self.of_class)

    @property
    def absent(self) -> tuple[str, ...]:
        """Classes that the reference lacks."""
        return tuple(curve.label for curve in self.of_class if curve.n_reference == 0)

    @property
    def macro_best(self) -> Scores:
        """Precision, recall and F1 at each class's own best threshold, averaged over the classes."""
        points = [curve.best.scores for curve in self.of_class if curve.n_reference > 0]
        if not points:
            return Scores(np.nan, np.nan, np.nan)
        return Scores(*(float(np.mean([getattr(point, name) for point in points])) for name in FIGURES))

    @property
    def micro_best(self) -> Scores:
        """Precision, recall and F1 of the counts added up, each class at its own best threshold."""
        points = [(curve.best, curve.n_reference) for curve in self.of_class if curve.n_reference > 0]
        hits = np.array([point.true_positives for point, _ in points], dtype=np.int64)
        wrong = np.array([point.false_positives for point, _ in points], dtype=np.int64)
        missed = np.array([n_reference for _, n_reference in points], dtype=np.int64) - hits
        return Counts("event", tuple(str(n) for n in range(len(points))), hits, wrong, missed).micro

    @property
    def mean_average_precision(self) -> float:
        """mAP: the mean over the classes that the reference has."""
        return float(mean_of_known(np.array([curve.average_precision for curve in self.of_class])))

    @property
    def mean_auroc(self) -> float:
        """The mean over the classes that have both kinds; NaN for events."""
        return float(mean_of_known(np.array([curve.auroc for curve in self.of_class])))


FIGURES = ("precision", "recall", "f1")


def curves_of(
    level: str,
    classes: Sequence[str],
    make_changes: Callable[[], Iterable[Changes]],
    files: tuple[str, ...],
    *,
    reference_by_file: NDArray[np.int64],
    items_by_file: NDArray[np.int64] | None = None,
    use_numba: bool | None = None,
) -> Curves:
    """Return the curves that changes add up to.

    Args:
        level: see `Curves`.
        classes: the names.
        make_changes: see `Curves`; each is looked at once and let go of.
        files: the clips.
        reference_by_file: see `Curves`.
        items_by_file: see `Curves`.
        use_numba: see `fast.is_wanted`.
    """
    curves, n_reference = [], reference_by_file.sum(axis=0).tolist()
    for label, of_class, n in zip(classes, make_changes(), n_reference, strict=True):
        sums = of_class.sums(use_numba=use_numba)
        n_negatives = None if items_by_file is None else int(items_by_file.sum()) - n
        curves.append(Curve(label, sums.score, sums.hits, sums.false_alarms, n, n_negatives))
    return Curves(level, tuple(curves), make_changes, files, reference_by_file, items_by_file)
