"""Strong labels in the files of other programs: every event with its line, every broken file a finding."""

from __future__ import annotations

from pathlib import Path

import pytest
from doctor_cases import Made, findings, make

from earmark.doctor import Finding

SPEAKER = "SPEAKER {name} 1 {onset} 0.1 <NA> <NA> {label} <NA> <NA>"


@pytest.fixture
def small(tmp_path: Path) -> Made:
    return make(tmp_path, n_clips=40)


@pytest.fixture
def tracks(small: Made) -> Path:
    """A label track for every recording."""
    folder = small.folder / "tracks"
    folder.mkdir()
    for i, cells in enumerate(small.rows):
        label = cells["event_labels"]
        (folder / f"{i:03d}.txt").write_text(f"0.05\t0.15\t{label}\n" if label else "")
    return folder


def found_in(made: Made, strong: Path) -> list[tuple[str, str]]:
    """Code and place, without the folder, of what is found beside the tags."""
    found: tuple[Finding, ...] = findings(made, strong=strong, split=None, group=None)
    return [(finding.code, finding.where.rpartition("/")[2]) for finding in found]


def test_a_folder_of_label_tracks(small: Made, tracks: Path) -> None:
    assert found_in(small, tracks) == []
    (tracks / "004.txt").write_text("0.05\t0.1\tbark\n0.12\t0.9\tbark\n")
    (tracks / "900.txt").write_text("0.05\t0.15\tbark\n")
    assert found_in(small, tracks) == [("event-without-audio", "900.txt:1"), ("event-beyond-end", "004.txt:2")]


def test_a_broken_file_among_others_is_a_finding(small: Made, tracks: Path) -> None:
    (tracks / "004.txt").write_text("0.05\t0.1\tbark\n0.19\t0.12\tbark\n0.12\t0.9\tbark\n")
    (tracks / "008.json").write_text('{"filename": "008.wav", ')
    (tracks / "README.txt").write_text("My labels.\n")
    assert found_in(small, tracks) == [
        ("row-broken", "004.txt:2"),
        ("labels-broken", "008.json"),
        ("labels-broken", "README.txt"),
        ("event-beyond-end", "004.txt:3"),
    ]
    (broken, _) = [one for one in findings(small, strong=tracks, split=None, group=None) if one.code == "labels-broken"]
    assert broken.found.startswith("1: no JSON from here on")


def test_a_recording_in_two_files_is_a_finding_and_the_first_counts(small: Made, tracks: Path) -> None:
    (tracks / "audio").mkdir()
    (tracks / "audio" / "004.txt").write_text("0.05\t0.9\tbark\n")
    (twice,) = findings(small, strong=tracks, split=None, group=None)
    assert (twice.code, twice.file) == ("labels-twice", "004.wav")
    assert twice.where.endswith("tracks/audio/004.txt")
    assert "has labels in" in twice.found
    assert "tracks/004.txt already; here it is called 'audio/004'" in twice.found


def test_lines_of_rttm(small: Made) -> None:
    labels = [cells["event_labels"] for cells in small.rows]
    turns = [SPEAKER.format(name=f"{i:03d}", onset=0.05, label=label) for i, label in enumerate(labels) if label]
    turns.insert(0, ";; a comment")
    turns += [SPEAKER.format(name="004", onset=onset, label="bark") for onset in ("-1", "5.0")]
    rttm = small.folder / "all.rttm"
    rttm.write_text("\n".join(turns) + "\n")
    assert found_in(small, rttm) == [("row-broken", "all.rttm:32"), ("event-beyond-end", "all.rttm:33")]


@pytest.mark.parametrize(("onset", "severity"), [(0.2, "error"), (0.19, "")])
def test_an_event_that_begins_where_its_recording_ends_is_one_that_training_refuses(
    small: Made, onset: float, severity: str
) -> None:
    small.add_event(0, onset, 0.22, "bark")
    small.write()
    found = findings(small, split=None, group=None)
    assert [one.severity for one in found] == [severity] * bool(severity)


def test_labels_that_only_the_events_have_are_labels(small: Made) -> None:
    for cells in small.rows:
        cells["event_labels"] = ""
    small.write()
    assert {code for code, _ in found_in(small, small.strong)} == {"event-unknown-class"}
