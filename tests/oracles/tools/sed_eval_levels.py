"""sed_eval's own figures for one case: event-based, segment-based, clip-level. Reordered, never recomputed."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Sequence
from typing import Any

from oracles.metrics_cases import Case, Row, labels

Figures = dict[str, Any]
F_MEASURE = ("precision", "recall", "f_measure")
CLASS_ERRORS = ("error_rate", "deletion_rate", "insertion_rate")
OVERALL_ERRORS = ("error_rate", "substitution_rate", "deletion_rate", "insertion_rate")
ACCURACIES = ("accuracy", "balanced_accuracy", "sensitivity", "specificity")


def all_levels(case: Case) -> Figures:
    """Level -> everything the tool reports about it."""
    return {"event": event(case), "segment": segment(case), "clip": clip(case)}


def event(case: Case) -> Figures:
    """Event-based figures; macro and micro once more with missed classes counted as 0."""
    metrics, zero = (
        importlib.import_module("sed_eval").sound_event.EventBasedMetrics(
            event_label_list=labels(case),
            t_collar=case.collar_seconds,
            percentage_of_length=case.offset_fraction,
            empty_system_output_handling=handling,
        )
        for handling in (None, "zero_score")
    )
    for name, reference, predicted in files(case):
        metrics.evaluate(reference, predicted)
        zero.evaluate(container(name, case.reference[name]), container(name, case.predicted.get(name, [])))
    counts = {label: [one["Nref"], one["Nsys"], one["Ntp"]] for label, one in metrics.class_wise.items()}
    figures = _figures(metrics.results(), counts)
    figures |= _errors(metrics.results(), [metrics.overall[name] for name in ("Nsubs", "Nfn", "Nfp")])
    figures["overall"] = [int(metrics.overall[name]) for name in ("Nref", "Nsys", "Ntp")]
    figures["zero_score"] = {"macro": _macro(zero.results()), "micro": _micro(zero.results())}
    return figures


def segment(case: Case) -> Figures:
    """Segment-based figures, or the error the tool ends with."""
    metrics = importlib.import_module("sed_eval").sound_event.SegmentBasedMetrics(
        event_label_list=labels(case), time_resolution=case.segment_seconds
    )
    try:
        for name, reference, predicted in files(case):
            metrics.evaluate(reference, predicted, evaluated_length_seconds=case.durations.get(name))
    except ValueError as error:
        return {"raises": type(error).__name__}
    counts = {label: [one["Nref"], one["Nsys"], one["Ntp"], one["Ntn"]] for label, one in metrics.class_wise.items()}
    results = metrics.results()
    figures = _figures(results, counts)
    figures |= _errors(results, [metrics.overall[name] for name in "SDI"])
    figures["overall"] = [int(metrics.overall[name]) for name in ("Nref", "Nsys", "Ntp", "Ntn")]
    figures["accuracy"] = {
        "classes": {label: _taken(one["accuracy"], ACCURACIES) for label, one in results["class_wise"].items()},
        "macro": _taken(results["class_wise_average"]["accuracy"], ACCURACIES),
        "micro": _taken(results["overall"]["accuracy"], ACCURACIES),
    }
    return figures


def clip(case: Case) -> Figures:
    """Clip-level figures, with the classes of the events as tags where the case gives none of its own."""
    metrics = importlib.import_module("sed_eval").audio_tag.AudioTaggingMetrics(tags=labels(case))
    tags = case.tags
    if tags is None:
        reference, predicted = (
            {name: sorted({label for *_, label in rows} & {*labels(case)}) for name, rows in side.items()}
            for side in (case.reference, case.predicted)
        )
        tags = (reference, {name: predicted.get(name, []) for name in reference})
    for name in tags[0]:  # all files at once need the square of the time: the tool looks every file up in its lists
        metrics.evaluate(*(_metadata([{"filename": name, "tags": side[name]}]) for side in tags))
    counts = {label: [one["Nref"], one["Nsys"], one["Ntp"]] for label, one in metrics.tag_wise.items()}
    return _figures(metrics.results(), counts)


def files(case: Case) -> Iterable[tuple[str, Any, Any]]:
    """The usual loop: over the files of the reference; what was predicted elsewhere is never seen."""
    for name in case.reference:
        yield name, container(name, case.reference[name]), container(name, case.predicted.get(name, []))


def container(name: str, rows: list[Row]) -> Any:
    """One file's events as the tool wants them."""
    return _metadata(
        [{"filename": name, "onset": onset, "offset": offset, "event_label": label} for onset, offset, label in rows]
    )


def numbers(values: Iterable[float | None]) -> list[float | None]:
    """NaN, which JSON does not have, becomes null."""
    return [None if value is None or math.isnan(value) else float(value) for value in values]


def _figures(results: Figures, counts: dict[str, list[float]]) -> Figures:
    """Per class the counts, then precision, recall and F1; the same three as macro and micro averages."""
    classes = {
        label: [*(int(count) for count in counts[label]), *_taken(one["f_measure"], F_MEASURE)]
        for label, one in results["class_wise"].items()
    }
    return {"classes": classes, "macro": _macro(results), "micro": _micro(results)}


def _errors(results: Figures, events: Sequence[float]) -> Figures:
    """Error rates per class, as macro average and overall, with the three counts of the overall one."""
    return {
        "substitutions": int(events[0]),
        "deletions": int(events[1]),
        "insertions": int(events[2]),
        "error_rate": numbers([results["overall"]["error_rate"]["error_rate"]])[0],
        "error_rates": {
            "classes": {label: _taken(one["error_rate"], CLASS_ERRORS) for label, one in results["class_wise"].items()},
            "macro": _taken(results["class_wise_average"]["error_rate"], CLASS_ERRORS),
            "micro": _taken(results["overall"]["error_rate"], OVERALL_ERRORS),
        },
    }


def _macro(results: Figures) -> list[float | None]:
    return _taken(results["class_wise_average"]["f_measure"], F_MEASURE)


def _micro(results: Figures) -> list[float | None]:
    return _taken(results["overall"]["f_measure"], F_MEASURE)


def _taken(one: Figures, names: Iterable[str]) -> list[float | None]:
    return numbers(one.get(name) for name in names)


def _metadata(items: list[Figures]) -> Any:
    """The tool's own list."""
    return importlib.import_module("dcase_util").containers.MetaDataContainer(items)
