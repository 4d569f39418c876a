from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from earmark.labels.table import Table, check_columns, read_table

EXAMPLE = "filename\tevent_labels\na.wav\tDog,Cat"


def table(folder: Path, content: str | bytes, *, name: str = "weak.tsv", lists: tuple[str, ...] = ()) -> Table:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_table(file, list_columns=lists)


def cells(read: Table) -> list[list[str]]:
    return [row.cells for row in read.rows]


# Laws


def test_any_csv_that_python_writes_is_read_back(tmp_path: Path, rng: np.random.Generator) -> None:
    characters = [*"ab,;\"' \nä", '"Air horn, truck horn",Car']
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        for _ in range(50):
            rows = [[f"x{''.join(rng.choice(characters, size=4))}x" for _ in range(3)] for _ in range(4)]
            text = io.StringIO()
            csv.writer(text, quoting=quoting).writerows([["a", "b", "c"], *rows])
            assert cells(table(tmp_path, text.getvalue(), name="t.csv", lists=("b",))) == rows


def test_line_ends_byte_order_mark_and_blank_lines_change_nothing(tmp_path: Path) -> None:
    plain = table(tmp_path, "filename\tonset\na.wav\t1\nb.wav\t\n")
    for content in (
        "filename\tonset\r\na.wav\t1\r\nb.wav\t\r\n",
        "filename\tonset\ra.wav\t1\rb.wav\t",
        "\ufefffilename\tonset\na.wav\t1\nb.wav\t",
        "filename\tonset\na.wav\t1\nb.wav\t\n\n\n",
        "filename\tonset\na.wav\t1\nb.wav\t\n\t\n \t \n",
        " filename \t onset\n a.wav\t1 \nb.wav \t\n",
    ):
        other = table(tmp_path, content)
        assert (other.columns, cells(other)) == (plain.columns, cells(plain))
    assert cells(plain) == [["a.wav", "1"], ["b.wav", ""]]


def test_rows_know_the_line_they_stand_in(tmp_path: Path) -> None:
    lines = ["filename\tlabel", "a.wav\tDog", "", "b.wav\tCat", "c.wav\t\x0bform feeds end no line"]
    read = table(tmp_path, "\n".join(lines))
    assert [row.line_number for row in read.rows] == [2, 4, 5]
    for row in read.rows:
        assert lines[row.line_number - 1] == row.line
    assert read.where(read.rows[1]) == f"{tmp_path.as_posix()}/weak.tsv:4"


# Worked numbers


def test_a_quoted_csv_cell_may_run_over_lines(tmp_path: Path) -> None:
    read = table(tmp_path, 'filename,note\na.wav,"first\nsecond, still"\nb.wav,x\n', name="t.csv")
    assert cells(read) == [["a.wav", "first\nsecond, still"], ["b.wav", "x"]]
    assert [row.line_number for row in read.rows] == [2, 4]


@pytest.mark.parametrize(
    ("header", "cell", "expected"),
    [
        # Written by hand: the quotes belong to the labels.
        ("filename\tevent_labels", '"Air horn, truck horn",Car', '"Air horn, truck horn",Car'),
        ("filename\tevent_labels", '"Air horn, truck horn"', '"Air horn, truck horn"'),
        # Written by a program that quotes what holds quotes.
        ("filename\tevent_labels", '"""Air horn, truck horn"",Car"', '"Air horn, truck horn",Car'),
        ("filename\tevent_labels", '"""Air horn, truck horn"""', '"Air horn, truck horn"'),
        # Written by a program that quotes everything.
        ('"filename"\t"event_labels"', '"Dog,Cat"', "Dog,Cat"),
        ('"filename"\t"event_labels"', '"""Air horn, truck horn"""', '"Air horn, truck horn"'),
        (" filename\t event_labels ", '"Dog, big"', '"Dog, big"'),
        # In a column that is no list, the quotes around a cell never belong to it.
        ("filename\tlabel", '"Air horn, truck horn"', "Air horn, truck horn"),
        ("filename\tlabel", '12" vinyl', '12" vinyl'),
    ],
)
def test_quotes_in_tsv(tmp_path: Path, header: str, cell: str, expected: str) -> None:
    read = table(tmp_path, f"{header}\na.wav\t{cell}\n", lists=("event_labels",))
    assert read.columns[0] == "filename"
    assert cells(read) == [["a.wav", expected]]


def test_a_table_of_one_column(tmp_path: Path) -> None:
    assert cells(table(tmp_path, "filename\na.wav\nb.wav\n")) == [["a.wav"], ["b.wav"]]


def test_a_missing_column_is_empty(tmp_path: Path) -> None:
    read = table(tmp_path, "filename\tonset\na.wav\t1\nb.wav\t2\n")
    assert read.column("onset") == ["1", "2"]
    assert read.column("offset") == ["", ""]
    assert read.cell(read.rows[0], "onset") == "1"
    assert read.cell(read.rows[0], "offset") == ""


# Wrong input


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "weak.tsv:1: the first line must name the columns, but it is empty"),
        ("\na\tb\n", "weak.tsv:1: the first line must name the columns"),
        ("filename;label\na.wav;Dog\n", "weak.tsv:1: columns must be separated by tabs or commas, got semicolons"),
        ("filename\tlabel\tlabel\n", "weak.tsv:1: the column 'label' appears twice"),
        ("filename\tlabel\t\n", "weak.tsv:1: column 3 has no name"),
        (
            "filename\tlabel\na.wav\tDog\tCat\n",
            r"weak.tsv:2: 2 fields expected \(filename, label\), got 3.*\n    a.wav\tDog\tCat",
        ),
        (
            "filename\tlabel\nb.wav\tDog\na.wav Dog\n",
            r"weak.tsv:3: 2 fields expected .*, got 1 - spaces instead of tabs",
        ),
        ("filename\tonset\toffset\na.wav\t\n", "weak.tsv:2: 3 fields .* did an editor strip it"),
        ("filename,label\na.wav,Dog,Cat\n", r"weak.tsv:2: 2 fields expected .*, got 3 - a comma inside a cell\? quote"),
        ("filename\na.wav,Dog\n", r"weak.tsv:2: 1 field expected \(filename\), got 2"),
        ("filename,label\na.wav\n", "weak.tsv:2: 2 fields expected .*, got 1 - is a separator missing"),
        ('filename,label\nb.wav,Cat\na.wav,"Dog\n', "weak.tsv:3: the quotes do not match"),
        ('filename,label\na.wav,"Dog"x\n', r'weak.tsv:2: the quotes do not match[^\n]*\n    a.wav,"Dog"x'),
    ],
)
def test_broken_tables(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        table(tmp_path, content)


def test_bytes_that_are_not_utf8_are_named_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"weak.tsv:3: byte 0xe4 is not UTF-8.*\n    K\\xe4fer.wav\tDog$"):
        table(tmp_path, "filename\tlabel\na.wav\tDog\nKäfer.wav\tDog\r\n".encode("latin-1"))


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_the_other_unicode_is_named(tmp_path: Path, mark: bytes) -> None:
    with pytest.raises(ValueError, match="the file is UTF-16, not UTF-8"):
        table(tmp_path, mark + "filename\tlabel\n".encode("utf-16-le"))


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", forbidden)  # whoever runs the tests may be allowed everything
    with pytest.raises(
        ValueError, match=r"weak.tsv: cannot be read \(Permission denied\) - are you allowed to read it"
    ):
        read_table(tmp_path / "weak.tsv")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nowhere.tsv: cannot be read \(No such file .* relative to another folder\?"):
        read_table(tmp_path / "nowhere.tsv")
    (tmp_path / "folder.wav").mkdir()
    with pytest.raises(ValueError, match=r"folder.wav: cannot be read \(Is a directory\) - name the table inside it"):
        read_table(tmp_path / "folder.wav")


@pytest.mark.parametrize("row", ["a.wav\tDog\n", "a.wav\t\n", "Dog,b.FLAC\n", "site 3/a.opus\n", "a.wav\ta.wav\n"])
def test_a_table_without_a_header(tmp_path: Path, row: str) -> None:
    recording = next(cell for cell in row.strip().replace(",", "\t").split("\t") if "." in cell)
    with pytest.raises(ValueError, match="the first line must name the columns") as caught:
        table(tmp_path, row)
    assert str(caught.value) == (
        f"{tmp_path.as_posix()}/weak.tsv:1: the first line must name the columns, got the recording {recording!r}"
        " - is the header missing? Expected, for instance:\n    filename\tlabel\n    a.wav\tDog"
    )


@pytest.mark.parametrize(
    ("name", "what"),
    [("model.onnx", "but a model - are"), ("last.safetensors", "but a model"), ("a.WAV", "but a recording"),
     ("labels.xlsx", "but a spreadsheet - save the sheet as CSV UTF-8")],
)  # fmt: skip
def test_files_that_are_no_tables(tmp_path: Path, name: str, what: str) -> None:
    with pytest.raises(ValueError, match=rf"{name}: is no table of labels {what}"):
        table(tmp_path, b"\x08\xe6", name=name)


@pytest.mark.parametrize("content", [b"RIFF\x24\x80\0\0WAVEfmt ", "filename\tlabel\n".encode("utf-16-le")])
def test_bytes_that_are_no_text(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ValueError, match=r"weak.tsv: is no table of labels: it holds a zero byte, as text never does"):
        table(tmp_path, content)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (
            "filename\tevent_label",
            r"weak.tsv:1: no column 'event_labels' .* is 'event_label' meant to be 'event_labels'\?",
        ),
        (
            "file\tTags",
            "no column 'filename' .* is 'file' meant to be 'filename'. is 'Tags' meant to be 'event_labels'",
        ),
        ("Filename\tevent_labels", "no column 'filename' .* is 'Filename' meant to be 'filename'"),
        ("x\tDog", r"no column 'filename' \(the columns are: x, Dog\) - is the first line a header\?"),
        ("filename\tevent_labels\tonest\toffset", "unknown column 'onest' - did you mean 'onset'"),
        ("filename\tevent_labels\tknown_class", "unknown column 'known_class' - did you mean 'known_classes'"),
    ],
)
def test_wrong_headers_show_what_is_expected(tmp_path: Path, header: str, message: str) -> None:
    read = table(tmp_path, f"{header}\n")
    with pytest.raises(ValueError, match=message) as caught:
        check_columns(
            read, required=("filename", "event_labels"), optional=("onset", "offset", "known_classes"), example=EXAMPLE
        )
    assert str(caught.value).endswith("Expected, for instance:\n    filename\tevent_labels\n    a.wav\tDog,Cat")


def test_columns_of_ones_own_are_welcome(tmp_path: Path) -> None:
    read = table(tmp_path, "filename\tevent_labels\tsplit\tpatient\tset\n")
    check_columns(read, required=("filename", "event_labels"), optional=("onset", "offset"), example=EXAMPLE)
