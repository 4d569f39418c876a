"""Rank correlation against a definition written with counting, and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earmark.report.correlation import ranks, spearman


def ranks_by_counting(values: np.ndarray) -> np.ndarray:
    """One plus how many are smaller, plus half of the others that are equal."""
    return np.array(
        [
            1 + sum(other < value for other in values) + (sum(other == value for other in values) - 1) / 2
            for value in values
        ]
    )


# laws


def test_spearman_is_the_pearson_correlation_of_counted_ranks(rng: np.random.Generator) -> None:
    for _ in range(200):
        n = int(rng.integers(3, 12))
        x, y = rng.integers(0, 5, n).astype(float), rng.integers(0, 5, n).astype(float)
        if len(set(x)) > 1 and len(set(y)) > 1:
            expected = np.corrcoef(ranks_by_counting(x), ranks_by_counting(y))[0, 1]
            assert spearman(x, y) == pytest.approx(expected, abs=1e-12)


def test_only_the_order_counts_and_turning_it_round_changes_the_sign(rng: np.random.Generator) -> None:
    x, y = rng.normal(size=20), rng.normal(size=20)
    assert spearman(np.exp(3 * x), y) == pytest.approx(spearman(x, y), abs=1e-12)
    assert spearman(-x, y) == pytest.approx(-spearman(x, y), abs=1e-12)
    assert spearman(x, x) == pytest.approx(1)


# worked numbers


def test_ties_share_their_places() -> None:
    assert ranks([10, 20, 20, 20, 5]).tolist() == [2, 4, 4, 4, 1]  # places 3, 4, 5 -> 4


def test_five_items_by_the_textbook_formula() -> None:
    # Ranks 1 2 3 4 5 and 2 1 4 3 5: differences 1 1 1 1 0, so rho = 1 - 6 * 4 / (5 * 24) = 0.8.
    assert spearman([0.1, 0.2, 0.5, 3.0, 9.0], [20, 10, 40, 30, 50]) == pytest.approx(0.8)


def test_without_an_order_rho_is_not_a_number() -> None:
    assert math.isnan(spearman([1, 1, 1], [1, 2, 3]))


# wrong input


def test_lengths_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match=r"same shape .* got \(3,\) and \(2,\) - is a class missing"):
        spearman([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="at least 2 items"):
        spearman([1], [1])


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must be finite.*leave out classes without events"):
        spearman([1, math.nan], [1, 2])
