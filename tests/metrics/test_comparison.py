from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracles import bootstrap_slow
from oracles.bootstrap_cases import another_system, ease, made_up_tags, random_counts, recordings, scored

from earmark.metrics.bootstrap import resampled_weights, run_weights, swap_pieces
from earmark.metrics.by_file import CountsByFile
from earmark.metrics.comparison import TESTS, Comparison, Difference, compare

N_RECORDINGS = 40
GROUPS = recordings(N_RECORDINGS, 6)


def two_systems(
    rng: np.random.Generator,
    *,
    better_by: float = 0.0,
    n_runs: int = 1,
    run_spread: float = 0.0,
    n_clips_each: int = 6,
) -> list[list[CountsByFile]]:
    """Runs of two systems: recordings are easier or harder for both, and for each apart; runs better or worse."""
    truth = made_up_tags(rng, N_RECORDINGS * n_clips_each)
    for_both = 0.72 + ease(rng, N_RECORDINGS, n_clips_each, spread=0.1)
    sides = []
    for bonus in (better_by, 0.0):
        skill = for_both + bonus + ease(rng, N_RECORDINGS, n_clips_each, spread=0.1)
        sides.append([scored(rng, truth, skill + run_spread * rng.standard_normal()) for _ in range(n_runs)])
    return sides


def rows_of(result: Comparison) -> list[dict[str, Difference]]:
    return [result.macro, result.micro, *result.by_class.values()]


# Laws


@pytest.mark.parametrize("compatible", [None, "sed_eval"])
@pytest.mark.parametrize("level", ["event", "segment", "clip"])
@pytest.mark.parametrize(("test", "n_runs"), [("bootstrap", (1, 1)), ("bootstrap", (3, 2)), ("randomisation", (1, 1))])
def test_it_is_that_of_the_slow_second_implementation(
    rng: np.random.Generator, level: str, compatible: str | None, test: str, n_runs: tuple[int, int]
) -> None:
    first = random_counts(rng, level, compatible=compatible)
    sides = [[another_system(rng, first) for _ in range(n)] for n in n_runs]
    group_of = {name: f"group {min(number, 27) // 3}" for number, name in enumerate(first.files)}
    result = compare(sides[0], sides[1], groups=group_of, test=test, n_resamples=60, confidence=0.9, seed=8)
    weights, once = resampled_weights(result.n_units, 60, seed=8).tolist(), [[1] * result.n_units]
    drawn_runs = [run_weights(n, 60, seed=8, of_baseline=bool(side)).tolist() for side, n in enumerate(n_runs)]
    resamples = [
        bootstrap_slow.every_resample(side, group_of, weights, of_runs)
        for side, of_runs in zip(sides, drawn_runs, strict=True)
    ]
    differences = [bootstrap_slow.minus(one, other) for one, other in zip(*resamples, strict=True)]
    observed = bootstrap_slow.minus(
        *(bootstrap_slow.every_resample(side, group_of, once, [[1] * len(side)])[0] for side in sides)
    )
    if test == "bootstrap":
        at_null = [bootstrap_slow.minus(of, observed) for of in differences]
    else:
        swaps = next(swap_pieces(result.n_units, 60, seed=8)).tolist()
        at_null = bootstrap_slow.every_swap(sides[0][0], sides[1][0], group_of, swaps)
    for name, values in observed.items():
        for row, value in enumerate(values):
            if name == "substitution_rate" and row != 1:
                assert name not in rows_of(result)[row]
                continue
            found = rows_of(result)[row][name]
            low, high = bootstrap_slow.bounds([of[name][row] for of in differences], 0.9)
            p_value = bootstrap_slow.p_value(value, [of[name][row] for of in at_null])
            expected = (value, low, high, p_value)
            np.testing.assert_allclose(
                (found.value, found.low, found.high, found.p_value),
                expected,
                rtol=1e-12,
                atol=1e-12,
                err_msg=f"{name} {row}",
            )
            assert found.n_undefined == sum(np.isnan(of[name][row]) for of in differences)


@pytest.mark.parametrize("test", TESTS)
def test_where_there_is_no_difference_one_in_twenty_is_found(rng: np.random.Generator, test: str) -> None:
    found = []
    for seed in range(300):
        system, baseline = two_systems(rng)
        found.append(compare(system, baseline, groups=GROUPS, test=test, n_resamples=200, seed=seed).macro["f1"])
    p_values = np.array([f1.p_value for f1 in found])
    assert 0.02 <= np.mean(p_values <= 0.05) <= 0.09
    # Uniform: each fifth holds 60 on average, and 60 +- 28 are four standard errors.
    assert np.abs(np.histogram(p_values, bins=5, range=(0, 1))[0] - 60).max() <= 28
    assert 0.88 <= np.mean([f1.low <= 0 <= f1.high for f1 in found]) <= 0.99


def test_recipes_whose_runs_scatter_are_found_as_different_no_more_often(rng: np.random.Generator) -> None:
    p_values = []
    for seed in range(300):
        system, baseline = two_systems(rng, n_runs=3, run_spread=0.05)
        p_values.append(compare(system, baseline, groups=GROUPS, n_resamples=200, seed=seed).macro["f1"].p_value)
    assert 0.01 <= np.mean(np.array(p_values) <= 0.05) <= 0.09


@pytest.mark.parametrize("test", TESTS)
def test_clips_for_groups_find_differences_where_there_are_none(rng: np.random.Generator, test: str) -> None:
    p_values = []
    for seed in range(100):
        system, baseline = two_systems(rng, n_clips_each=24)
        p_values.append(compare(system, baseline, test=test, n_resamples=200, seed=seed).macro["f1"].p_value)
    assert np.mean(np.array(p_values) <= 0.05) > 0.15


@pytest.mark.parametrize("test", TESTS)
def test_a_real_difference_is_found(rng: np.random.Generator, test: str) -> None:
    for seed in range(20):
        system, baseline = two_systems(rng, better_by=0.15)
        f1 = compare(system, baseline, groups=GROUPS, test=test, seed=seed).macro["f1"]
        assert f1.p_value < 0.05
        assert 0 < f1.low < f1.value < f1.high


@pytest.mark.parametrize("test", TESTS)
def test_a_system_against_itself_is_no_difference(rng: np.random.Generator, test: str) -> None:
    counts = random_counts(rng, "segment")
    for row in rows_of(compare(counts, counts, test=test, n_resamples=50)):
        for found in row.values():
            assert np.isnan(found.value) or (found.value, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_exchanging_the_two_turns_the_sign(rng: np.random.Generator) -> None:
    one = random_counts(rng, "event")
    other = another_system(rng, one)
    for test in TESTS:
        there, back = (rows_of(compare(*sides, test=test, n_resamples=80)) for sides in ((one, other), (other, one)))
        for row, row_back in zip(there, back, strict=True):
            for name, found in row.items():
                expected = (-row_back[name].value, -row_back[name].high, -row_back[name].low, row_back[name].p_value)
                np.testing.assert_allclose(
                    (found.value, found.low, found.high, found.p_value), expected, rtol=1e-12, atol=1e-12
                )


# Worked numbers


def test_what_makes_recordings_hard_for_both_cancels() -> None:
    n_groups = 30
    hits = np.repeat([[9], [1]], n_groups // 2, axis=0)  # half of the recordings are easy, half are hard
    none = np.zeros(n_groups, dtype=np.int64)
    files, grid = tuple(str(number) for number in range(n_groups)), none[:, np.newaxis]
    baseline = CountsByFile("event", files, ("dog",), hits, grid, 11 - hits, none, none)
    system = replace(baseline, true_positives=hits + 1, false_negatives=10 - hits)
    recall = compare(system, baseline).macro["recall"]  # one more of eleven in every recording
    np.testing.assert_allclose([recall.value, recall.low, recall.high], 1 / 11, rtol=1e-12)
    assert recall.p_value == 1 / 1001


def test_what_was_compared_is_said(rng: np.random.Generator) -> None:
    counts = random_counts(rng, "clip")
    result = compare([counts] * 3, [counts] * 2, n_resamples=20, confidence=0.8, seed=4)
    assert (result.level, result.classes, result.unit, result.n_units) == ("clip", counts.classes, "clip", 30)
    assert (result.n_runs, result.n_resamples, result.confidence) == ((3, 2), 20, 0.8)
    assert (result.test, result.seed, tuple(result.by_class)) == ("bootstrap", 4, counts.classes)


# Wrong input


def test_wrong_input_is_named(rng: np.random.Generator) -> None:
    counts = random_counts(rng, "event")
    with pytest.raises(
        ValueError, match="system and baseline must be scored on the same files; 30 are in system alone"
    ):
        compare(counts, replace(counts, files=tuple(f"{name}.flac" for name in counts.files)))
    with pytest.raises(ValueError, match="number 2 of the baseline must be counted in the same way, but level"):
        compare(counts, [counts, replace(counts, level="clip")])
    with pytest.raises(ValueError, match="groups must have every file that was scored, 30 of 30 are missing"):
        compare(counts, counts, groups={"other.wav": "Ada"})
    with pytest.raises(ValueError, match="intervals need at least 2 groups, got only 'Ada'"):
        compare(counts, counts, groups=dict.fromkeys(counts.files, "Ada"))
    with pytest.raises(ValueError, match="test must be one of bootstrap, randomisation, got 't-test'"):
        compare(counts, counts, test="t-test")
    with pytest.raises(ValueError, match="exchanges every run of the system for one of the baseline, got 2 and 1 runs"):
        compare([counts] * 2, counts, test="randomisation")
