"""Events as tasks of Label Studio, to be imported and corrected there."""

from __future__ import annotations

import json
from collections.abc import Sequence

from earmark.event_files.as_json import score_of
from earmark.events import Event
from earmark.labels.cells import clean_filename, clean_label


def events_to_label_studio(filename: str, events: Sequence[Event]) -> str:
    """Return one task with a prediction: the recording is its ``audio``, every event a labelled region.

    Its interface there has ``<Labels name="label" toName="audio">`` and ``<Audio name="audio" value="$audio"/>``.

    Example:
        >>> task, = json.loads(events_to_label_studio("a.wav", [Event(0.5, 1.25, "dog", 0.75)]))
        >>> task["data"], task["predictions"][0]["result"][0]["value"]
        ({'audio': 'a.wav'}, {'start': 0.5, 'end': 1.25, 'channel': 0, 'labels': ['dog']})
    """
    regions: list[dict[str, object]] = []
    for index, event in enumerate(events):
        value = {"start": float(event.onset), "end": float(event.offset), "channel": 0,
                 "labels": [clean_label(event.label)]}  # fmt: skip
        region: dict[str, object] = {"id": f"event{index + 1}", "from_name": "label", "to_name": "audio"}
        region |= {"type": "labels", "value": value}
        score = score_of(event)
        regions.append(region if score is None else {**region, "score": score})
    prediction = {"model_version": "earmark", "result": regions}
    tasks = [{"data": {"audio": clean_filename(filename)}, "predictions": [prediction]}]
    return json.dumps(tasks, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
