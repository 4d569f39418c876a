"""What every figure is made of: true positives, false positives and false negatives per class, and their averages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.checks import choice

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


@dataclass(frozen=True, eq=False)
class Counts:
    r"""Hits and misses per class, added up over all files.

    .. math:: P = TP / (TP + FP), \quad R = TP / (TP + FN), \quad F_1 = 2 TP / (2 TP + FP + FN)

    The policy for classes that are missing somewhere: a class that only one side has counts 0 in every mean, because it
    was missed entirely or made up entirely; a class that neither side has is named in `absent` and left out. With
    `compatible="sed_eval"` the undefined figures are NaN and skipped by the means, each figure by its own mean, as
    sed_eval 0.2.1 does: there a class that is never predicted is missing from macro F1, and so is one that is only
    predicted.

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
        >>> counts.deletions, counts.insertions, counts.error_rate     # (2 + 4) / 8
        (2, 4, 0.75)
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

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of the predictions that are right, per class: (classes,)."""
        if self.compatible == "sed_eval":
            known = self._tool_knows
            return _ratio(self.true_positives, np.where(known, self.n_predicted, 0), empty=np.nan)
        return self._in_our_policy(_ratio(self.true_positives, self.n_predicted, empty=0.0))

    @property
    def recall(self) -> NDArray[np.float64]:
        """Share of the reference that was found, per class: (classes,)."""
        if self.compatible == "sed_eval":
            return _ratio(self.true_positives, self.n_reference, empty=np.nan)
        return self._in_our_policy(_ratio(self.true_positives, self.n_reference, empty=0.0))

    @property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of precision and recall, per class: (classes,)."""
        if self.compatible == "sed_eval":
            return _harmonic_mean(self.precision, self.recall)
        return self._in_our_policy(_ratio(2 * self.true_positives, self.n_predicted + self.n_reference, empty=0.0))

    @property
    def macro(self) -> Scores:
        """The mean over classes, each class counting the same whether it is frequent or rare."""
        return Scores(_mean_of_known(self.precision), _mean_of_known(self.recall), _mean_of_known(self.f1))

    @property
    def micro(self) -> Scores:
        """The figures of the counts added up over all classes, so that frequent classes count more."""
        hits, wrong, missed = (
            np.array([counts.sum()]) for counts in (self.true_positives, self.false_positives, self.false_negatives)
        )
        total = Counts(self.level, ("all",), hits, wrong, missed, compatible=self.compatible)
        return Scores(float(total.precision[0]), float(total.recall[0]), float(total.f1[0]))

    @property
    def deletions(self) -> int:
        """Misses that no false positive of another class stands in for, over all classes."""
        return int(self.false_negatives.sum()) - self.substitutions

    @property
    def insertions(self) -> int:
        """False positives that stand in for no miss, over all classes."""
        return int(self.false_positives.sum()) - self.substitutions

    @property
    def error_rate(self) -> float:
        """Substitutions, deletions and insertions per item of the reference; NaN when the reference is empty."""
        errors = np.array([self.substitutions + self.deletions + self.insertions])
        return float(_ratio(errors, np.array([self.n_reference.sum()]), empty=np.nan)[0])

    @property
    def _tool_knows(self) -> NDArray[np.bool_]:
        """Classes of which sed_eval gives any figure: its clip-level part skips those without a reference."""
        return self.n_reference > 0 if self.level == "clip" else np.full(len(self.classes), True)

    def _in_our_policy(self, figures: NDArray[np.float64]) -> NDArray[np.float64]:
        """NaN only where neither side has the class."""
        return np.where(self.n_reference + self.n_predicted > 0, figures, np.nan)


def _ratio(part: NDArray[np.int64], whole: NDArray[np.int64], *, empty: float) -> NDArray[np.float64]:
    """part / whole, and `empty` where whole is 0."""
    return np.divide(part, whole, out=np.full(len(part), empty), where=whole > 0)


def _harmonic_mean(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> NDArray[np.float64]:
    """2PR / (P + R): NaN where one of them is, 0 where both are 0."""
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.where(np.isnan(total), np.nan, 0.0), where=total > 0)


def _mean_of_known(figures: NDArray[np.float64]) -> float:
    """The mean of what is not NaN; NaN when nothing is known."""
    known = figures[~np.isnan(figures)]
    return float(known.mean()) if len(known) else float("nan")
