from __future__ import annotations

from pathlib import Path

import pytest

from earmark.events import Event
from earmark.labels.formats.raven import LABEL_COLUMNS, read_raven

HEADER = "Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\tHigh Freq (Hz)"


def written(folder: Path, content: str, name: str = "a.Table.1.selections.txt") -> Path:
    file = folder / name
    file.write_text(content, encoding="utf-8")
    return file


def row(number: int, begin: object, end: object, *more: object, view: str = "Spectrogram 1") -> str:
    return "\t".join(map(str, (number, view, 1, begin, end, 100.0, 900.0, *more))) + "\n"


# Laws


@pytest.mark.parametrize("column", [*LABEL_COLUMNS, "species", "What I heard"])
def test_the_class_may_stand_in_any_column_of_the_annotator(tmp_path: Path, column: str) -> None:
    file = written(tmp_path, f"{HEADER}\tPeak Freq (Hz)\tNotes\t{column}\n" + row(1, 0.5, 1.25, 440, "loud", "dog"))
    assert read_raven(file) == {"a": [Event(0.5, 1.25, "dog")]}


# Worked numbers


def test_views_are_one_event_and_joined_tables_are_two(tmp_path: Path) -> None:
    rows = row(1, 0.5, 1.25, "dog", view="Waveform 1") + row(1, 0.5, 1.25, "dog") + row(2, 3, 4, "dog")
    rows += row(2, 7, 8, "dog")  # another selection 2 in the same view: of a second table, pasted behind
    assert read_raven(written(tmp_path, f"{HEADER}\tSpecies\n{rows}")) == {
        "a": [Event(0.5, 1.25, "dog"), Event(3.0, 4.0, "dog"), Event(7.0, 8.0, "dog")]
    }


def test_several_recordings_count_from_their_own_beginning(tmp_path: Path) -> None:
    header = f"{HEADER}\tBegin File\tFile Offset (s)\tSpecies\n"
    rows = row(1, 0.5, 1.25, "a.wav", 0.5, "dog") + row(2, 7200.1, 7200.4, "b.wav", 0.1, "cat")
    assert read_raven(written(tmp_path, header + rows)) == {
        "a.wav": [Event(0.5, 1.25, "dog")],
        "b.wav": [Event(0.1, 0.4, "cat")],
    }


def test_the_path_goes_before_the_file(tmp_path: Path) -> None:
    header = f"{HEADER}\tBegin File\tBegin Path\tSpecies\n"
    rows = row(1, 0.5, 1.25, "a.wav", "C:\\sounds\\site 3\\a.wav", "dog")
    assert list(read_raven(written(tmp_path, header + rows))) == ["C:/sounds/site 3/a.wav"]


def test_trailing_tabs_missing_cells_and_semicolon_free_csv(tmp_path: Path) -> None:
    header = f"{HEADER}\tSpecies\tNotes\t\t\n"
    assert read_raven(written(tmp_path, header + row(1, 0, 1, "dog", "", "", "", "") + row(2, 2, 3, "cat"))) == {
        "a": [Event(0.0, 1.0, "dog"), Event(2.0, 3.0, "cat")]
    }
    csv = f"{HEADER}\tSpecies\n".replace("\t", ",") + row(1, 0, 1, '"Air horn, truck horn"').replace("\t", ",")
    assert read_raven(written(tmp_path, csv, "b.csv")) == {"b": [Event(0.0, 1.0, "Air horn, truck horn")]}


def test_a_header_alone_is_a_recording_without_events(tmp_path: Path) -> None:
    assert read_raven(written(tmp_path, f"{HEADER}\n")) == {"a": []}
    assert read_raven(written(tmp_path, f"{HEADER}\n"), name="site/a.wav") == {"site/a.wav": []}


def test_birdnet_tables_with_scores_and_with_nothing_found(tmp_path: Path) -> None:
    header = f"{HEADER}\tCommon Name\tSpecies Code\tConfidence\tBegin Path\tFile Offset (s)\n"
    rows = row(1, 3, 6, "Eurasian Wren", "eurwre", 0.75, "/rec/a.wav", 3)
    rows += row(2, 6, 9, "nocall", "nocall", 1.0, "/rec/b.wav", 0)
    assert read_raven(written(tmp_path, header + rows, "a.BirdNET.selection.table.txt")) == {
        "/rec/a.wav": [Event(3.0, 6.0, "Eurasian Wren", 0.75)],
        "/rec/b.wav": [],
    }
    named = read_raven(written(tmp_path, header + rows[: rows.index("\n") + 1]), class_column="species code")
    assert named["/rec/a.wav"][0].label == "eurwre"


def test_a_usual_column_that_nobody_filled_in_is_not_the_one(tmp_path: Path) -> None:
    file = written(tmp_path, f"{HEADER}\tSpecies\tAnnotation\n" + row(1, 0, 1, "", "dog"))
    assert read_raven(file) == {"a": [Event(0.0, 1.0, "dog")]}


# Wrong input


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (row(1, 5, 2, "dog"), r"selections.txt:2: onset 5 is after .*\(read as a Raven selection table\)\n    1"),
        (row(1, "0,5", "1,5", "dog"), "selections.txt:2: onset must be .* decimal comma"),
        (row(1, "0:00:05", "0:00:06", "dog"), "selections.txt:2: onset must be .* is it in seconds"),
        (row(1, "", 3, "dog"), "selections.txt:2: offset is given but onset is empty"),
        (row(1, -2, 3, "dog"), "selections.txt:2: onset must be at least 0"),
        (row(1, 0, "inf", "dog"), "selections.txt:2: an event must begin at 0 s or later"),
        (row(1, 2, 3, ""), "selections.txt:2: the column 'Species' is empty - what was heard"),
        (row(1, 2, 3, "dog", "cat"), "selections.txt:2: 8 fields expected .*, got 9"),
        (
            row(1, 2, 3, "dog") + row(1, 2, 4, "dog", view="Waveform 1"),
            r"selections.txt:3: selection 1 lasts from 2 to 4 s .*, but from 2 to 3 s in .* - were two tables joined\?",
        ),
    ],
)
def test_broken_rows(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_raven(written(tmp_path, f"{HEADER}\tSpecies\n{rows}"))


@pytest.mark.parametrize(
    ("header", "more", "message"),
    [
        (
            HEADER.replace("Begin Time (s)", "Begin Time"),
            (),
            r"1: no column .Begin Time \(s\).* is 'Begin Time' meant\?",
        ),
        (HEADER, (), "selections.txt:1: no column says what was heard .* add an annotation column"),
        (f"{HEADER}\tCall\tAge", ("song", "adult"), "selections.txt:1: which column .* 'Call' or 'Age'.*class_column"),
        (f"{HEADER}\tSpecies\tTags", ("dog", "loud"), "selections.txt:1: which column .* 'Species' or 'Tags'"),
        (
            HEADER.replace("End Time (s)", "End Sample (samples)"),
            (),
            "1: no column 'End Time .* 'End Sample .* seconds",
        ),
        (
            f"{HEADER}\tSpecies\tEnd File\tBegin File",
            ("dog", "b.wav", "a.wav"),
            ":2: the selection begins in a.wav and",
        ),
    ],
)
def test_tables_that_leave_something_open(tmp_path: Path, header: str, more: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_raven(written(tmp_path, f"{header}\n" + row(1, 0, 1, *more)))


def test_several_recordings_without_offsets(tmp_path: Path) -> None:
    rows = row(1, 0, 1, "dog", "a.wav") + row(2, 3, 4, "dog", "b.wav")
    with pytest.raises(
        ValueError, match=r"selections.txt:1: covers 2 recordings, but has no column 'File Offset \(s\)'"
    ):
        read_raven(written(tmp_path, f"{HEADER}\tSpecies\tBegin File\n{rows}"))


def test_a_class_column_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"selections.txt:1: no column 'Bird' .* which one holds the class\?"):
        read_raven(written(tmp_path, f"{HEADER}\tSpecies\n" + row(1, 0, 1, "dog")), class_column="Bird")
