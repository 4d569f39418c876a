"""Label Studio's exports of audio regions: JSON (a list of tasks) and JSON-MIN (a list of flat rows)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from earmark.audio.finding import AUDIO_SUFFIXES
from earmark.events import Event
from earmark.labels.cells import clean_filename, clean_label
from earmark.labels.formats.json_parts import Annotation, event, member, read_json, united

KIND = "an export of Label Studio"

_NUMBER = (int, float)
# What Label Studio puts before the name of a file that was uploaded.
_UPLOAD = re.compile(r"^[0-9a-f]{8}-")


def read_label_studio(path: Path | str) -> dict[str, list[Event]]:
    """Read the labelled regions of a Label Studio export (JSON or JSON-MIN): per recording.

    Recordings that nobody has annotated are left out, since nobody listened; annotations that were skipped do not
    count. Where no task is annotated, the predictions are read, with their scores. A recording without regions whose
    annotation was submitted has no events. Names lose what Label Studio puts before those of uploaded files.

    Args:
        path: the file.

    Raises:
        ValueError: naming file and place in the file, whatever is wrong.

    Example:
        >>> import json, tempfile
        >>> region = {"type": "labels", "value": {"start": 0.5, "end": 1.25, "labels": ["dog"]}}
        >>> task = {"data": {"audio": "/data/upload/1/0a1b2c3d-a.wav"}, "annotations": [{"result": [region]}]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "export.json")
        ...     _ = file.write_text(json.dumps([task]))
        ...     read_label_studio(file)
        {'a.wav': [Event(onset=0.5, offset=1.25, label='dog', score=None)]}
    """
    place = Path(path).as_posix()
    content = read_json(path, KIND)
    tasks = content if isinstance(content, list) else [content]
    events: dict[str, list[Event]] = {}
    try:
        key = "annotations" if any(_passes(task, "annotations") for task in tasks) else "predictions"
        for index, task in enumerate(tasks):
            where = f"[{index}]"
            if not isinstance(task, dict):
                raise ValueError(f"{where}: a task must be an object, got {task!r}")
            recording = _recording(task, where)
            annotations = list(_annotations(task, key, where, place))
            if not annotations:
                continue
            if recording in events:
                raise ValueError(f"{where}: {recording} comes twice - imported twice, or of that name in two folders?")
            events[recording] = united(annotations)
    except ValueError as reason:
        raise ValueError(f"{place}: {reason} (read as {KIND})") from None
    if not events:
        raise ValueError(f"{place}: no task is annotated - was it exported before anything was submitted? ({KIND})")
    return events


def _passes(task: Any, key: str) -> list[Any]:
    """The annotations, or predictions, of a task."""
    passes = task.get(key) if isinstance(task, dict) else None
    if isinstance(task, dict) and key == "annotations" and "data" not in task:
        return [task]  # JSON-MIN: the row is the annotation
    return passes if isinstance(passes, list) else []


def _annotations(task: dict[str, Any], key: str, where: str, place: str) -> Iterator[Annotation]:
    """What each person marked in one task of the file `place`."""
    if "data" not in task and key == "annotations":
        regions = [
            region
            for value in task.values()
            if isinstance(value, list)
            for region in value
            if isinstance(region, dict) and "start" in region
        ]
        yield Annotation(where, [found for region in regions for found in _events(region, None, None, where, place)])
        return
    for index, annotation in enumerate(_passes(task, key)):
        at = f"{where}.{key}[{index}]"
        if not isinstance(annotation, dict) or annotation.get("was_cancelled") is True:
            continue
        found: list[Event] = []
        for number, region in enumerate(member(annotation, "result", list, at)):
            value = region.get("value") if isinstance(region, dict) else None
            # Choices, texts and ratings stand in the same list; so do regions' own notes, which repeat the times.
            if not isinstance(value, dict) or "start" not in value or region.get("type") in _NO_CLASSES:
                continue
            score = region.get("score", annotation.get("score")) if key == "predictions" else None
            found += _events(value, score, region.get("original_length"), f"{at}.result[{number}]", place)
        yield Annotation(at, found)


_NO_CLASSES = frozenset({"choices", "textarea", "rating", "number", "taxonomy", "datetime", "pairwise"})


def _events(value: dict[str, Any], score: object, end_seconds: object, where: str, place: str) -> Iterator[Event]:
    """The events of one region in the file `place`: one per label."""
    onset = member(value, "start", _NUMBER, where, hint=" - is it a project of texts or time series?")
    offset = member(value, "end", _NUMBER, where)
    labels = value.get("labels")
    if not isinstance(labels, list) or not labels:
        raise ValueError(f"{where}: the region from {onset:g} to {offset:g} s has no label - give it one, or delete it")
    end = float(end_seconds) if isinstance(end_seconds, int | float) else None
    for label in labels:
        try:
            yield event(onset, offset, clean_label(str(label)), score, end_seconds=end, where=f"{place}: {where}")
        except ValueError as reason:
            raise ValueError(f"{where}: {reason}") from None


def _recording(task: dict[str, Any], where: str) -> str:
    """The file name of the recording in a task."""
    data = task["data"] if isinstance(task.get("data"), dict) else task
    names = [_file_of(value) for value in data.values() if isinstance(value, str)]
    audio = [name for name in names if PurePosixPath(name).suffix.casefold() in AUDIO_SUFFIXES]
    if len(set(audio)) != 1:
        listed = ", ".join(sorted(set(audio))) if audio else f"none among {', '.join(data)}"
        hint = "is it a project of audio?" if "data" in task else "is it really of Label Studio, or JAMS?"
        raise ValueError(f"{where}: one recording per task expected, got {listed} - {hint}")
    return clean_filename(audio[0])


def _file_of(address: str) -> str:
    """The name of the file at an address: uploaded, in a local folder (as it is called there), or elsewhere."""
    parts = urlsplit(address)
    local = parse_qs(parts.query).get("d")
    if local:
        return local[0]
    path = unquote(parts.path)
    if not parts.scheme and "/data/upload/" not in path and not path.startswith("/"):
        return path
    name = PurePosixPath(path).name
    return _UPLOAD.sub("", name) if "/data/upload/" in path else name
