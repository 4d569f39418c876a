"""The word every room uses: one sound event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """One sound, with its beginning, its end and its class.

    Args:
        onset: beginning in seconds from the start of the recording.
        offset: end in seconds, not before `onset`.
        label: the class, for instance ``"dog"``.
        score: mean frame probability inside the event, 0 to 1; None for events that a person marked.

    Example:
        >>> Event(onset=0.5, offset=1.25, label="dog").duration
        0.75
    """

    onset: float
    offset: float
    label: str
    score: float | None = None

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.offset - self.onset


def merge_overlapping(events: Iterable[Event]) -> list[Event]:
    """Join events of one class that overlap or touch, and sort all by onset, offset and label.

    The score of a joined event is the mean of its parts' scores weighted by their durations, and None when a part
    has none.

    Example:
        >>> merge_overlapping([Event(1.0, 3.0, "dog"), Event(2.0, 4.0, "dog"), Event(2.0, 3.0, "cat")])
        [Event(onset=1.0, offset=4.0, label='dog', score=None), Event(onset=2.0, offset=3.0, label='cat', score=None)]
    """
    merged: list[Event] = []
    last: dict[str, int] = {}
    for event in sorted(events, key=lambda e: (e.onset, e.offset, e.label)):
        index = last.get(event.label)
        if index is not None and event.onset <= merged[index].offset:
            merged[index] = _join(merged[index], event)
        else:
            last[event.label] = len(merged)
            merged.append(event)
    return sorted(merged, key=lambda e: (e.onset, e.offset, e.label))


def _join(first: Event, second: Event) -> Event:
    """One event over both."""
    score = None
    total = first.duration + second.duration
    if first.score is not None and second.score is not None:
        weight = first.duration / total if total > 0 else 0.5
        score = weight * first.score + (1 - weight) * second.score
    return Event(first.onset, max(first.offset, second.offset), first.label, score)
