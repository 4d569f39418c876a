from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from earmark.events import Event
from earmark.labels.strong import read_durations, read_groups, read_strong, read_tags

HEADER = "filename\tonset\toffset\tevent_label\n"


def written(folder: Path, content: str) -> Path:
    file = folder / "labels.tsv"
    file.write_text(content, encoding="utf-8")
    return file


# Laws


def test_times_are_read_as_the_very_numbers_written(tmp_path: Path, rng: np.random.Generator) -> None:
    times = np.sort(rng.uniform(0, 100, size=(200, 2)), axis=1).tolist()
    rows = "".join(f"a.wav\t{onset!r}\t{offset!r}\tDog\n" for onset, offset in times)
    assert [[event.onset, event.offset] for event in read_strong(written(tmp_path, HEADER + rows))["a.wav"]] == times


def test_every_file_is_kept_in_the_order_of_the_rows(tmp_path: Path) -> None:
    events = read_strong(written(tmp_path, HEADER + "b.wav\t\t\t\na.wav\t0\t1\tDog\nc.wav\t\t\t\na.wav\t0\t1\tCat\n"))
    assert list(events) == ["b.wav", "a.wav", "c.wav"]
    assert [event.label for event in events["a.wav"]] == ["Dog", "Cat"]


# Worked numbers


def test_events(tmp_path: Path) -> None:
    content = HEADER + "a.wav\t0.500\t1.25\tAir horn, truck horn\na.wav\t0\t0\tDog\n./sub\\b.wav\t\t\t\n"
    assert read_strong(written(tmp_path, content)) == {
        "a.wav": [Event(0.5, 1.25, "Air horn, truck horn"), Event(0.0, 0.0, "Dog")],
        "sub/b.wav": [],
    }


def test_scores_and_columns_of_ones_own(tmp_path: Path) -> None:
    content = "filename\tscore\tonset\toffset\tevent_label\tpatient\na.wav\t0.25\t0\t1\tDog\t7\na.wav\t\t0\t1\tDog\t7\n"
    assert [event.score for event in read_strong(written(tmp_path, content))["a.wav"]] == [0.25, None]


def test_tags_durations_and_groups(tmp_path: Path) -> None:
    content = "filename\tevent_labels\tduration\tgroup\na.wav\tDog,Cat\t9.98\tP1\nb.wav\t\t10\tP1\n"
    file = written(tmp_path, content)
    assert read_tags(file) == {"a.wav": {"Dog", "Cat"}, "b.wav": frozenset()}
    assert read_durations(file) == {"a.wav": 9.98, "b.wav": 10.0}
    assert read_groups(file) == {"a.wav": "P1", "b.wav": "P1"}


def test_the_only_other_column_is_the_group(tmp_path: Path) -> None:
    assert read_groups(written(tmp_path, "filename\tsite\na.wav\tS 3\na.wav\tS 3\n")) == {"a.wav": "S 3"}


def test_the_same_duration_twice_is_no_contradiction(tmp_path: Path) -> None:
    assert read_durations(written(tmp_path, "filename\tduration\na.wav\t1.0\na.wav\t1\n")) == {"a.wav": 1.0}


# Wrong input


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "a.wav\t12.5\t3.0\tDog\n",
            r"labels.tsv:2: onset 12.5 is after offset 3.0 - are the columns swapped\?\n    a.wav\t12.5\t3.0\tDog",
        ),
        ("a.wav\t0\t1\tDog\nb.wav\t1,5\t2\tDog\n", "labels.tsv:3: onset must be .* decimal comma"),
        ("a.wav\t-1\t2\tDog\n", "labels.tsv:2: onset must be at least 0, got -1"),
        ("a.wav\t\t2\tDog\n", "labels.tsv:2: offset is given but onset is empty"),
        ("a.wav\t\t\tDog\n", "labels.tsv:2: onset and offset are empty, but label or score is not"),
        ("a.wav\t0\t1\t\n", "labels.tsv:2: a label is empty"),
        ("\t0\t1\tDog\n", "labels.tsv:2: the filename is empty"),
        ("a.wav\t0\t1\tDog\na.wav\t\t\t\n", "labels.tsv:3: this row says a.wav has no event, but other rows give it 1"),
    ],
)
def test_broken_events(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_strong(written(tmp_path, HEADER + rows))


@pytest.mark.parametrize("score", ["1.5", "-0.1", "nan", "high"])
def test_scores_that_are_no_probabilities(tmp_path: Path, score: str) -> None:
    with pytest.raises(ValueError, match=rf"labels.tsv:2: score must be a probability from 0 to 1, got '{score}'"):
        read_strong(written(tmp_path, f"filename\tonset\toffset\tevent_label\tscore\na.wav\t0\t1\tDog\t{score}\n"))


def test_weak_labels_are_no_events(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"labels.tsv:1: no column 'onset' .*\n    filename\tonset\toffset"):
        read_strong(written(tmp_path, "filename\tevent_labels\na.wav\tDog\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("filename\tevent_labels\tonset\toffset\na.wav\tDog\t1\t2\n", "labels.tsv:2: tags of whole files are expected"),
        ("filename\tevent_labels\tknown_classes\na.wav\tDog\tDog\n", "labels.tsv:2: every class must have been"),
    ],
)
def test_tags_that_leave_something_open(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_tags(written(tmp_path, content))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a.wav\t0\n", "labels.tsv:2: duration must be above 0, got 0"),
        ("a.wav\t1:30\n", "labels.tsv:2: duration must be a number of seconds, got '1:30'"),
        ("a.wav\t1\na.wav\t2\n", "labels.tsv:3: a.wav has another duration above, 1 s"),
    ],
)
def test_broken_durations(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_durations(written(tmp_path, f"filename\tduration\n{rows}"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "filename\tpatient\tsite\na.wav\tP1\tS1\n",
            "labels.tsv:1: one column must be called 'group' .* patient, site",
        ),
        ("filename\na.wav\n", "labels.tsv:1: one column must be called 'group' .* got none"),
        ("filename\tpatient\na.wav\t\n", "labels.tsv:2: patient of a.wav is empty"),
        ("filename\tpatient\na.wav\tP1\na.wav\tP2\n", "labels.tsv:3: a.wav is in patient 'P2' here and in 'P1' above"),
    ],
)
def test_broken_groups(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_groups(written(tmp_path, content))


@pytest.mark.parametrize(
    ("reader", "example"),
    [(read_strong, "filename\tonset"), (read_durations, "filename\tduration"), (read_groups, "filename\tgroup"),
     (read_tags, "filename\tevent_labels")],
)  # fmt: skip
def test_a_table_without_a_header_is_shown_the_one_it_needs(
    tmp_path: Path, reader: Callable[[Path], object], example: str
) -> None:
    with pytest.raises(ValueError, match=rf"labels.tsv:1: the first line must name the columns.*:\n    {example}"):
        reader(written(tmp_path, "a.wav\t0\t1\tDog\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "filename\tonset_ms\toffset_ms\tevent_label\na.wav\t0\t1\tDog\n",
            "'onset_ms' does not hold seconds; convert it",
        ),
        (
            "filename\tonset\tend\tevent_label\na.wav\t0\t1\tDog\n",
            "no column 'offset' .* is 'end' meant to be 'offset'",
        ),
        ("audio\tonset\toffset\tevent_label\na.wav\t0\t1\tDog\n", "is 'audio' meant to be 'filename'"),
        ("filename,onset,offset,event_label\na.wav,0,5,1,5,Dog\n", "4 fields .* got 6 - decimal commas, as a European"),
        (
            "filename;onset;offset;event_label\na.wav;0,5;1,5;Dog\n",
            "got semicolons - save it as TSV; .* write 0,5 for 0.5",
        ),
    ],
)
def test_tables_as_other_programs_write_them(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_strong(written(tmp_path, content))
