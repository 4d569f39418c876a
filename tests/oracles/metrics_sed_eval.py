"""Writes sed_eval's own figures for the made-up cases to tests/data/sed_eval_figures.json. No test runs this.

In an environment of its own, because sed_eval needs old versions and is no part of the project:

    python -m venv sedeval
    sedeval/bin/pip install numpy==2.3.5 pandas==2.3.3 "setuptools<81" sed_eval==0.2.1 dcase_util==0.2.20
    cd tests && ../sedeval/bin/python -m oracles.metrics_sed_eval
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import math
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from oracles.metrics_cases import Case, Row, cases, fingerprint, labels

Figures = dict[str, Any]


def main() -> None:
    """Compute and write."""
    warnings.simplefilter("ignore")  # the tool takes means of nothing
    tools = {name: importlib.metadata.version(name) for name in ("sed_eval", "dcase_util", "numpy")}
    figures = {case.name: {"event": event(case), "segment": segment(case), "clip": clip(case)} for case in cases()}
    # One case per line: small, and a change shows which case it concerns.
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in figures.items())
    head = json.dumps({"made_with": tools, "made_by": "tests/oracles/metrics_sed_eval.py", "cases": fingerprint()})
    target = Path(__file__).parents[1] / "data" / "sed_eval_figures.json"
    target.write_text(f'{head[:-1]}, "figures": {{\n{lines}\n}}}}\n', encoding="utf-8")


def event(case: Case) -> Figures:
    """Event-based figures."""
    metrics = importlib.import_module("sed_eval").sound_event.EventBasedMetrics(
        event_label_list=labels(case), t_collar=0.2, percentage_of_length=case.offset_fraction
    )
    for name in case.reference:
        metrics.evaluate(_container(name, case.reference[name]), _container(name, case.predicted[name]))
    counts = {label: [one["Nref"], one["Nsys"], one["Ntp"]] for label, one in metrics.class_wise.items()}
    return _figures(metrics.results(), counts, substitutions=metrics.overall["Nsubs"])


def segment(case: Case) -> Figures:
    """Segment-based figures."""
    metrics = importlib.import_module("sed_eval").sound_event.SegmentBasedMetrics(
        event_label_list=labels(case), time_resolution=case.segment_seconds
    )
    for name in case.reference:
        metrics.evaluate(
            _container(name, case.reference[name]),
            _container(name, case.predicted[name]),
            evaluated_length_seconds=case.durations.get(name),
        )
    counts = {label: [one["Nref"], one["Nsys"], one["Ntp"], one["Ntn"]] for label, one in metrics.class_wise.items()}
    return _figures(metrics.results(), counts, substitutions=metrics.overall["S"])


def clip(case: Case) -> Figures:
    """Clip-level figures, with the classes of the events as tags."""
    metrics = importlib.import_module("sed_eval").audio_tag.AudioTaggingMetrics(tags=labels(case))
    metrics.evaluate(
        *(
            _metadata(
                [{"filename": name, "tags": sorted({label for *_, label in rows})} for name, rows in side.items()]
            )
            for side in (case.reference, case.predicted)
        )
    )
    counts = {label: [one["Nref"], one["Nsys"], one["Ntp"]] for label, one in metrics.tag_wise.items()}
    return _figures(metrics.results(), counts, substitutions=None)


def _figures(results: Figures, counts: dict[str, list[float]], *, substitutions: float | None) -> Figures:
    """The tool's results, reordered but not touched."""
    names = ("precision", "recall", "f_measure")
    classes = {
        label: [*(int(count) for count in counts[label]), *_numbers(one["f_measure"][name] for name in names)]
        for label, one in results["class_wise"].items()
    }
    figures: Figures = {
        "classes": classes,
        "macro": _numbers(results["class_wise_average"]["f_measure"].get(name) for name in names),
        "micro": _numbers(results["overall"]["f_measure"][name] for name in names),
    }
    if substitutions is not None:
        figures["substitutions"] = int(substitutions)
        figures["error_rate"] = _numbers([results["overall"]["error_rate"]["error_rate"]])[0]
    return figures


def _numbers(values: Iterable[float | None]) -> list[float | None]:
    """NaN, which JSON does not have, becomes null."""
    return [None if value is None or math.isnan(value) else float(value) for value in values]


def _container(name: str, rows: list[Row]) -> Any:
    """One file's events as the tool wants them."""
    return _metadata(
        [{"filename": name, "onset": onset, "offset": offset, "event_label": label} for onset, offset, label in rows]
    )


def _metadata(items: list[Figures]) -> Any:
    """The tool's own list."""
    return importlib.import_module("dcase_util").containers.MetaDataContainer(items)


if __name__ == "__main__":
    main()
