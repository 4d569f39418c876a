"""earmark against the formats' own readers: what they say of tests/data/labels, frozen by oracles/tools."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from earmark.labels import read_strong

EXAMPLES = Path(__file__).parents[2] / "data" / "labels"


def frozen(name: str) -> Any:
    """What the tool made of an example, which must still be the one it was given."""
    answer = json.loads((EXAMPLES / "readers.json").read_text(encoding="utf-8"))[name]
    is_same = hashlib.sha256((EXAMPLES / name).read_bytes()).hexdigest() == answer["sha256"]
    assert is_same, f"{name} changed: make the answers again with oracles.tools.make_readers"
    return answer["read"]


def ours(path: Path) -> dict[str, list[tuple[float, float, str]]]:
    return {
        name: sorted((event.onset, event.offset, event.label) for event in found)
        for name, found in read_strong(path).items()
    }


def as_marks(rows: list[list[Any]]) -> list[tuple[float, float, str]]:
    # The tools add floats: 0.1 + 0.2. Here it is the number that was written.
    return sorted((round(onset, 9), round(offset, 9), label) for onset, offset, label in rows)


@pytest.mark.parametrize(
    ("name", "recording"),
    [
        ("audacity.wav.txt", "audacity.wav"),
        ("audacity_frequencies.txt", "audacity_frequencies"),
        ("raven.Table.1.selections.txt", "raven"),
    ],
)
def test_one_recording_per_file(name: str, recording: str) -> None:
    assert ours(EXAMPLES / name) == {recording: as_marks(frozen(name)[""])}


def test_two_views_of_a_selection_are_one_event_here_and_two_there() -> None:
    rows = as_marks(frozen("raven_two_views.txt")[""])
    assert len(rows) == 4
    assert ours(EXAMPLES / "raven_two_views.txt") == {"raven_two_views": sorted(set(rows))}


def test_rttm() -> None:
    assert ours(EXAMPLES / "speakers.rttm") == {name: as_marks(rows) for name, rows in frozen("speakers.rttm").items()}


def test_jams_of_scaper_without_its_background() -> None:
    rows = [
        [onset, offset, value["label"]]
        for onset, offset, value in frozen("soundscape.jams")["scaper"]
        if value["role"] == "foreground"
    ]
    assert ours(EXAMPLES / "soundscape.jams") == {"soundscape": as_marks(rows)}


def test_jams_with_several_annotations() -> None:
    answer = frozen("segments.jams")
    rows = answer["segment_open"] + answer["tag_open"]  # and not the beats
    assert ours(EXAMPLES / "segments.jams") == {"site 3/yard.wav": as_marks(rows)}


def test_label_studio_and_what_its_converter_makes_of_it(tmp_path: Path) -> None:
    rows = frozen("label_studio.json")
    expected = {
        row["audio"][-5:]: as_marks(
            [[region["start"], region["end"], label] for region in row["label"] for label in region["labels"]]
        )
        for row in rows
    }
    (tmp_path / "min.json").write_text(json.dumps(rows), encoding="utf-8")
    assert ours(EXAMPLES / "label_studio.json") == expected
    assert ours(tmp_path / "min.json") == expected


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("strong.tsv", "filename\tonset\toffset\tevent_label\n\nc.wav\t\t\t\na.wav\t0.5\t1.25\tdog\n", ":4"),
        ("a.txt", "\n0.5\t1.25\tdog\n", ":2"),
        ("a.selections.txt", "Begin Time (s)\tEnd Time (s)\tSpecies\n0.5\t1.25\tdog\n", ":2"),
        ("a.rttm", ";; who\nSPEAKER a 1 0.5 0.75 <NA> <NA> dog <NA> <NA>\n", ":2"),
        ("a.csv", "Start (s),End (s),Common name,Confidence\n0.5,1.25,dog,0.7\n", ":2"),
        ("a.jsonl", '{"filename": "b"}\n{"filename": "a", "onset": 0.5, "offset": 1.25, "event_label": "dog"}\n', ":2"),
        (
            "a.json",
            '{"filename": "a", "events": [{"onset": 0.5, "offset": 1.25, "event_label": "dog"}]}',
            ": events[0]",
        ),
        (
            "a.jams",
            '{"annotations": [{"namespace": "segment_open", "data":'
            ' [{"time": 0.5, "duration": 0.75, "value": "dog"}]}]}',
            ": annotations[0].data[0]",
        ),
        (
            "all.json",
            '[{"data": {"audio": "a.wav"}, "annotations": [{"result": [{"type": "labels", "value":'
            ' {"start": 0.5, "end": 1.25, "labels": ["dog"]}}]}]}]',
            ": [0].annotations[0].result[0]",
        ),
    ],
)
def test_an_event_knows_where_it_stands(tmp_path: Path, name: str, content: str, place: str) -> None:
    (tmp_path / name).write_text(content)
    (event,) = [event for found in read_strong(tmp_path / name).values() for event in found]
    assert (event.onset, event.offset, event.label) == (0.5, 1.25, "dog")
    assert event.where == f"{(tmp_path / name).as_posix()}{place}"
