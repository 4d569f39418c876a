"""Curves, areas and PSDS from frame scores, against sed_scores_eval's and psds_eval's own figures."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from oracles.frozen import figures_for, frozen
from oracles.metrics_stored import as_events
from oracles.score_cases import ScoreCase, fingerprint_of_scores, large_case, small_cases, uniform_cases
from oracles.score_cases_edges import score_edge_cases

from earmark.metrics import curves
from earmark.metrics.curves import Criteria, Curve, Curves, Scenario, ScoredClips
from earmark.metrics.event import Collars

SMALL = small_cases()
EDGES = score_edge_cases()
UNIFORM = uniform_cases()
# Scores that are no numbers are an error here, and references without length are left out.
OURS_DIFFERS = {"a score that is not a number", "reference without length"}
Figures = dict[str, Any]


def clips_of(case: ScoreCase) -> ScoredClips:
    scores = curves.score_table(case.scores, classes=case.classes, edge_seconds=case.borders)
    return curves.scored_clips(scores, as_events(case.reference), durations=case.durations)


@cache
def figures(name: str) -> Figures:
    cases = EDGES if name == "sed_scores_eval_edges.json" else SMALL
    return figures_for(name, fingerprint_of_scores(cases))


def figures_of(case: ScoreCase) -> Figures:
    name = "sed_scores_eval_edges.json" if case in EDGES else "sed_scores_eval_small.json.gz"
    found: Figures = figures(name)[case.name]
    return found


def accepted(level: str) -> list[ScoreCase]:
    """What the tool takes, and we do not take otherwise."""
    taken = [case for case in EDGES if "raises" not in figures_of(case)[level] and case.name not in OURS_DIFFERS]
    return [*SMALL, *taken]


def counts_at(curve: Curve, thresholds: np.ndarray[Any, Any]) -> list[list[int]]:
    point = np.searchsorted(-curve.score, -thresholds, side="right") - 1
    return [curve.true_positives[point].tolist(), curve.false_positives[point].tolist()]


def tool_counts_at(scores: list[float], counts: list[int], thresholds: np.ndarray[Any, Any]) -> list[int]:
    padded = [*counts, 0]
    return [padded[index] for index in np.searchsorted(np.array(scores), thresholds, side="left")]


def assert_curves(ours: Curves, tool: Figures) -> None:
    """Equal counts at every score that either side has, and above the highest."""
    for curve in ours.of_class:
        scores, hits, wrong, *_ = tool["curves"][curve.label]
        at = np.unique(np.concatenate([scores, curve.score]))
        assert counts_at(curve, at) == [tool_counts_at(scores, counts, at) for counts in (hits, wrong)], curve.label
        assert curve.n_reference == tool["n_ref"][curve.label]
        assert_near(curve.best.scores.f1, tool["best"]["f1"][curve.label])
        # The tool is strict, we are not: half-way to the next higher float both mean the same.
        here = curve.at_threshold(math.nextafter(0.5, 1.0)).scores
        assert_near(here.precision, tool["at_threshold"]["precision"][curve.label])
        assert_near(here.recall, tool["at_threshold"]["recall"][curve.label])
    assert_near(ours.macro_best.f1, tool["best"]["f1"]["macro_average"])
    # Two points with the same best F1 differ in the tool's last digit, and it takes the larger; we take the higher
    # threshold. Everywhere else the points are the same, and with them the micro average.
    same_point = [
        [curve.best.true_positives, curve.best.false_positives] == tool["best"]["counts"][curve.label][:2]
        for curve in ours.of_class
    ]
    for curve, same in zip(ours.of_class, same_point, strict=True):
        assert same or has_two_best_points(curve), curve.label
    if all(same_point):
        assert_near(ours.micro_best.f1, tool["best"]["f1"]["micro_average"])


def has_two_best_points(curve: Curve) -> bool:
    """In whole numbers: 2 TP / (TP + FP + n) is the same fraction at points with other counts."""
    fractions = {
        (hits, wrong): Fraction(2 * hits, hits + wrong + curve.n_reference)
        for hits, wrong in zip(curve.true_positives.tolist(), curve.false_positives.tolist(), strict=True)
    }
    return list(fractions.values()).count(max(fractions.values())) > 1


def assert_areas(ours: Curves, tool: Figures) -> None:
    for curve in ours.of_class:
        assert_near(curve.average_precision, tool["average_precision"][curve.label])
        assert_near(curve.average_precision, tool["sklearn"]["average_precision"][curve.label])
        assert_near(curve.auroc, tool["sklearn"]["auroc"][curve.label])
        if curve.n_negatives:  # the tool counts ties as lost: the same points, stairs below them
            hit_rate = curve.true_positives / curve.n_reference
            alarm_rate = curve.false_positives / curve.n_negatives
            assert_near(float((np.diff(alarm_rate) * hit_rate[:-1]).sum()), tool["auroc_stable"]["None"][curve.label])
    assert_near(ours.mean_average_precision, tool["average_precision"]["mean"])


def assert_near(ours: float, tool: float | None) -> None:
    assert math.isnan(ours) if tool is None else abs(ours - tool) <= 1e-12


def scenario_of(settings: Figures) -> Scenario:
    return Scenario(
        Criteria(settings["dtc_threshold"], settings["gtc_threshold"], settings["cttc_threshold"]),
        alpha_ct=settings["alpha_ct"],
        alpha_st=settings["alpha_st"],
        max_rate=settings["max_efpr"],
        unit_of_time=settings["unit_of_time"],
    )


@pytest.mark.parametrize("case", accepted("collar"), ids=lambda case: case.name)
def test_collar_curves_are_the_tools(case: ScoreCase) -> None:
    clips = clips_of(case)
    for tool in figures_of(case)["collar"]:
        collars = Collars(*(tool["settings"][name] for name in ("onset_collar", "offset_collar", "offset_collar_rate")))
        assert_curves(curves.collar_curves(clips, collars=collars), tool)


@pytest.mark.parametrize("case", accepted("segment"), ids=lambda case: case.name)
def test_segment_curves_are_the_tools(case: ScoreCase) -> None:
    clips = clips_of(case)
    for tool in figures_of(case)["segment"]:
        ours = curves.segment_curves(clips, segment_seconds=tool["settings"]["segment_length"])
        assert_curves(ours, tool)
        assert_areas(ours, tool)


@pytest.mark.parametrize("case", [case for case in accepted("clip") if case in SMALL], ids=lambda case: case.name)
def test_clip_curves_are_the_tools(case: ScoreCase) -> None:
    tool = figures_of(case)["clip"]
    ours = curves.clip_curves(clips_of(case).scores, {name: {*tags} for name, tags in case.tags.items()})
    assert_curves(ours, tool)
    assert_areas(ours, tool)


@pytest.mark.parametrize("case", accepted("intersection"), ids=lambda case: case.name)
def test_intersection_curves_are_the_tools(case: ScoreCase) -> None:
    clips = clips_of(case)
    for tool in figures_of(case)["intersection"]:
        criteria = Criteria(tool["settings"]["dtc_threshold"], tool["settings"]["gtc_threshold"])
        assert_curves(curves.intersection_curves(clips, criteria=criteria), tool)


@pytest.mark.parametrize("case", accepted("psds"), ids=lambda case: case.name)
def test_psds_is_the_tools(case: ScoreCase) -> None:
    clips = clips_of(case)
    for tool in figures_of(case)["psds"]:
        ours = curves.psds(clips, scenario=scenario_of(tool["settings"]))
        assert_near(ours.value, tool["value"])
        for label, value in ours.of_class.items():
            assert_near(value, tool["classes"][label])


@pytest.mark.parametrize("case", UNIFORM, ids=lambda case: case.name)
def test_filtered_scores_give_the_tools_figures(case: ScoreCase) -> None:
    stored = figures_for("sed_scores_eval_filtered.json.gz", fingerprint_of_scores([*UNIFORM, *SMALL[:8]]))
    for tool in stored[case.name]:
        clips = clips_of(case)
        scores = curves.median_filtered(clips.scores, seconds=tool["filter_seconds"], beyond="nothing")
        smooth = curves.scored_clips(scores, as_events(case.reference), durations=case.durations)
        assert_curves(curves.collar_curves(smooth), tool["collar"][0])
        (psds,) = tool["psds"]
        assert_near(curves.psds(smooth, scenario=scenario_of(psds["settings"])).value, psds["value"])


@pytest.mark.parametrize("name", frozen("psds_eval_thresholds.json")["figures"])
def test_psds_is_what_psds_eval_approaches_from_below(name: str) -> None:
    case = {one.name: one for one in SMALL}[name]
    clips, tool = clips_of(case), frozen("psds_eval_thresholds.json")["figures"][name]
    exact_tool = {tuple(one["settings"].values()): one["value"] for one in figures_of(case)["psds"]}
    for few, all_thresholds in zip(tool["linear"]["psds"], tool["between_all_scores"]["psds"], strict=True):
        ours = curves.psds(clips, scenario=scenario_of(few["settings"])).value
        assert few["value"] <= ours + 1e-12
        assert all_thresholds["value"] <= ours + 1e-12
        assert_near(ours, exact_tool[tuple(few["settings"].values())])


def test_large_case_is_the_tools() -> None:
    case = large_case()
    tool = figures_for("sed_scores_eval_large.json.gz", fingerprint_of_scores([case]))[case.name]
    clips = clips_of(case)
    assert_curves(curves.collar_curves(clips), tool["collar"][0])
    ours = curves.segment_curves(clips)
    assert_curves(ours, tool["segment"][0])
    assert_areas(ours, tool["segment"][0])
    for one in tool["psds"]:
        assert_near(curves.psds(clips, scenario=scenario_of(one["settings"])).value, one["value"])
    for few, exact in zip(tool["psds_eval"]["psds"], tool["psds"], strict=False):
        assert few["value"] <= exact["value"] + 1e-12
