"""What every figure is made of: true positives, false positives and false negatives per class, and their averages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from earmark.checks import choice
from earmark.metrics.figures import CLASSES, MACRO, MICRO, CountArrays, Figures, figures_of

RATES = ("error_rate", "deletion_rate", "insertion_rate", "substitution_rate")
COMPATIBLE = ("sed_eval",)  # the established tools whose own figures can be had


@dataclass(frozen=True)
class Scores:
    """Precision, recall and F1, each from 0 to 1; NaN where there is nothing to divide by.

    Example:
        >>> Scores(precision=1.0, recall=0.5, f1=2 / 3).recall
        0.5
    """

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class ErrorRates:
    """Errors per item of the reference, 0 at best and without an upper end; NaN where there is no reference.

    Args:
        error_rate: all errors together.
        deletion_rate: misses.
        insertion_rate: what was made up.
        substitution_rate: one class in the place of another, one error where there would be a deletion and an
            insertion; NaN where single classes are looked at, because it always takes two of them.

    Example:
        >>> ErrorRates(error_rate=0.75, deletion_rate=0.25, insertion_rate=0.5).substitution_rate
        nan
    """

    error_rate: float
    deletion_rate: float
    insertion_rate: float
    substitution_rate: float = math.nan


@dataclass(frozen=True, eq=False)
class Counts:
    r"""Hits and misses per class, added up over all files.

    .. math:: P = TP / (TP + FP), \quad R = TP / (TP + FN), \quad F_1 = 2 TP / (2 TP + FP + FN)
    .. math:: ER_\mathrm{class} = (FN + FP) / (TP + FN), \quad ER_\mathrm{micro} = (S + D + I) / (TP + FN)

    The policy for classes that are missing somewhere: a class that only one side has counts 0 in every mean, because it
    was missed entirely or made up entirely; a class that neither side has is named in `absent` and left out. Errors
    per item of a reference without items are undefined: a made-up class has no error rate, and is left out of its mean.

    With `compatible="sed_eval"` the undefined figures are NaN and skipped by the means, each figure by its own mean, as
    sed_eval 0.2.1 does: there a class that is never predicted is missing from macro F1, and so is one that is only
    predicted. Its error rates divide by the reference plus 2.2e-16, so one made-up class makes their mean astronomical.

    Args:
        level: what was counted: ``"event"``, ``"segment"`` or ``"clip"``.
        classes: the names, in the order of the arrays.
        true_positives: (classes,).
        false_positives: (classes,).
        false_negatives: (classes,).
        substitutions: false positives that stand where another class was missed, over all classes. Each of them takes
            one false positive and one false negative together, so that error rate counts it once.
        compatible: None for the policy above, or ``"sed_eval"``.

    Raises:
        ValueError: arrays of another length than `classes`, or an unknown level or tool.

    Example:
        >>> counts = Counts("event", ("cat", "dog", "owl"), *np.array([[0, 6, 0], [2, 2, 0], [0, 2, 0]]))
        >>> counts.f1, counts.macro.f1, counts.absent         # the cat was made up: (0 + 0.75) / 2
        (array([0.  , 0.75,  nan]), 0.375, ('owl',))
        >>> counts.micro                                      # 6 of 10 predictions, 6 of 8 references
        Scores(precision=0.6, recall=0.75, f1=0.6666666666666666)
        >>> counts.precision, counts.recall, counts.n_reference
        (array([0.  , 0.75,  nan]), array([0.  , 0.75,  nan]), array([0, 8, 0]))
        >>> counts.deletions, counts.insertions, counts.error_rate     # (2 + 4) / 8; the made-up cats count here
        (2, 4, 0.75)
        >>> counts.class_error_rate, counts.macro_errors.error_rate    # (2 + 2) / 8, and none without a reference
        (array([nan, 0.5, nan]), 0.5)
    """

    level: str
    classes: tuple[str, ...]
    true_positives: NDArray[np.int64]
    false_positives: NDArray[np.int64]
    false_negatives: NDArray[np.int64]
    substitutions: int = 0
    compatible: str | None = None

    def __post_init__(self) -> None:
        choice("level", self.level, ["event", "segment", "clip"])
        if self.compatible is not None:
            choice("compatible", self.compatible, COMPATIBLE)
        for name in ("true_positives", "false_positives", "false_negatives"):
            if getattr(self, name).shape != (len(self.classes),):
                raise ValueError(
                    f"{name} must have one count per class, {len(self.classes)} in all, "
                    f"got shape {getattr(self, name).shape}"
                )

    @property
    def n_reference(self) -> NDArray[np.int64]:
        """What the reference holds, per class: (classes,)."""
        return self.true_positives + self.false_negatives

    @property
    def n_predicted(self) -> NDArray[np.int64]:
        """What was predicted, per class: (classes,)."""
        return self.true_positives + self.false_positives

    @property
    def absent(self) -> tuple[str, ...]:
        """The classes that neither the reference nor the predictions have."""
        return tuple(np.array(self.classes, dtype=object)[self.n_reference + self.n_predicted == 0])

    @cached_property
    def figures(self) -> Figures:
        """Every figure by name, computed once: (2 + classes,), the macro mean, the micro mean, and every class."""
        counts = (self.true_positives, self.false_positives, self.false_negatives)
        others = np.array(self.substitutions), np.array(self._n_segments)
        return figures_of(CountArrays(self.level, *counts, *others, self.compatible))

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of the predictions that are right, per class: (classes,)."""
        return self.figures["precision"][CLASSES]

    @property
    def recall(self) -> NDArray[np.float64]:
        """Share of the reference that was found, per class: (classes,)."""
        return self.figures["recall"][CLASSES]

    @property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of precision and recall, per class: (classes,)."""
        return self.figures["f1"][CLASSES]

    @property
    def macro(self) -> Scores:
        """The mean over classes, each class counting the same whether it is frequent or rare."""
        return Scores(*self._row(MACRO, "precision", "recall", "f1"))

    @property
    def micro(self) -> Scores:
        """The figures of the counts added up over all classes, so that frequent classes count more."""
        return Scores(*self._row(MICRO, "precision", "recall", "f1"))

    @property
    def deletions(self) -> int:
        """Misses that no false positive of another class stands in for, over all classes."""
        return int(self.false_negatives.sum()) - self.substitutions

    @property
    def insertions(self) -> int:
        """False positives that stand in for no miss, over all classes."""
        return int(self.false_positives.sum()) - self.substitutions

    @property
    def class_deletion_rate(self) -> NDArray[np.float64]:
        """Misses per item of the reference, per class: (classes,)."""
        return self.figures["deletion_rate"][CLASSES]

    @property
    def class_insertion_rate(self) -> NDArray[np.float64]:
        """False positives per item of the reference, per class: (classes,)."""
        return self.figures["insertion_rate"][CLASSES]

    @property
    def class_error_rate(self) -> NDArray[np.float64]:
        """Misses and false positives per item of the reference, per class: (classes,)."""
        return self.figures["error_rate"][CLASSES]

    @property
    def macro_errors(self) -> ErrorRates:
        """The mean error rates over classes, those without a reference left out."""
        return ErrorRates(*self._row(MACRO, *RATES))

    @property
    def micro_errors(self) -> ErrorRates:
        """The error rates of all classes together, in which a substitution is one error instead of two."""
        return ErrorRates(*self._row(MICRO, *RATES))

    @property
    def error_rate(self) -> float:
        """Substitutions, deletions and insertions per item of the reference, over all classes."""
        return self.micro_errors.error_rate

    @property
    def _n_segments(self) -> int:
        """Segments in all, where segments were counted."""
        return 0

    def _row(self, row: int, *names: str) -> tuple[float, ...]:
        """The macro or the micro mean of some figures."""
        return tuple(float(self.figures[name][row]) for name in names)
