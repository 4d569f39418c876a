"""PSDS of sed_scores_eval (every threshold) and of psds_eval (the thresholds it is given). Never recomputed."""

from __future__ import annotations

import importlib
import itertools
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oracles.score_cases import ScoreCase
from oracles.tools.score_levels import Figures, number, plain

LINEAR_50 = np.linspace(0.01, 0.99, 50)


@dataclass(frozen=True)
class Scenario:
    """All that PSDS can be told."""

    dtc_threshold: float
    gtc_threshold: float
    cttc_threshold: float | None = None
    alpha_ct: float = 0.0
    alpha_st: float = 1.0
    unit_of_time: str = "hour"
    max_efpr: float = 100.0


PSDS_1 = Scenario(0.7, 0.7)
PSDS_2 = Scenario(0.1, 0.1, 0.3, alpha_ct=0.5)
# Small cases last a minute or two: at 100 false alarms an hour they have room for two or three. So also wider ones.
WIDE_1 = Scenario(0.7, 0.7, max_efpr=5000.0)
WIDE_2 = Scenario(0.1, 0.1, 0.3, alpha_ct=0.5, max_efpr=5000.0)
SCENARIOS = (
    PSDS_1,
    PSDS_2,
    WIDE_1,
    WIDE_2,
    Scenario(0.5, 0.5, alpha_st=0.0, unit_of_time="minute", max_efpr=20.0),
    Scenario(0.5, 0.5, 0.3, alpha_ct=1.0, alpha_st=0.5, unit_of_time="minute", max_efpr=100.0),
    Scenario(0.3, 0.8, 0.5, alpha_ct=0.25, unit_of_time="second", max_efpr=1.0),
    Scenario(0.1, 0.1, alpha_st=2.0, unit_of_time="minute", max_efpr=1e6),  # beyond every false alarm
)


def exact(scores: Any, reference: Any, durations: dict[str, float], scenarios: Sequence[Scenario]) -> list[Figures]:
    """sed_scores_eval's PSDS, its PSD-ROC curve, and both for every class on its own."""
    tool = importlib.import_module("sed_scores_eval.intersection_based")
    found = []
    for scenario in scenarios:
        value, classes, (rates, false_alarms), rocs = tool.psds(scores, reference, durations, **asdict(scenario))
        found.append(
            {
                "settings": asdict(scenario),
                "value": number(value),
                "classes": plain(classes),
                "roc": [_numbers(rates), _numbers(false_alarms)],
                "class_rocs": {label: [_numbers(values) for values in curve] for label, curve in rocs.items()},
            }
        )
    return found


def at_thresholds(case: ScoreCase, scores: Any, scenarios: Sequence[Scenario], thresholds: Sequence[float]) -> Figures:
    """psds_eval's PSDS from the events at these thresholds, which a finer choice can only raise."""
    pandas = importlib.import_module("pandas")
    columns = ["filename", "onset", "offset", "event_label"]
    rows = [(f"{name}.wav", *row) for name, events in case.reference.items() for row in events]
    tables = [pandas.DataFrame(_detected(scores, threshold), columns=columns) for threshold in thresholds]
    values = []
    for scenario in scenarios:
        evaluation = importlib.import_module("psds_eval").PSDSEval(
            dtc_threshold=scenario.dtc_threshold,
            gtc_threshold=scenario.gtc_threshold,
            cttc_threshold=0.3 if scenario.cttc_threshold is None else scenario.cttc_threshold,
            duration_unit=scenario.unit_of_time,
            ground_truth=pandas.DataFrame(rows, columns=columns),
            metadata=pandas.DataFrame(
                [(f"{name}.wav", seconds) for name, seconds in case.durations.items()], columns=["filename", "duration"]
            ),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the same events at two thresholds; pandas about the tool's own calls
            for table in tables:
                evaluation.add_operating_point(table)
            result = evaluation.psds(scenario.alpha_ct, scenario.alpha_st, scenario.max_efpr)
        values.append({"settings": asdict(scenario), "value": number(result.value)})
    return {"thresholds": list(map(float, thresholds)), "psds": values}


def thresholds_between(case: ScoreCase) -> list[float]:
    """One threshold below the lowest score and one between each score and the next: as good as every threshold."""
    every = sorted({score for frames in case.scores.values() for frame in frames for score in frame})
    return [every[0] - 1.0, *((low + high) / 2 for low, high in itertools.pairwise(every))]


def _numbers(values: Any) -> list[float | str | None]:
    return [number(value) for value in values]


def _detected(scores: Any, threshold: float) -> list[tuple[str, float, float, str]]:
    """The other tool's decoding, as rows; none of ours is asked."""
    detection = importlib.import_module("sed_scores_eval.base_modules.detection")
    found = detection.scores_to_event_list(scores, threshold)
    return [(f"{name}.wav", *event) for name, events in found.items() for event in events]
