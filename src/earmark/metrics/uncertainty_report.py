"""Intervals and differences in words, rows and JSON: what `earmark evaluate` says about how sure its figures are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from earmark.metrics.bootstrap import Interval
from earmark.metrics.comparison import Comparison, Difference
from earmark.metrics.curves.uncertainty import CurveComparison, CurveUncertainty
from earmark.metrics.uncertainty import Uncertainty

Json = dict[str, object]
AnyUncertainty = Uncertainty | CurveUncertainty
AnyComparison = Comparison | CurveComparison
# What a table shows of each kind: figure, and what it is called.
_OF_LISTS = (("f1", "F1"), ("precision", "P"), ("recall", "R"), ("error_rate", "ER"))
_OF_CURVES = (("best_f1", "best F1"), ("average_precision", "AP"), ("auroc", "AUC"), ("psds", ""))


def interval_rows(results: Mapping[str, AnyUncertainty]) -> list[list[str]]:
    """Return one row per figure of all classes: name, value, and where its interval begins and ends.

    Args:
        results: what the figures are called, for instance ``"event"`` or ``"PSDS 1"`` -> the result.

    Example:
        >>> interval = {"f1": Interval(0.5, 0.4, 0.6)}
        >>> result = Uncertainty("clip", ("dog",), "clip", 90, 1, 1000, 0.95, 0, interval, interval, {})
        >>> interval_rows({"clip": result})
        [['clip F1, macro', '0.500', '0.400', '0.600'], ['clip F1, micro', '0.500', '0.400', '0.600']]
    """
    return [
        [name, *map(_figure, (interval.value, interval.low, interval.high))]
        for name, interval in _named(results)
        if isinstance(interval, Interval)
    ]


def difference_rows(results: Mapping[str, AnyComparison]) -> list[list[str]]:
    """Return one row per figure of all classes: name, difference, where its interval begins and ends, and p.

    Args:
        results: what the figures are called -> the result.

    Example:
        >>> difference = {"f1": Difference(0.04, 0.01, 0.07, 0.008)}
        >>> result = Comparison("clip", (), "clip", 90, (1, 1), 1000, 0.95, "bootstrap", 0, difference, {}, {})
        >>> difference_rows({"clip": result})
        [['clip F1, macro', '+0.040', '+0.010', '+0.070', '0.008']]
    """
    return [
        [name, *map(_signed, (difference.value, difference.low, difference.high)), _p_value(difference.p_value)]
        for name, difference in _named(results)
        if isinstance(difference, Difference)
    ]


def class_interval_rows(results: Mapping[str, AnyUncertainty], *, figure: str) -> list[list[str]]:
    """Return one row per class: its name, and at each level a figure with its interval.

    Args:
        results: level -> the result.
        figure: for instance ``"f1"``.

    Example:
        >>> by_class = {"dog": {"f1": Interval(0.5, 0.4, 0.6)}}
        >>> result = Uncertainty("clip", ("dog",), "clip", 90, 1, 1000, 0.95, 0, {}, {}, by_class)
        >>> class_interval_rows({"clip": result}, figure="f1")
        [['dog', '0.500  0.400 to 0.600']]
    """
    classes = next(iter(results.values())).classes
    return [
        [label, *(_with_interval(result.by_class[label][figure]) for result in results.values())] for label in classes
    ]


def how_sure(result: AnyUncertainty | AnyComparison) -> str:
    """Return in words what the intervals are.

    Example:
        >>> how_sure(Uncertainty("clip", (), "clip", 90, 1, 1000, 0.95, 0, {}, {}, {}))
        '95 % over 90 clips, 1,000 resamples'
    """
    unit = result.unit if result.n_units == 1 else f"{result.unit}s"
    return f"{result.confidence * 100:g} % over {result.n_units:,} {unit}, {result.n_resamples:,} resamples"


def uncertainty_cautions(result: AnyUncertainty | AnyComparison) -> list[str]:
    """Return what a reader of the intervals has to know, one sentence each.

    Example:
        >>> uncertainty_cautions(Uncertainty("clip", (), "group", 90, 1, 1000, 0.95, 0, {}, {}, {}))
        []
    """
    sentences = []
    if result.unit == "clip":
        sentences.append(
            "intervals are over clips, because no groups were given: if clips share a recording, patient or site they"
            " are too narrow - name what belongs together with --group"
        )
    if result.n_units < 20:
        sentences.append(f"intervals over only {result.n_units} {result.unit}s are too narrow themselves")
    return sentences


def as_json(results: Mapping[str, AnyUncertainty] | Mapping[str, AnyComparison]) -> Json:
    """Return results as plain dictionaries, numbers and None (for undefined).

    Example:
        >>> interval = {"f1": Interval(0.5, 0.4, math.nan)}
        >>> as_json({"clip": Uncertainty("clip", (), "clip", 9, 1, 10, 0.9, 0, interval, {}, {})})["clip"]["macro"]
        {'f1': {'value': 0.5, 'low': 0.4, 'high': None, 'n_undefined': 0}}
    """
    return {name: _without_nan(asdict(result)) for name, result in results.items()}


def _named(results: Mapping[str, AnyUncertainty] | Mapping[str, AnyComparison]) -> list[tuple[str, object]]:
    """Every figure of all classes that a table shows, and what it is called there."""
    named: list[tuple[str, object]] = []
    for name, result in results.items():
        if isinstance(result, Uncertainty | Comparison):
            for mean, of_mean in (("macro", result.macro), ("micro", result.micro)):
                named += [(f"{name} {text}, {mean}", of_mean[key]) for key, text in _OF_LISTS if key in of_mean]
        else:
            named += [
                (f"{name} {text}".strip(), result.overall[key]) for key, text in _OF_CURVES if key in result.overall
            ]
    return named


def _with_interval(interval: Interval) -> str:
    """``0.500  0.400 to 0.600``"""
    if math.isnan(interval.value):
        return "-"
    return f"{_figure(interval.value)}  {_figure(interval.low)} to {_figure(interval.high)}"


def _figure(value: float) -> str:
    """Three decimals, or a dash."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def _signed(value: float) -> str:
    """Three decimals with a sign, or a dash."""
    return "-" if math.isnan(value) else f"{value:+.3f}"


def _p_value(value: float) -> str:
    """Three decimals; what is below is said to be below."""
    if math.isnan(value):
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _without_nan(value: object) -> object:
    """JSON has no NaN."""
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_nan(item) for item in value]
    return value
