from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from earmark.events import Event
from earmark.labels.formats.rttm import read_rttm


def written(folder: Path, content: str) -> Path:
    file = folder / "all.rttm"
    file.write_text(content, encoding="utf-8")
    return file


# Laws


def test_ends_have_the_decimals_that_onset_and_duration_are_written_with(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    # In thousandths, so that the sums are those of whole numbers.
    times = rng.integers(0, 10**7, size=(500, 2)).tolist()
    lines = [f"SPEAKER a 1 {onset / 1000:.3f} {length / 1000:.3f} <NA> <NA> dog <NA>" for onset, length in times]
    events = read_rttm(written(tmp_path, "\n".join(lines)))["a"]
    assert [event.offset for event in events] == [(onset + length) / 1000 for onset, length in times]


# Worked numbers


def test_comments_other_types_confidences_and_nine_fields(tmp_path: Path) -> None:
    content = (
        ";; made by hand\nSPKR-INFO a 1 <NA> <NA> <NA> unknown dog <NA> <NA>\n\n"
        "SPEAKER a 1 0.5 0.75 <NA> <NA> dog 0.25 <NA>\nSPEAKER site/b.wav 1 0 0 <NA> <NA> click <NA>\n"
    )
    assert read_rttm(written(tmp_path, content)) == {
        "a": [Event(0.5, 1.25, "dog", 0.25)],
        "site/b.wav": [Event(0.0, 0.0, "click")],
    }


def test_a_file_without_lines_is_a_recording_without_events(tmp_path: Path) -> None:
    assert read_rttm(written(tmp_path, ";; nothing heard\n")) == {"all": []}
    assert read_rttm(written(tmp_path, ""), name="a.wav") == {"a.wav": []}


# Wrong input


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("SPEAKER a 1 0.5 0.7 <NA> <NA> air horn <NA> <NA>", r"all.rttm:2: 10 fields .* got 11 - is there a blank in"),
        ("SPEAKER a 1 0.5 0.7 dog", r"all.rttm:2: 10 fields .* got 6 - is a field missing\? \(read as RTTM\)"),
        ("SPEAKER a 1 0.5 -0.7 <NA> <NA> dog <NA> <NA>", "all.rttm:2: duration must be at least 0, got -0.7"),
        ("SPEAKER a 1 x 0.7 <NA> <NA> dog <NA> <NA>", "all.rttm:2: onset must be a number of seconds, got 'x'"),
        ("SPEAKER a 1 0.5 0.7 <NA> <NA> <NA> <NA> <NA>", r"all.rttm:2: the class \(8th field\) is <NA>"),
        ("SPEAKER a 1 0.5 0.7 <NA> <NA> dog 7 <NA>", "all.rttm:2: score must be a probability"),
        ("a.wav 1 0.5 0.7", "all.rttm:2: the first field must be SPEAKER, got 'a.wav'"),
    ],
)
def test_broken_lines(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_rttm(written(tmp_path, f";; first\n{line}\n"))


def test_a_file_without_speakers(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"all.rttm: no line is of type SPEAKER"):
        read_rttm(written(tmp_path, "LEXEME a 1 0.1 0.1 hello lex dog <NA>\n"))
