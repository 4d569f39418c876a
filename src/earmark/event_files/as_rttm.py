"""Events as RTTM."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from earmark.event_files.as_json import score_of
from earmark.events import Event
from earmark.labels.cells import clean_filename, clean_label


def events_to_rttm(filename: str, events: Sequence[Event]) -> str:
    """Return one SPEAKER line per event, with the length in the place of the offset; none where there is no event.

    Raises:
        ValueError: a name or a class with a blank in it, which ends a field there.

    Example:
        >>> print(events_to_rttm("a.wav", [Event(0.5, 1.25, "dog")]), end="")
        SPEAKER a.wav 1 0.5 0.75 <NA> <NA> dog <NA> <NA>
    """
    name = _field("file", clean_filename(filename))
    lines = []
    for event in events:
        # In decimals, so that onset and length add up to the very offset when they are read.
        onset, offset = (Decimal(repr(float(time))) for time in (event.onset, event.offset))
        score = score_of(event)
        shown = "<NA>" if score is None else f"{score:.6f}"
        label = _field("class", clean_label(event.label))
        lines.append(f"SPEAKER {name} 1 {onset:f} {offset - onset:f} <NA> <NA> {label} {shown} <NA>\n")
    return "".join(lines)


def _field(what: str, text: str) -> str:
    """The text, which must be one field."""
    if len(text.split()) != 1 or text == "<NA>":
        raise ValueError(f"RTTM has blanks between its fields, so it cannot hold the {what} {text!r} - rename it, or"
                         " choose another format")  # fmt: skip
    return text
