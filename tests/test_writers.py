from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from earmark.events import Event
from earmark.labels.strong import read_strong, read_tags
from earmark.timeline import Timeline
from earmark.writers import FORMATS, events_to_audacity, events_to_tsv, weak_to_tsv, write_events

LABELS = ("Dog", "Air horn, truck horn", '12" vinyl', "Käfer", "犬")

# Laws


@pytest.mark.parametrize("grid", [Timeline(16000, 320), Timeline(22050, 365), Timeline(44100, 511)])
def test_events_on_any_frame_grid_are_read_back_exactly(
    tmp_path: Path, rng: np.random.Generator, grid: Timeline
) -> None:
    events = {}
    for i in range(30):
        frames = np.sort(rng.integers(0, 5000, size=(5, 2)), axis=1).tolist()
        events[f"{i}.wav"] = [
            Event(grid.seconds(first), grid.seconds(last), str(rng.choice(LABELS))) for first, last in frames
        ]
    events["silent.wav"] = []
    file = tmp_path / "events.tsv"
    file.write_text(events_to_tsv(events), encoding="utf-8")
    assert read_strong(file) == events


def test_scores_are_read_back_to_six_decimals(tmp_path: Path, rng: np.random.Generator) -> None:
    scores = [0.0, 1.0, *rng.random(100).tolist()]
    events = [Event(0.0, 1.0, "Dog", score) for score in scores] + [Event(0.0, 1.0, "Dog")]
    file = write_events(tmp_path / "a.wav", events, filename="a.wav", format="tsv")
    *read, last = read_strong(file)["a.wav"]
    assert [event.score for event in read] == pytest.approx(scores, abs=5e-7)
    assert last.score is None


def test_tags_are_read_back(tmp_path: Path, rng: np.random.Generator) -> None:
    tags = {f"sub/{i}.wav": frozenset(name for name in LABELS if rng.random() < 0.4) for i in range(50)}
    file = tmp_path / "tags.tsv"
    file.write_text(weak_to_tsv(tags), encoding="utf-8")
    assert read_tags(file) == tags


def test_audacity_labels_can_be_split_at_tabs(rng: np.random.Generator) -> None:
    events = [Event(float(onset), float(onset) + 1, label) for onset, label in zip(rng.random(5), LABELS, strict=True)]
    rows = [line.split("\t") for line in events_to_audacity(events).splitlines()]
    assert [label for _, _, label in rows] == list(LABELS)
    assert [[float(onset), float(offset)] for onset, offset, _ in rows] == [
        pytest.approx([event.onset, event.offset], abs=5e-7) for event in events
    ]


# Worked numbers


def test_tsv_text() -> None:
    # 1001 * 365 / 22050 = 16.569841269841270: no three decimals hold it.
    late = Timeline(22050, 365).seconds(1001)
    assert events_to_tsv({"a.wav": [Event(0.02, late, "Dog")], "b.wav": []}) == (
        "filename\tonset\toffset\tevent_label\na.wav\t0.020\t16.56984126984127\tDog\nb.wav\t\t\t\n"
    )


def test_tsv_text_with_scores() -> None:
    assert events_to_tsv({"a.wav": [Event(0.0, 1.0, "Dog", 0.5), Event(2.0, 3.0, "Dog")], "b.wav": []}) == (
        "filename\tonset\toffset\tevent_label\tscore\n"
        "a.wav\t0.000\t1.000\tDog\t0.500000\na.wav\t2.000\t3.000\tDog\t\nb.wav\t\t\t\t\n"
    )


def test_numpy_times_are_written_as_numbers() -> None:
    assert "a.wav\t0.3333333333333333\t1.000\tDog" in events_to_tsv(
        {"a.wav": [Event(np.float64(1 / 3), np.float64(1), "Dog")]}
    )


def test_audacity_text() -> None:
    assert events_to_audacity([Event(0.5, 4 / 3, "Air horn, truck horn")]) == (
        "0.500000\t1.333333\tAir horn, truck horn\n"
    )
    assert events_to_audacity([]) == ""


def test_tags_text() -> None:
    assert weak_to_tsv({".\\b.wav": ["Dog", "Cat", "Dog"], "a.wav": []}) == (
        "filename\tevent_labels\nb.wav\tCat,Dog\na.wav\t\n"
    )


@pytest.mark.parametrize(
    ("name", "suffix", "text"),
    [
        ("tsv", ".tsv", "filename\tonset\toffset\tevent_label\tscore\nx/a.wav\t0.500\t1.000\tDog\t\n"),
        ("audacity", ".txt", "0.500000\t1.000000\tDog\n"),
    ],
)
def test_files_of_every_format(tmp_path: Path, name: str, suffix: str, text: str) -> None:
    assert name in FORMATS
    file = write_events(tmp_path / "new" / "a.wav", [Event(0.5, 1.0, "Dog")], filename="x/a.wav", format=name)
    assert file == tmp_path / "new" / f"a.wav{suffix}"
    assert file.read_text(encoding="utf-8") == text


# Wrong input


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("Dog\tCat", "holds a tab"),
        ("Dog\nCat", "a line end"),
        ("", "a label is empty"),
        ('"Dog"', "quotation mark"),
    ],
)
def test_labels_no_file_can_hold(label: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        events_to_tsv({"a.wav": [Event(0.0, 1.0, label)]})
    with pytest.raises(ValueError, match=message):
        events_to_audacity([Event(0.0, 1.0, label)])
    with pytest.raises(ValueError, match=message):
        weak_to_tsv({"a.wav": [label]})


@pytest.mark.parametrize(("onset", "offset"), [(float("nan"), 1.0), (0.0, float("inf")), (2.0, 1.0), (-1.0, 1.0)])
def test_times_no_reader_would_take(onset: float, offset: float) -> None:
    with pytest.raises(ValueError, match="an event must begin at 0 s or later and not end before it begins"):
        events_to_tsv({"a.wav": [Event(onset, offset, "Dog")]})
    with pytest.raises(ValueError, match="an event must begin at 0 s or later and not end before it begins"):
        events_to_audacity([Event(onset, offset, "Dog")])


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan")])
def test_scores_that_are_no_probabilities(score: float) -> None:
    with pytest.raises(ValueError, match="score must be at least 0 and at most 1"):
        events_to_tsv({"a.wav": [Event(0.0, 1.0, "Dog", score)]})


def test_two_names_for_one_file() -> None:
    with pytest.raises(ValueError, match=r"file names must differ, got './a.wav' and 'a.wav'"):
        events_to_tsv({"b.wav": [], "./a.wav": [], "a.wav": []})


def test_an_unknown_format(tmp_path: Path) -> None:
    listed = "tsv, csv, json, jsonl, audacity, rttm, labelstudio"
    with pytest.raises(ValueError, match=rf"format must be one of {listed}, got 'audacty' - did you mean 'audacity'"):
        write_events(tmp_path / "a.wav", [], filename="a.wav", format="audacty")
    assert list(tmp_path.iterdir()) == []
