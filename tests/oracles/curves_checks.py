"""What the tests of curves compare, and with what numba."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

import numpy as np
import pytest

from earmark.metrics.curves import Curve, Curves, ScoredClips
from oracles.curves_slow import Pair, as_steps

needs_numba = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
WITH_AND_WITHOUT_NUMBA = [False, pytest.param(True, marks=needs_numba)]
CountsAt = Callable[[float], Pair]


def points(curve: Curve) -> list[tuple[float, Pair]]:
    """(score, (hits, false alarms)) from an infinite threshold down."""
    counts = zip(curve.true_positives.tolist(), curve.false_positives.tolist(), strict=True)
    return list(zip(curve.score.tolist(), counts, strict=True))


def counts_at(curve: Curve) -> CountsAt:
    """Hits and false alarms at any threshold."""
    return as_steps(points(curve))


def assert_same_curves(first: Curves, second: Curves) -> None:
    """Bit for bit."""
    assert first.classes == second.classes
    for one, other in zip(first.of_class, second.of_class, strict=True):
        assert points(one) == points(other), one.label
        assert (one.n_reference, one.n_negatives) == (other.n_reference, other.n_negatives)


def durations_of(clips: ScoredClips) -> dict[str, float]:
    """File name -> seconds."""
    return dict(zip(clips.scores.files, clips.duration_seconds.tolist(), strict=True))


def raised(values: np.ndarray) -> np.ndarray:
    """Other scores in the same order, some below 0."""
    return np.asarray(5 * values**3 - 2)
