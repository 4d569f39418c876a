"""Recordings to detect in, and what should be found there."""

from __future__ import annotations

from pathlib import Path

import soundfile
from cli_cases import make_clips

from earmark.detection.detector import load
from earmark.events import Event

EVERYTHING = "filename\tonset\toffset\tevent_label\tscore"


def make_recordings(folder: Path) -> Path:
    """Two sites, with the same names in both, and one name twice with different endings."""
    clips = [
        soundfile.read(path)[0] for path in sorted((make_clips(folder / "clips", n_clips=4).parent / "audio").iterdir())
    ]
    for name, samples in zip(("hill/a.wav", "hill/a.flac", "lake/day 1/a.wav", "b.wav"), clips, strict=True):
        (folder / "recordings" / name).parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(folder / "recordings" / name, samples, 16000)
    return folder / "recordings"


def expected(model: Path, recordings: Path) -> dict[str, list[Event]]:
    """The events of every recording, from the library instead of the command."""
    detector = load(model)
    files = sorted(path for path in recordings.rglob("*.*") if path.is_file())
    return {path.relative_to(recordings).as_posix(): detector(path) for path in files}
