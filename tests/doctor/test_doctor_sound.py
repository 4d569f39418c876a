"""From which figures on a recording is worth a finding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from earmark.doctor.data_set import DataSet
from earmark.doctor.findings import Finding
from earmark.doctor.listening import Sound
from earmark.doctor.sound_findings import sound_findings
from earmark.labels.weak import WeakClip

CLEAN = Sound(seconds=4.0, sample_rate=16000, n_channels=1, peak=0.5, swing=0.5)


def all_found(sounds: list[Sound]) -> list[Finding]:
    """What is found in recordings that are called 0, 1, 2 ..."""
    named = {str(i): replace(sound, digest=bytes([i])) for i, sound in enumerate(sounds)}
    clips = tuple(WeakClip(name, frozenset({"dog"}), None, None, None, {}, f"weak.tsv:{name}") for name in named)
    data = DataSet("weak.tsv", clips, Path(), {}, named, None, "", {}, None, None, None)
    return sound_findings(data)


def found(sounds: list[Sound]) -> list[tuple[str, str, str]]:
    """Severity, code and recording of each."""
    return [(finding.severity, finding.code, finding.file) for finding in all_found(sounds)]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"clipped_share": 0.0009}, []),
        ({"clipped_share": 0.001}, [("note", "audio-clipped")]),
        ({"clipped_share": 0.0099}, [("note", "audio-clipped")]),
        ({"clipped_share": 0.01}, [("warning", "audio-clipped")]),
        ({"mean": -0.019}, []),
        ({"mean": -0.02}, [("note", "audio-dc-offset")]),
        ({"silent_seconds": 0.99}, []),
        ({"silent_seconds": 1.0}, [("note", "audio-long-silence")]),
        ({"seconds": 1.0, "silent_seconds": 0.5}, [("note", "audio-long-silence")]),
        ({"swing": 3e-5}, [("warning", "audio-silent")]),
        ({"dead_channels": (2,)}, [("note", "audio-dead-channel")]),
    ],
)
def test_how_bad_one_recording_is(changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert found([replace(CLEAN, **changes)]) == [(severity, code, "0") for severity, code in expected]


@pytest.mark.parametrize(
    ("usual", "seconds", "is_odd"),
    [
        ([4.0] * 9, 8.0, False),
        ([4.0] * 9, 8.1, True),
        ([4.0] * 9, 2.0, False),
        ([4.0] * 9, 1.9, True),
        # Not cut to one length: quarters at 3.25 and 7.75 s.
        ([float(i) for i in range(1, 10)], 77.0, False),
        ([float(i) for i in range(1, 10)], 78.0, True),
        ([4.0] * 8, 100.0, False),  # of nine recordings nothing is usual
    ],
)
def test_which_lengths_are_odd(usual: list[float], seconds: float, is_odd: bool) -> None:
    sounds = [replace(CLEAN, seconds=each) for each in (*usual, seconds)]
    assert found(sounds) == [("warning", "audio-length", str(len(usual)))] * is_odd


@pytest.mark.parametrize(
    ("peak", "said"), [(0.0, "only zeros"), (1e-5, "nothing above -100 dB"), (0.25, "all its samples lie at +0.250")]
)
def test_what_is_said_of_silence(peak: float, said: str) -> None:
    (silent,) = all_found([replace(CLEAN, peak=peak, swing=0.0, mean=peak)])
    assert silent.found == f"4.00 s, and {said}"
