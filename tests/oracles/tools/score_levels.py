"""sed_scores_eval's own curves and the figures along them, without PSDS. Reordered, never recomputed."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from oracles.score_cases import ScoreCase

Figures = dict[str, Any]
THRESHOLD = 0.5  # at which single figures are taken as well
COLLARS = ((0.2, 0.2, 0.2), (0.2, 0.2, 0.0), (0.5, 0.5, 0.5), (0.05, 0.1, 0.2))  # onset, offset, share of length
SEGMENTS_SECONDS = (1.0, 0.25)
CRITERIA = ((0.5, 0.5, 0.3), (0.7, 0.7, None), (0.1, 0.1, 0.3), (1.0, 1.0, 1.0))  # DTC, GTC, CTTC
MAX_FPRS = (None, 0.1)


def collar(scores: Any, reference: Any) -> list[Figures]:
    """Collar-based curves, best F1 and F1 at one threshold, for several collars."""
    tool = _tool("collar_based")
    found = []
    for onset, offset, fraction in COLLARS:
        settings = {"onset_collar": onset, "offset_collar": offset, "offset_collar_rate": fraction}
        statistics, _ = tool.accumulated_intermediate_statistics(scores, reference, **settings)
        found.append({"settings": settings, **_curves(statistics, ("tps", "fps")), "n_ref": n_references(statistics)})
        found[-1]["best"] = _best(tool.best_fscore(scores, reference, **settings))
        found[-1]["at_threshold"] = _at_threshold(tool.fscore(scores, reference, THRESHOLD, **settings))
    return found


def segment(scores: Any, reference: Any, durations: dict[str, float]) -> list[Figures]:
    """Segment-based curves, best F1, average precision and area under the ROC curve.

    References and durations are given in whole microseconds, as the tool rounds frames and segments but not them, so
    that 3 * 0.1 s, which is one bit more than 0.3 s, would fill one more segment.
    """
    tool = _tool("segment_based")
    reference = {
        clip: [(round(onset, 6), round(offset, 6), label) for onset, offset, label in rows]
        for clip, rows in reference.items()
    }
    durations = {clip: round(seconds, 6) for clip, seconds in durations.items()}
    found = []
    for length in SEGMENTS_SECONDS:
        given = (scores, reference, durations)
        segment_deltas = tool.intermediate_statistics.intermediate_statistics_deltas
        statistics, _ = tool.accumulated_intermediate_statistics(*given, segment_length=length)
        found.append({"settings": {"segment_length": length}, **_curves(statistics, ("tps", "fps", "tns"))})
        found[-1]["n_ref"] = n_references(statistics)
        found[-1]["best"] = _best(tool.best_fscore(*given, segment_length=length))
        found[-1]["at_threshold"] = _at_threshold(tool.fscore(*given, THRESHOLD, segment_length=length))
        found[-1]["average_precision"] = plain(tool.average_precision(*given, segment_length=length)[0])
        found[-1] |= _areas(statistics)
        found[-1]["sklearn"] = _by_sklearn(segment_deltas(*given, segment_length=length))
    return found


def clip(scores: Any, tags: dict[str, list[str]]) -> Figures:
    """Clip-level curves, with the highest score of a clip; best F1, average precision, area under the ROC curve."""
    tool = _tool("clip_based")
    statistics, _ = tool.accumulated_intermediate_statistics(scores, tags)
    return {
        **_curves(statistics, ("tps", "fps", "tns")),
        "n_ref": n_references(statistics),
        "best": _best(tool.best_fscore(scores, tags)),
        "at_threshold": _at_threshold(tool.fscore(scores, tags, THRESHOLD)),
        "average_precision": plain(tool.average_precision(scores, tags)[0]),
        **_areas(statistics),
        "sklearn": _by_sklearn(tool.intermediate_statistics.intermediate_statistics_deltas(scores, tags)),
    }


def intersection(scores: Any, reference: Any, n_classes: int) -> list[Figures]:
    """Intersection-based curves with cross triggers by other class, best F1 and F1 at one threshold."""
    tool = _tool("intersection_based")
    found = []
    for dtc, gtc, cttc in CRITERIA:
        if n_classes == 1:
            cttc = None  # the tool breaks down where no class is there to be triggered
        settings = {"dtc_threshold": dtc, "gtc_threshold": gtc}
        statistics, _ = tool.accumulated_intermediate_statistics(scores, reference, cttc_threshold=cttc, **settings)
        found.append({"settings": {**settings, "cttc_threshold": cttc}, **_curves(statistics, ("tps", "fps"))})
        found[-1]["n_ref"] = n_references(statistics)
        found[-1]["t_ref"] = plain({name: counts["t_ref"] for name, (_, counts) in statistics.items()})
        if cttc is not None:
            found[-1]["cts"] = {
                name: {other: whole(values[:-1]) for other, values in counts["cts"].items()}
                for name, (_, counts) in statistics.items()
            }
        found[-1]["best"] = _best(tool.best_fscore(scores, reference, **settings))
        found[-1]["at_threshold"] = _at_threshold(tool.fscore(scores, reference, THRESHOLD, **settings))
    return found


def frames(case: ScoreCase) -> Any:
    """Clip -> the tool's own table of scores."""
    create = importlib.import_module("sed_scores_eval.base_modules.scores").create_score_dataframe
    return {
        name: create(np.array(case.scores[name]), np.array(case.borders[name]), list(case.classes))
        for name in case.scores
    }


def references(case: ScoreCase) -> dict[str, list[tuple[float, float, str]]]:
    """Clip -> events, as new lists: the tool sorts some in place."""
    return {name: list(rows) for name, rows in case.reference.items()}


def n_references(statistics: Any) -> dict[str, int]:
    """Class -> how much there is to find."""
    return {name: int(counts["n_ref"]) for name, (_, counts) in statistics.items()}


def plain(values: Mapping[str, Any]) -> dict[str, float | str | None]:
    """A class's number as JSON has it."""
    return {name: number(value) for name, value in values.items()}


def number(value: float) -> float | str | None:
    """NaN becomes null and infinity a word, because JSON has neither."""
    value = float(value)
    if math.isnan(value):
        return None
    return str(value) if math.isinf(value) else value


def whole(values: Iterable[float]) -> list[int]:
    """The tool's counts are floating-point numbers."""
    counts = [int(value) for value in values]
    assert counts == list(values)
    return counts


def _tool(level: str) -> Any:
    return importlib.import_module(f"sed_scores_eval.{level}")


def _curves(statistics: Any, names: tuple[str, ...]) -> Figures:
    """Per class the scores, ascending, and the counts at thresholds just below each; above all of them nothing is."""
    curves: Figures = {}
    for label, (scores, counts) in statistics.items():
        assert math.isinf(scores[-1])
        assert all(counts[name][-1] == 0 for name in ("tps", "fps"))
        curves[label] = [[number(score) for score in scores[:-1]], *(whole(counts[name][:-1]) for name in names)]
    return {"curves": curves}


def _best(result: Any) -> Figures:
    f1, precision, recall, thresholds, counts = result
    return {
        "f1": plain(f1),
        "precision": plain(precision),
        "recall": plain(recall),
        "threshold": plain(thresholds),
        "counts": {name: [int(one["tps"]), int(one["fps"]), int(one["n_ref"])] for name, one in counts.items()},
    }


def _at_threshold(result: Any) -> Figures:
    return {name: plain(values) for name, values in zip(("f1", "precision", "recall"), result[:3], strict=True)}


def _areas(statistics: Any) -> Figures:
    """Areas under ROC curves as the tool says, and once more with the one sort in it made a stable one.

    The tool sorts points that are in order already, by false positive rate alone and with a sort that may exchange
    points with equal rates; then an area can come out too small, and not the same on every processor.
    """
    roc = importlib.import_module("sed_scores_eval.base_modules.roc")
    areas: Figures = {"auroc": {}, "auroc_stable": {}}
    for max_fpr in MAX_FPRS:
        key = str(max_fpr)
        areas["auroc"][key] = plain(roc.auroc_from_intermediate_statistics(statistics, max_fpr=max_fpr)[0])
        curves: Any = importlib.import_module("sed_scores_eval.base_modules.curves")
        unstable, curves.np = curves.np, _StableSort()
        try:
            areas["auroc_stable"][key] = plain(roc.auroc_from_intermediate_statistics(statistics, max_fpr=max_fpr)[0])
        finally:
            curves.np = unstable
    return areas


def _by_sklearn(deltas: Any) -> Figures:
    """scikit-learn's areas for the scores and truths that the tool found per segment or clip: ties count half."""
    metrics: Any = importlib.import_module("sklearn.metrics")
    found: Figures = {"auroc": {}, "average_precision": {}}
    for label in next(iter(deltas.values())):
        truth = np.concatenate([clip[label][1]["tps"] for clip in deltas.values()]).astype(int)
        score = np.concatenate([clip[label][0] for clip in deltas.values()])
        if np.isnan(score).any():
            continue
        both = 0 < truth.sum() < len(truth)
        found["auroc"][label] = number(metrics.roc_auc_score(truth, score)) if both else None
        found["average_precision"][label] = number(metrics.average_precision_score(truth, score))
    return found


class _StableSort:
    """NumPy, except that argsort keeps the order of what is equal."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def argsort(self, values: Any) -> Any:
        """Stable."""
        return np.argsort(values, kind="stable")
