"""Figures that need to know where a class rightly was not: specificity and the accuracies of segments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.metrics.counts import Counts
from earmark.metrics.figures import CLASSES, MACRO, MICRO, SEGMENT_FIGURES


@dataclass(frozen=True)
class Accuracies:
    """Four figures from 0 to 1; NaN where there is nothing to divide by.

    Args:
        sensitivity: share of the segments with the class that were found; another name for recall.
        specificity: share of the segments without the class in which it was not predicted.
        balanced_accuracy: the mean of these two.
        accuracy: share of all segments that are right. Events are rare, so predicting nothing is nearly 1.

    Example:
        >>> Accuracies(sensitivity=0.5, specificity=1.0, balanced_accuracy=0.75, accuracy=0.95).accuracy
        0.95
    """

    sensitivity: float
    specificity: float
    balanced_accuracy: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class SegmentCounts(Counts):
    r"""Counts of segments.

    .. math:: \mathrm{sens} = TP / (TP + FN), \quad \mathrm{spec} = TN / (TN + FP), \quad
              \mathrm{bal} = (\mathrm{sens} + \mathrm{spec}) / 2, \quad
              \mathrm{acc} = (TP + TN) / (TP + TN + FP + FN)

    A class that neither side has is left out of the accuracies too, of the means and of the sums over all classes:
    nothing but true negatives would only make them look better. With `compatible="sed_eval"` it counts, and so do
    figures without anything to divide by: there they are 0.

    Args:
        segment_seconds: the length of one segment.
        n_segments: how many there are in all files together; each is one yes or no per class.
        n_late_events: events of both sides that end after the duration given for their file.

    Example:
        >>> numbers = np.array([[2, 0], [1, 0], [1, 0]])     # 2 hits, 1 made up, 1 missed; nobody has the owl
        >>> counts = SegmentCounts("segment", ("dog", "owl"), *numbers, n_segments=10)
        >>> counts.true_negatives, counts.accuracy
        (array([ 6, 10]), array([0.8, nan]))
        >>> counts.micro_accuracies.accuracy
        0.8
    """

    segment_seconds: float = 1.0
    n_segments: int = 0
    n_late_events: int = 0

    @property
    def true_negatives(self) -> NDArray[np.int64]:
        """Segments that neither side has, per class: (classes,)."""
        return self.n_segments - self.true_positives - self.false_positives - self.false_negatives

    @property
    def sensitivity(self) -> NDArray[np.float64]:
        """Share of the segments with the class that were found, per class: (classes,). Recall, but for the tool's."""
        return self.figures["sensitivity"][CLASSES]

    @property
    def specificity(self) -> NDArray[np.float64]:
        """Share of the segments without the class that are rightly without, per class: (classes,)."""
        return self.figures["specificity"][CLASSES]

    @property
    def balanced_accuracy(self) -> NDArray[np.float64]:
        """The mean of sensitivity and specificity, per class: (classes,)."""
        return self.figures["balanced_accuracy"][CLASSES]

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """Share of the segments that are right, per class: (classes,)."""
        return self.figures["accuracy"][CLASSES]

    @property
    def macro_accuracies(self) -> Accuracies:
        """The means over classes."""
        return Accuracies(*self._row(MACRO, *SEGMENT_FIGURES))

    @property
    def micro_accuracies(self) -> Accuracies:
        """The figures of the counts added up over all classes that count."""
        return Accuracies(*self._row(MICRO, *SEGMENT_FIGURES))

    @property
    def _n_segments(self) -> int:
        """Segments in all."""
        return self.n_segments
