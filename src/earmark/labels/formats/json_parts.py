"""What the formats in JSON share: reading a file, looking into it, and several annotations of one recording."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from earmark.events import Event
from earmark.labels.text import line_error, read_lines


class Annotation(NamedTuple):
    """What one person, or one pass, marked in a recording, and where that stands in the file."""

    where: str
    events: list[Event]


def read_json(path: Path | str, kind: str) -> Any:
    """Return what a JSON file holds.

    Raises:
        ValueError: naming file and line where it is no JSON.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "a.jams")
        ...     _ = file.write_text('{"annotations": []}')
        ...     read_json(file, "JAMS")
        {'annotations': []}
    """
    lines = read_lines(path)
    try:
        return json.loads("\n".join(lines))
    except json.JSONDecodeError as error:
        line = lines[error.lineno - 1] if error.lineno <= len(lines) else ""
        reason = f"no JSON from here on ({error.msg}, column {error.colno}) - was the file cut off, or edited by hand?"
        raise line_error(path, error.lineno, reason, line[:200], kind) from None
    except RecursionError:
        raise ValueError(f"{Path(path).as_posix()}: nested too deeply to be {kind}") from None


def member(holder: Any, key: str, expected: type | tuple[type, ...], where: str, *, hint: str = "") -> Any:
    """Return what stands under `key` of a JSON object.

    Raises:
        ValueError: there is no such key, or something else than `expected` stands there.

    Example:
        >>> member({"time": 0.5}, "time", (int, float), "a.jams: data[0]")
        0.5
    """
    value = holder.get(key) if isinstance(holder, dict) else None
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        wanted = {dict: "an object", list: "a list", str: "text"}.get(expected, "a number")  # type: ignore[call-overload]
        came = "nothing" if value is None else f"{value!r}"[:80]
        raise ValueError(f"{where}: {key!r} must be {wanted}, got {came}{hint}")
    return value


def event(
    onset: float, offset: float, label: str, score: object, *, end_seconds: float | None, where: str = ""
) -> Event:
    """Return one event that stands at `where`, checked against the recording's length where the file says it (seconds).

    Example:
        >>> event(12500, 14000, "dog", None, end_seconds=60.0)
        Traceback (most recent call last):
        ...
        ValueError: onset 12500 s is after the end of the recording at 60 s - is it in milliseconds?
    """
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1):
        raise ValueError(f"score must be a probability from 0 to 1, got {score!r} - is it a logit or a percentage?")
    for name, time in (("onset", onset), ("offset", offset)):
        if not math.isfinite(time) or time < 0:
            raise ValueError(f"{name} must be at least 0, got {time!r} - seconds count from the start of the file")
    if onset > offset:
        raise ValueError(f"onset {onset!r} is after offset {offset!r} - are they swapped?")
    if end_seconds is not None and end_seconds > 0 and onset > end_seconds:
        unit = "milliseconds" if offset / 1000 <= 1.01 * end_seconds else "samples"
        raise ValueError(f"onset {onset:g} s is after the end of the recording at {end_seconds:g} s - is it in {unit}?")
    return Event(float(onset), float(offset), label, None if score is None else float(score), where)


def united(annotations: Sequence[Annotation]) -> list[Event]:
    """Return the events of all annotations of one recording, each class in one of them at a time.

    Where two people marked the same sound, each in his way, there is no telling whose mark is meant.

    Raises:
        ValueError: two annotations mark a class at the same time, and are not the same throughout.

    Example:
        >>> dogs, cats = [Event(0.0, 1.0, "dog")], [Event(0.5, 2.0, "cat")]
        >>> [event.label for event in united([Annotation("annotations[0]", dogs), Annotation("annotations[1]", cats)])]
        ['dog', 'cat']
    """
    distinct: list[Annotation] = []
    for annotation in annotations:
        if all(annotation.events != other.events for other in distinct):
            distinct.append(annotation)
    if len(distinct) > 1:
        _refuse_two_opinions(distinct)
    return [event for annotation in distinct for event in annotation.events]


def _refuse_two_opinions(annotations: Sequence[Annotation]) -> None:
    """Raise ValueError where events of one class from two annotations overlap."""
    marks = sorted(
        (event.label, event.onset, event.offset, annotation.where)
        for annotation in annotations
        for event in annotation.events
    )
    latest: dict[str, tuple[str, float, float, str]] = {}  # per annotation, of the class at hand
    for mark in marks:
        label, onset, offset, where = mark
        for other_where, (other_label, begin, end, _) in latest.items():
            overlaps = onset < end or (onset, offset) == (begin, end)
            if other_where != where and other_label == label and overlaps:
                raise ValueError(
                    f"{where} marks {label!r} from {onset:g} to {offset:g} s, and {other_where} from {begin:g} to"
                    f" {end:g} s - two people's opinions of one sound? keep one of them"
                )
        before = latest.get(where)
        if before is None or before[0] != label or before[2] <= offset:
            latest[where] = mark
