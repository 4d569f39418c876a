"""Made-up event lists to compare with other tools, the same on every machine and in every version of everything.

Needs nothing but Python, because the environments in which the other tools still run have nothing of ours. Only
`random.Random.random` is drawn from: Python promises that its sequence never changes.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field

Row = tuple[float, float, str]  # onset, offset, label
Lists = dict[str, list[Row]]  # file name -> its events

CLASSES = ("Dog", "Air horn, truck horn", "Speech", "Fire engine, fire truck (siren)")


@dataclass(frozen=True)
class Case:
    """One evaluation: two lists over the same files, and the settings."""

    name: str
    reference: Lists
    predicted: Lists
    offset_fraction: float = 0.2
    segment_seconds: float = 1.0
    durations: dict[str, float] = field(default_factory=dict)  # empty: not given
    collar_seconds: float = 0.2
    classes: tuple[str, ...] = ()  # empty: all labels of both sides
    tags: tuple[dict[str, list[str]], dict[str, list[str]]] | None = None  # None: the labels of the events


def cases() -> list[Case]:
    """All cases whose figures are stored beside the tests."""
    return [*named_cases(), *(crowded_case(seed) for seed in range(60)), *(clips_case(seed) for seed in range(12))]


def fingerprint(of: Sequence[Case]) -> str:
    """SHA-256 of cases, by which stored figures are known to belong to them."""
    return hashlib.sha256(json.dumps([asdict(case) for case in of]).encode()).hexdigest()


def labels(case: Case) -> list[str]:
    """The classes of a case, sorted."""
    if case.classes:
        return sorted(case.classes)
    return sorted({label for side in (case.reference, case.predicted) for rows in side.values() for *_, label in rows})


def named_cases() -> list[Case]:
    """One case for every trap we know."""
    dog, horn, speech, siren = CLASSES
    grid = [0.001 * step for step in range(0, 900, 7)]
    return [
        Case("perfect", {"a": [(0.5, 1.5, dog), (2.0, 9.5, horn)]}, {"a": [(0.5, 1.5, dog), (2.0, 9.5, horn)]}),
        Case("no predictions", {"a": [(0.5, 1.5, dog)], "b": [(1.0, 2.0, horn)]}, {"a": [], "b": []}),
        Case("no references", {"a": [], "b": []}, {"a": [(0.5, 1.5, dog)], "b": [(1.0, 2.0, horn)]}),
        Case("nothing at all", {"a": []}, {"a": []}),
        Case("class missed", {"a": [(0.5, 1.5, dog), (3.0, 4.0, horn)]}, {"a": [(0.5, 1.5, dog)]}),
        Case("class made up", {"a": [(0.5, 1.5, dog)]}, {"a": [(0.5, 1.5, dog), (3.0, 4.0, horn)]}),
        Case(
            "false alarms in a clip without events",
            {"a": [], "b": [(1.0, 2.0, dog)]},
            {"a": [(0.0, 1.0, dog), (4.0, 5.0, speech)], "b": [(1.0, 2.0, dog)]},
        ),
        Case(
            "classes exchanged",
            {"a": [(1.0, 2.0, dog), (1.1, 2.1, horn), (5.0, 6.0, speech)]},
            {"a": [(1.0, 2.0, horn), (1.1, 2.0, speech), (5.1, 6.0, siren)]},
        ),
        Case(
            "exactly one collar apart",
            {"a": [(onset, onset + 1.0, dog) for onset in grid]},
            {"a": [(onset + 0.2, onset + 1.0, dog) for onset in grid]},
        ),
        Case(
            "long events, larger offset collar",
            {"a": [(0.0, 10.0, dog), (0.0, 8.0, horn), (1.0, 2.0, speech)]},
            {"a": [(0.1, 8.5, dog), (0.2, 9.7, horn), (1.0, 2.3, speech)]},
        ),
        Case(
            "half of the length",
            {"a": [(0.0, 10.0, dog), (0.0, 2.0, horn)]},
            {"a": [(0.1, 5.5, dog), (0.2, 3.1, horn)]},
            offset_fraction=0.5,
        ),
        Case(
            "zero length",
            {"a": [(0.0, 0.0, dog), (1.5, 1.5, horn), (3.0, 3.0, speech), (4.0, 5.0, siren)]},
            {"a": [(0.0, 0.1, dog), (1.5, 1.5, horn), (3.0, 3.0, speech), (4.0, 4.0, siren)]},
        ),
        Case(
            "floating-point noise on segment borders",
            {"a": [(0.0, 3.0000000000000004, dog), (0.1 * 3, 1.1 + 2.2, horn)]},
            {"a": [(0.0, 3.0, dog), (0.3, 3.3, horn)]},
        ),
        Case(
            "same-class overlap and touch",
            {"a": [(0.0, 2.0, dog), (1.0, 3.0, dog), (3.0, 4.0, dog)]},
            {"a": [(0.0, 4.0, dog), (0.1, 1.9, dog), (0.9, 3.1, dog)]},
        ),
        Case(
            "chain that first come, first served gets wrong",
            {"a": [(1.0, 2.0, dog), (1.15, 2.15, dog), (1.3, 2.3, dog), (1.45, 2.45, dog)]},
            {"a": [(1.15, 2.1, dog), (1.3, 2.3, dog), (0.95, 2.0, dog), (1.6, 2.6, dog)]},
        ),
        Case("leftovers depend on the order", {"a": _sharing_rows()[0]}, {"a": _sharing_rows()[1]}),
        Case("the same in reverse", {"a": _sharing_rows()[0][::-1]}, {"a": _sharing_rows()[1][::-1]}),
        Case(
            "durations",
            {"a": [(0.5, 9.9, dog), (9.0, 12.0, horn)], "b": []},
            {"a": [(1.2, 3.4, dog), (11.0, 12.5, horn)], "b": [(0.0, 0.4, dog)]},
            durations={"a": 10.0, "b": 7.3},
        ),
        Case(
            "floating-point noise on short segments",
            {"a": [(0.0, 1.1 + 2.2, dog), (0.1 * 3, 0.7 + 0.1, horn)]},
            {"a": [(0.0, 3.3, dog), (0.3, 0.8, horn)]},
            segment_seconds=0.1,
        ),
        Case(
            "segments of 0.1 s",
            {"a": [(0.3, 0.9, dog), (0.7, 1.1, horn)]},
            {"a": [(0.2, 0.6, dog), (0.8, 1.2, dog)]},
            segment_seconds=0.1,
        ),
    ]


def _sharing_rows() -> tuple[list[Row], list[Row]]:
    """Four predictions compete for three horns; whether the one left over is a substitution for the dog beside them
    depends on who is served first."""
    dog, horn, *_ = CLASSES
    return (
        [(1.6, 1.9, horn), (1.5, 1.8, horn), (1.2, 1.5, horn), (1.4, 1.7, dog)],
        [(1.3, 1.6, horn), (1.6, 1.9, horn), (1.4, 1.7, horn), (1.6, 1.9, horn)],
    )


def crowded_case(seed: int) -> Case:
    """Few classes, many events in little time, jittered predictions with drops and insertions: matching is needed."""
    draw = random.Random(seed).random
    n_classes = 1 + int(draw() * len(CLASSES))
    span = 1.0 + 9.0 * draw()
    reference: Lists = {}
    predicted: Lists = {}
    for number in range(1 + int(draw() * 4)):
        rows = [_event(draw, span, n_classes) for _ in range(int(draw() * 14))]
        spread = 0.05 + 0.4 * draw()
        found = [_jittered(draw, row, spread) for row in rows if draw() > 0.15]
        found += [_event(draw, span, n_classes) for _ in range(int(draw() * 6))]
        reference[f"{number}.wav"] = rows
        predicted[f"{number}.wav"] = sorted(found, key=lambda row: row[2]) if draw() < 0.5 else found
    return Case(
        f"crowded {seed}",
        reference,
        predicted,
        offset_fraction=0.2 if draw() < 0.7 else 0.5,
        segment_seconds=1.0 if draw() < 0.7 else 0.25,
    )


def clips_case(seed: int) -> Case:
    """Sparse events over more files, some empty on one side or both, one class on one side only."""
    draw = random.Random(1000 + seed).random
    reference: Lists = {}
    predicted: Lists = {}
    for number in range(10):
        rows = [_event(draw, 10.0, 3) for _ in range(int(draw() * 4))]
        reference[f"{number}.wav"] = rows
        predicted[f"{number}.wav"] = [_jittered(draw, row, 0.2) for row in rows if draw() > 0.3]
        if draw() < 0.3:
            predicted[f"{number}.wav"].append(_event(draw, 10.0, len(CLASSES)))
    return Case(f"clips {seed}", reference, predicted, durations={} if seed % 2 else dict.fromkeys(reference, 10.0))


def _event(draw: Callable[[], float], span: float, n_classes: int) -> Row:
    """One event on a grid of 10 ms, sometimes without length."""
    onset = round(draw() * span, 2)
    length = 0.0 if draw() < 0.05 else round(0.05 + draw() ** 3 * 4.0, 2)
    return onset, round(onset + length, 2), CLASSES[int(draw() * n_classes)]


def _jittered(draw: Callable[[], float], row: Row, spread: float) -> Row:
    """The event as a detector would give it: moved by up to `spread`, now and then in another class."""
    onset = max(0.0, round(row[0] + (2 * draw() - 1) * spread, 2))
    offset = max(onset, round(row[1] + (2 * draw() - 1) * spread, 2))
    return onset, offset, row[2] if draw() < 0.9 else CLASSES[int(draw() * 2)]
