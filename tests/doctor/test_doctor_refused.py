"""What training refuses because of splits and groups, and doctor must have called an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from doctor_cases import Made, findings, make

from earmark.doctor import Finding
from earmark.doctor.findings import ERROR


@pytest.fixture
def small(tmp_path: Path) -> Made:
    return make(tmp_path, n_clips=40)


def errors(made: Made, **options: object) -> list[Finding]:
    made.write()
    told = {"strong": None, "split": None, "group": None} | options
    return [finding for finding in findings(made, **told) if finding.severity == ERROR]


def test_one_split_or_one_group_leaves_nothing_to_hold_out(small: Made) -> None:
    for cells in small.rows:
        cells |= {"split": "train", "patient": "p7"}
    (error,) = errors(small, split="split")
    assert (error.code, error.found) == ("nothing-to-hold-out", "every clip is in 'train'")
    (error,) = errors(small, group="patient")
    assert (error.code, error.found) == ("nothing-to-hold-out", "all there is belongs to one group, 'p7'")


def test_recordings_with_the_only_clips_of_their_classes_cannot_be_held_out(small: Made) -> None:
    del small.rows[2:]  # bark, chirp
    (error,) = errors(small)
    assert (error.code, error.found) == ("nothing-to-hold-out", "each recording has the only clips of a class")
    assert errors(small, strong=small.strong) == []  # others have events of these classes


def test_a_class_of_the_smaller_split_alone_cannot_be_learned(small: Made) -> None:
    for index, cells in enumerate(small.rows):
        cells["split"] = "test" if index < 8 else "train"
    small.rows[0]["event_labels"] = "bark,siren"
    (error,) = errors(small, split="split")
    assert error.code == "class-not-in-split"
    assert "no clip in 'train' has 'siren'" in error.found
    small.rows[0]["event_labels"], small.rows[20]["event_labels"] = "bark", "bark,siren"
    assert errors(small, split="split") == []  # learned, but not measured


def test_a_class_that_was_listened_for_and_is_misspelt(small: Made) -> None:
    text = ["filename\tevent_labels\tknown_classes"]
    text += [f"{cells['filename']}\t{cells['event_labels']}\t" for cells in small.rows]
    small.weak.write_text("\n".join(text)[:-1] + "\tbrak\n")
    (error,) = [one for one in findings(small, strong=None, split=None, group=None) if one.severity == ERROR]
    assert (error.code, error.file) == ("known-unknown-class", "039.wav")
    assert error.where.endswith(":41")
    assert "did you mean 'bark'" in error.found


def test_a_split_that_is_misspelt_or_empty(small: Made) -> None:
    for index, cells in enumerate(small.rows):
        cells["split"] = "test" if index < 8 else "train"
    small.rows[3]["split"], small.rows[9]["split"] = "tset", ""
    small.write()
    found = findings(small, strong=None, split="split", group=None)
    told = [(one.severity, one.code, one.file, one.found) for one in found if one.code.startswith("split-")]
    assert told == [
        ("error", "split-empty", "009.wav", "its split is empty, or its rows disagree about it"),
        ("warning", "split-similar", "003.wav", "the split 'tset' looks like 'test'"),
    ]
