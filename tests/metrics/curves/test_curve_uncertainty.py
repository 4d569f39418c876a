from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from oracles import bootstrap_slow, curves_bootstrap_slow
from oracles.weighted_cases import CLASSES, ScoreCase, another_run, score_case

from earmark.metrics.bootstrap import resampled_weights, run_weights
from earmark.metrics.curves.collar import collar_curves
from earmark.metrics.curves.curve import Curves
from earmark.metrics.curves.items import clip_curves, segment_curves
from earmark.metrics.curves.psds import SCENARIO_1, SCENARIO_2
from earmark.metrics.curves.uncertainty import compare_curves, curve_uncertainty

N_RESAMPLES, SEED, CONFIDENCE = 25, 8, 0.8
# Three clips to a group; the first group alone has owls, so that resamples lack them.
GROUPS = {f"{number}.wav": f"group {number // 3}" for number in range(12)}
LEVELS: dict[str, Callable[[ScoreCase], Curves]] = {
    "event": lambda case: collar_curves(case.clips()),
    "segment": lambda case: segment_curves(case.clips()),
}
SCENARIOS = {"PSDS 1": SCENARIO_1, "PSDS 2": SCENARIO_2}


def cases(rng: np.random.Generator, n: int) -> list[ScoreCase]:
    """Runs of a system on the same clips."""
    first = score_case(rng, n_clips=12)
    return [first, *(another_run(rng, first) for _ in range(n - 1))]


def slow_resamples(runs: Sequence[ScoreCase], what: str, *, of_baseline: bool) -> list[curves_bootstrap_slow.Rows]:
    """The figures themselves first, then those of every resample; with `GROUPS`."""
    files, n_runs = list(GROUPS), len(runs)
    curves = [LEVELS[what](run) for run in runs] if what in LEVELS else []
    drawn = [[1] * 4, *resampled_weights(4, N_RESAMPLES, SEED).tolist()]
    of_runs = [[1] * n_runs, *run_weights(n_runs, N_RESAMPLES, SEED, of_baseline=of_baseline).tolist()]
    rows = []
    for of_groups, of_run in zip(drawn, of_runs, strict=True):
        weights = curves_bootstrap_slow.weights_of_clips(files, GROUPS, of_groups)
        if curves:
            of_all = [curves_bootstrap_slow.figures(of_run_curves, weights) for of_run_curves in curves]
        else:
            of_all = [curves_bootstrap_slow.psds_figures(run, weights, SCENARIOS[what]) for run in runs]
        rows.append(bootstrap_slow.mean_of_runs(of_all, of_run))
    return rows


def one_score_a_clip(rng: np.random.Generator, truth: np.ndarray, skill: float | np.ndarray) -> Curves:
    """Clip-level curves of one class: the score is noise, and higher where the class is."""
    scores = {f"{number}.wav": [value] for number, value in enumerate(rng.standard_normal(len(truth)) + skill * truth)}
    tags = {name: {"dog"} if holds else set[str]() for name, holds in zip(scores, truth, strict=True)}
    return clip_curves(scores, tags, classes=("dog",))


# Laws


@pytest.mark.parametrize("what", [*LEVELS, *SCENARIOS])
@pytest.mark.parametrize("n_runs", [1, 3])
def test_intervals_are_those_of_the_slow_second_implementation(
    rng: np.random.Generator, what: str, n_runs: int
) -> None:
    runs = cases(rng, n_runs)
    settings = partial(curve_uncertainty, groups=GROUPS, n_resamples=N_RESAMPLES, seed=SEED, confidence=CONFIDENCE)
    if what in LEVELS:
        result = settings([LEVELS[what](run) for run in runs])
    else:
        result = settings([run.clips() for run in runs], scenario=SCENARIOS[what])
    observed, *resamples = slow_resamples(runs, what, of_baseline=False)
    n_undefined = 0
    for row, found in enumerate([result.overall, *result.by_class.values()]):
        assert found.keys() == observed.keys()
        for name, interval in found.items():
            values = [of[name][row] for of in resamples]
            expected = (observed[name][row], *bootstrap_slow.bounds(values, CONFIDENCE))
            np.testing.assert_allclose(
                (interval.value, interval.low, interval.high), expected, rtol=1e-12, atol=1e-12, err_msg=f"{name} {row}"
            )
            assert interval.n_undefined == np.isnan(values).sum()
            n_undefined += interval.n_undefined
    assert n_undefined > 0  # some classes were not drawn in some resamples, or this tests less than it says


@pytest.mark.parametrize("what", [*LEVELS, *SCENARIOS])
@pytest.mark.parametrize("n_runs", [(1, 1), (3, 2)])
def test_differences_are_those_of_the_slow_second_implementation(
    rng: np.random.Generator, what: str, n_runs: tuple[int, int]
) -> None:
    all_runs = cases(rng, sum(n_runs))
    sides = all_runs[: n_runs[0]], all_runs[n_runs[0] :]
    settings = partial(compare_curves, groups=GROUPS, n_resamples=N_RESAMPLES, seed=SEED, confidence=CONFIDENCE)
    if what in LEVELS:
        result = settings(*([LEVELS[what](run) for run in side] for side in sides))
    else:
        result = settings(*([run.clips() for run in side] for side in sides), scenario=SCENARIOS[what])
    both = [slow_resamples(side, what, of_baseline=bool(number)) for number, side in enumerate(sides)]
    observed, *resamples = (bootstrap_slow.minus(one, other) for one, other in zip(*both, strict=True))
    for row, found in enumerate([result.overall, *result.by_class.values()]):
        for name, difference in found.items():
            value, values = observed[name][row], [of[name][row] for of in resamples]
            p_value = bootstrap_slow.p_value(value, [resampled - value for resampled in values])
            np.testing.assert_allclose(
                (difference.value, difference.low, difference.high, difference.p_value),
                (value, *bootstrap_slow.bounds(values, CONFIDENCE), p_value),
                rtol=1e-12,
                atol=1e-12,
                err_msg=f"{name} {row}",
            )
            assert difference.n_undefined == np.isnan(values).sum()
    assert result.n_runs == n_runs


def test_the_same_seed_is_the_same_result_and_another_one_another(rng: np.random.Generator) -> None:
    curves = collar_curves(score_case(rng, n_clips=12).clips())
    one, again, other = (curve_uncertainty(curves, n_resamples=40, seed=seed) for seed in (3, 3, 4))
    assert repr(one) == repr(again)  # not ==: undefined figures are NaN
    assert repr(one) != repr(other)


def test_one_run_given_several_times_is_that_run(rng: np.random.Generator) -> None:
    clips = score_case(rng, n_clips=12).clips()
    curves = collar_curves(clips)
    settings = partial(curve_uncertainty, groups=GROUPS, n_resamples=30)
    for one, three in ((settings(clips), settings([clips] * 3)), (settings(curves), settings([curves] * 3))):
        assert (one.n_runs, three.n_runs) == (1, 3)
        for name, interval in one.overall.items():
            found = three.overall[name]
            np.testing.assert_allclose(
                (interval.value, interval.low, interval.high), (found.value, found.low, found.high), rtol=1e-12
            )


def test_groups_of_one_clip_are_clips(rng: np.random.Generator) -> None:
    curves = collar_curves(score_case(rng, n_clips=9).clips())  # names in order, so the draws are the same
    clips, groups = (
        curve_uncertainty(curves, groups=groups, n_resamples=30) for groups in (None, {name: name for name in GROUPS})
    )
    assert (clips.unit, groups.unit, clips.n_units, groups.n_units) == ("clip", "group", 9, 9)
    assert repr(clips.overall) == repr(groups.overall)


def test_a_system_against_itself_is_no_difference(rng: np.random.Generator) -> None:
    clips = score_case(rng, n_clips=12).clips()
    for result in (compare_curves(clips, clips, n_resamples=20), compare_curves(*[segment_curves(clips)] * 2)):
        for row in (result.overall, *result.by_class.values()):
            for found in row.values():
                assert (found.value, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_exchanging_the_two_turns_the_sign(rng: np.random.Generator) -> None:
    one, other = (collar_curves(case.clips()) for case in cases(rng, 2))
    there, back = compare_curves(one, other, n_resamples=40), compare_curves(other, one, n_resamples=40)
    for name, found in there.overall.items():
        turned = back.overall[name]
        np.testing.assert_allclose(
            (found.value, found.low, found.high, found.p_value),
            (-turned.value, -turned.high, -turned.low, turned.p_value),
            rtol=1e-12,
            atol=1e-12,
        )
        assert found.value != 0


def test_intervals_hold_the_truth_and_where_there_is_no_difference_few_are_found(rng: np.random.Generator) -> None:
    many = rng.random(40_000) < 0.5
    true_auroc = one_score_a_clip(rng, many, 1.0).of_class[0].auroc
    n_inside, p_values = 0, []
    for seed in range(200):
        truth = rng.random(60) < 0.5
        system, baseline = (one_score_a_clip(rng, truth, 1.0) for _ in range(2))
        interval = curve_uncertainty(system, n_resamples=100, seed=seed).overall["auroc"]
        n_inside += interval.low <= true_auroc <= interval.high
        p_values.append(compare_curves(system, baseline, n_resamples=100, seed=seed).overall["auroc"].p_value)
    assert 0.88 <= n_inside / 200 <= 0.99
    assert 0.01 <= np.mean(np.array(p_values) <= 0.05) <= 0.1


def test_a_real_difference_is_found(rng: np.random.Generator) -> None:
    truth = rng.random(200) < 0.5
    good, bad = one_score_a_clip(rng, truth, 3.0), one_score_a_clip(rng, truth, 0.5)
    for found in compare_curves(good, bad, n_resamples=200).overall.values():
        assert 0 < found.low < found.value < found.high
        assert found.p_value == 1 / 201


def test_clips_of_one_recording_are_no_separate_evidence(rng: np.random.Generator) -> None:
    truth = rng.random(200) < 0.5
    skill = np.repeat(rng.normal(1.0, 1.5, 20), 10)  # ten clips to a recording, some easy and some hard
    curves = one_score_a_clip(rng, truth, skill)
    recordings = {f"{number}.wav": str(number // 10) for number in range(200)}
    of_groups, of_clips = (
        curve_uncertainty(curves, groups=groups, n_resamples=300).overall["auroc"] for groups in (recordings, None)
    )
    assert of_groups.high - of_groups.low > 1.3 * (of_clips.high - of_clips.low)


# Worked numbers


def test_two_groups_have_three_resamples() -> None:
    tags = {"a": {"dog"}, "b": set[str](), "c": {"dog"}, "d": set[str]()}
    curves = clip_curves({"a": [0.9], "b": [0.1], "c": [0.2], "d": [0.8]}, tags, classes=("dog",))
    groups = {"a": "good", "b": "good", "c": "bad", "d": "bad"}
    interval = curve_uncertainty(curves, groups=groups, n_resamples=500).overall["auroc"]
    assert (interval.value, interval.low, interval.high, interval.n_undefined) == (0.75, 0.0, 1.0, 0)


def test_the_mean_over_runs_is_the_figure() -> None:
    tags = {"a": {"dog"}, "b": set[str](), "c": set[str]()}
    good, bad = (
        clip_curves({"a": [0.5], "b": [low], "c": [0.1]}, tags, classes=("dog",)) for low in (0.2, 0.9)
    )  # fmt: skip
    assert curve_uncertainty([good, bad], n_resamples=10).overall["auroc"].value == 0.75
    assert compare_curves([good], [good, bad], n_resamples=10).overall["auroc"].value == 0.25


def test_what_was_resampled_is_said(rng: np.random.Generator) -> None:
    clips = score_case(rng, n_clips=12).clips()
    result = curve_uncertainty([clips] * 2, n_resamples=20, confidence=0.8)
    assert (result.level, result.classes, result.unit, result.n_units) == ("psds", CLASSES, "clip", 12)
    assert (result.n_runs, result.n_resamples, result.confidence) == (2, 20, 0.8)
    assert (tuple(result.by_class), [*result.overall]) == (CLASSES, ["psds"])
    compared = compare_curves([collar_curves(clips)] * 3, collar_curves(clips), groups=GROUPS, n_resamples=20)
    assert (compared.level, compared.classes, compared.unit, compared.n_units) == ("event", CLASSES, "group", 4)
    assert (compared.n_runs, compared.n_resamples, compared.confidence) == ((3, 1), 20, 0.95)
    assert (tuple(compared.by_class), [*compared.overall]) == (CLASSES, ["best_f1", "average_precision"])


# Wrong input


def test_systems_measured_on_something_else_are_refused(rng: np.random.Generator) -> None:
    case = score_case(rng, n_clips=12)
    curves, clips = collar_curves(case.clips()), case.clips()
    files = tuple(f"{name}.flac" for name in curves.files)
    with pytest.raises(
        ValueError,
        match=r"system and baseline must have the same files in the same order; 12 are in system alone \(first: "
        r"'0.wav'\) and 12 are in baseline alone \(first: '0.wav.flac'\)",
    ):
        compare_curves(curves, replace(curves, files=files))
    with pytest.raises(ValueError, match="must have the same files in the same order; they are in another order"):
        compare_curves(curves, replace(curves, files=curves.files[::-1]))
    renamed = tuple(
        replace(curve, label=label) for curve, label in zip(curves.of_class, ("cat", "dog", "fox"), strict=True)
    )
    with pytest.raises(ValueError, match=r"the same classes in the same order; 1 are in system alone \(first: 'owl'\)"):
        compare_curves(curves, replace(curves, of_class=renamed))
    with pytest.raises(ValueError, match="the same level, got 'event' and 'segment'"):
        compare_curves(curves, segment_curves(clips))
    with pytest.raises(ValueError, match="the first of the runs and number 2 of the runs must have the same level"):
        curve_uncertainty([curves, clips])  # type: ignore[arg-type]
    changed = curves.reference_by_file.copy()
    changed[4, 1] += 1
    with pytest.raises(ValueError, match=r"against the same reference, but it differs in 1 clips \(first: '4.wav'\)"):
        compare_curves(curves, replace(curves, reference_by_file=changed))
    with pytest.raises(ValueError, match="the first of the baseline and number 2 of the baseline must be measured"):
        compare_curves(curves, [curves, replace(curves, reference_by_file=changed)])


def test_groups_that_do_not_fit_are_refused(rng: np.random.Generator) -> None:
    curves = collar_curves(score_case(rng, n_clips=12).clips())
    with pytest.raises(ValueError, match=r"groups must have every file that was scored, 11 of 12 are missing"):
        curve_uncertainty(curves, groups={"0.wav": "Ada"})
    with pytest.raises(ValueError, match="intervals need at least 2 groups, got only 'Ada'"):
        compare_curves(curves, curves, groups=dict.fromkeys(GROUPS, "Ada"))
    one = collar_curves(score_case(rng, n_clips=1).clips())
    with pytest.raises(ValueError, match=r"intervals need at least 2 clips, got only '0\.wav'"):
        curve_uncertainty(one)


def test_no_run_and_impossible_settings_are_refused(rng: np.random.Generator) -> None:
    curves = collar_curves(score_case(rng, n_clips=12).clips())
    with pytest.raises(ValueError, match="runs must have at least one run, got none"):
        curve_uncertainty([])
    with pytest.raises(ValueError, match="baseline must have at least one run, got none"):
        compare_curves(curves, [])
    with pytest.raises(ValueError, match="n_resamples must be at least 1, got 0"):
        curve_uncertainty(curves, n_resamples=0)
    with pytest.raises(ValueError, match="confidence must be"):
        curve_uncertainty(curves, n_resamples=2, confidence=1.5)
