from __future__ import annotations

import numpy as np
import pytest
from oracles import bootstrap_slow
from oracles.bootstrap_cases import random_counts

from earmark.metrics.figures import FIGURES, SEGMENT_FIGURES, CountArrays, figures_of


def arrays(rng: np.random.Generator, level: str, compatible: str | None, shape: tuple[int, ...]) -> CountArrays:
    """Small counts, zeros among them, so that every policy is needed."""
    hits, wrong, missed = (rng.integers(0, 3, (*shape, 5)) * (rng.random((*shape, 5)) < 0.6) for _ in range(3))
    substitutions = np.minimum(wrong.sum(axis=-1), missed.sum(axis=-1)) // 2
    n_segments = (hits + wrong + missed).max(axis=-1) + rng.integers(0, 4, shape)
    return CountArrays(level, hits, wrong, missed, substitutions, n_segments, compatible)


# Laws


@pytest.mark.parametrize("compatible", [None, "sed_eval"])
@pytest.mark.parametrize("level", ["event", "segment", "clip"])
def test_they_are_the_figures_of_counts(rng: np.random.Generator, level: str, compatible: str | None) -> None:
    for _ in range(100):
        by_file = random_counts(rng, level, n_files=3, compatible=compatible)
        weights = rng.integers(0, 2, 3).tolist()
        counts = bootstrap_slow.counts_under(by_file, weights)
        found = figures_of(
            CountArrays(
                level,
                counts.true_positives,
                counts.false_positives,
                counts.false_negatives,
                np.array(counts.substitutions),
                np.array(getattr(counts, "n_segments", 0)),
                compatible,
            )
        )
        expected = bootstrap_slow.figures(counts)
        assert set(found) == set(expected)
        for name, values in expected.items():
            np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("compatible", [None, "sed_eval"])
@pytest.mark.parametrize("level", ["event", "segment", "clip"])
def test_axes_in_front_do_not_mix(rng: np.random.Generator, level: str, compatible: str | None) -> None:
    many = arrays(rng, level, compatible, (3, 4))
    together = figures_of(many)
    for place in np.ndindex(3, 4):
        one = CountArrays(
            level,
            many.true_positives[place],
            many.false_positives[place],
            many.false_negatives[place],
            many.substitutions[place],
            many.n_segments[place],
            compatible,
        )
        for name, values in figures_of(one).items():
            np.testing.assert_array_equal(together[name][place], values)


# Worked numbers


def test_all_figures_of_one_set_of_segments() -> None:
    hits, wrong, missed = np.array([[2.0, 0.0, 0.0], [1.0, 2.0, 0.0], [1.0, 0.0, 0.0]])
    figures = figures_of(CountArrays("segment", hits, wrong, missed, np.array(1.0), np.array(10.0)))
    assert tuple(figures) == FIGURES + SEGMENT_FIGURES
    nan = np.nan
    expected = {
        "f1": [(2 / 3 + 0) / 2, 4 / 8, 2 / 3, 0, nan],
        "error_rate": [2 / 3, (1 + 0 + 2) / 3, 2 / 3, nan, nan],  # the made-up class has no reference to divide by
        "insertion_rate": [1 / 3, 2 / 3, 1 / 3, nan, nan],
        "substitution_rate": [nan, 1 / 3, nan, nan, nan],
        "specificity": [(6 / 7 + 8 / 10) / 2, 14 / 17, 6 / 7, 8 / 10, nan],
        "accuracy": [(8 / 10 + 8 / 10) / 2, 16 / 20, 8 / 10, 8 / 10, nan],
    }
    for name, values in expected.items():
        np.testing.assert_allclose(figures[name], values, rtol=1e-15, err_msg=name)
