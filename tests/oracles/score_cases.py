"""Made-up frame scores with references, to compare whole curves with other tools; the same on every machine.

Needs nothing but Python, because the environments in which the other tools still run have nothing of ours. Only
`random.Random.random` is drawn from: Python promises that its sequence never changes.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import asdict, dataclass

from oracles.metrics_cases import Lists, Row

Draw = Callable[[], float]
Frames = list[list[float]]  # frames of classes

NAMES = ("Dog", "Air horn, truck horn", "Speech", "Blender", "Cat")
FRAMES_SECONDS = (0.1, 0.05, 0.25, 10 / 157, 1 / 3)
N_SMALL = 40


@dataclass(frozen=True)
class ScoreCase:
    """Scores of some clips, each (frames, classes), the frames' borders in seconds, and what is really there."""

    name: str
    classes: tuple[str, ...]
    borders: dict[str, list[float]]  # one more than frames
    scores: dict[str, Frames]
    reference: Lists

    @property
    def durations(self) -> dict[str, float]:
        """Seconds per clip."""
        return {name: borders[-1] for name, borders in self.borders.items()}

    @property
    def tags(self) -> dict[str, list[str]]:
        """The classes of each clip, sorted."""
        return {name: sorted({label for *_, label in rows}) for name, rows in self.reference.items()}


def small_cases() -> list[ScoreCase]:
    """40 cases of all kinds."""
    return [score_case(seed) for seed in range(N_SMALL)]


def uniform_cases() -> list[ScoreCase]:
    """Eight cases whose frames are all equally long, for filters that count in frames."""
    draws = [random.Random(30_000 + seed).random for seed in range(8)]
    return [
        _made(
            f"uniform {seed}",
            draw,
            NAMES[: 1 + seed % 4],
            n_clips=6,
            frame_counts=(20, 80),
            frame_seconds=FRAMES_SECONDS[seed % 3],
            decimals=1 + seed % 3,
            may_cut=False,
        )
        for seed, draw in enumerate(draws)
    ]


def large_case() -> ScoreCase:
    """200 clips of 10 s in 157 frames, ten classes, three digits: like a real validation set, but smaller."""
    draw = random.Random(77).random
    classes = tuple(f"class {number}" for number in range(10))
    return _made(
        "large",
        draw,
        classes,
        n_clips=200,
        frame_counts=(157, 157),
        frame_seconds=10 / 157,
        decimals=3,
        noise=0.35,
        flat_share=0.0,
    )


def fingerprint_of_scores(of: list[ScoreCase]) -> str:
    """SHA-256 of cases, by which stored figures are known to belong to them."""
    return hashlib.sha256(json.dumps([asdict(case) for case in of]).encode()).hexdigest()


def score_case(seed: int) -> ScoreCase:
    """3 to 12 clips, 1 to 5 classes, 10 to 60 frames; one to three digits, so that scores tie."""
    draw = random.Random(20_000 + seed).random
    classes = NAMES[: 1 + seed % 5]
    return _made(
        f"scores {seed}",
        draw,
        classes,
        n_clips=3 + int(draw() * 10),
        frame_counts=(10, 60),
        frame_seconds=FRAMES_SECONDS[int(draw() * len(FRAMES_SECONDS))],
        decimals=1 + int(draw() * 3),
    )


def _made(
    name: str,
    draw: Draw,
    classes: tuple[str, ...],
    *,
    n_clips: int,
    frame_counts: tuple[int, int],
    frame_seconds: float,
    decimals: int,
    may_cut: bool = True,
    noise: float = 0.5,
    flat_share: float = 0.12,
) -> ScoreCase:
    borders: dict[str, list[float]] = {}
    scores: dict[str, Frames] = {}
    reference: Lists = {}
    fewest, most = frame_counts
    for number in range(n_clips):
        clip = f"{number:03d}"
        n_frames = fewest + int(draw() * (most - fewest + 1))
        borders[clip] = _borders(draw, n_frames, frame_seconds, may_cut)
        # Every class has events somewhere, as the tool wants it: clip 0 has all of them, one clip in five has none.
        present = [label for label in classes if number == 0 or (number % 5 and draw() < 2 / (1 + len(classes)))]
        reference[clip] = [row for label in present for row in _apart(draw, borders[clip], label)]
        columns = []
        for label in classes:
            rows = [row for row in reference[clip] if row[2] == label]
            columns.append(_scores(draw, borders[clip], rows, decimals, noise, flat_share))
        scores[clip] = [list(row) for row in zip(*columns, strict=True)]
    return ScoreCase(name, classes, borders, scores, reference)


def _borders(draw: Draw, n_frames: int, frame_seconds: float, may_cut: bool) -> list[float]:
    """Frames of one length, except for the last one, which may be cut short."""
    borders = [frame_seconds * index for index in range(n_frames + 1)]
    if may_cut and draw() < 0.4:
        borders[-1] -= 0.7 * frame_seconds
    return borders


def _apart(draw: Draw, borders: list[float], label: str) -> list[Row]:
    """Up to three events of one class that neither overlap nor touch; at frame borders or on a grid of 10 ms."""
    rows: list[Row] = []
    end = borders[-1]
    start = draw() * 0.3 * end
    at_borders = draw() < 0.3
    for _ in range(1 + int(draw() * 3)):
        length = 0.05 + draw() ** 2 * 0.4 * end
        times = [
            _nearest(borders, time) if at_borders else round(time, 2) for time in (start, min(start + length, end))
        ]
        if times[0] >= times[1] or (rows and times[0] <= rows[-1][1]):
            break
        rows.append((times[0], times[1], label))
        start = times[1] + 0.03 + draw() * 0.3 * end
        if start >= end - 0.05:
            break
    return rows if rows else [(0.0, end, label)]


def _nearest(borders: list[float], time: float) -> float:
    return min(borders, key=lambda border: abs(border - time))


def _scores(
    draw: Draw, borders: list[float], rows: list[Row], decimals: int, noise: float, flat_share: float
) -> list[float]:
    """Higher where the class is, noisy, cut off at 0 and 1; a share is the same everywhere or in steps."""
    kind = draw()
    n_frames = len(borders) - 1
    if kind < flat_share / 2:
        return [round(draw(), decimals)] * n_frames
    if kind < flat_share:
        return [float(draw() < 0.5) for _ in range(n_frames)]
    shift, noise = (draw() - 0.5) * 0.4 * noise, noise * (0.3 + draw())
    column: list[float] = []
    value = 0.3
    for index in range(n_frames):
        middle = (borders[index] + borders[index + 1]) / 2 + shift
        there = any(onset <= middle < offset for onset, offset, _ in rows)
        # A walk towards the truth: neighbouring frames are alike, so that events are longer than a frame.
        value += 0.5 * ((0.85 if there else 0.1) - value) + noise * (draw() - 0.5)
        column.append(round(min(1.0, max(0.0, value)), decimals))
    return column
