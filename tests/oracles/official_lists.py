"""The two official validation lists and made-up predictions for them. The lists themselves are no part of the project.

Needs nothing but Python; only `random.Random.random` is drawn from, so that both sides see the same predictions.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from oracles.metrics_cases import Case, Lists, Row

CLIP_SECONDS = 10.0
Draw = Callable[[], float]


@dataclass(frozen=True)
class OfficialList:
    """Where a list lies below the folder of data sets, and whether rows without length stay in."""

    path: str
    keeps_zero_length: bool = True


OFFICIAL = {
    "DCASE 2019 task 4, validation": OfficialList("dcase2019/validation.tsv"),
    "DCASE 2017 task 4, testing": OfficialList("dcase2017/groundtruth_strong_label_testing_set.csv"),
    "DCASE 2017 task 4, testing, without 0-0 rows": OfficialList(
        "dcase2017/groundtruth_strong_label_testing_set.csv", keeps_zero_length=False
    ),
}


def sha256_of_list(folder: Path, official: OfficialList) -> str:
    """By which stored figures are known to belong to a list."""
    return hashlib.sha256((folder / official.path).read_bytes()).hexdigest()


def official_cases(folder: Path, name: str) -> list[Case]:
    """One official list against every kind of predictions."""
    reference = read_list(folder, OFFICIAL[name])
    classes = sorted({label for rows in reference.values() for *_, label in rows})
    return [
        Case(f"{name}: {kind}", reference, _predicted(reference, classes, change, random.Random(number).random))
        for number, (kind, change) in enumerate(PERTURBATIONS.items())
    ]


def read_list(folder: Path, official: OfficialList) -> Lists:
    """Tab-separated file, onset, offset, label, with or without a header; a name alone is a clip without events."""
    lists: Lists = {}
    for line in (folder / official.path).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("\t")]
        if not cells[0] or cells[0] == "filename":
            continue
        rows = lists.setdefault(cells[0], [])
        if len(cells) == 4 and cells[3]:
            onset, offset = float(cells[1]), float(cells[2])
            if offset > onset or official.keeps_zero_length:
                rows.append((onset, offset, cells[3]))
    return lists


def _predicted(
    reference: Lists, classes: list[str], change: Callable[[Draw, list[Row], list[str]], list[Row]], draw: Draw
) -> Lists:
    return {name: change(draw, rows, classes) for name, rows in reference.items()}


def _perfect(draw: Draw, rows: list[Row], classes: list[str]) -> list[Row]:
    return list(rows)


def _jittered(draw: Draw, rows: list[Row], classes: list[str]) -> list[Row]:
    return [_moved(draw, row, 0.35) for row in rows]


def _dropped(draw: Draw, rows: list[Row], classes: list[str]) -> list[Row]:
    return [row for row in rows if draw() > 0.3]


def _inserted(draw: Draw, rows: list[Row], classes: list[str]) -> list[Row]:
    return [*rows, *(_made_up(draw, classes) for _ in range(int(draw() * 4)))]


def _dense(draw: Draw, rows: list[Row], classes: list[str]) -> list[Row]:
    """Every event several times, a little off, and short events all over: here greedy matching goes wrong."""
    copies = [_moved(draw, row, 0.25) for row in rows for _ in range(1 + int(draw() * 4))]
    return [*copies, *(_made_up(draw, classes) for _ in range(12))]


def _wrong_class(draw: Draw, rows: list[Row], classes: list[str]) -> list[Row]:
    return [(row[0], row[1], classes[int(draw() * len(classes))] if draw() < 0.4 else row[2]) for row in rows]


def _everything(draw: Draw, rows: list[Row], classes: list[str]) -> list[Row]:
    """As a mediocre detector would answer, in no order."""
    found = _wrong_class(
        draw, _dropped(draw, _jittered(draw, _inserted(draw, rows, classes), classes), classes), classes
    )
    return [row for _, row in sorted((draw(), row) for row in found)]


def _moved(draw: Draw, row: Row, spread: float) -> Row:
    onset = max(0.0, round(row[0] + (2 * draw() - 1) * spread, 3))
    return onset, max(onset, round(row[1] + (2 * draw() - 1) * spread, 3)), row[2]


def _made_up(draw: Draw, classes: list[str]) -> Row:
    onset = round(draw() * CLIP_SECONDS * 0.95, 3)
    return onset, round(min(CLIP_SECONDS, onset + 0.1 + draw() ** 3 * 5), 3), classes[int(draw() * len(classes))]


PERTURBATIONS = {
    "perfect": _perfect,
    "jittered": _jittered,
    "dropped": _dropped,
    "inserted": _inserted,
    "dense": _dense,
    "wrong class": _wrong_class,
    "everything": _everything,
}
