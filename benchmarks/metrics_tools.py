"""Times the established tools on lists and scores. Runs where they are installed, so it may import nothing of ours.

    python metrics_tools.py LISTS.json          # event, segment and clip figures of sed_eval
    python metrics_tools.py LISTS.json SCORES.npz   # and curves and PSDS of sed_scores_eval, once each

LISTS.json holds two mappings from file names to rows of onset, offset and label: reference, predictions. SCORES.npz
holds one array (frames, classes) per file, and the classes and the hop. Prints seconds by name as JSON.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Row = tuple[float, float, str]  # onset, offset, label
Lists = dict[str, list[Row]]


def main() -> None:
    """Time what was asked for."""
    warnings.simplefilter("ignore")
    reference, predicted = json.load(open(sys.argv[1], encoding="utf-8"))
    result: Any = list_figures(reference, predicted) if len(sys.argv) == 2 else curves(reference, sys.argv[2])
    print(json.dumps(result))


def list_figures(reference: Lists, predicted: Lists) -> dict[str, float]:
    """Seconds of sed_eval, level by level."""
    import sed_eval
    from dcase_util.containers import MetaDataContainer

    classes = sorted({row[2] for side in (reference, predicted) for rows in side.values() for row in rows})

    def container(name: str, rows: list[Row]) -> Any:
        return MetaDataContainer([{"filename": name, "onset": a, "offset": b, "event_label": c} for a, b, c in rows])

    def tags(side: Lists) -> Any:
        return MetaDataContainer(
            [{"filename": name, "tags": sorted({row[2] for row in rows})} for name, rows in side.items()]
        )

    pairs = [(container(name, rows), container(name, predicted[name])) for name, rows in reference.items()]
    tagged = tags(reference), tags(predicted)
    levels = (
        ("event", sed_eval.sound_event.EventBasedMetrics(classes, t_collar=0.2, percentage_of_length=0.2)),
        ("segment", sed_eval.sound_event.SegmentBasedMetrics(classes, time_resolution=1.0)),
        ("clip", sed_eval.audio_tag.AudioTaggingMetrics(tags=classes)),
    )
    seconds = {}
    for level, metrics in levels:
        start = time.perf_counter()
        if level == "clip":
            metrics.evaluate(*tagged)
        else:
            for pair in pairs:
                metrics.evaluate(*pair)
        metrics.results()
        seconds[level] = time.perf_counter() - start
    return seconds


def curves(reference: Lists, path: str) -> dict[str, dict[str, float]]:
    """Seconds and values of sed_scores_eval."""
    from sed_scores_eval import collar_based, intersection_based
    from sed_scores_eval.base_modules.scores import create_score_dataframe

    stored = np.load(path)
    hop, classes = float(stored["hop"]), stored["classes"].tolist()
    scores = {
        name: create_score_dataframe(stored[name], np.arange(len(stored[name]) + 1) * hop, classes)
        for name in reference
    }
    durations = {name: len(stored[name]) * hop for name in reference}
    seconds: dict[str, float] = {}

    def timed(name: str, run: Callable[[], float]) -> float:
        start = time.perf_counter()
        value = run()
        seconds[name] = time.perf_counter() - start
        return value

    collars = {"onset_collar": 0.2, "offset_collar": 0.2, "offset_collar_rate": 0.2}
    values = {
        "collar curve and best F1": timed(
            "collar curve and best F1",
            lambda: collar_based.best_fscore(scores, reference, **collars)[0]["macro_average"],
        ),
        "PSDS 1": timed(
            "PSDS 1",
            lambda: intersection_based.psds(
                scores, reference, durations, dtc_threshold=0.7, gtc_threshold=0.7, alpha_ct=0.0, alpha_st=1.0
            )[0],
        ),
        "PSDS 2": timed(
            "PSDS 2",
            lambda: intersection_based.psds(
                scores,
                reference,
                durations,
                dtc_threshold=0.1,
                gtc_threshold=0.1,
                cttc_threshold=0.3,
                alpha_ct=0.5,
                alpha_st=1.0,
            )[0],
        ),
    }
    return {"seconds": seconds, "values": {name: float(value) for name, value in values.items()}}


if __name__ == "__main__":
    main()
