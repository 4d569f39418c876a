"""Which format a file is taken for, tables of other programs, and folders of label files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from earmark.events import Event
from earmark.labels import read_strong
from earmark.writers import FORMATS, write_events

RAVEN = "Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tSpecies\n1\tSpectrogram 1\t1\t0.5\t1.25\tdog\n"
RTTM = "SPEAKER a 1 0.5 0.75 <NA> <NA> dog <NA> <NA>\n"
AUDACITY = "0.500000\t1.250000\tdog\n"
TABLE = "filename\tonset\toffset\tevent_label\na\t0.5\t1.25\tdog\n"
JAMS = """{"file_metadata": {}, "annotations": [{"namespace": "segment_open", "data":
[{"time": 0.5, "duration": 0.75, "value": "dog", "confidence": null}]}]}"""
LABEL_STUDIO = '[{"audio": "a.wav", "id": 1, "label": [{"start": 0.5, "end": 1.25, "labels": ["dog"]}]}]'
BIRDNET = "Start (s),End (s),Scientific name,Common name,Confidence\n0.5,1.25,Canis,dog,0.75\n"

DOG = Event(0.5, 1.25, "dog")


def written(file: Path, content: str | bytes = AUDACITY) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def sounds(folder: Path, *names: str) -> Path:
    """A folder of recordings of one second, of 100 samples."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(folder / name, np.zeros(100), 100, format="WAV")
    return folder


# Laws


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("events", [[], [DOG, Event(0.75, 2.0, "Käfer"), Event(3.0, 3.0, "dog")]])
def test_what_earmark_writes_in_any_format_is_read_back(tmp_path: Path, format: str, events: list[Event]) -> None:
    file = write_events(tmp_path / "site3/a.wav", events, filename="site3/a.wav", format=format)
    of_file = list(read_strong(file).values())
    assert of_file == [events]
    assert read_strong(tmp_path) == {"site3/a.wav": events}  # the folder of results


@pytest.mark.parametrize("ending", [".txt", ".tsv", ".labels", ""])
@pytest.mark.parametrize("content", [RAVEN, RTTM, AUDACITY, TABLE])
def test_content_goes_before_the_ending(tmp_path: Path, content: str, ending: str) -> None:
    assert read_strong(written(tmp_path / f"a{ending}", content)) == {"a": [DOG]}


# Worked numbers


def test_endings_and_json(tmp_path: Path) -> None:
    assert read_strong(written(tmp_path / "a.jams", JAMS)) == {"a": [DOG]}
    assert read_strong(written(tmp_path / "a.json", JAMS)) == {"a": [DOG]}
    assert read_strong(written(tmp_path / "j.txt", JAMS)) == {"j": [DOG]}
    assert read_strong(written(tmp_path / "x.json", LABEL_STUDIO)) == {"a.wav": [DOG]}
    assert read_strong(written(tmp_path / "a.rttm", RTTM)) == {"a": [DOG]}
    assert read_strong(written(tmp_path / "b.rttm", "")) == {"b": []}
    assert read_strong(written(tmp_path / "b.txt", "")) == {"b": []}


def test_tables_of_other_programs(tmp_path: Path) -> None:
    assert read_strong(written(tmp_path / "a.BirdNET.results.csv", BIRDNET)) == {"a": [Event(0.5, 1.25, "dog", 0.75)]}
    assert read_strong(tmp_path / "a.BirdNET.results.csv", class_column="Scientific name")["a"][0].label == "Canis"
    boxes = "audio_file,annotation_file,annotation,start_time,end_time,low_f,high_f\nsite/a.wav,,dog,0.5,1.25,0,9\n"
    assert read_strong(written(tmp_path / "boxes.csv", boxes)) == {"site/a.wav": [DOG]}
    assert read_strong(written(tmp_path / "b.csv", BIRDNET.split("\n", 1)[0])) == {"b": []}
    own = TABLE.replace("event_label", "species")
    assert read_strong(written(tmp_path / "own.tsv", own), class_column="species") == {"a": [DOG]}


def test_a_folder_of_files_in_folders_beside_their_recordings(tmp_path: Path) -> None:
    sounds(tmp_path, "a.wav", "site 3/b.flac.wav")
    written(tmp_path / "a.txt")
    written(tmp_path / "site 3/b.flac.wav.Table.1.selections.txt", RAVEN)
    written(tmp_path / "c.jams", JAMS)
    written(tmp_path / "d.tsv", TABLE.replace("\na\t", "\nd.wav\t"))
    written(tmp_path / "e.wav.tsv", "onset\toffset\tevent_label\n0.5\t1.25\tdog\n")  # named by its file alone
    written(tmp_path / "f.wav.tsv", "onset\toffset\tevent_label\n")
    written(tmp_path / "d.wav.tags.tsv", "filename\tonset\toffset\tdog\n")
    written(tmp_path / ".hidden.txt", "?")
    named = {name: [DOG] for name in ("a", "c", "d.wav", "e.wav", "site 3/b.flac.wav")}
    assert read_strong(tmp_path) == {**named, "f.wav": []}


def test_recordings_get_their_true_names(tmp_path: Path) -> None:
    audio = sounds(tmp_path / "audio", "a.wav", "site 3/b.wav", "site 4/b.wav", "site 4/c.wav")
    labels = tmp_path / "labels"
    for name in ("a.txt", "site 3/b.txt", "site 4/b.wav.txt"):
        written(labels / name)
    written(labels / "c.rttm", RTTM.replace(" a ", " c "))
    assert read_strong(labels, audio=audio) == {
        name: [DOG] for name in ("a.wav", "site 3/b.wav", "site 4/b.wav", "site 4/c.wav")
    }
    elsewhere = "audio_file,annotation,start_time,end_time\nD:\\rec\\site 3\\b.wav,dog,0.5,1.25\n"
    assert list(read_strong(written(tmp_path / "e.csv", elsewhere), audio=audio)) == ["site 3/b.wav"]


def test_a_table_may_list_recordings_that_are_not_there(tmp_path: Path) -> None:
    audio = sounds(tmp_path / "audio", "a.wav")
    assert read_strong(written(tmp_path / "t.tsv", TABLE), audio=audio) == {"a": [DOG]}


# Wrong input


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("notes.txt", "Recorded on a rainy day\n", "notes.txt:1: no file of labels: .* is it a note"),
        ("a.txt", "0.5 1.25 dog\n", "a.txt:1: a line holds begin, end and label .* did an editor turn the tabs"),
        ("a.txt", "0,5\t1,25\tdog\n", r"a.txt:1: .* a decimal comma\? .*read as an Audacity label track"),
        ("a.txt", "0.5,1.25,dog\n", "a.txt:1: a line holds begin, end and label .* or a spreadsheet into commas"),
        (
            "a.json",
            '{"version": 1}',
            r"a.json: \[0\]: one recording per .* really of Label Studio, or JAMS",
        ),
        ("a.json", '{"annotations": [{"namespace": "beat"}]}', "a.json: no annotation says what happens when"),
        ("a.csv", "audio,id,label,annotator\n", "a.csv:1: a CSV of Label Studio is not read - export JSON"),
        ("a.txt", "begin;end;label\n", "a.txt:1: columns must be separated by tabs or commas, got semicolons"),
        ("a.txt", "begin\tend\tlabel\n0\t1\tdog\n", "a.txt:1: no column 'filename'"),
        ("a.txt", "0.5\t1.25\tdog\n".encode("utf-16"), "a.txt: the file is UTF-16, not UTF-8 .* the encoding UTF-8"),
        ("a.txt", "0.5\t1.25\tK\xe4fer\n".encode("latin-1"), "a.txt:1: byte 0xe4 is not UTF-8 - saved as Windows-1252"),
        ("a.TextGrid", 'File type = "ooTextFile"\n', "a.TextGrid: a Praat TextGrid is not read - write its intervals"),
        ("a.wav", "RIFF", "a.wav: is no table of labels but a recording"),
        (
            "a.tsv",
            "onset\toffset\tdog\n0\t1\t0.5\n",
            "a.tsv:1: the columns .* are those of frame scores, but events are",
        ),
        ("a.tsv", "", "a.tsv:1: the first line must name the columns, but it is empty"),
        (
            "a.csv",
            "Start (s),End (s),Common name\n5,2,dog\n",
            "a.csv:2: onset 5 is after .*read as a CSV of BirdNET-Ana",
        ),
    ],
)
def test_files_that_are_no_labels(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_strong(written(tmp_path / name, content))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", AUDACITY, "class_column 'Bird' names a column, but an Audacity label track has none"),
        ("a.csv", BIRDNET, "no column 'Bird' .* which one holds the class"),
        ("a.tsv", TABLE, "no column 'Bird'"),
    ],
)
def test_class_columns_that_are_not_there(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_strong(written(tmp_path / name, content), class_column="Bird")


def test_a_recording_with_two_label_files(tmp_path: Path) -> None:
    written(tmp_path / "a.wav.txt")
    written(tmp_path / "a.wav.tsv", TABLE.replace("\na\t", "\na.wav\t"))
    with pytest.raises(ValueError, match=r"a.wav.txt: a.wav has labels in .*a.wav.tsv already - keep one file per"):
        read_strong(tmp_path)


def test_two_spellings_of_one_recording(tmp_path: Path) -> None:
    audio = sounds(tmp_path / "audio", "a.wav")
    written(tmp_path / "labels/a.txt")
    written(tmp_path / "labels/a.wav.txt")
    with pytest.raises(ValueError, match=r"'a.wav' and 'a' \(.*a.txt\) are one recording, a.wav - keep one of the two"):
        read_strong(tmp_path / "labels", audio=audio)
    written(tmp_path / "labels/a.wav.txt").unlink()
    written(tmp_path / "labels/t.tsv", TABLE.replace("\na\t", "\na.wav\t"))
    with pytest.raises(ValueError, match=r"a.wav has labels in another file, too"):
        read_strong(tmp_path / "labels", audio=audio)


def test_folders_without_labels(tmp_path: Path) -> None:
    sounds(tmp_path, "Dog/a.wav")
    with pytest.raises(
        ValueError, match=r"no label files in this folder .* a folder of recordings per class says what"
    ):
        read_strong(tmp_path)


@pytest.mark.parametrize(
    ("written_name", "message"),
    [
        ("b", r"all.rttm: 'b' may be any of 2 recordings: site 3/b.wav, site 4/b.wav - which one is meant\?"),
        ("b.flac", r"all.rttm: no recording is called 'b.flac' - there is 'site 3/b.wav'; is the ending"),
        ("birdsonk", r"all.rttm: no recording is called 'birdsonk' - did you mean 'birdsong.wav'\?"),
        ("x", r"all.rttm: no recording is called 'x' - is it the right folder of audio\?"),
        ("site 5/b.wav", r"all.rttm: no recording is called 'site_5/b.wav' - there is 'site 3/b.wav'"),
    ],
)
def test_names_that_mean_no_recording_or_several(tmp_path: Path, written_name: str, message: str) -> None:
    audio = sounds(tmp_path / "audio", "site 3/b.wav", "site 4/b.wav", "birdsong.wav")
    file = written(tmp_path / "all.rttm", RTTM.replace(" a ", f" {written_name.replace(' ', '_')} "))
    with pytest.raises(ValueError, match=message):
        read_strong(file, audio=audio)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "500\t990\tdog\n",
            "a.txt:1: an event of a.wav ends at 990 s, but the recording lasts 1.00 s - .*milliseconds",
        ),
        ("50\t9900\tdog\n", r"ends at 9900 s, but the recording lasts 1.00 s - are the times in samples \(100 per"),
    ],
)
def test_times_in_another_unit(tmp_path: Path, content: str, message: str) -> None:
    audio = sounds(tmp_path / "audio", "a.wav")
    with pytest.raises(ValueError, match=message):
        read_strong(written(tmp_path / "a.txt", content), audio=audio)


def test_audio_that_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a.txt: audio must be a folder of recordings"):
        read_strong(written(tmp_path / "a.txt"), audio=tmp_path / "a.txt")
