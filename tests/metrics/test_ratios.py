from __future__ import annotations

import numpy as np

from earmark.metrics.ratios import harmonic_mean, mean_of_known, ratio, tool_ratio

# Laws


def test_the_mean_is_that_of_numpy_to_the_last_digit(rng: np.random.Generator) -> None:
    for n in (1, 2, 10, 200):
        figures = np.where(rng.random(n) < 0.3, np.nan, rng.random(n))
        figures[0] = 0.1
        assert mean_of_known(figures) == np.nanmean(figures)


# Worked numbers


def test_nothing_to_divide_by() -> None:
    part, whole = np.array([0, 2, 3]), np.array([0, 0, 4])
    np.testing.assert_array_equal(ratio(part, whole, empty=0.5), [0.5, 0.5, 0.75])
    assert tool_ratio(part, whole).tolist() == [0.0, 2 / np.spacing(1), 0.75]
    assert np.isnan(mean_of_known(np.array([np.nan, np.nan])))
    assert np.isnan(mean_of_known(np.array([])))


def test_the_harmonic_mean_of_two_zeros_is_zero() -> None:
    nan = np.nan
    np.testing.assert_array_equal(
        harmonic_mean(np.array([0.0, nan, 0.0, 1.0]), np.array([0.0, 0.0, nan, 0.5])), [0.0, nan, nan, 2 / 3]
    )
