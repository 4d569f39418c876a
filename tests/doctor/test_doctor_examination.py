from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from doctor_cases import RATE, Made, findings, make, noise

from earmark.doctor import Finding, examine
from earmark.doctor.findings import KINDS
from earmark.doctor.report import as_json, as_text, training_command


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("clean"), n_clips=200)


# Places and commands


def test_rows_are_blank_in_the_copy_but_places_are_those_of_the_file(tmp_path: Path) -> None:
    made = make(tmp_path, n_clips=40)
    made.rows[3]["event_labels"] = "bark,,chirp"
    made.drop_events(3)
    made.write()
    examination = examine(made.weak, audio=made.audio)
    assert [clip.where for clip in examination.data.clips[:5]] == [
        f"{made.weak.as_posix()}:{line}" for line in (2, 3, 4, 6, 7)
    ]


@pytest.mark.parametrize("split", [None, "split"])
def test_the_command_that_comes_next_is_one_that_training_takes(clean: Made, split: str | None) -> None:
    examination = examine(clean.weak, audio=clean.audio, split=split)
    words = training_command(examination.data, group=None, split=split).split()
    assert words[:3] == ["earmark", "train", clean.weak.as_posix()]
    assert words[5:] == ([] if split is None else ["--split", "split", "--held-out", "test"]) + ["--out", "run"]


# Whole data sets that are wrong in one way


def codes(made: Made, **options: object) -> list[str]:
    """What is found, without strong labels, splits and groups unless told."""
    made.write()
    told = {"strong": None, "split": None, "group": None} | options
    return [finding.code for finding in findings(made, **told)]


@pytest.fixture
def small(tmp_path: Path) -> Made:
    return make(tmp_path, n_clips=40)


def test_times_in_milliseconds_are_told_once(small: Made) -> None:
    for event in small.events:
        for key in ("onset", "offset"):
            if key in event:
                event[key] = f"{1000 * float(event[key]):g}"
    assert codes(small, strong=small.strong) == ["times-in-other-unit"]
    (finding,) = findings(small, split=None, group=None)
    assert finding.where == f"{small.strong.as_posix()}:2"
    assert "30 of 30 rows" in finding.found
    assert "in milliseconds?" in finding.found
    examination = examine(small.weak, audio=small.audio, strong=small.strong)
    assert "coverage" not in as_text(examination, next_command="")


def test_times_in_samples_are_told_from_milliseconds(small: Made) -> None:
    for event in small.events:
        for key in ("onset", "offset"):
            if key in event:
                event[key] = f"{RATE * float(event[key]):g}"
    small.write()
    (finding,) = findings(small, split=None, group=None)
    assert "in samples?" in finding.found


def test_labels_of_another_folder(small: Made) -> None:
    for cells in small.rows:
        cells["filename"] = f"day1/{cells['filename']}"
    small.write()
    found = findings(small, strong=None, split=None, group=None)
    assert {finding.code for finding in found} == {"label-without-audio", "wrong-audio-folder"}
    assert sum(finding.code == "wrong-audio-folder" for finding in found) == 1
    assert found[0].where == f"{small.weak.as_posix()}:2"


def test_other_endings_are_no_other_folder(small: Made) -> None:
    for cells in small.rows:
        cells["filename"] = cells["filename"].replace(".wav", ".mp3")
    small.write()
    assert {finding.code for finding in findings(small, strong=None, split=None, group=None)} == {"filename-ending"}


def test_labels_of_three_percent_of_the_audio(small: Made) -> None:
    del small.rows[1:]
    small.rows[0]["event_labels"] = "bark"
    assert set(codes(small)) == {"few-files-named", "audio-without-labels", "class-few-clips", "class-in-every-clip"}


def test_a_class_in_every_clip(small: Made) -> None:
    for cells in small.rows:
        cells["event_labels"] = "bark"
    assert codes(small) == ["class-in-every-clip"]


@pytest.mark.parametrize(("n_clips", "severity"), [(1, "warning"), (2, "warning"), (3, "note"), (9, "note")])
def test_how_bad_few_clips_are(small: Made, n_clips: int, severity: str) -> None:
    for cells in small.rows[1 + 4 * n_clips :: 4]:
        cells["event_labels"] = ""
    small.write()
    (finding,) = findings(small, strong=None, split=None, group=None)
    assert (finding.code, finding.severity) == ("class-few-clips", severity)
    assert f"'chirp' has {n_clips} clip" in finding.found


def test_no_label_at_all(small: Made) -> None:
    for cells in small.rows:
        cells["event_labels"] = ""
    assert codes(small) == ["no-labels"]


def test_a_label_per_clip_is_told_once(small: Made) -> None:
    for i, cells in enumerate(small.rows):
        cells["event_labels"] = f"id{i}"
    small.write()
    (finding,) = findings(small, strong=None, split=None, group=None)
    assert finding.code == "labels-in-wrong-column"
    assert "'split', 'patient'" in finding.found


def test_sound_that_ends_below_half_its_rate(small: Made) -> None:
    spectrum = np.fft.rfft(noise(3, seconds=1.0, rate=16000))
    spectrum[4000:] = 0
    for i in range(40):
        small.put(i, noise(i, seconds=1.0, rate=16000), rate=16000)
    small.put(3, np.fft.irfft(spectrum).astype(np.float32), rate=16000)
    assert codes(small) == ["audio-band-limited"]


def test_a_folder_per_class(small: Made) -> None:
    for i, cells in enumerate(small.rows):
        folder = small.folder / "sorted" / (cells["event_labels"] if cells["event_labels"] else "_none")
        folder.mkdir(parents=True, exist_ok=True)
        small.file(i).rename(folder / f"{i:03d}.wav")
    labels = small.folder / "sorted"
    assert examine(labels, audio=labels).findings == ()
    (labels / "bark" / "004.wav").write_text("nothing")
    (finding,) = examine(labels, audio=labels).findings
    assert (finding.code, finding.where) == ("audio-unreadable", (labels / "bark" / "004.wav").as_posix())


def test_files_may_be_named_by_any_path(small: Made) -> None:
    small.rows[4]["filename"] = small.file(4).as_posix()
    small.rows[8]["filename"] = f"../{small.audio.name}/008.wav"
    assert codes(small) == []


def test_of_three_copies_the_one_in_another_split_is_named(small: Made) -> None:
    # Rows 20 and 30 are for training, 25 is made a test clip of a patient of its own.
    for index in (25, 30):
        small.file(index).write_bytes(small.file(20).read_bytes())
        small.rows[index] |= {"event_labels": "bark", "patient": f"q{index}"}
    small.rows[25]["split"] = "test"
    small.write()
    found = findings(small, strong=None, group=None)
    second, third = (finding for finding in found if finding.code.startswith("duplicate"))
    assert (second.code, third.code) == ("duplicate-across-splits", "duplicate-across-splits")
    assert "the same file as 025.wav" in third.found
    assert "which is in 'test', not 'train'" in third.found


def test_names_without_their_endings(small: Made) -> None:
    small.file(5).rename(small.audio / "005.bird.wav")
    small.rows[4]["filename"] = "004"
    small.rows[5]["filename"] = "005.bird"
    assert codes(small) == ["filename-ending"] * 2


def test_a_name_that_is_no_text_still_makes_json(small: Made) -> None:
    small.file(0).rename(Path(f"{small.audio}/bad\udcff.wav"))
    examination = examine(small.weak, audio=small.audio)
    assert [finding.code for finding in examination.findings] == ["label-without-audio", "filename-unusable"]
    assert "is not UTF-8" in json.dumps(as_json(examination), ensure_ascii=False).encode("utf-8").decode()


def test_groups_may_stand_in_a_table(small: Made) -> None:
    table = small.folder / "groups.tsv"
    table.write_text("filename\tsite\n" + "".join(f"{i:03d}.wav\t{i // 20}\n" for i in range(39)))
    (finding,) = findings(small, strong=None, split=None, group=str(table))
    assert (finding.code, finding.file) == ("group-empty", "039.wav")


def test_reviewed_stretches_say_where_events_are_complete(small: Made) -> None:
    reviewed = small.folder / "reviewed.tsv"
    for index in (0, 4, 8):
        small.rows[index]["event_labels"] = "bark,chirp"  # and no event of a chirp
    rows = ("000.wav\t\t\tchirp", "004.wav\t\t\tbark", "008.wav\t0\t0.1\t", "012.wav\t0.1\t0.9\t", "016.wav\t\t\tchrip")
    reviewed.write_text("\n".join(["filename\tonset\toffset\tclasses", *rows]) + "\n")
    small.write()
    found = findings(small, reviewed=reviewed, split=None, group=None)
    assert [(finding.code, finding.file, finding.where.rpartition("/")[2]) for finding in found] == [
        ("reviewed-unknown-class", "016.wav", "reviewed.tsv:6"),
        ("span-beyond-end", "012.wav", "reviewed.tsv:5"),
        ("tag-without-event", "000.wav", "weak.tsv:2"),
    ]
    with pytest.raises(ValueError, match="--reviewed needs --strong"):
        examine(small.weak, audio=small.audio, reviewed=reviewed)


def test_events_in_a_folder_of_label_tracks(small: Made) -> None:
    tracks = small.folder / "tracks"
    tracks.mkdir()
    for i, cells in enumerate(small.rows):
        label = cells["event_labels"]
        (tracks / f"{i:03d}.txt").write_text(f"0.05\t0.15\t{label}\n" if label else "")
    small.write()
    assert findings(small, strong=tracks, split=None, group=None) == ()
    (tracks / "004.txt").write_text("0.05\t0.9\tbark\n")
    (tracks / "900.txt").write_text("0.05\t0.15\tbark\n")
    found = findings(small, strong=tracks, split=None, group=None)
    assert [(finding.code, finding.where.rpartition("/")[2]) for finding in found] == [
        ("event-without-audio", "900.txt"),
        ("event-beyond-end", "004.txt"),
    ]


def test_overlaps_of_rounded_times_are_none(small: Made) -> None:
    small.add_event(0, 0.149, 0.19, "bark")
    assert codes(small, strong=small.strong) == []


# The page and the JSON


def test_a_healthy_page_says_what_comes_next(clean: Made) -> None:
    examination = examine(clean.weak, audio=clean.audio, strong=clean.strong, split="split", group="patient")
    page = as_text(examination, next_command="earmark train weak.tsv")
    assert "200 clips, 3 classes, 50 clips with none of them" in page
    assert "0.20 s each" in page
    assert "bark      50    10     40      50      0.10  0.10-0.10    12.5 %" in page
    assert "nothing is wrong with these data." in page
    assert page.endswith("next: earmark train weak.tsv\n")
    assert len(page.splitlines()) < 20


def test_many_findings_of_a_kind_are_cut_in_the_text_and_whole_in_the_json(small: Made) -> None:
    for i in range(8):
        small.file(i).write_bytes(b"")
    examination = examine(small.weak, audio=small.audio)
    page = as_text(examination, next_command="")
    assert page.count("is empty") == 5
    assert "error  audio-empty (8)" in page
    assert "and 3 more: --json lists all" in page
    assert page.count("copy the file again") == 1
    written = json.loads(json.dumps(as_json(examination), allow_nan=False))
    assert len(written["findings"]) == written["errors"] == 8
    assert set(written["findings"][0]) == {"code", "severity", "where", "file", "found", "advice"}
    assert written["classes"]["bark"] == {"clips": 10}
    assert written["seconds"] == pytest.approx(32 * 0.2)


def test_every_code_is_in_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "doctor.md").read_text(encoding="utf-8")
    assert [code for code in KINDS if f"`{code}`" not in text] == []


# Wrong input


def test_a_column_that_is_not_there(small: Made) -> None:
    with pytest.raises(ValueError, match=r"--group patent: .* \(columns: patient, split\) - did you mean 'patient'\?"):
        examine(small.weak, audio=small.audio, group="patent")


def test_most_rows_broken_is_one_mistake(small: Made) -> None:
    for cells in small.rows:
        cells["event_labels"] = "a,,b"
    small.write()
    with pytest.raises(ValueError, match=r"weak.tsv:2: a label is empty"):
        examine(small.weak, audio=small.audio)


def test_no_severity_but_the_three() -> None:
    with pytest.raises(ValueError, match="severity must be one of error, warning, note, got 'bad'"):
        Finding("audio-empty", "weak.tsv:2", "a.wav", "is empty", "bad")
