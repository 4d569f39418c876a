"""Frame scores that sit on the borders of the criteria, or that the tool refuses or should refuse."""

from __future__ import annotations

import math

from oracles.metrics_cases import Lists
from oracles.score_cases import Frames, ScoreCase

DOG, CAT = "Dog", "Cat"


def score_edge_cases() -> list[ScoreCase]:
    """Cases for every trap that curves have."""
    return [
        exactly_one_collar_apart(),
        exactly_the_share_demanded(),
        *flat_scores(),
        *odd_frames(),
        *what_the_tool_refuses(),
    ]


def exactly_one_collar_apart() -> ScoreCase:
    """Detections 200 ms after the reference on every seventh millisecond; the tool rounds, so that all of them hit."""
    starts = range(1, 1400, 7)
    return _dog_case(
        "exactly one collar apart",
        {f"{start:04d}": [0.0, (start + 200) / 1000, 5.0, 5.5] for start in starts},
        {f"{start:04d}": [0.1, 0.2 + (start % 8) / 10, 0.1] for start in starts},
        {f"{start:04d}": [(start / 1000, 5.0, DOG)] for start in starts},
    )


def exactly_the_share_demanded() -> ScoreCase:
    """Detections of which 10, 30, 50 or 70 % lie in the reference, and as much in the other class."""
    borders: dict[str, list[float]] = {}
    scores: dict[str, Frames] = {}
    reference: Lists = {}
    for tenths in (1, 3, 5, 7):
        for step in range(1, 30):
            clip, length = f"{tenths}-{step:02d}", step * 0.13
            borders[clip] = [0.0, 0.1, 0.1 + length, 9.0]
            scores[clip] = [[0.1, 0.0], [0.3 + step / 50, 0.05 * (step % 7)], [0.1, 0.2]]
            reference[clip] = [
                (0.1, 0.1 + length * tenths / 10, DOG),
                (0.1 + length * (10 - tenths) / 10, 0.1 + length, CAT),
            ]
    return ScoreCase("exactly the share demanded", (DOG, CAT), borders, scores, reference)


def flat_scores() -> list[ScoreCase]:
    """The same score everywhere; plateaus at 0 and 1; nothing above 0."""
    borders = {name: [0.0, 0.5, 1.0, 1.5, 2.0] for name in "abc"}
    reference = {"a": [(0.0, 2.0, DOG)], "b": [(0.5, 1.5, DOG)], "c": []}
    columns = {
        "constant": {key: [0.5, 0.5, 0.5, 0.5] for key in "abc"},
        "all zero": {key: [0.0, 0.0, 0.0, 0.0] for key in "abc"},
        "all one": {key: [1.0, 1.0, 1.0, 1.0] for key in "abc"},
        "steps of 0 and 1": {"a": [1.0, 1.0, 1.0, 1.0], "b": [0.0, 1.0, 1.0, 0.0], "c": [0.0, 1.0, 0.0, 1.0]},
        "false alarms tie with hits": {"a": [0.4, 0.4, 0.4, 0.4], "b": [0.1, 0.4, 0.4, 0.1], "c": [0.4, 0.1, 0.4, 0.1]},
        "split and merged again": {"a": [0.9, 0.3, 0.9, 0.8], "b": [0.1, 0.7, 0.6, 0.7], "c": [0.2, 0.1, 0.5, 0.1]},
    }
    return [_dog_case(name, borders, column, reference) for name, column in columns.items()]


def odd_frames() -> list[ScoreCase]:
    """One frame per clip, frames of every length, references beyond the last frame, no length at all."""
    return [
        _dog_case(
            "one frame per clip",
            {name: [0.0, 3.0] for name in "abc"},
            {"a": [0.9], "b": [0.2], "c": [0.5]},
            {"a": [(0.0, 3.0, DOG)], "b": [(1.0, 1.5, DOG)], "c": []},
        ),
        _dog_case(
            "frames of every length",
            {"a": [0.0, 0.1, 0.9, 1.0, 2.75], "b": [0.0, 1.0, 1.05, 4.0]},
            {"a": [0.2, 0.9, 0.6, 0.3], "b": [0.7, 0.1, 0.7]},
            {"a": [(0.1, 1.0, DOG)], "b": [(0.0, 1.0, DOG), (1.05, 4.0, DOG)]},
        ),
        _dog_case(
            "frames that end about half a microsecond past a second",  # 0.4 is no time at all, 0.6 reaches the next one
            {
                "a": [0.0, 1.0000004, 2.0000004, 3.0],
                "b": [0.0, 1.0000006, 1.9999996, 3.0],
                "c": [0.0, 1.5, 2.9999994, 3.0],
            },
            {"a": [0.9, 0.2, 0.4], "b": [0.8, 0.1, 0.3], "c": [0.5, 0.7, 0.6]},
            {"a": [(0.2, 1.0, DOG)], "b": [(0.5, 1.0, DOG), (2.0, 2.5, DOG)], "c": []},
        ),
        _dog_case(
            "reference beyond the last frame",
            {"a": [0.0, 1.0, 2.0], "b": [0.0, 1.0, 2.0]},
            {"a": [0.2, 0.8], "b": [0.6, 0.1]},
            {"a": [(1.0, 2.6, DOG)], "b": [(0.0, 1.0, DOG), (2.2, 2.4, DOG)]},
        ),
        _dog_case(
            "reference without length",
            {"a": [0.0, 1.0, 2.0], "b": [0.0, 1.0, 2.0]},
            {"a": [0.2, 0.8], "b": [0.6, 0.1]},
            {"a": [(1.5, 1.5, DOG)], "b": [(0.0, 1.0, DOG)]},
        ),
    ]


def what_the_tool_refuses() -> list[ScoreCase]:
    """And what it takes although it should not: numbers that are none."""
    borders = {"a": [0.0, 1.0, 2.0, 3.0], "b": [0.0, 1.0, 2.0, 3.0]}
    column = {"a": [0.2, 0.8, 0.3], "b": [0.6, 0.1, 0.4]}
    both = {name: [[value, 1 - value] for value in values] for name, values in column.items()}
    there = {"a": [(1.0, 2.0, DOG)], "b": [(0.0, 1.0, DOG)]}
    return [
        _dog_case("touching references", borders, column, {**there, "a": [(0.0, 1.0, DOG), (1.0, 2.0, DOG)]}),
        _dog_case("overlapping references", borders, column, {**there, "a": [(0.0, 1.5, DOG), (1.0, 2.0, DOG)]}),
        ScoreCase("a class without references", (DOG, CAT), borders, both, there),
        _dog_case("a clip without scores", borders, column, {**there, "c": [(0.0, 1.0, DOG)]}),
        _dog_case("a clip without references", borders, column, {"a": there["a"]}),
        _dog_case("a label without scores", borders, column, {**there, "a": [(0.0, 1.0, CAT)]}),
        _dog_case("a score that is not a number", borders, {**column, "a": [0.2, math.nan, 0.8]}, there),
    ]


def _dog_case(
    name: str, borders: dict[str, list[float]], column: dict[str, list[float]], reference: Lists
) -> ScoreCase:
    return ScoreCase(
        name, (DOG,), borders, {clip: [[value] for value in values] for clip, values in column.items()}, reference
    )
