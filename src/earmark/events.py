"""The word every room uses: one sound event."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Event:
    """One sound, with its beginning, its end and its class.

    Args:
        onset: beginning in seconds from the start of the recording.
        offset: end in seconds, not before `onset`.
        label: the class, for instance ``"dog"``.
        score: mean frame probability inside the event, 0 to 1; None for events that a person marked.
        where: file and line (or place in JSON) it was read from, for messages; no part of what it is: two events are
            equal wherever they stand.

    Example:
        >>> Event(onset=0.5, offset=1.25, label="dog").duration
        0.75
    """

    onset: float
    offset: float
    label: str
    score: float | None = None
    where: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        try:
            is_span = 0 <= self.onset <= self.offset < math.inf
        except TypeError:
            is_span = False
        if not is_span:
            raise ValueError(
                "an event must begin at 0 s or later and not end before it begins,"
                f" got onset {self.onset!r} and offset {self.offset!r} - are they swapped, or text?"
            )

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return self.offset - self.onset
