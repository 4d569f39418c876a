"""Spans that say a class is there, inside spans that say it is not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from earmark.labels.weak import WeakClip


class Contradiction(NamedTuple):
    """A class that `inner` has, while `outer`, which covers it, is known not to have it."""

    inner: WeakClip
    outer: WeakClip
    label: str


def contradictions(clips: Sequence[WeakClip]) -> list[Contradiction]:
    """Return where tags of one file exclude each other: what is in a part is in the whole.

    Only a span that lies inside another, ends included, can contradict it: where two merely overlap, the class may lie
    beside what they share.

    Example:
        >>> part = WeakClip("a.wav", frozenset({"dog"}), None, 2.0, 3.0, {}, "weak.tsv:2")
        >>> whole = WeakClip("a.wav", frozenset(), None, None, None, {}, "weak.tsv:3")     # none of the classes
        >>> [(found.inner.where, found.outer.where, found.label) for found in contradictions([part, whole])]
        [('weak.tsv:2', 'weak.tsv:3', 'dog')]
    """
    of_file: dict[str, list[WeakClip]] = {}
    for clip in clips:
        of_file.setdefault(clip.filename, []).append(clip)
    found: list[Contradiction] = []
    for spans in of_file.values():
        open_spans: list[WeakClip] = []  # that began before this one and have not ended
        for inner in sorted(spans, key=lambda clip: (_ends(clip)[0], -_ends(clip)[1])):
            begin, end = _ends(inner)
            open_spans = [clip for clip in open_spans if _ends(clip)[1] > begin]
            for outer in open_spans:
                if _ends(outer)[1] >= end:
                    absent = inner.labels - outer.labels
                    known = absent if outer.known is None else absent & outer.known
                    found += [Contradiction(inner, outer, label) for label in sorted(known)]
            open_spans.append(inner)
    return found


def _ends(clip: WeakClip) -> tuple[float, float]:
    """Where a clip begins and ends, in seconds; a whole file is as long as it may be."""
    return 0.0 if clip.onset is None else clip.onset, math.inf if clip.offset is None else clip.offset
