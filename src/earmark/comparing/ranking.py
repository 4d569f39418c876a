"""Average precision, AUROC and loss of clip probabilities when every clip has a whole number as its weight.

The same definitions as earmark.metrics.curves, which cannot leave out the classes that nobody listened for in a clip;
and all resamples at once.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from earmark.metrics.ratios import mean_of_known

LEAST_LOG = math.log(1e-7)  # a single clip that is certainly wrong must not decide the mean loss of all
Floats = NDArray[np.float64]


def ranking_under(
    weights: Floats, log_y: Floats, tags: NDArray[np.bool_], known: NDArray[np.bool_]
) -> dict[str, Floats]:
    r"""Return average precision and AUROC of every class and their mean: by name (resamples, 1 + classes).

    .. math:: AP = \sum_k (R_k - R_{k-1}) P_k

    over the thresholds from the highest down; AUROC is the chance that a clip with the class scores above one without,
    equal scores counting half. NaN without both kinds (of average precision: without the class).

    Args:
        weights: (resamples, clips).
        log_y: (clips, classes), any rising function of the probability.
        tags, known: (clips, classes).

    Example:
        >>> log_y, tags = np.log([[0.9], [0.8], [0.1]]), np.array([[True], [False], [True]])
        >>> found = ranking_under(np.array([[1, 1, 1], [2, 1, 0]]), log_y, tags, np.ones((3, 1), bool))
        >>> found["average_precision"][:, 0].round(4), found["auroc"][:, 0]     # (1 + 2/3) / 2; then perfect
        (array([0.8333, 1.    ]), array([0.5, 1. ]))
    """
    shape = (len(weights), tags.shape[1])
    precision, area = np.full(shape, np.nan), np.full(shape, np.nan)
    for index in range(tags.shape[1]):
        order = np.flatnonzero(known[:, index])
        order = order[np.argsort(-log_y[order, index], kind="stable")]
        if len(order) == 0:
            continue
        score, is_positive = log_y[order, index], tags[order, index]
        is_last = np.append(score[1:] < score[:-1], True)  # of equal scores
        drawn = weights[:, order].astype(np.float64)
        hits, wrong = (np.cumsum(drawn * side, axis=1)[:, is_last] for side in (is_positive, ~is_positive))
        new_hits, new_wrong = (np.diff(side, axis=1, prepend=0.0) for side in (hits, wrong))
        n_hits, n_wrong = hits[:, -1], wrong[:, -1]
        share = np.divide(hits, hits + wrong, out=np.zeros_like(hits), where=hits > 0)
        of_ap, of_auroc = (new_hits * share).sum(axis=1), (new_wrong * (hits - new_hits / 2)).sum(axis=1)
        precision[:, index] = np.divide(of_ap, n_hits, out=np.full(len(weights), np.nan), where=n_hits > 0)
        pairs = n_hits * n_wrong
        area[:, index] = np.divide(of_auroc, pairs, out=np.full(len(weights), np.nan), where=pairs > 0)
    return {"average_precision": with_mean(precision), "auroc": with_mean(area)}


def loss_under(
    weights: Floats, log_y: Floats, log_not_y: Floats, tags: NDArray[np.bool_], known: NDArray[np.bool_]
) -> Floats:
    """Return the mean cross-entropy over what is known, of all classes together and of each: (resamples, 1 + classes).

    Probabilities count as at least 1e-7.

    Example:
        >>> half, yes = np.log([[0.5], [0.25]]), np.ones((2, 1), bool)
        >>> loss_under(np.array([[1, 1]]), half, half, yes, yes).round(4)     # (log 2 + log 4) / 2
        array([[1.0397, 1.0397]])
    """
    terms = -np.where(known, np.maximum(np.where(tags, log_y, log_not_y), LEAST_LOG), 0.0)
    sums, counts = weights @ terms, weights @ known.astype(np.float64)  # (resamples, classes)
    of_class = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    total = counts.sum(axis=1)
    whole = np.divide(sums.sum(axis=1), total, out=np.full(len(sums), np.nan), where=total > 0)
    return np.column_stack([whole, of_class])


def with_mean(of_class: Floats) -> Floats:
    """Return (resamples, 1 + classes): first the mean over the classes that have a figure.

    Example:
        >>> with_mean(np.array([[0.5, 1.0, np.nan]]))
        array([[0.75, 0.5 , 1.  ,  nan]])
    """
    return np.column_stack([mean_of_known(of_class), of_class])
