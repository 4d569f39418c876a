"""How often equals are found different: the test of `earmark compare`, and a bootstrap over seeds and groups.

    python benchmarks/compare.py [TRIALS]

Made-up differences of 0 over 40 groups. The error from the groups is 0.05; seeds scatter less, as much, or three times
as much. A test that keeps its word finds "p < 0.05" in 0.05 of the trials.

Then ten functions that are all as good as linear softmax, over fewer and more groups: how often an interval holds the
true difference, and how often even one of the ten is found different, before and after Holm's correction.
"""

from __future__ import annotations

import sys

import numpy as np

from earmark.comparing.sureness import estimate, holm
from earmark.metrics.bootstrap import p_value_of, run_weights

N_GROUPS, N_RESAMPLES, N_FUNCTIONS = 40, 200, 10


def found_different(n_seeds: int, seed_deviation: float, n_trials: int) -> tuple[float, float]:
    """The share of the trials with p below 0.05: of this test, and of the bootstrap."""
    rng = np.random.default_rng(1)
    of_seeds = run_weights(n_seeds, N_RESAMPLES).T / max(1, n_seeds - 1)  # (seeds, resamples)
    n_found = np.zeros(2)
    for _ in range(n_trials):
        table = rng.normal(0, 0.3, (1, N_GROUPS)) + rng.normal(0, 0.1, (n_seeds, N_GROUPS))
        table = table + rng.normal(0, seed_deviation, (n_seeds, 1))  # differences: (seeds, groups)
        weights = rng.multinomial(N_GROUPS, np.full(N_GROUPS, 1 / N_GROUPS), N_RESAMPLES) / N_GROUPS
        resampled = table @ weights.T  # (seeds, resamples)
        found = estimate(table.mean(axis=1).tolist(), resampled, n_groups=N_GROUPS, of_difference=True)
        at_null = (resampled * of_seeds).sum(axis=0) - found.value
        n_found += np.array([found.p_value, float(p_value_of(np.array(found.value), at_null))]) < 0.05
    this, bootstrap = n_found / n_trials
    return float(this), float(bootstrap)


def ten_equals(n_seeds: int, n_groups: int, seed_deviation: float, n_trials: int) -> tuple[float, float, float]:
    """The share of intervals that hold 0, and of trials that find any of ten different: plainly, and corrected."""
    rng = np.random.default_rng(2)
    n_held = n_plain = n_corrected = 0
    for _ in range(n_trials):
        weights = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), N_RESAMPLES) / n_groups
        groups = rng.normal(0, 0.05 * np.sqrt(n_groups / 2), (1 + N_FUNCTIONS, 1, n_groups))
        seeds = rng.normal(0, seed_deviation / np.sqrt(2), (1 + N_FUNCTIONS, n_seeds, 1))
        figures = groups + seeds  # the first is linear softmax
        found = [
            estimate(table.mean(axis=1).tolist(), table @ weights.T, n_groups=n_groups, of_difference=True)
            for table in figures[1:] - figures[0]
        ]
        p_values = [one.p_value for one in found]
        n_held += sum(one.low <= 0 <= one.high for one in found)
        n_plain += min(p_values) < 0.05
        n_corrected += min(holm(p_values)) < 0.05
    return n_held / (N_FUNCTIONS * n_trials), n_plain / n_trials, n_corrected / n_trials


def main() -> None:
    """Print both tables."""
    n_trials = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print("seeds  deviation between them  this test  bootstrap over seeds and groups")
    for n_seeds in (2, 3, 5):
        for seed_deviation in (0.02, 0.05, 0.15):
            this, bootstrap = found_different(n_seeds, seed_deviation, n_trials)
            print(f"{n_seeds:5}  {seed_deviation:22}  {this:9.3f}  {bootstrap:9.3f}", flush=True)
    print("\nseeds  groups  deviation between seeds  intervals that hold 0  any of ten  any, corrected")
    for n_seeds in (2, 3, 5):
        for n_groups in (8, 30, 100):
            for seed_deviation in (0.0, 0.05):
                held, plain, corrected = ten_equals(n_seeds, n_groups, seed_deviation, n_trials // 10)
                print(
                    f"{n_seeds:5}  {n_groups:6}  {seed_deviation:23}  {held:21.3f}  {plain:10.3f}  {corrected:14.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
