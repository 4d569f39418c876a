from __future__ import annotations

from pathlib import Path

import pytest

from earmark.events import Event
from earmark.labels.formats.audacity import read_audacity


def written(folder: Path, content: str, name: str = "a.wav.txt") -> Path:
    file = folder / name
    file.write_bytes(content.encode())
    return file


# Worked numbers


def test_points_frequencies_blank_lines_and_names_in_any_language(tmp_path: Path) -> None:
    content = (
        "\ufeff0.5\t1.25\tAir horn, truck horn\r\n\\\t-1.000000\t899.0\r\n\r\n2\t2\t\u72ac\r\n3\t4\tKa\u0308fer\t\r\n"
    )
    assert read_audacity(written(tmp_path, content)) == {
        "a.wav": [Event(0.5, 1.25, "Air horn, truck horn"), Event(2.0, 2.0, "\u72ac"), Event(3.0, 4.0, "K\u00e4fer")]
    }


def test_an_empty_track_is_a_recording_without_events(tmp_path: Path) -> None:
    assert read_audacity(written(tmp_path, "")) == {"a.wav": []}
    assert read_audacity(written(tmp_path, "\n"), name="b.wav") == {"b.wav": []}


# Wrong input


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "12.5\t3.0\tdog",
            r"a.wav.txt:2: onset 12.5 is after offset 3.0 - .*\(read as an Audacity label track\)\n    12.5",
        ),
        ("-0.5\t3.0\tdog", "a.wav.txt:2: onset must be at least 0, got -0.5"),
        ("0,5\t1,5\tdog", "a.wav.txt:2: onset must be .* got '0,5' - a decimal comma.* European export"),
        ("0:30\t0:31\tdog", "a.wav.txt:2: onset must be .* got '0:30' - is it in seconds"),
        ("1_0\t20\tdog", "a.wav.txt:2: onset must be .* got '1_0'"),
        ("nan\t20\tdog", "a.wav.txt:2: .*got 'nan'"),
        ("0.5\t1.25", "a.wav.txt:2: the label has no name"),
        ("0.5\t1.25\t", "a.wav.txt:2: the label has no name"),
        ("2.5\t1.25\t", "a.wav.txt:2: onset 2.5 is after offset 1.25"),
        ("0.5 1.25 dog", "a.wav.txt:2: a line holds .* got no tab - did an editor turn the tabs into spaces"),
        ("0.5\t1.25\tdog\tcat", "a.wav.txt:2: begin, end and label expected, got 4 fields"),
        ("onset\toffset\tlabel", "a.wav.txt:2: the line must begin with two times.* no line with the names of columns"),
        ("\\\t200.0\t899.0\n\\\t200.0\t899.0", "a.wav.txt:3: frequencies stand behind the line of their label"),
        ("\\\t200.0", "a.wav.txt:2: a line of frequencies holds"),
    ],
)
def test_broken_lines(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_audacity(written(tmp_path, f"0.0\t0.25\tdog\n{line}\n"))
