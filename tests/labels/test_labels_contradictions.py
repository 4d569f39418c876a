"""Tags of one file that exclude each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from earmark.labels.contradictions import contradictions
from earmark.labels.weak import WeakClip


def tagged(
    labels: str, onset: float | None = None, offset: float | None = None, known: str | None = None, file: str = "a.wav"
) -> WeakClip:
    """A clip whose classes are single letters."""
    where = f"{onset}-{offset}"
    return WeakClip(file, frozenset(labels), None if known is None else frozenset(known), onset, offset, {}, where)


def found(*clips: WeakClip) -> list[tuple[str, str, str]]:
    """Inner span, outer span and class."""
    return sorted((c.inner.where, c.outer.where, c.label) for c in contradictions(clips))


# --- laws ---


def test_it_is_every_pair_of_which_one_lies_in_the_other(rng: np.random.Generator) -> None:
    for _ in range(200):
        spans = {tuple(sorted(rng.choice(7, 2, replace=False).tolist())) for _ in range(6)}
        clips = [
            tagged(
                "".join(rng.choice(list("xy"), rng.integers(0, 3), replace=False)),
                begin,
                end,
                None,
                str(rng.choice(["a.wav", "b.wav"])),
            )
            for begin, end in spans
        ]
        expected = [
            (inner.where, outer.where, label)
            for inner, outer in itertools.permutations(clips, 2)
            for label in "xy"
            if inner.filename == outer.filename
            and outer.onset <= inner.onset  # type: ignore[operator]
            and inner.offset <= outer.offset  # type: ignore[operator]
            and label in inner.labels
            and label not in outer.labels
        ]
        assert found(*clips) == sorted(expected)


# --- worked numbers ---


@pytest.mark.parametrize(
    ("part", "whole", "labels"),
    [
        (tagged("x", 2, 3), tagged("", None, None), ["x"]),  # of a whole file
        (tagged("xy", 2, 3), tagged("x", 2, 3.5), ["y"]),  # from the same moment on
        (tagged("x", 2, 3), tagged("x", 0, 9), []),
        (tagged("", 2, 3), tagged("x", 0, 9), []),  # it may be elsewhere in the whole
        (tagged("x", 2, 3), tagged("", 0, 2.5), []),  # it may lie beside what they share
        (tagged("x", 2, 3), tagged("", 3, 9), []),
        (tagged("x", 2, 3), tagged("", 0, 9, known="y"), []),  # nobody listened for it
        (tagged("x", 2, 3), tagged("", 0, 9, known="x"), ["x"]),
        (tagged("x", 2, 3), tagged("", 0, 9, file="b.wav"), []),
    ],
)
def test_one_span_and_another(part: WeakClip, whole: WeakClip, labels: list[str]) -> None:
    for order in ((part, whole), (whole, part)):
        assert found(*order) == [(part.where, whole.where, label) for label in labels]
