from __future__ import annotations

import numpy as np
import pytest
from oracles.weighted_cases import CLASSES, ScoreCase, another_run, score_case

from earmark.events import Event
from earmark.metrics.collars import Collars
from earmark.metrics.comparison import compare
from earmark.metrics.curves.evaluation import ScoreEvaluation, evaluate_scores
from earmark.metrics.curves.psds import SCENARIO_1, SCENARIO_2
from earmark.metrics.curves.scores import score_table
from earmark.metrics.curves.uncertainty import compare_curves, curve_uncertainty
from earmark.metrics.evaluation import Evaluation, evaluate
from earmark.metrics.systems import (
    LEVELS,
    SCENARIOS,
    list_comparison,
    list_uncertainty,
    score_comparison,
    score_uncertainty,
)
from earmark.metrics.uncertainty import uncertainty

GROUPS = {f"{number}.wav": str(number // 2) for number in range(12)}
N_RESAMPLES = 15


def list_run(rng: np.random.Generator, case: ScoreCase, share: float) -> Evaluation:
    """Events of which a share is found."""
    reference = {name: [*events] for name, events in case.reference.items()}
    found = {name: [event for event in events if rng.random() < share] for name, events in reference.items()}
    return evaluate(reference, found, classes=CLASSES)


def score_run(case: ScoreCase) -> ScoreEvaluation:
    """The curves of one run."""
    return evaluate_scores(score_table(case.scores, classes=CLASSES, hop_seconds=0.25), case.reference)


def runs_of(rng: np.random.Generator) -> tuple[list[Evaluation], list[ScoreEvaluation]]:
    """Three runs on the same clips, as lists and as scores."""
    case = score_case(rng, n_clips=12)
    return (
        [list_run(rng, case, share) for share in (0.9, 0.6, 0.4)],
        [score_run(case), *(score_run(another_run(rng, case)) for _ in range(2))],
    )


# Laws


def test_names_are_those_of_the_levels_in_their_order(rng: np.random.Generator) -> None:
    lists, scores = runs_of(rng)
    assert tuple(counts.level for counts in lists[0].levels) == LEVELS
    assert tuple(curves.level for curves in scores[0].levels) == LEVELS
    assert {"PSDS 1": SCENARIO_1, "PSDS 2": SCENARIO_2} == SCENARIOS


@pytest.mark.parametrize("n_runs", [1, 2])
@pytest.mark.parametrize("groups", [GROUPS, None])
def test_intervals_are_those_of_each_level(
    rng: np.random.Generator, n_runs: int, groups: dict[str, str] | None
) -> None:
    all_lists, all_scores = runs_of(rng)
    lists, scores = all_lists[:n_runs], all_scores[:n_runs]
    found = list_uncertainty(lists, groups=groups, n_resamples=N_RESAMPLES)
    for place, level in enumerate(LEVELS):
        counts = [run.by_file[place] for run in lists]
        assert repr(found[level]) == repr(uncertainty(counts, groups=groups, n_resamples=N_RESAMPLES))
    of_scores = score_uncertainty(scores, groups=groups, n_resamples=N_RESAMPLES)
    for place, level in enumerate(LEVELS):
        curves = [run.levels[place] for run in scores]
        assert repr(of_scores[level]) == repr(curve_uncertainty(curves, groups=groups, n_resamples=N_RESAMPLES))
    for name, scenario in SCENARIOS.items():
        expected = curve_uncertainty(
            [run.clips for run in scores], scenario=scenario, groups=groups, n_resamples=N_RESAMPLES
        )
        assert repr(of_scores[name]) == repr(expected)


@pytest.mark.parametrize("groups", [GROUPS, None])
def test_differences_are_those_of_each_level(rng: np.random.Generator, groups: dict[str, str] | None) -> None:
    lists, scores = runs_of(rng)
    found = list_comparison(lists[:1], lists[1:], groups=groups, n_resamples=N_RESAMPLES)
    for place, level in enumerate(LEVELS):
        sides = [[run.by_file[place] for run in side] for side in (lists[:1], lists[1:])]
        assert repr(found[level]) == repr(compare(*sides, groups=groups, n_resamples=N_RESAMPLES))
    of_scores = score_comparison(scores[:1], scores[1:], groups=groups, n_resamples=N_RESAMPLES)
    for place, level in enumerate(LEVELS):
        curves = [[run.levels[place] for run in side] for side in (scores[:1], scores[1:])]
        assert repr(of_scores[level]) == repr(compare_curves(*curves, groups=groups, n_resamples=N_RESAMPLES))
    for name, scenario in SCENARIOS.items():
        clips = [[run.clips for run in side] for side in (scores[:1], scores[1:])]
        expected = compare_curves(*clips, scenario=scenario, groups=groups, n_resamples=N_RESAMPLES)
        assert repr(of_scores[name]) == repr(expected)


def test_values_are_those_of_the_evaluation(rng: np.random.Generator) -> None:
    lists, scores = runs_of(rng)
    found = list_uncertainty(lists[:1], n_resamples=N_RESAMPLES)
    for counts in lists[0].levels:
        assert found[counts.level].macro["f1"].value == pytest.approx(counts.macro.f1, rel=1e-12)
    of_scores = score_uncertainty(scores[:1], n_resamples=N_RESAMPLES)
    for curves in scores[0].levels:
        assert of_scores[curves.level].overall["best_f1"].value == pytest.approx(curves.macro_best.f1, rel=1e-12)
    for name, psds in zip(SCENARIOS, scores[0].psds, strict=True):
        assert of_scores[name].overall["psds"].value == pytest.approx(psds.value, rel=1e-12)


# Worked numbers


def test_a_single_class_and_a_class_that_nobody_has() -> None:
    reference = {f"{number}.wav": [Event(0.0, 1.0, "dog")] if number % 2 else [] for number in range(30)}
    rows = {name: [[0.9 if events else 0.1], [0.1]] for name, events in reference.items()}
    dogs = evaluate_scores(score_table(rows, classes=["dog"], hop_seconds=1.0), reference)
    found = score_uncertainty([dogs], n_resamples=20)
    for result in found.values():
        for interval in result.overall.values():
            assert (interval.value, interval.low, interval.high, interval.n_undefined) == (1.0, 1.0, 1.0, 0)
    both = {name: np.column_stack([values, values]) for name, values in rows.items()}
    with_owl = evaluate_scores(score_table(both, classes=["dog", "owl"], hop_seconds=1.0), reference)
    for result in score_uncertainty([with_owl], n_resamples=20).values():
        for name, interval in result.by_class["owl"].items():
            assert np.isnan([interval.value, interval.low, interval.high]).all()
            assert interval.n_undefined == 20
            assert result.overall[name].value == 1.0  # the mean is that of the dogs


# Wrong input


def test_runs_about_something_else_are_refused(rng: np.random.Generator) -> None:
    lists, scores = runs_of(rng)
    other = score_case(rng, n_clips=12)
    other_list, other_scores = list_run(rng, other, 0.5), score_run(other)
    with pytest.raises(ValueError, match="the first of the runs and number 2 of the runs must be scored against the"):
        list_uncertainty([lists[0], other_list])
    with pytest.raises(ValueError, match="system and baseline must be scored against the same reference"):
        list_comparison([lists[0]], [other_list])
    with pytest.raises(ValueError, match="the first of the runs and number 2 of the runs must be measured against the"):
        score_uncertainty([scores[0], other_scores])
    with pytest.raises(ValueError, match="system and baseline must be measured against the same reference"):
        score_comparison([scores[0]], [other_scores])
    nothing = "must have at least one run, got none"
    with pytest.raises(ValueError, match=nothing):
        list_uncertainty([])
    with pytest.raises(ValueError, match=nothing):
        score_uncertainty([])
    with pytest.raises(ValueError, match=f"baseline {nothing}"):
        list_comparison(lists, [])
    with pytest.raises(ValueError, match=f"baseline {nothing}"):
        score_comparison(scores, [])


def test_a_reference_with_other_times_is_refused() -> None:
    truth, later = ({f"{n}.wav": [(onset, onset + 1.0, "dog")] for n in range(20)} for onset in (0.0, 2.0))
    lists = [evaluate(reference, truth) for reference in (truth, later)]
    with pytest.raises(ValueError, match=r"in number 2 events have another onset - was the reference changed"):
        list_comparison(lists[:1], lists[1:])
    with pytest.raises(ValueError, match=r"must have the same collars, got .* and, in number 2"):
        list_uncertainty([lists[0], evaluate(truth, truth, collars=Collars(0.5, 0.5))])
    scores = score_table({name: [[0.9], [0.1], [0.1]] for name in truth}, classes=["dog"], hop_seconds=1.0)
    scored = [evaluate_scores(scores, reference) for reference in (truth, later)]
    with pytest.raises(ValueError, match=r"in number 2 events have another onset"):
        score_comparison(scored[:1], scored[1:], n_resamples=2)
    longer = evaluate_scores(scores, truth, durations=dict.fromkeys(truth, 9.0))
    with pytest.raises(ValueError, match=r"clips of the same length, in number 2 20 differ \(first: '0.wav'\)"):
        score_uncertainty([scored[0], longer], n_resamples=2)
