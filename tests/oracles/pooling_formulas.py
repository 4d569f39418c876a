"""The paper's formulas as they are printed: no logarithm, no mask, no care for overflow. One clip, one class.

`y` is the array of frame probabilities, (frames,). Everything but attention also works on arrays of `decimal.Decimal`,
which gives as many digits as one asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


# -- forward: y^c = sum_i y_i w_i / sum_i w_i -----------------------------------------------------------------------


def weighted_mean(y: Array, w: Array) -> Any:
    """Equation 1."""
    return (y * w).sum() / w.sum()


def average(y: Array) -> Any:
    """All weights alike."""
    return y.sum() / len(y)


def maximum(y: Array) -> Any:
    """The largest one."""
    return max(y)


def linear(y: Array) -> Any:
    """Equation 2: every frame is its own weight."""
    return weighted_mean(y, y)


def exponential(y: Array) -> Any:
    """The weight is e to the probability."""
    return weighted_mean(y, np.exp(y))


def auto(y: Array, alpha: Any) -> Any:
    """The weight is e to alpha times the probability."""
    return weighted_mean(y, np.exp(alpha * y))


def power(y: Array, n: Any) -> Any:
    """Equation 4: the weight is the n-th power of the probability."""
    return weighted_mean(y, y**n)


def attention(y: Array, u: Array) -> Any:
    """The weight is e to a second head's output."""
    return weighted_mean(y, np.exp(u))


def attention_class_axis(y: Array, u: Array) -> Array:
    """All classes at once, (frames, classes): softmax over classes, clamped, divided by its sum over time."""
    q = np.clip(np.exp(u) / np.exp(u).sum(axis=1, keepdims=True), 1e-7, 1.0)
    pooled: Array = (y * q).sum(axis=0) / q.sum(axis=0)
    return pooled


def hierarchical(y: Array, groups: tuple[int, ...], function: Callable[[Array], Any]) -> Any:
    """The same function for every group of neighbours, stage after stage, then for what is left."""
    for size in groups[:-1]:
        y = np.array([function(y[start : start + size]) for start in range(0, len(y), size)])
    return function(y)


# -- gradients: dy^c / dy_i for every frame -------------------------------------------------------------------------


def average_gradient(y: Array) -> Array:
    """The same for every frame."""
    return np.full(len(y), 1 / len(y))


def maximum_gradient(y: Array) -> Array:
    """All of it to the largest."""
    return (np.arange(len(y)) == np.argmax(y)).astype(y.dtype)


def linear_gradient(y: Array) -> Array:
    """Equation 3."""
    gradient: Array = (2 * y - linear(y)) / y.sum()
    return gradient


def exponential_gradient(y: Array) -> Array:
    """(1 + y_i - y^c) e^y_i over the sum of the weights."""
    gradient: Array = (1 + y - exponential(y)) * np.exp(y) / np.exp(y).sum()
    return gradient


def auto_gradient(y: Array, alpha: float) -> Array:
    """(1 + alpha (y_i - y^c)) e^(alpha y_i) over the sum of the weights."""
    gradient: Array = (1 + alpha * (y - auto(y, alpha))) * np.exp(alpha * y) / np.exp(alpha * y).sum()
    return gradient


def power_gradient(y: Array, n: float) -> Array:
    """Equation 5."""
    gradient: Array = ((n + 1) * y**n - n * y ** (n - 1) * power(y, n)) / (y**n).sum()
    return gradient


def attention_gradient(y: Array, u: Array) -> Array:
    """The weights themselves; y plays no part."""
    gradient: Array = np.exp(u) / np.exp(u).sum()
    return gradient


def attention_score_gradient(y: Array, u: Array) -> Array:
    """dy^c / du_i: a frame's weight times how far it lies above the clip."""
    gradient: Array = attention_gradient(y, u) * (y - attention(y, u))
    return gradient


# -- how the clip moves with a trained exponent -----------------------------------------------------------------------


def power_exponent_gradient(y: Array, n: float) -> float:
    """dy^c / dn, the covariance of log y and y under the weights."""
    p = y**n / (y**n).sum()
    mean_log = (p * np.log(y)).sum()
    return float((p * (np.log(y) - mean_log) * (y - (p * y).sum())).sum())


def auto_sharpness_gradient(y: Array, alpha: float) -> float:
    """dy^c / dalpha, the variance of y under the weights."""
    p = np.exp(alpha * y) / np.exp(alpha * y).sum()
    return float((p * (y - (p * y).sum()) ** 2).sum())
