"""Intervals and differences in words, rows and JSON: what `earmark evaluate` says about how sure its figures are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from earmark.metrics.comparison import Comparison
from earmark.metrics.curves.uncertainty import CurveComparison, CurveUncertainty
from earmark.metrics.uncertainty import Uncertainty

Json = dict[str, object]
Header = dict[str, tuple[str, ...]]  # group of columns -> its columns
AnyUncertainty = Uncertainty | CurveUncertainty
AnyComparison = Comparison | CurveComparison
FEW = 20  # units; below, a bootstrap is too narrow (docs/metrics.md)
HUGE = 1e4  # the tool's error rates of made-up classes; they would make any table too wide
# What a table shows of each kind: figure, and what it is called.
_OF_LISTS = (("f1", "F1"), ("precision", "P"), ("recall", "R"), ("error_rate", "ER"))
_OF_CURVES = (("best_f1", "best F1"), ("average_precision", "AP"), ("auroc", "AUC"), ("psds", ""))


def interval_table(results: Mapping[str, AnyUncertainty]) -> tuple[Header, list[list[str]]]:
    """Return the figures of all classes with their intervals: a header (groups of columns), and rows.

    Of lists the levels stand side by side, and each row is a figure. Of curves each row is a figure of one level.

    Args:
        results: what the figures are called, for instance ``"event"`` or ``"PSDS 1"`` -> the result.

    Example:
        >>> from earmark.metrics.bootstrap import Interval
        >>> interval = {"f1": Interval(0.5, 0.4, 0.6)}
        >>> result = Uncertainty("clip", ("dog",), "clip", 90, 1, 1000, 0.95, 0, interval, interval, {})
        >>> interval_table({"clip": result})[1]
        [['macro F1', '0.500', '0.400', '0.600'], ['micro F1', '0.500', '0.400', '0.600']]
    """
    return _table(
        results, ("value", "from", "to"), lambda one: [_figure(one.value), _figure(one.low), _figure(one.high)]
    )


def difference_table(results: Mapping[str, AnyComparison]) -> tuple[Header, list[list[str]]]:
    """Return the differences of all figures of all classes: a header (groups of columns), and rows.

    Args:
        results: what the figures are called -> the result.

    Example:
        >>> from earmark.metrics.comparison import Difference
        >>> difference = {"f1": Difference(0.04, 0.01, 0.07, 0.008)}
        >>> result = Comparison("clip", (), "clip", 90, (1, 1), 1000, 0.95, "bootstrap", 0, difference, {}, {})
        >>> difference_table({"clip": result})[1]
        [['macro F1', '+0.040', '+0.010', '+0.070', '0.008']]
    """
    return _table(
        results,
        ("differ", "from", "to", "p"),
        lambda one: [_signed(one.value), _signed(one.low), _signed(one.high), _p_value(one.p_value)],
    )


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
    if result.n_units < FEW:
        sentences.append(f"intervals over only {result.n_units} {result.unit}s are too narrow, and p-values too small")
    elif result.n_effective < FEW:
        sentences.append(
            f"a few {result.unit}s hold most of the clips: intervals are as if over {result.n_effective:.0f}"
            f" {result.unit}s, too narrow, and p-values too small"
        )
    return sentences


def as_json(results: Mapping[str, AnyUncertainty] | Mapping[str, AnyComparison]) -> Json:
    """Return results as plain dictionaries, numbers and None (for undefined).

    Example:
        >>> from earmark.metrics.bootstrap import Interval
        >>> interval = {"f1": Interval(0.5, 0.4, math.nan)}
        >>> as_json({"clip": Uncertainty("clip", (), "clip", 9, 1, 10, 0.9, 0, interval, {}, {})})["clip"]["macro"]
        {'f1': {'value': 0.5, 'low': 0.4, 'high': None, 'n_undefined': 0}}
    """
    return {name: _without_nan(asdict(result)) for name, result in results.items()}


def _table(
    results: Mapping[str, AnyUncertainty] | Mapping[str, AnyComparison],
    columns: tuple[str, ...],
    cells_of: Callable[[Any], list[str]],
) -> tuple[Header, list[list[str]]]:
    """Header and rows, `cells_of` making the cells of one figure."""
    nothing = ["-"] * len(columns)
    rows = []
    lists = {name: one for name, one in results.items() if isinstance(one, Uncertainty | Comparison)}
    for mean in ("macro", "micro") if lists else ():
        for key, text in _OF_LISTS:
            figures = [getattr(one, mean).get(key) for one in lists.values()]
            if any(figure is not None for figure in figures):
                cells = [cell for figure in figures for cell in (nothing if figure is None else cells_of(figure))]
                rows.append([f"{mean} {text}", *cells])
    if lists:
        return dict.fromkeys(lists, columns), rows
    for name, result in results.items():
        if not isinstance(result, Uncertainty | Comparison):
            of_name = ((text, result.overall.get(key)) for key, text in _OF_CURVES)
            rows += [[f"{name} {text}".strip(), *cells_of(one)] for text, one in of_name if one is not None]
    return {"": columns}, rows


def _figure(value: float) -> str:
    """Three decimals, or a dash."""
    return "-" if math.isnan(value) else f"{value:.3f}" if abs(value) < HUGE else f"{value:.0e}"


def _signed(value: float) -> str:
    """Three decimals with a sign, or a dash."""
    return "-" if math.isnan(value) else f"{value:+.3f}" if abs(value) < HUGE else f"{value:+.0e}"


def _p_value(value: float) -> str:
    """Three decimals; what is below is said to be below."""
    if math.isnan(value):
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _without_nan(value: object) -> object:
    """JSON has neither NaN nor infinity."""
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_nan(item) for item in value]
    return value
