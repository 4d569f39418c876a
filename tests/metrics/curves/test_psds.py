from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np
import pytest
from oracles import curves_slow
from oracles.curves_cases import SmallCase, clips_of, random_clips, reference_of, small_case
from oracles.curves_checks import WITH_AND_WITHOUT_NUMBA, needs_numba, raised

from earmark.events import Event
from earmark.metrics.curves import (
    SCENARIO_1,
    SCENARIO_2,
    Criteria,
    Psds,
    Scenario,
    ScoredClips,
    psds,
    score_table,
    scored_clips,
)
from earmark.metrics.curves.psds import SECONDS_PER_UNIT

module = importlib.import_module("earmark.metrics.curves.psds")  # its name in the package is the function's
SLOW_SCENARIOS = (
    ("0.7", "0.7", None, "0", 1.0, 5000.0, "hour", "others"),
    ("0.1", "0.1", "0.3", "0.5", 1.0, 5000.0, "hour", "others"),
    ("0.5", "0.5", "0.3", "1", 0.5, 100.0, "minute", "all"),
    ("0.5", "0.3", None, "0", 0.0, 0.5, "second", "others"),
    ("0.3", "0.8", "0.5", "0.25", 2.0, 1.0, "second", "others"),
)
WIDE = Scenario(Criteria(0.5, 0.5, 0.3), alpha_ct=0.5, max_rate=20.0, unit_of_time="minute")


def scenario_of(dtc: str, gtc: str, cttc: str | None, alpha_ct: str, *more: object) -> Scenario:
    criteria = Criteria(float(dtc), float(gtc), None if cttc is None else float(cttc))
    return Scenario(criteria, float(alpha_ct), *more)  # type: ignore[arg-type]


def slow_rocs(case: SmallCase, scenario: tuple, *, thresholds: list[float] | None = None) -> dict[str, list]:
    """Class -> its points, of all classes that have an event."""
    dtc, gtc, cttc, alpha_ct, *_, divisor = scenario
    labels = [label for label in case.classes if any(curves_slow.truth(case, name, label) for name in case.reference)]
    return {
        label: curves_slow.roc(
            case,
            label,
            curves_slow.thresholds(case, label) if thresholds is None else [np.inf, *thresholds],
            dtc=dtc,
            gtc=gtc,
            cttc=cttc,
            alpha_ct=alpha_ct,
            divisor=len(case.classes) if divisor == "all" else None,
        )
        for label in labels
    }


def slow_psds(rocs: dict[str, list], scenario: tuple, *, alpha_st: float | None = None) -> float:
    *_, st, max_rate, unit, _ = scenario
    unit_seconds = int(SECONDS_PER_UNIT[unit])
    alpha_st = st if alpha_st is None else alpha_st
    return curves_slow.psds(list(rocs.values()), alpha_st=alpha_st, max_rate=max_rate, unit_seconds=unit_seconds)


def without_pruning(clips: ScoredClips, scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> Psds:
    with monkeypatch.context() as patched:
        patched.setattr(module, "surely_over", lambda clips, *_: np.full(len(clips.scores.classes), -np.inf))
        return psds(clips, scenario=scenario, use_numba=False)


def assert_same(one: Psds, other: Psds) -> None:
    """Bit for bit."""
    assert (one.value, one.of_class, one.absent) == (other.value, other.of_class, other.absent)
    for roc, again in [(one.roc, other.roc), *((one.roc_of_class[n], other.roc_of_class[n]) for n in one.of_class)]:
        assert (roc.rate.tolist(), roc.hit_rate.tolist()) == (again.rate.tolist(), again.hit_rate.tolist())


# Laws


@pytest.mark.parametrize("use_numba", WITH_AND_WITHOUT_NUMBA)
def test_as_its_definition_says(rng: np.random.Generator, use_numba: bool) -> None:
    n_checked = 0
    for _ in range(120):
        case, chosen = small_case(rng), SLOW_SCENARIOS[rng.integers(len(SLOW_SCENARIOS))]
        rocs, clips = slow_rocs(case, chosen), clips_of(case)
        if not rocs:
            continue
        found = psds(clips, scenario=scenario_of(*chosen), use_numba=use_numba)
        assert abs(found.value - slow_psds(rocs, chosen)) < 1e-12
        assert list(found.of_class) == list(rocs)
        for label, points in rocs.items():
            assert abs(found.of_class[label] - slow_psds({label: points}, chosen)) < 1e-12
        n_checked += 1
    assert n_checked > 80


def test_no_fewer_thresholds_give_more(rng: np.random.Generator) -> None:
    # Without deviations: with them, finding less of one class may bring it closer to the others.
    n_less = 0
    for _ in range(60):
        case, chosen = small_case(rng), SLOW_SCENARIOS[rng.integers(len(SLOW_SCENARIOS))]
        grid = rng.random(3).round(2).tolist()
        rocs = slow_rocs(case, chosen, thresholds=grid)
        if rocs:
            exact = psds(clips_of(case), scenario=replace(scenario_of(*chosen), alpha_st=0.0), use_numba=False)
            coarse = slow_psds(rocs, chosen, alpha_st=0.0)
            assert coarse <= exact.value + 1e-12
            n_less += coarse < exact.value - 1e-6
    assert n_less > 10


@needs_numba
@pytest.mark.parametrize("scenario", [SCENARIO_1, SCENARIO_2, WIDE])
def test_with_and_without_numba_bit_for_bit(rng: np.random.Generator, scenario: Scenario) -> None:
    clips = random_clips(rng, n_clips=30, n_frames=100)
    assert_same(psds(clips, scenario=scenario, use_numba=True), psds(clips, scenario=scenario, use_numba=False))


@pytest.mark.parametrize("max_rate", [0.5, 3.0, 10.0, 1000.0])
@pytest.mark.parametrize("criteria", [Criteria(0.7, 0.7), Criteria(0.1, 0.1, 0.3)])
def test_scores_that_cannot_matter_do_not(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, max_rate: float, criteria: Criteria
) -> None:
    clips = random_clips(rng, n_clips=40, n_frames=30)
    alpha_ct = 0.0 if criteria.cross_trigger is None else 0.5
    scenario = Scenario(criteria, alpha_ct=alpha_ct, max_rate=max_rate, unit_of_time="minute")
    limit = np.array([max_rate * clips.duration_seconds.sum() / 60])
    above = module.surely_over(clips, np.ones((1, 40), np.int64), limit)
    assert np.isfinite(above).any() == (max_rate < 100)
    assert_same(psds(clips, scenario=scenario, use_numba=False), without_pruning(clips, scenario, monkeypatch))


def test_a_point_at_the_very_end_of_the_curve_is_not_pruned(monkeypatch: pytest.MonkeyPatch) -> None:
    # 100 false alarms per second of 0.29 s are 28.999999999999996 in floating point: the 29th counts all the same.
    scores = {f"{n}.wav": [[0.9 - n / 100]] for n in range(40)}
    table = score_table(scores, classes=["dog"], hop_seconds=0.29 / 40)
    clips = scored_clips(table, {name: [Event(0.0, 0.29 / 40, "dog")] if name == "29.wav" else [] for name in scores})
    clips = replace(clips, duration_seconds=np.array([0.29, *[0.0] * 39]))
    scenario = Scenario(Criteria(0.5, 0.5), max_rate=100.0, unit_of_time="second")
    found = psds(clips, scenario=scenario, use_numba=False)
    assert_same(found, without_pruning(clips, scenario, monkeypatch))
    assert found.roc.rate.tolist() == [0.0, 29 / 0.29]


def test_other_scores_in_the_same_order_change_nothing(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=20, n_frames=50)
    other = replace(clips, scores=replace(clips.scores, values=raised(clips.scores.values)))
    assert_same(psds(clips, scenario=WIDE), psds(other, scenario=WIDE))


def test_the_order_of_clips_and_classes_does_not_matter(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=12, n_frames=50)
    turned = {name: clips.scores.only([name]).values[::-1].T for name in reversed(clips.scores.files)}
    table = score_table(turned, classes=clips.scores.classes[::-1], hop_seconds=1 / 16)
    one = psds(clips, scenario=WIDE)
    other = psds(scored_clips(table, dict(reversed(list(reference_of(clips).items())))), scenario=WIDE)
    assert one.value == pytest.approx(other.value, abs=1e-12)
    assert one.of_class == pytest.approx(other.of_class, abs=1e-12)


def test_shifting_all_times_changes_nothing(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=12, n_frames=50)
    later = {
        name: [Event(event.onset + 7.25, event.offset + 7.25, event.label) for event in events]
        for name, events in reference_of(clips).items()
    }
    shifted = replace(clips.scores, edge_seconds=clips.scores.edge_seconds + 7.25)
    durations = dict(zip(clips.scores.files, clips.duration_seconds.tolist(), strict=True))
    assert_same(psds(clips, scenario=WIDE), psds(scored_clips(shifted, later, durations=durations), scenario=WIDE))


def test_perfect_frames_are_perfect(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=10, n_frames=60)
    middles = (np.arange(60) + 0.5) / 16
    perfect = {}
    for name, events in reference_of(clips).items():
        perfect[name] = np.zeros((60, 3))
        for event in events:
            column = clips.scores.classes.index(event.label)
            perfect[name][(middles > event.onset) & (middles < event.offset), column] = 1.0
    table = score_table(perfect, classes=clips.scores.classes, hop_seconds=1 / 16)
    for scenario in (SCENARIO_1, SCENARIO_2, Scenario(Criteria(1.0, 1.0))):
        assert psds(scored_clips(table, reference_of(clips)), scenario=scenario).value == 1.0


@pytest.mark.parametrize("alpha_st", [0.0, 1.0])
def test_a_class_that_is_never_found_costs(rng: np.random.Generator, alpha_st: float) -> None:
    clips = random_clips(rng, n_clips=12, n_frames=50)
    scenario = Scenario(Criteria(0.3, 0.3), alpha_st=alpha_st, max_rate=100.0, unit_of_time="minute")
    before = psds(clips, scenario=scenario)
    more = {name: np.pad(clips.scores.only([name]).values.T, ((0, 0), (0, 1))) for name in clips.scores.files}
    table = score_table(more, classes=[*clips.scores.classes, "owl"], hop_seconds=1 / 16)
    # The owl is a moment at the start: all frames of score 0 are one run, of which that is too little.
    reference = {name: [*events, Event(0.0, 0.01, "owl")] for name, events in reference_of(clips).items()}
    after = psds(scored_clips(table, reference), scenario=scenario)
    assert after.of_class["owl"] == 0.0
    assert {label: after.of_class[label] for label in before.of_class} == before.of_class
    assert after.value < before.value
    if alpha_st == 0:
        assert after.value == pytest.approx(before.value * 3 / 4)


def test_differences_between_classes_only_cost(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=12, n_frames=50)
    values = [psds(clips, scenario=replace(WIDE, alpha_st=alpha_st)).value for alpha_st in (0.0, 0.5, 1.0, 2.0)]
    assert sorted(values, reverse=True) == values
    assert values[0] > values[2]


def test_cross_triggers_only_cost_and_less_when_divided_by_more(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=12, n_frames=50)
    free = psds(clips, scenario=replace(WIDE, criteria=Criteria(0.5, 0.5), alpha_ct=0.0, alpha_st=0.0))
    by_all, by_others = (
        psds(clips, scenario=replace(WIDE, alpha_st=0.0, cross_trigger_divisor=divisor))
        for divisor in ("all", "others")
    )
    assert free.value > by_all.value > by_others.value


def test_the_unit_of_time_is_only_a_unit(rng: np.random.Generator) -> None:
    clips = random_clips(rng, n_clips=12, n_frames=50)
    rates = (("hour", 1200.0), ("minute", 20.0), ("second", 20 / 60))
    values = [psds(clips, scenario=replace(WIDE, unit_of_time=unit, max_rate=rate)).value for unit, rate in rates]
    assert values == pytest.approx([values[0]] * 3, abs=1e-12)
