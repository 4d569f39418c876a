"""JAMS: one JSON file per recording, with annotations in several namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from earmark.audio.finding import AUDIO_SUFFIXES
from earmark.events import Event
from earmark.labels.cells import clean_filename, clean_label
from earmark.labels.formats.json_parts import Annotation, event, member, read_json, united
from earmark.labels.formats.naming import recording_of

KIND = "JAMS"

# Namespaces that say what happens when. Tags of the whole recording (tag_open) say only what.
NAMESPACES = ("scaper", "sound_event", "segment_open", "tag_open")
_NUMBER = (int, float)


def read_jams(path: Path | str, *, name: str | None = None) -> dict[str, list[Event]]:
    """Read the events of a JAMS file, of all annotations in the namespaces `NAMESPACES`.

    The background of a scaper soundscape is no event. Annotations are united; where two of them mark one class at the
    same time, there is no telling which is meant.

    Args:
        path: the file.
        name: the recording of a file that does not name it; None: what `path` is named after. A title or an identifier
            of the recording that ends like an audio file goes before both.

    Raises:
        ValueError: naming file and place in the file, whatever is wrong.

    Example:
        >>> import json, tempfile
        >>> data = [{"time": 0.5, "duration": 0.75, "value": "dog", "confidence": None}]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "a.jams")
        ...     _ = file.write_text(json.dumps({"file_metadata": {"duration": 10.0}, "annotations": [
        ...         {"namespace": "segment_open", "data": data}]}))
        ...     read_jams(file)
        {'a': [Event(onset=0.5, offset=1.25, label='dog', score=None)]}
    """
    place = Path(path).as_posix()
    content = read_json(path, KIND)
    if not isinstance(content, dict):
        raise ValueError(f"{place}: a JAMS file holds an object with 'annotations', got {type(content).__name__}")
    try:
        listed = member(content, "annotations", list, "the file")
        about = content.get("file_metadata")
        about = about if isinstance(about, dict) else {}
        end_seconds = about.get("duration") if isinstance(about.get("duration"), _NUMBER) else None
        annotations = [
            Annotation(f"annotations[{index}]", list(_events(annotation, f"annotations[{index}]", end_seconds, place)))
            for index, annotation in enumerate(listed)
            if isinstance(annotation, dict) and annotation.get("namespace") in NAMESPACES
        ]
        if not annotations:
            found = sorted({str(item.get("namespace")) for item in listed if isinstance(item, dict)})
            raise ValueError(
                f"no annotation says what happens when; the namespaces are: {', '.join(found) if found else 'none'}"
                f" - expected one of {', '.join(NAMESPACES)}"
            )
        return {_recording(about, path, name): united(annotations)}
    except ValueError as reason:
        raise ValueError(f"{place}: {reason} (read as {KIND})") from None


def _events(annotation: dict[str, Any], where: str, end_seconds: float | None, place: str) -> Iterator[Event]:
    """The events of one annotation in the file `place`."""
    namespace = annotation["namespace"]
    for index, observation in enumerate(_observations(annotation, where)):
        at = f"{where}.data[{index}]"
        time = member(observation, "time", _NUMBER, at, hint=" - seconds, without quotation marks")
        duration = member(observation, "duration", _NUMBER, at, hint=" - seconds, without quotation marks")
        value = observation.get("value")
        if isinstance(value, dict):  # scaper and sound_event describe the event; its class is one of many entries
            if value.get("role") == "background":
                continue
            label = member(value, "label", str, f"{at}.value")
        else:
            label = member(observation, "value", str, at)
        if namespace == "tag_open" and time == 0 and (end_seconds is None or duration >= end_seconds):
            raise ValueError(
                f"{at}: the tag {label!r} of the whole recording says what, not when"
                " - tags are weak labels: write them into a table with filename and event_labels"
            )
        if duration < 0:
            raise ValueError(f"{at}: duration must be at least 0, got {duration!r} - is it the end of the event?")
        try:
            # As many decimals as a sum of floats has: 0.1 + 0.2 is 0.3 here.
            end = round(time + duration, 9)
            confidence, stands = observation.get("confidence"), f"{place}: {at}"
            yield event(time, end, clean_label(label), confidence, end_seconds=end_seconds, where=stands)
        except ValueError as reason:
            raise ValueError(f"{at}: {reason}") from None


def _observations(annotation: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """The observations, which JAMS stores one by one or as columns."""
    data = annotation.get("data")
    if isinstance(data, dict):
        columns = [member(data, key, list, f"{where}.data") for key in ("time", "duration", "value")]
        confidences = data.get("confidence", [None] * len(columns[0]))
        keys = ("time", "duration", "value", "confidence")
        try:
            return [dict(zip(keys, row, strict=True)) for row in zip(*columns, confidences, strict=True)]
        except ValueError:
            raise ValueError(f"{where}.data: time, duration, value and confidence must be equally long") from None
    observations: list[dict[str, Any]] = member(annotation, "data", list, where)
    return observations


def _recording(about: dict[str, Any], path: Path | str, name: str | None) -> str:
    """What the recording is called: by the file, where it says so with an ending, or after the file."""
    identifiers = about.get("identifiers")
    texts = [*(identifiers.values() if isinstance(identifiers, dict) else ()), about.get("title")]
    named = [text for text in texts if isinstance(text, str) and Path(text).suffix.casefold() in AUDIO_SUFFIXES]
    if named:
        return clean_filename(named[0])
    return recording_of(path) if name is None else name
