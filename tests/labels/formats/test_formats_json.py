"""JAMS and Label Studio, which share how JSON is looked into."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from earmark.events import Event
from earmark.labels.formats.jams import read_jams
from earmark.labels.formats.label_studio import read_label_studio


def written(folder: Path, content: object, name: str = "a.jams") -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def observation(time: object, duration: object, value: object, confidence: object = None) -> dict[str, object]:
    return {"time": time, "duration": duration, "value": value, "confidence": confidence}


def jams(*annotations: tuple[str, object], **about: object) -> dict[str, object]:
    listed = [{"namespace": namespace, "data": data} for namespace, data in annotations]
    return {"annotations": listed, "file_metadata": {"duration": 60.0, **about}}


def task(name: str, *passes: list[dict[str, Any]], **more: object) -> dict[str, object]:
    return {"data": {"audio": name}, "annotations": [{"result": regions} for regions in passes], **more}


def region(start: object, end: object, *labels: str, **more: object) -> dict[str, Any]:
    return {"type": "labels", "value": {"start": start, "end": end, "labels": list(labels)}, **more}


# Worked numbers


def test_jams_with_two_halves_columns_and_an_empty_annotation(tmp_path: Path) -> None:
    columns = {"time": [0.1], "duration": [0.2], "value": ["dog"], "confidence": [0.5]}
    content = jams(("segment_open", columns), ("tag_open", [observation(6, 1, "cat")]), ("sound_event", []))
    assert read_jams(written(tmp_path, content)) == {"a": [Event(0.1, 0.3, "dog", 0.5), Event(6.0, 7.0, "cat")]}
    assert read_jams(written(tmp_path, jams(("scaper", []))), name="site/a") == {"site/a": []}


@pytest.mark.parametrize(
    ("about", "name"),
    [
        ({"title": "b.wav"}, "b.wav"),
        ({"title": "A walk in the park"}, "a"),
        ({"title": "b.wav", "identifiers": {"file": "c.flac", "id": "7"}}, "c.flac"),
    ],
)
def test_which_recording_jams_is_about(tmp_path: Path, about: dict[str, object], name: str) -> None:
    assert list(read_jams(written(tmp_path, jams(("scaper", []), **about)))) == [name]


def test_the_same_annotation_twice_counts_once(tmp_path: Path) -> None:
    data = [observation(0, 1, "dog")]
    assert read_jams(written(tmp_path, jams(("segment_open", data), ("segment_open", data))))["a"] == [
        Event(0.0, 1.0, "dog")
    ]


def test_label_studio_names(tmp_path: Path) -> None:
    names = {
        "/data/upload/1/0a1b2c3d-yard%20dog.wav": "yard dog.wav",
        "/data/local-files/?d=rec/site/b.wav": "rec/site/b.wav",
        "s3://bucket/rec/0a1b2c3d-c.wav": "0a1b2c3d-c.wav",
        "rec/d.wav": "rec/d.wav",
    }
    file = written(tmp_path, [task(name, [region(0, 1, "dog")]) for name in names], "export.json")
    assert list(read_label_studio(file)) == list(names.values())


def test_label_studio_counts_what_was_submitted(tmp_path: Path) -> None:
    choice = {"type": "choices", "value": {"start": 0, "end": 1, "choices": ["loud"]}}
    tasks = [
        task("a.wav", [region(0.5, 1, "dog", "cat"), choice]),
        task("b.wav", []),  # listened to, nothing there
        task("c.wav"),  # nobody has looked
        {"data": {"audio": "d.wav"}, "annotations": [{"was_cancelled": True, "result": [region(0, 1, "dog")]}]},
    ]
    assert read_label_studio(written(tmp_path, tasks, "export.json")) == {
        "a.wav": [Event(0.5, 1.0, "dog"), Event(0.5, 1.0, "cat")],
        "b.wav": [],
    }


def test_label_studio_predictions_where_nothing_is_annotated(tmp_path: Path) -> None:
    predictions = [{"score": 0.5, "result": [region(0, 1, "dog", score=0.25), region(2, 3, "cat")]}]
    file = written(tmp_path, [task("a.wav", predictions=predictions)], "export.json")
    assert read_label_studio(file) == {"a.wav": [Event(0.0, 1.0, "dog", 0.25), Event(2.0, 3.0, "cat", 0.5)]}


# Wrong input


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"annotations": [\n  {"a": 1},,\n]}', r"a.jams:2: no JSON from here on .*cut off.*\(read as JAMS\)\n      {"),
        ([], r"a.jams: a JAMS file holds an object"),
        ({"file_metadata": {}}, "a.jams: the file: 'annotations' must be a list, got nothing"),
        (jams(("beat", [])), "a.jams: no annotation says what happens when; the namespaces are: beat"),
        (jams(), "the namespaces are: none"),
        (
            jams(("scaper", [observation("0.5", 1, "dog")])),
            r"annotations\[0\].data\[0\]: 'time' must be a number, got '0",
        ),
        (jams(("scaper", [observation(True, 1, "dog")])), r"'time' must be a number, got True"),
        (jams(("scaper", [observation(0, -1, "dog")])), "duration must be at least 0, got -1 - is it the end"),
        (jams(("scaper", [observation(-1, 2, "dog")])), "onset must be at least 0, got -1"),
        (jams(("scaper", [observation(float("nan"), 2, "dog")])), "onset must be at least 0, got nan"),
        (jams(("scaper", [observation(0, 1, {"role": "foreground"})])), r"data\[0\].value: 'label' must be text"),
        (jams(("scaper", [observation(0, 1, " ")])), "a label is empty"),
        (jams(("scaper", [observation(0, 1, "dog", 7)])), "score must be a probability from 0 to 1, got 7"),
        (jams(("scaper", [observation(5000, 900, "dog")])), "onset 5000 s is after the end .* 60 s - is it in millis"),
        (jams(("scaper", [observation(160000, 900, "dog")])), "is after the end .* 60 s - is it in samples"),
        (jams(("tag_open", [observation(0, 60, "dog")])), "tag 'dog' of the whole recording says what, not when"),
        (jams(("segment_open", {"time": [0], "duration": [], "value": ["dog"]})), "must be equally long"),
        (
            jams(("segment_open", [observation(0, 2, "dog")]), ("scaper", [observation(1, 2, "dog")])),
            r"annotations\[1\] marks 'dog' from 1 to 3 s, and annotations\[0\] from 0 to 2 s - two people",
        ),
    ],
)
def test_broken_jams(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_jams(written(tmp_path, content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            [task("a.wav", [region(0, 1)])],
            r"x.json: \[0\].annotations\[0\].result\[0\]: the region from 0 to 1 s has no",
        ),
        ([task("a.wav", [region(2, 1, "dog")])], "onset 2 is after offset 1"),
        ([task("a.wav", [region("0", 1, "dog")])], "'start' must be a number, got '0'"),
        ([task("a.wav", [region(7, None, "dog")])], "'end' must be a number, got nothing"),
        ([task("a.wav", [region(900, 950, "dog", original_length=10.0)])], "900 s is after the end .* in milliseconds"),
        ([task("a.wav", []), task("a.wav", [])], r"\[1\]: a.wav comes twice"),
        (
            [task("a.png", [])],
            r"\[0\]: one recording per task expected, got none among audio - is it a project of audio",
        ),
        ([task("a.wav")], "no task is annotated"),
        ([7], r"\[0\]: a task must be an object, got 7"),
        (
            [task("a.wav", [region(0, 2, "dog")], [region(1, 2, "dog")])],
            r"\[0\].annotations\[1\] marks 'dog' .* two people's opinions .*\(read as an export of Label Studio\)",
        ),
    ],
)
def test_broken_label_studio(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_label_studio(written(tmp_path, content, "x.json"))


@pytest.mark.parametrize("reader", [read_jams, read_label_studio])
def test_json_that_is_nested_without_end(tmp_path: Path, reader: Callable[[Path], object]) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        reader(written(tmp_path, "[" * 200000))
