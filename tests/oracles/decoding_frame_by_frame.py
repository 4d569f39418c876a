"""Decoding once more: one frame after the other, in plain Python, with exact fractions for every time.

The median is the middle of a sorted list, the rest a machine with one open run; nothing is shared with the package.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass
class Run:
    """Frames first to last, and whether one of them was certain."""

    first: int
    last: int
    is_certain: bool


def median_window(length: Fraction, hop: Fraction) -> int:
    """The odd number of frames whose length is nearest, the longer of two that are equally near."""
    odd_numbers = range(1, int(length / hop) + 4, 2)
    return min(odd_numbers, key=lambda frames: (abs(frames * hop - length), -frames))


def median_filtered(probs: Sequence[float], window: int) -> list[float]:
    """The middle of each sorted window; what lies outside is the nearest frame."""
    half = window // 2
    filtered = []
    for middle in range(len(probs)):
        inside = [probs[min(max(frame, 0), len(probs) - 1)] for frame in range(middle - half, middle + half + 1)]
        filtered.append(sorted(inside)[half])
    return filtered


def runs_by_machine(
    filtered: Sequence[float], threshold: float, low: float, max_gap: Fraction, hop: Fraction
) -> list[Run]:
    """Walk along the frames with one open run, which joins the last finished one when the pause is short enough."""
    finished: list[Run] = []
    is_open = False
    for frame, prob in enumerate([*filtered, -1.0]):
        if prob >= low:
            if not is_open:
                run, is_open = Run(frame, frame, False), True
            run.last = frame
            run.is_certain = run.is_certain or prob >= threshold
        elif is_open:
            is_open = False
            if not run.is_certain:
                continue
            if finished and (run.first - finished[-1].last - 1) * hop <= max_gap:
                finished[-1].last = run.last
            else:
                finished.append(run)
    return finished


def decode_slowly(
    probs: Sequence[float],
    *,
    threshold: float,
    low: float,
    median: Fraction,
    max_gap: Fraction,
    min_event: Fraction,
    hop: Fraction,
    duration: Fraction | None,
) -> list[tuple[Fraction, Fraction, float]]:
    """Onset, offset and score of every event of one class."""
    kept = [prob for frame, prob in enumerate(probs) if duration is None or frame * hop < duration]
    events = []
    for run in runs_by_machine(median_filtered(kept, median_window(median, hop)), threshold, low, max_gap, hop):
        frames = kept[run.first : run.last + 1]
        if len(frames) * hop >= min_event:
            offset = (run.last + 1) * hop
            # Added one by one: sum() compensates for rounding from Python 3.12 on, and differs from 3.11.
            score = functools.reduce(operator.add, frames) / len(frames)
            events.append((run.first * hop, offset if duration is None else min(offset, duration), score))
    return events
