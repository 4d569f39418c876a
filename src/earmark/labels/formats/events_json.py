"""Strong labels as earmark writes them in JSON: one object per recording, or one line per event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from earmark.events import Event
from earmark.labels.cells import clean_filename, clean_label
from earmark.labels.formats.json_parts import event, member, read_json
from earmark.labels.text import line_error, read_lines

KIND = "earmark's JSON"

_NUMBER = (int, float)


def read_events_json(path: Path | str) -> dict[str, list[Event]]:
    """Read ``{"filename": ..., "events": [{"onset": ..., "offset": ..., "event_label": ..., "score": ...}]}``.

    Raises:
        ValueError: naming file and place in the file, whatever is wrong.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "a.wav.json")
        ...     dog = '{"onset": 0.5, "offset": 1, "event_label": "dog"}'
        ...     _ = file.write_text(f'{{"filename": "a.wav", "events": [{dog}]}}')
        ...     read_events_json(file)
        {'a.wav': [Event(onset=0.5, offset=1.0, label='dog', score=None)]}
    """
    content, place = read_json(path, KIND), Path(path).as_posix()
    try:
        name = clean_filename(member(content, "filename", str, "the file"))
        listed = member(content, "events", list, "the file")
        return {
            name: [_event(item, f"events[{index}]", f"{place}: events[{index}]") for index, item in enumerate(listed)]
        }
    except ValueError as reason:
        raise ValueError(f"{place}: {reason} (read as {KIND})") from None


def read_events_jsonl(path: Path | str) -> dict[str, list[Event]]:
    """Read one JSON object per line; one with a filename alone is a recording without events.

    Raises:
        ValueError: naming file, line number and line, whatever is wrong with them.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "all.jsonl")
        ...     _ = file.write_text('{"filename": "b.wav"}')
        ...     read_events_jsonl(file)
        {'b.wav': []}
    """
    events: dict[str, list[Event]] = {}
    place = Path(path).as_posix()
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
            in_file = events.setdefault(clean_filename(member(item, "filename", str, "the line")), [])
            if set(item) - {"filename"}:
                in_file.append(_event(item, "the line", f"{place}:{number}"))
        except json.JSONDecodeError as error:
            raise line_error(path, number, f"no JSON ({error.msg}) - was the file cut off?", line[:200], KIND) from None
        except (ValueError, RecursionError) as reason:
            raise line_error(path, number, reason, line[:200], KIND) from None
    return events


def _event(item: Any, at: str, where: str) -> Event:
    """One event, which stands at `where`; `at` is what messages call the place inside the file."""
    onset, offset = member(item, "onset", _NUMBER, at), member(item, "offset", _NUMBER, at)
    label = clean_label(member(item, "event_label", str, at))
    try:
        return event(onset, offset, label, item.get("score"), end_seconds=None, where=where)
    except ValueError as reason:
        raise ValueError(f"{at}: {reason}") from None
