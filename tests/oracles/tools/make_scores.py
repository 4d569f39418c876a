"""Everything about frame scores: sed_scores_eval and psds_eval on the small cases, the rarer ones and a large one."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from oracles.score_cases import ScoreCase, fingerprint_of_scores, large_case, small_cases, uniform_cases
from oracles.score_cases_edges import score_edge_cases
from oracles.tools.score_levels import Figures, clip, collar, frames, intersection, number, references, segment
from oracles.tools.score_psds import (
    LINEAR_50,
    PSDS_1,
    PSDS_2,
    SCENARIOS,
    WIDE_1,
    WIDE_2,
    Scenario,
    at_thresholds,
    exact,
    thresholds_between,
)
from oracles.tools.writing import write_figures

MADE_BY = "tests/oracles/tools/make_scores.py"


def make_scores(folder: Path) -> None:
    """Write five files of figures."""
    small, edges, large = small_cases(), score_edge_cases(), large_case()
    _write(folder, "sed_scores_eval_small.json.gz", small, levels)
    _write(folder, "sed_scores_eval_edges.json", edges, levels)
    _write(folder, "sed_scores_eval_filtered.json.gz", [*uniform_cases(), *small[:8]], filtered)
    _write(folder, "sed_scores_eval_large.json.gz", [large], levels_of_large)
    few = [case for case in small if len(case.classes) > 1 and len(thresholds_between(case)) <= 60]
    _write(folder, "psds_eval_thresholds.json", few, psds_at_thresholds)


def levels(case: ScoreCase) -> Figures:
    """Every level, or the error the tool ends with on it."""
    table, reference = frames(case), references(case)
    scenarios = [one for one in SCENARIOS if len(case.classes) > 1 or one.alpha_ct == 0]
    return {
        "collar": _tried(lambda: collar(table, reference)),
        "segment": _tried(lambda: segment(table, reference, case.durations)),
        "clip": _tried(lambda: clip(table, case.tags)),
        "intersection": _tried(lambda: intersection(table, reference, len(case.classes))),
        "psds": _tried(lambda: exact(table, reference, case.durations, scenarios)),
    }


def levels_of_large(case: ScoreCase) -> Figures:
    """The figures people publish; whole curves only where they are short."""
    table, reference = frames(case), references(case)
    seconds = 5 * 10 / 157  # with seven frames the tool's median filter breaks down on one of the clips
    smooth = _filtered_table(table, seconds)
    return {
        "collar": collar(table, reference)[:1],
        "segment": segment(table, reference, case.durations)[:1],
        "clip": clip(table, case.tags),
        "psds": [_short(one) for one in exact(table, reference, case.durations, [PSDS_1, PSDS_2, WIDE_1])],
        "filter_seconds": seconds,
        "psds_filtered": [_short(one) for one in exact(smooth, reference, case.durations, [PSDS_1, PSDS_2])],
        "psds_eval": at_thresholds(case, table, [PSDS_1, PSDS_2], LINEAR_50.tolist()),
    }


def filtered(case: ScoreCase) -> list[Figures]:
    """Median filters of odd numbers of frames, also one per class; where frames differ, two windows in seconds."""
    table, reference = frames(case), references(case)
    step = min(borders[1] - borders[0] for borders in case.borders.values())
    odd: list[float | list[float]] = [
        3 * step,
        7 * step,
        [(1 + 2 * index) * step for index in range(len(case.classes))],
    ]
    lengths = odd if case.name.startswith("uniform") else [5 * step, 0.7]
    found = []
    for seconds in lengths:
        smooth = _filtered_table(table, seconds)
        found.append(
            {
                "filter_seconds": seconds,
                "tables": {name: _as_lists(one) for name, one in smooth.items()},
                "collar": collar(smooth, reference)[:1],
                "psds": exact(smooth, reference, case.durations, [WIDE_1]),
            }
        )
    return found


def psds_at_thresholds(case: ScoreCase) -> Figures:
    """psds_eval at 50 thresholds, and at so many that it must find what sed_scores_eval finds."""
    table = frames(case)
    scenarios: list[Scenario] = [WIDE_1, WIDE_2]
    return {
        "linear": at_thresholds(case, table, scenarios, LINEAR_50.tolist()),
        "between_all_scores": at_thresholds(case, table, scenarios, thresholds_between(case)),
    }


def _write(folder: Path, name: str, of: list[ScoreCase], figures: Callable[[ScoreCase], Any]) -> None:
    made = {case.name: figures(case) for case in of}
    write_figures(folder, name, made, made_by=MADE_BY, cases=fingerprint_of_scores(of))


def _tried(made: Callable[[], Any]) -> Any:
    try:
        return made()
    except (AssertionError, ValueError, TypeError, KeyError, IndexError) as error:
        return {"raises": type(error).__name__}


def _filtered_table(table: Any, seconds: float | list[float]) -> Any:
    filtering = importlib.import_module("sed_scores_eval.base_modules.postprocessing")
    return filtering.medfilt(table, seconds)


def _as_lists(table: Any) -> Figures:
    borders = [*table["onset"].tolist(), float(table["offset"].iloc[-1])]
    return {"borders": borders, "scores": [[number(one) for one in row[2:]] for row in table.to_numpy()]}


def _short(figures: Figures) -> Figures:
    """Without the classes' own curves, which are long."""
    return {name: value for name, value in figures.items() if name != "class_rocs"}
