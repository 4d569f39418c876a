"""Everything about lists of events: sed_eval on the named, the rarer, the crowded and the official cases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oracles.metrics_cases import Case, cases, fingerprint
from oracles.metrics_cases_crowded import crowded_cases
from oracles.metrics_cases_edges import edge_cases, every_millisecond_pair
from oracles.official_lists import OFFICIAL, official_cases, sha256_of_list
from oracles.tools.sed_eval_levels import Figures, all_levels, event
from oracles.tools.writing import write_figures

MADE_BY = "tests/oracles/tools/make_lists.py"


def make_lists(folder: Path, official: Path) -> None:
    """Write four files of figures; `official` is the folder of the data sets' own lists."""
    write_figures(folder, "sed_eval_named.json", {case.name: all_levels(case) for case in cases()}, **_head(cases()))
    pairs = every_millisecond_pair()
    write_figures(
        folder,
        "sed_eval_edges.json",
        {**{case.name: all_levels(case) for case in edge_cases()}, pairs.name: {"event": event(pairs)}},
        **_head([*edge_cases(), pairs]),
    )
    crowded = crowded_cases()
    write_figures(
        folder, "sed_eval_crowded.json.gz", {case.name: compact(all_levels(case)) for case in crowded}, **_head(crowded)
    )
    write_figures(
        folder,
        "sed_eval_official.json.gz",
        dict(_official_figures(official)),
        made_by=MADE_BY,
        lists={name: sha256_of_list(official, one) for name, one in OFFICIAL.items()},
        cases={name: fingerprint(official_cases(official, name)) for name in OFFICIAL},
    )


def compact(levels: Figures) -> Figures:
    """Counts in full, of the rest what follows from no other number: 2,000 cases are to stay small."""
    kept = ("classes", "overall", "substitutions", "deletions", "insertions", "error_rate", "macro", "micro")
    small: Figures = {}
    for level, figures in levels.items():
        small[level] = {name: figures[name] for name in kept if name in figures}
        n_counts = 4 if level == "segment" else 3
        small[level]["classes"] = {label: row[:n_counts] for label, row in figures["classes"].items()}
    small["segment"]["accuracy"] = levels["segment"]["accuracy"]["micro"]
    return small


def _official_figures(official: Path) -> Iterator[tuple[str, Figures]]:
    for name in OFFICIAL:
        for case in official_cases(official, name):
            yield case.name, all_levels(case)


def _head(of: list[Case]) -> dict[str, Any]:
    return {"made_by": MADE_BY, "cases": fingerprint(of)}
