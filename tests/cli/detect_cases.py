"""What detection of the recordings in conftest.py should find."""

from __future__ import annotations

from pathlib import Path

from earmark.detection.detector import load
from earmark.events import Event

EVERYTHING = "filename\tonset\toffset\tevent_label\tscore"


def expected(model: Path, recordings: Path) -> dict[str, list[Event]]:
    """The events of every recording, from the library instead of the command."""
    detector = load(model)
    files = sorted(path for path in recordings.rglob("*.*") if path.is_file())
    return {path.relative_to(recordings).as_posix(): detector(path) for path in files}
