"""Events as JAMS, in the namespace segment_open."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal

from earmark.checks import number
from earmark.event_files.as_json import score_of
from earmark.events import Event
from earmark.labels.cells import clean_filename, clean_label

# What the schema wants to be there, whether known or not.
_ABOUT = ("version", "corpus", "annotation_tools", "annotation_rules", "validation", "data_source")


def events_to_jams(filename: str, events: Sequence[Event], *, duration_seconds: float) -> str:
    """Return a JAMS file with one annotation; the recording's name is its title, scores are confidences.

    Args:
        filename: the recording.
        events: of this recording.
        duration_seconds: length of the recording.

    Example:
        >>> text = events_to_jams("a.wav", [Event(0.5, 1.25, "dog", 0.75)], duration_seconds=10.0)
        >>> json.loads(text)["annotations"][0]["data"]
        [{'time': 0.5, 'duration': 0.75, 'value': 'dog', 'confidence': 0.75}]
    """
    rows = []
    for event in events:
        # In decimals, so that time and duration add up to the very offset when they are read.
        onset, offset = (Decimal(repr(float(time))) for time in (event.onset, event.offset))
        rows.append({"time": float(onset), "duration": float(offset - onset), "value": clean_label(event.label),
                     "confidence": score_of(event)})  # fmt: skip
    end = float(number("duration_seconds", duration_seconds, above=0))
    about = {"curator": {"name": "", "email": ""}, "annotator": {}, **dict.fromkeys(_ABOUT, "")}
    annotation = {"annotation_metadata": about | {"annotation_tools": "earmark"}, "namespace": "segment_open",
                  "data": rows, "sandbox": {}, "time": 0.0, "duration": end}  # fmt: skip
    metadata = {"title": clean_filename(filename), "artist": "", "release": "", "duration": end, "identifiers": {},
                "jams_version": "0.3.4"}  # fmt: skip
    content = {"annotations": [annotation], "file_metadata": metadata, "sandbox": {}}
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
