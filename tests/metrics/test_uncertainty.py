from __future__ import annotations

import numpy as np
import pytest
from oracles import bootstrap_slow
from oracles.bootstrap_cases import another_system, ease, made_up_tags, random_counts, recordings, scored

from earmark.metrics.bootstrap import resampled_weights, run_weights
from earmark.metrics.uncertainty import uncertainty

# Laws


@pytest.mark.parametrize("compatible", [None, "sed_eval"])
@pytest.mark.parametrize("level", ["event", "segment", "clip"])
@pytest.mark.parametrize("n_runs", [1, 3])
def test_intervals_are_those_of_the_slow_second_implementation(
    rng: np.random.Generator, level: str, compatible: str | None, n_runs: int
) -> None:
    runs = [random_counts(rng, level, compatible=compatible)]
    runs += [another_system(rng, runs[0]) for _ in range(n_runs - 1)]
    # The first three files alone have the rare class, so that resamples lack it.
    group_of = {name: f"group {min(number, 27) // 3}" for number, name in enumerate(runs[0].files)}
    result = uncertainty(runs, groups=group_of, n_resamples=60, confidence=0.9, seed=8)
    rows = bootstrap_slow.every_resample(
        runs,
        group_of,
        resampled_weights(result.n_units, 60, seed=8).tolist(),
        run_weights(n_runs, 60, seed=8).tolist(),
    )
    once = [1] * len(runs[0].files)
    observed = bootstrap_slow.mean_of_runs(
        [bootstrap_slow.figures(bootstrap_slow.counts_under(run, once)) for run in runs], [1] * n_runs
    )
    found = [result.macro, result.micro, *result.by_class.values()]
    n_undefined = 0
    for name, values in observed.items():
        for row, value in enumerate(values):
            if name == "substitution_rate" and row != 1:
                assert name not in found[row]
                continue
            interval, resampled = found[row][name], [of[name][row] for of in rows]
            expected = (value, *bootstrap_slow.bounds(resampled, 0.9))
            np.testing.assert_allclose(
                (interval.value, interval.low, interval.high), expected, rtol=1e-12, atol=1e-12, err_msg=f"{name} {row}"
            )
            assert interval.n_undefined == np.isnan(resampled).sum()
            n_undefined += 0 < interval.n_undefined < 60
    assert n_undefined > 0  # some figures were undefined in some resamples, or this tests less than it says


def test_one_run_given_several_times_is_that_run(rng: np.random.Generator) -> None:
    counts = random_counts(rng, "event")
    one, three = uncertainty(counts, n_resamples=50), uncertainty([counts] * 3, n_resamples=50)
    assert (one.n_runs, three.n_runs) == (1, 3)
    for name, interval in one.macro.items():
        np.testing.assert_allclose(interval.low, three.macro[name].low, rtol=1e-12)


def test_intervals_over_groups_hold_the_truth_and_those_over_clips_too_seldom(rng: np.random.Generator) -> None:
    n_recordings, n_clips, spread = 40, 16, 0.15
    truth = made_up_tags(rng, 20_000 * n_clips)
    many = scored(rng, truth, 0.7 + ease(rng, 20_000, n_clips, spread=spread)).total()  # as good as all recordings
    true_f1 = {"macro": many.macro.f1, "micro": many.micro.f1}
    of = recordings(n_recordings, n_clips)
    n_inside = {(unit, mean): 0 for unit in ("group", "clip") for mean in true_f1}
    for seed in range(300):
        counts = scored(
            rng, made_up_tags(rng, n_recordings * n_clips), 0.7 + ease(rng, n_recordings, n_clips, spread=spread)
        )
        for groups in (of, None):
            result = uncertainty(counts, groups=groups, n_resamples=200, seed=seed)
            for mean, value in true_f1.items():
                interval = getattr(result, mean)["f1"]
                n_inside[result.unit, mean] += interval.low <= value <= interval.high
    for mean in true_f1:
        assert 0.88 <= n_inside["group", mean] / 300 <= 0.99
        assert n_inside["clip", mean] / 300 < 0.80


def test_runs_that_differ_widen_the_interval(rng: np.random.Generator) -> None:
    truth = made_up_tags(rng, 600)
    alike = [scored(rng, truth, 0.75) for _ in range(5)]
    different = [scored(rng, truth, skill) for skill in (0.6, 0.7, 0.75, 0.8, 0.9)]
    narrow, wide = (uncertainty(runs).macro["f1"] for runs in (alike, different))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


# Worked numbers


def test_two_groups_have_three_resamples(rng: np.random.Generator) -> None:
    counts = scored(rng, np.ones((4, 3), dtype=bool), np.array([[1.0], [1.0], [0.0], [0.0]]))
    groups = {"0": "easy", "1": "easy", "2": "hard", "3": "hard"}
    recall = uncertainty(counts, groups=groups).micro["recall"]
    easy, hard = counts.true_positives[:2].sum() / 6, counts.true_positives[2:].sum() / 6
    assert (recall.value, recall.low, recall.high) == ((easy + hard) / 2, hard, easy)


def test_what_was_resampled_is_said(rng: np.random.Generator) -> None:
    counts = random_counts(rng, "clip")
    result = uncertainty(counts, n_resamples=20, confidence=0.8, seed=4)
    assert (result.level, result.classes, result.unit, result.n_units) == ("clip", counts.classes, "clip", 30)
    assert (result.n_runs, result.n_resamples, result.confidence, result.seed) == (1, 20, 0.8, 4)
    assert tuple(result.by_class) == counts.classes


def test_a_class_that_nobody_has_is_undefined_everywhere(rng: np.random.Generator) -> None:
    interval = uncertainty(random_counts(rng, "event"), n_resamples=20).by_class["class 3"]["f1"]
    assert np.isnan([interval.value, interval.low, interval.high]).all()
    assert interval.n_undefined == 20


# Wrong input


def test_wrong_input_is_named(rng: np.random.Generator) -> None:
    counts = random_counts(rng, "event")
    with pytest.raises(ValueError, match="groups must have every file that was scored, 29 of 30 are missing"):
        uncertainty(counts, groups={"0.wav": "Ada"})
    with pytest.raises(ValueError, match="intervals need at least 2 groups"):
        uncertainty(counts, groups=dict.fromkeys(counts.files, "Ada"))
    with pytest.raises(ValueError, match="runs must have at least one run"):
        uncertainty([])
    with pytest.raises(ValueError, match=r"n_resamples must be a whole number, got 10\.5"):
        uncertainty(counts, n_resamples=10.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="confidence must be above 0 and at most 1, got 0"):
        uncertainty(counts, n_resamples=5, confidence=0)
