"""Events written in every format, read back by earmark's own readers and as the formats' own readers see them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from earmark.event_files.as_jams import events_to_jams
from earmark.event_files.as_json import events_to_json, events_to_jsonl
from earmark.event_files.as_label_studio import events_to_label_studio
from earmark.event_files.as_raven import events_to_raven
from earmark.event_files.as_rttm import events_to_rttm
from earmark.events import Event
from earmark.labels import read_strong
from earmark.timeline import Timeline
from earmark.writers import events_to_csv

Writer = Callable[[str, Sequence[Event]], str]


def as_jams(filename: str, events: Sequence[Event]) -> str:
    return events_to_jams(filename, events, duration_seconds=600.0)


def as_raven(filename: str, events: Sequence[Event]) -> str:
    return events_to_raven(filename, events, highest_hz=8000)


def as_csv(filename: str, events: Sequence[Event]) -> str:
    return events_to_csv({filename: events})


WRITERS: dict[str, Writer] = {
    "a.json": events_to_json,
    "a.jsonl": events_to_jsonl,
    "a.rttm": events_to_rttm,
    "a.jams": as_jams,
    "a.selections.txt": as_raven,
    "a.csv": as_csv,
    "a.labelstudio.json": events_to_label_studio,
}
# Raven has no column for probabilities that are meant as such: its Score is whatever a detector of its own gave.
WITHOUT_SCORES = ("a.selections.txt",)
LABELS = ("dog", "Air-horn,truck", "Käfer", "犬")

# Laws


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("grid", [Timeline(16000, 320), Timeline(22050, 365)])
def test_events_on_any_frame_grid_are_read_back(
    tmp_path: Path, rng: np.random.Generator, name: str, grid: Timeline
) -> None:
    frames = np.sort(rng.integers(0, 5000, size=(40, 2)), axis=1).tolist()
    scores = [None if name in WITHOUT_SCORES else round(float(score), 6) for score in rng.random(40)]
    events = [
        Event(grid.seconds(first), grid.seconds(last), str(rng.choice(LABELS)), score)
        for (first, last), score in zip(frames, scores, strict=True)
    ]
    (tmp_path / name).write_text(WRITERS[name]("a.wav", events), encoding="utf-8")
    read = read_strong(tmp_path / name)["a.wav"]
    assert [(event.label, event.score) for event in read] == [(event.label, event.score) for event in events]
    # JAMS and RTTM hold lengths: what they add up to is rounded to a nanosecond.
    times = [(event.onset, event.offset) for event in events]
    assert [(event.onset, event.offset) for event in read] == [pytest.approx(pair, abs=1e-9) for pair in times]


@pytest.mark.parametrize("name", [name for name in WRITERS if not name.endswith((".rttm", ".selections.txt"))])
def test_a_recording_without_events_is_kept(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(WRITERS[name]("site 3/a.wav", []), encoding="utf-8")
    assert read_strong(tmp_path / name) == {"site 3/a.wav": []}


# Worked numbers


# Files in tests/data/labels/written are as the functions write them, and read by the formats' own readers.
WRITTEN = Path(__file__).parent / "data" / "labels" / "written"
EVENTS = [Event(0.1, 0.3, "dog", 0.75), Event(2.0, 154.911598217, "Käfer", 0.5), Event(1 / 3, 0.5, "dog", 1.0)]


@pytest.mark.parametrize(
    ("name", "write", "key"),
    [("rttm", events_to_rttm, "a.wav"), ("jams", as_jams, "segment_open"), ("selections.txt", as_raven, "")],
)
def test_what_the_formats_own_readers_see(name: str, write: Writer, key: str) -> None:
    file = f"a.wav.{name}"
    assert (WRITTEN / file).read_text(encoding="utf-8") == write("a.wav", EVENTS)
    answer = json.loads((WRITTEN.parent / "readers.json").read_text(encoding="utf-8"))[f"written/{file}"]
    assert hashlib.sha256((WRITTEN / file).read_bytes()).hexdigest() == answer["sha256"]
    seen = sorted((round(onset, 9), round(offset, 9), label) for onset, offset, label in answer["read"][key])
    assert seen == sorted((round(event.onset, 9), round(event.offset, 9), event.label) for event in EVENTS)


def test_label_studio_gets_predictions() -> None:
    (task,) = json.loads(events_to_label_studio("a.wav", [Event(0.5, 1.25, "dog", 0.75)]))
    assert task["predictions"][0]["result"][0]["score"] == 0.75
    assert "annotations" not in task


# Wrong input


@pytest.mark.parametrize(("filename", "label"), [("a b.wav", "dog"), ("a.wav", "air horn"), ("a.wav", "<NA>")])
def test_rttm_holds_no_blanks(filename: str, label: str) -> None:
    with pytest.raises(ValueError, match=r"RTTM has blanks between its fields, so it cannot hold the (file|class) '"):
        events_to_rttm(filename, [Event(0.0, 1.0, label)])


@pytest.mark.parametrize("write", WRITERS.values())
def test_scores_that_are_no_probabilities(write: Writer) -> None:
    with pytest.raises(ValueError, match=r"score must be at least 0 and at most 1, got 7 - is it a logit"):
        write("a.wav", [Event(0.0, 1.0, "dog", 7)])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.json",
            '{"filename": "a.wav", "events": [{"onset": "0"}]}',
            r"a.json: events\[0\]: 'onset' must be a number",
        ),
        ("a.json", '{"filename": "", "events": []}', "a.json: the filename is empty"),
        ("a.jsonl", '{"filename": "a.wav"}\n{"filename": "a.w', r"a.jsonl:2: no JSON .* was the file cut off\?"),
        (
            "a.jsonl",
            '{"filename": "a.wav", "onset": 2, "offset": 1, "event_label": "dog"}',
            "a.jsonl:1: .*onset 2 is after",
        ),
        ("a.jsonl", "7", "a.jsonl:1: the line: 'filename' must be text, got nothing"),
    ],
)
def test_broken_json(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_strong(tmp_path / name)
