"""Every figure that counts give, for one set of counts or for many at once: resamples, runs, files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.metrics.ratios import Numbers, harmonic_mean, mean_of_known, ratio, tool_ratio

FIGURES = (
    "f1",
    "precision",
    "recall",
    "error_rate",
    "deletion_rate",
    "insertion_rate",
    "substitution_rate",
)
SEGMENT_FIGURES = ("sensitivity", "specificity", "balanced_accuracy", "accuracy")
OF_ALL_CLASSES = ("substitution_rate",)  # has no meaning for a single class: it takes two
MACRO, MICRO, CLASSES = 0, 1, slice(2, None)  # rows of the figures

Floats = NDArray[np.float64]
Figures = dict[str, Floats]  # by name: (..., 2 + classes), which are the macro mean, the micro mean, and every class


@dataclass(frozen=True, eq=False)
class CountArrays:
    """Counts with any number of axes in front, all the same; in double precision whole numbers up to 2^53 are exact.

    Args:
        level: ``"event"``, ``"segment"`` or ``"clip"``.
        true_positives: (..., classes).
        false_positives: (..., classes).
        false_negatives: (..., classes).
        substitutions: (...,).
        n_segments: (...,) 0 at the other levels.
        compatible: None for our policy, or ``"sed_eval"``, see `Counts`.
    """

    level: str
    true_positives: Numbers
    false_positives: Numbers
    false_negatives: Numbers
    substitutions: Numbers
    n_segments: Numbers
    compatible: str | None = None


def figures_of(counts: CountArrays) -> Figures:
    """Return every figure by name: (..., 2 + classes), which are the macro mean, the micro mean, and every class.

    What is undefined is NaN. Where there is no such figure of single classes (substitution_rate), the macro mean and
    the classes are NaN.

    Example:
        >>> hits, wrong, missed = np.array([[0.0, 6.0, 0.0], [2.0, 2.0, 0.0], [0.0, 2.0, 0.0]])     # of cat, dog, owl
        >>> none = np.array(0.0)
        >>> figures_of(CountArrays("event", hits, wrong, missed, none, none))["f1"]     # as the example of `Counts`
        array([0.375     , 0.66666667, 0.        , 0.75      ,        nan])
    """
    of_classes = _of_classes(counts)
    of_all = _of_classes(_all_classes_as_one(counts)) | _errors_of_all(counts)
    names = FIGURES + SEGMENT_FIGURES if counts.level == "segment" else FIGURES
    averaged = of_classes
    if counts.compatible == "sed_eval" and counts.level == "clip" and counts.true_positives.ndim == 1:
        # The tool's clip-level part skips classes without a reference: another order of additions, another last digit.
        has_reference = counts.true_positives + counts.false_negatives > 0
        averaged = {name: values[has_reference] for name, values in of_classes.items()}
    means = {name: np.asarray(mean_of_known(averaged[name])) for name in names}
    return {
        name: np.concatenate([means[name][..., np.newaxis], of_all[name], of_classes[name]], axis=-1) for name in names
    }


def _of_classes(counts: CountArrays) -> dict[str, Floats]:
    """Every figure by name: (..., classes)."""
    hits, wrong, missed = counts.true_positives, counts.false_positives, counts.false_negatives
    n_true, n_found = hits + missed, hits + wrong
    is_known = n_true + n_found > 0
    if counts.compatible == "sed_eval":
        # The clip-level part of the tool skips classes without a reference.
        precision = ratio(hits, np.where(n_true > 0, n_found, 0) if counts.level == "clip" else n_found, empty=np.nan)
        recall = ratio(hits, n_true, empty=np.nan)
        f1 = harmonic_mean(precision, recall)
    else:
        precision, recall, f1 = (
            np.where(is_known, ratio(part, whole, empty=0.0), np.nan)
            for part, whole in ((hits, n_found), (hits, n_true), (2 * hits, n_true + n_found))
        )
    deletion_rate, insertion_rate = (_per_reference(counts, part, n_true) for part in (missed, wrong))
    if _divides_like_the_tool(counts):
        error_rate = deletion_rate + insertion_rate
    else:
        error_rate = _per_reference(counts, missed + wrong, n_true)
    figures = {
        "f1": f1,
        "precision": precision,
        "recall": recall,
        "error_rate": error_rate,
        "deletion_rate": deletion_rate,
        "insertion_rate": insertion_rate,
        "substitution_rate": np.full(hits.shape, np.nan),
    }
    return figures | _accuracies(counts, recall, is_known) if counts.level == "segment" else figures


def _accuracies(counts: CountArrays, recall: Floats, is_known: NDArray[np.bool_]) -> dict[str, Floats]:
    """The figures that need to know in how many segments a class rightly was not: (..., classes)."""
    hits, wrong, missed = counts.true_positives, counts.false_positives, counts.false_negatives
    n_segments = np.broadcast_to(counts.n_segments[..., np.newaxis], hits.shape).astype(np.float64)
    n_without = n_segments - hits - missed
    n_right = n_without - wrong  # rightly without
    if counts.compatible == "sed_eval":
        sensitivity = tool_ratio(hits, hits + missed)
        specificity = tool_ratio(n_right, n_without)
        accuracy = tool_ratio(hits + n_right, n_segments)
    else:
        sensitivity = recall
        specificity = np.where(is_known, ratio(n_right, n_without, empty=np.nan), np.nan)
        accuracy = np.where(is_known, ratio(hits + n_right, n_segments, empty=np.nan), np.nan)
    balanced_accuracy = 0.5 * sensitivity + 0.5 * specificity
    return dict(zip(SEGMENT_FIGURES, (sensitivity, specificity, balanced_accuracy, accuracy), strict=True))


def _all_classes_as_one(counts: CountArrays) -> CountArrays:
    """The counts added up over classes, in one class: (..., 1)."""
    arrays = (counts.true_positives, counts.false_positives, counts.false_negatives)
    if counts.compatible is None:
        # What neither side has would add nothing but segments that are rightly without it.
        n_classes = np.count_nonzero(sum(arrays) > 0, axis=-1)
    else:
        n_classes = np.array(arrays[0].shape[-1])
    hits, wrong, missed = (array.sum(axis=-1, keepdims=True) for array in arrays)
    return CountArrays(
        counts.level, hits, wrong, missed, counts.substitutions, counts.n_segments * n_classes, counts.compatible
    )


def _errors_of_all(counts: CountArrays) -> dict[str, Floats]:
    """The error rates of all classes together, in which a substitution is one error instead of two: (..., 1)."""
    n_true = (counts.true_positives + counts.false_negatives).sum(axis=-1, keepdims=True)
    substitutions = counts.substitutions[..., np.newaxis]
    deletions, insertions = (
        errors.sum(axis=-1, keepdims=True) - substitutions
        for errors in (counts.false_negatives, counts.false_positives)
    )
    rates = [_per_reference(counts, errors, n_true) for errors in (substitutions, deletions, insertions)]
    if _divides_like_the_tool(counts):
        error_rate = rates[0] + rates[1] + rates[2]
    else:
        error_rate = _per_reference(counts, substitutions + deletions + insertions, n_true)
    return {
        "error_rate": error_rate,
        "substitution_rate": rates[0],
        "deletion_rate": rates[1],
        "insertion_rate": rates[2],
    }


def _divides_like_the_tool(counts: CountArrays) -> bool:
    """Whether error rates are sed_eval's, which has none for clips."""
    return counts.compatible == "sed_eval" and counts.level != "clip"


def _per_reference(counts: CountArrays, part: Numbers, whole: Numbers) -> Floats:
    """Errors per item of the reference."""
    return tool_ratio(part, whole) if _divides_like_the_tool(counts) else ratio(part, whole, empty=np.nan)
