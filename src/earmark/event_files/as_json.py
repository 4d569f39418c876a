"""Events as JSON: one object per recording, or one line per event."""

from __future__ import annotations

import json
from collections.abc import Sequence

from earmark.checks import number
from earmark.events import Event
from earmark.labels.cells import clean_filename, clean_label


def events_to_json(filename: str, events: Sequence[Event]) -> str:
    """Return one object: filename, and events with onset, offset (seconds), event_label and score.

    Example:
        >>> print(events_to_json("a.wav", [Event(0.5, 1.25, "dog", 0.75)]), end="")
        {"filename": "a.wav", "events": [
        {"onset": 0.5, "offset": 1.25, "event_label": "dog", "score": 0.75}
        ]}
    """
    rows = ",\n".join(_dumped(as_object(event)) for event in events)
    return f'{{"filename": {_dumped(clean_filename(filename))}, "events": [\n{rows}\n]}}\n'


def events_to_jsonl(filename: str, events: Sequence[Event]) -> str:
    """Return one object per line, each with the filename; a recording without events has one line with that alone.

    Example:
        >>> print(events_to_jsonl("a.wav", [Event(0.5, 1.25, "dog")]), end="")
        {"filename": "a.wav", "onset": 0.5, "offset": 1.25, "event_label": "dog", "score": null}
    """
    name: dict[str, object] = {"filename": clean_filename(filename)}
    rows = [name | as_object(event) for event in events] if events else [name]
    return "".join(f"{_dumped(row)}\n" for row in rows)


def as_object(event: Event) -> dict[str, object]:
    """Return one event as JSON has it; the score with six decimals.

    Example:
        >>> as_object(Event(0.5, 1.25, "dog", 1 / 3))
        {'onset': 0.5, 'offset': 1.25, 'event_label': 'dog', 'score': 0.333333}
    """
    onset, offset = float(event.onset), float(event.offset)
    return {"onset": onset, "offset": offset, "event_label": clean_label(event.label), "score": score_of(event)}


def score_of(event: Event) -> float | None:
    """Return the score with six decimals, or None.

    Raises:
        ValueError: it is no probability.

    Example:
        >>> score_of(Event(0.5, 1.25, "dog", 2 / 3))
        0.666667
    """
    if event.score is None:
        return None
    hint = "is it a logit or a percentage?"
    return round(float(number("score", event.score, at_least=0, at_most=1, hint=hint)), 6)


def _dumped(value: object) -> str:
    """The value as JSON, with letters of all languages as they are."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
