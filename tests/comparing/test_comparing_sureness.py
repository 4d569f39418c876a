from __future__ import annotations

import math

import numpy as np
import pytest

from earmark.comparing.sureness import estimate, holm, t_cdf, t_quantile
from earmark.metrics.bootstrap import p_value_of, run_weights

# Laws


@pytest.mark.parametrize("freedom", [1.0, 2.0, 3.7, 26.4, 400.0])
def test_the_distribution_is_the_integral_of_its_density(freedom: float) -> None:
    t = np.linspace(0.0, 3.0, 30001)
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    density = constant * (1 + t**2 / freedom) ** (-(freedom + 1) / 2)
    area = float(((density[1:] + density[:-1]) / 2 * np.diff(t)).sum())
    assert t_cdf(3.0, freedom) == pytest.approx(0.5 + area, abs=1e-8)
    assert t_cdf(-3.0, freedom) == pytest.approx(0.5 - area, abs=1e-8)


@pytest.mark.parametrize("share", [0.001, 0.3, 0.5, 0.9, 0.975, 0.9999])
@pytest.mark.parametrize("freedom", [1.0, 2.5, 40.0, 1e6])
def test_the_quantile_undoes_the_distribution(share: float, freedom: float) -> None:
    assert t_cdf(t_quantile(share, freedom), freedom) == pytest.approx(share, abs=1e-10)


def test_holm_never_accuses_more_than_the_plain_and_never_less_than_bonferroni(rng: np.random.Generator) -> None:
    for _ in range(50):
        p = rng.random(7).tolist()
        corrected = holm(p)
        for place in range(7):
            # As the method is defined: step down from the smallest, and stop at the first that does not pass.
            below = sorted(value for value in p if value <= p[place])
            steps = [(7 - rank) * value for rank, value in enumerate(below)]
            assert corrected[place] == pytest.approx(min(1.0, max(steps)))


def test_fewer_equals_are_found_different_than_by_resampling_three_seeds(rng: np.random.Generator) -> None:
    # Differences of 0, where seeds scatter three times as much as groups: asked for is 0.05.
    wrong, wrong_of_bootstrap, n_trials = 0, 0, 300
    of_seeds = run_weights(3, 200).T / 2  # (seeds, resamples)
    for _ in range(n_trials):
        table = rng.normal(0, 0.3, (1, 40)) + rng.normal(0, 0.1, (3, 40)) + rng.normal(0, 0.15, (3, 1))
        resampled = table @ rng.multinomial(40, np.full(40, 1 / 40), 200).T / 40  # (seeds, resamples)
        found = estimate(table.mean(axis=1).tolist(), resampled, n_groups=40, of_difference=True)
        wrong += found.p_value < 0.05
        at_null = (resampled * of_seeds).sum(axis=0) - found.value
        wrong_of_bootstrap += bool(p_value_of(np.array(found.value), at_null) < 0.05)
    assert wrong / n_trials < 0.1
    assert wrong < 0.8 * wrong_of_bootstrap


# Worked numbers


def test_t_as_in_every_table() -> None:
    assert t_quantile(0.975, 2) == pytest.approx(4.30265, abs=1e-5)
    assert t_quantile(0.975, 10) == pytest.approx(2.22814, abs=1e-5)
    assert t_quantile(0.95, 1) == pytest.approx(6.31375, abs=1e-5)
    assert t_quantile(0.975, 1e9) == pytest.approx(1.95996, abs=1e-5)


def test_an_interval_by_hand() -> None:
    # Seeds 0.49 and 0.51: deviation 0.01414, error of their mean 0.01. Groups: -0.03, 0, 0.03 around it, a variance of
    # 0.0009; 10 drawn from 10 scatter by 9/10 too little, so 0.001.
    found = estimate([0.49, 0.51], 0.5 + np.array([[-0.03, 0.0, 0.03]] * 2), n_groups=10)
    assert (found.value, found.n_seeds) == (0.5, 2)
    assert found.seed_deviation == pytest.approx(0.0141421, abs=1e-6)
    assert (found.group_error, found.seed_error) == pytest.approx((math.sqrt(0.001), 0.01))
    freedom = 0.0011**2 / (0.001**2 / 9 + 0.0001**2 / 1)
    assert found.freedom == pytest.approx(freedom)
    reach = t_quantile(0.975, freedom) * math.sqrt(0.0011)
    assert (found.low, found.high) == pytest.approx((0.5 - reach, 0.5 + reach))
    assert math.isnan(found.p_value)  # nobody asked whether 0.5 is 0


def test_a_difference_that_is_certain_has_a_p_value_that_is_not_0() -> None:
    found = estimate([0.5, 0.5], 0.5 + np.array([[-0.01, 0.0, 0.01]] * 2), n_groups=60, of_difference=True)
    assert 0 < found.p_value < 1e-20


def test_rounding_is_no_scatter() -> None:
    found = estimate([0.1, 0.1 + 1e-17, 0.3 - 0.2], np.full((3, 9), 0.1), n_groups=30, of_difference=True)
    assert (found.low, found.high) == (found.value, found.value)
    assert math.isnan(found.p_value)


def test_of_a_single_group_nothing_is_known_but_the_mean() -> None:
    found = estimate([0.49, 0.51], np.full((2, 9), 0.5), n_groups=1, of_difference=True)
    assert found.value == 0.5
    assert all(map(math.isnan, (found.low, found.high, found.group_error, found.p_value)))


def test_one_seed_says_nothing_about_others() -> None:
    found = estimate([0.5], 0.5 + np.array([[-0.03, 0.0, 0.03]]), n_groups=30)
    assert math.isnan(found.seed_deviation)
    assert (found.seed_error, found.freedom) == pytest.approx((0.0, 29.0))
    assert found.group_error == pytest.approx(0.03 * math.sqrt(30 / 29))


def test_runs_that_failed_do_not_count() -> None:
    resampled = 0.5 + np.array([[-0.03, 0.0, 0.03], [np.nan] * 3, [-0.03, 0.0, 0.03]])
    found = estimate([0.49, math.nan, 0.51], resampled, n_groups=30)
    assert (found.value, found.n_seeds, found.group_error) == pytest.approx((0.5, 2, 0.03 * math.sqrt(30 / 29)))


def test_no_difference_anywhere_is_none() -> None:
    found = estimate([0.0, 0.0], np.zeros((2, 10)), n_groups=30, of_difference=True)
    assert (found.value, found.low, found.high, found.p_value) == (0.0, 0.0, 0.0, 1.0)


def test_no_interval_leaves_the_range_of_the_figure() -> None:
    found = estimate([0.97, 0.99], 0.98 + np.array([[-0.03, 0.0, 0.03]] * 2), n_groups=10, least=0.0, most=1.0)
    assert found.high == 1.0
    assert found.low > 0.8


def test_nothing_is_known_of_nothing() -> None:
    found = estimate([math.nan], np.full((1, 5), np.nan), n_groups=30)
    assert math.isnan(found.value)
    assert found.n_seeds == 0


def test_what_has_no_p_value_does_not_count_for_holm() -> None:
    corrected = holm([0.01, math.nan, 0.04])
    assert corrected[0] == pytest.approx(0.02)
    assert math.isnan(corrected[1])
    assert corrected[2] == pytest.approx(0.04)
