"""2,000 small crowded evaluations with every kind of collar, length share, segment length and time grid."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeVar

from oracles.metrics_cases import CLASSES, Case, Lists, Row

Choice = TypeVar("Choice")

N_CASES = 2000
COLLARS_SECONDS = (0.2, 0.2, 0.1, 0.05, 0.5, 0.01)
OFFSET_FRACTIONS = (0.2, 0.2, 0.5, 0.0, 1.0)
SEGMENTS_SECONDS = (1.0, 1.0, 0.1, 0.25, 0.5, 3.0)
DECIMALS = (1, 2, 3, None)  # None: whatever the generator draws, as detectors give it


def crowded_cases() -> list[Case]:
    """All of them, the same on every machine."""
    return [crowded_case_of_any_kind(seed) for seed in range(N_CASES)]


def crowded_case_of_any_kind(seed: int) -> Case:
    """Up to ten events per file in up to six seconds, and predictions about as far off as the collar is wide."""
    draw = random.Random(10_000 + seed).random
    collar = _one_of(draw, COLLARS_SECONDS)
    decimals = _one_of(draw, DECIMALS)
    n_classes = 1 + int(draw() * len(CLASSES))
    span = 0.5 + 5.5 * draw()
    reference: Lists = {}
    predicted: Lists = {}
    for number in range(1 + int(draw() * 3)):
        rows = [_event(draw, span, n_classes, decimals) for _ in range(int(draw() * 11))]
        spread = max(collar, 0.05) * (0.5 + 2 * draw())
        found = [_moved(draw, row, spread, decimals) for row in rows if draw() > 0.15]
        found += [_event(draw, span, n_classes, decimals) for _ in range(int(draw() * 5))]
        reference[f"{number}.wav"] = rows
        # The order of the rows decides which events are left over for substitutions.
        predicted[f"{number}.wav"] = sorted(found, key=lambda row: (row[2], row[0])) if draw() < 0.5 else found[::-1]
    return Case(
        f"crowded {seed}",
        reference,
        predicted,
        collar_seconds=collar,
        offset_fraction=_one_of(draw, OFFSET_FRACTIONS),
        segment_seconds=_one_of(draw, SEGMENTS_SECONDS),
        durations=dict.fromkeys(reference, 12.5) if draw() < 0.2 else {},
    )


def _event(draw: Callable[[], float], span: float, n_classes: int, decimals: int | None) -> Row:
    """One event, short ones more often than long ones, a few without length."""
    onset = _rounded(draw() * span, decimals)
    length = 0.0 if draw() < 0.03 else 0.05 + draw() ** 3 * 3.0
    return onset, max(onset, _rounded(onset + length, decimals)), CLASSES[int(draw() * n_classes)]


def _moved(draw: Callable[[], float], row: Row, spread: float, decimals: int | None) -> Row:
    """The event as a detector would give it, now and then in another class."""
    onset = max(0.0, _rounded(row[0] + (2 * draw() - 1) * spread, decimals))
    offset = max(onset, _rounded(row[1] + (2 * draw() - 1) * spread, decimals))
    return onset, offset, row[2] if draw() < 0.9 else CLASSES[int(draw() * 2)]


def _rounded(seconds: float, decimals: int | None) -> float:
    return seconds if decimals is None else round(seconds, decimals)


def _one_of(draw: Callable[[], float], choices: tuple[Choice, ...]) -> Choice:
    return choices[int(draw() * len(choices))]
