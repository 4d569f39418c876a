"""Our curves beside the figures that sed_scores_eval and psds_eval gave: what is frozen is in tests/data/oracles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracles.curves_frozen import (
    assert_areas,
    assert_at_threshold,
    assert_best,
    assert_counts,
    assert_cross_triggers,
    assert_psds,
    clips_of_case,
    criteria_of,
    scenario_of,
)
from oracles.frozen import figures_for, frozen
from oracles.score_cases import ScoreCase, fingerprint_of_scores, large_case, small_cases, uniform_cases
from oracles.score_cases_edges import score_edge_cases

from earmark.metrics.curves import (
    ScoredClips,
    clip_curves,
    collar_curves,
    intersection_curves,
    median_filtered,
    psds,
    segment_curves,
)
from earmark.metrics.curves.intersection import intersection_changes
from earmark.metrics.event import Collars

SMALL, EDGES, UNIFORM = small_cases(), score_edge_cases(), uniform_cases()
OTHER_POLICY = {
    "touching references",
    "overlapping references",
    "a class without references",
    "a clip without scores",
    "a clip without references",
    "a label without scores",
    "a score that is not a number",
    "reference without length",
}


def figures_of(name: str, cases: list[ScoreCase]) -> dict[str, Any]:
    return figures_for(name, fingerprint_of_scores(cases))


def both_kinds() -> Iterator[tuple[ScoreCase, dict[str, Any]]]:
    """Small cases and edges, each with the figures of sed_scores_eval, but those that the tool refuses."""
    for name, cases in (("sed_scores_eval_small.json.gz", SMALL), ("sed_scores_eval_edges.json", EDGES)):
        figures = figures_of(name, cases)
        yield from ((case, figures[case.name]) for case in cases if case.name not in OTHER_POLICY)


def collars_of(settings: dict[str, float]) -> Collars:
    return Collars(settings["onset_collar"], settings["offset_collar"], settings["offset_collar_rate"])


def filtered(clips: ScoredClips, seconds: float | list[float]) -> ScoredClips:
    return replace(clips, scores=median_filtered(clips.scores, seconds=seconds, beyond="nothing"))


def assert_same_medians(clips: ScoredClips, name: str, table: dict[str, Any]) -> None:
    """At the middle of each frame the score is the tool's, whose neighbouring frames that are alike are one."""
    mine = clips.scores.only([name])
    middles = (mine.edge_seconds[1:] + mine.edge_seconds[:-1]) / 2
    theirs = np.array([[float(score) for score in row] for row in table["scores"]])
    places = np.searchsorted(table["borders"], middles) - 1
    np.testing.assert_array_equal(mine.values.T, theirs[places])


# Laws


def test_collar_based_curves_are_those_of_the_tool() -> None:
    n_settings = 0
    for case, figures in both_kinds():
        clips = clips_of_case(case)
        for tool in figures["collar"]:
            curves = collar_curves(clips, collars=collars_of(tool["settings"]))
            assert_counts(curves, tool)
            assert_best(curves, tool)
            assert_at_threshold(curves, tool, 0.5)
            n_settings += 1
    assert n_settings == 4 * (len(SMALL) + len(EDGES) - len(OTHER_POLICY))


def test_segment_based_curves_are_those_of_the_tool() -> None:
    for case, figures in both_kinds():
        clips = clips_of_case(case)
        for tool in figures["segment"]:
            curves = segment_curves(clips, segment_seconds=tool["settings"]["segment_length"])
            assert_counts(curves, tool)
            assert_best(curves, tool)
            assert_at_threshold(curves, tool, 0.5)
            assert_areas(curves, tool)


def test_clip_level_curves_are_those_of_the_tool() -> None:
    for case, figures in both_kinds():
        curves = clip_curves(clips_of_case(case).scores, {name: set(tags) for name, tags in case.tags.items()})
        assert_counts(curves, figures["clip"])
        assert_best(curves, figures["clip"])
        assert_at_threshold(curves, figures["clip"], 0.5)
        assert_areas(curves, figures["clip"])


def test_intersection_based_curves_are_those_of_the_tool() -> None:
    for case, figures in both_kinds():
        clips = clips_of_case(case)
        for tool in figures["intersection"]:
            criteria = criteria_of(tool["settings"])
            curves = intersection_curves(clips, criteria=criteria)
            assert_counts(curves, tool)
            assert_best(curves, tool)
            assert_at_threshold(curves, tool, 0.5)
            _, crossing = intersection_changes(clips, criteria=criteria, above=None, use_numba=None)
            if "cts" in tool:
                for index, label in enumerate(case.classes):
                    assert_cross_triggers(crossing[index], label, case.classes, tool)


def test_psds_is_that_of_the_tool() -> None:
    n_scenarios = 0
    for case, figures in both_kinds():
        clips = clips_of_case(case)
        for tool in figures["psds"]:
            assert_psds(psds(clips, scenario=scenario_of(tool["settings"])), tool)
            n_scenarios += 1
    assert n_scenarios > 300


def test_medians_of_odd_numbers_of_frames_are_those_of_the_tool() -> None:
    figures = figures_of("sed_scores_eval_filtered.json.gz", [*UNIFORM, *SMALL[:8]])
    for case in UNIFORM:
        clips = clips_of_case(case)
        for tool in figures[case.name]:
            smooth = filtered(clips, tool["filter_seconds"])
            for name in case.scores:
                assert_same_medians(smooth, name, tool["tables"][name])
            curves = collar_curves(smooth, collars=collars_of(tool["collar"][0]["settings"]))
            assert_counts(curves, tool["collar"][0])
            assert_best(curves, tool["collar"][0])
            for one in tool["psds"]:
                assert_psds(psds(smooth, scenario=scenario_of(one["settings"])), one)


def test_no_grid_of_thresholds_gives_more() -> None:
    cases = {case.name: case for case in SMALL}
    exact = figures_of("sed_scores_eval_small.json.gz", SMALL)
    n_less = 0
    for name, tool in frozen("psds_eval_thresholds.json")["figures"].items():
        clips, case_figures = clips_of_case(cases[name]), exact[name]["psds"]
        for grid, every in zip(tool["linear"]["psds"], tool["between_all_scores"]["psds"], strict=True):
            ours = psds(clips, scenario=scenario_of(grid["settings"])).value
            assert max(grid["value"], every["value"]) <= ours + 1e-12
            assert ours == pytest.approx(
                next(one["value"] for one in case_figures if one["settings"] == grid["settings"]), abs=1e-12
            )
            n_less += grid["value"] < ours - 1e-6
    assert n_less > 5


def test_two_hundred_clips_of_ten_classes() -> None:
    case = large_case()
    tool = figures_of("sed_scores_eval_large.json.gz", [case])[case.name]
    clips = clips_of_case(case)
    assert_counts(collar_curves(clips), tool["collar"][0])
    assert_best(collar_curves(clips), tool["collar"][0])
    for curves, level in (
        (segment_curves(clips), tool["segment"][0]),
        (clip_curves(clips.scores, {name: set(tags) for name, tags in case.tags.items()}), tool["clip"]),
    ):
        assert_counts(curves, level)
        assert_best(curves, level)
        assert_areas(curves, level)
    # Not after the median filter: of 86 clips the last frame is cut off, and the tool's window sees that.
    for one in tool["psds"]:
        assert_psds(psds(clips, scenario=scenario_of(one["settings"])), one)
    for grid in tool["psds_eval"]["psds"]:
        assert grid["value"] <= psds(clips, scenario=scenario_of(grid["settings"])).value + 1e-12


# Worked numbers: what we decide otherwise than the tool, whose figures for these cases are errors or other policies


def edge(name: str) -> ScoreCase:
    return next(case for case in EDGES if case.name == name)


def test_references_that_touch_or_overlap_are_joined() -> None:
    for name in ("touching references", "overlapping references"):
        assert clips_of_case(edge(name)).n_merged == 1


def test_a_reference_without_length_is_left_out_and_counted() -> None:
    assert clips_of_case(edge("reference without length")).n_zero_length == 1


def test_a_class_without_references_is_named() -> None:
    assert psds(clips_of_case(edge("a class without references"))).absent == ("Cat",)


def test_clips_with_scores_only_are_named() -> None:
    assert clips_of_case(edge("a clip without references")).ignored_files == ("b",)


# Wrong input


def test_what_we_refuse() -> None:
    for name, message in (
        ("a clip without scores", "scores must have every file of the reference"),
        ("a label without scores", "reference: unknown class 'Cat'"),
        ("a score that is not a number", "must be finite numbers, got nan in frame 1, class 'Dog'"),
    ):
        with pytest.raises(ValueError, match=message):
            clips_of_case(edge(name))
