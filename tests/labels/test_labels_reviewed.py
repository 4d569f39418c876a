from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from earmark.labels import read_reviewed

HEADER = "filename\tonset\toffset\tclasses\n"


def written(folder: Path, content: str) -> Path:
    file = folder / "reviewed.tsv"
    file.write_text(content, encoding="utf-8")
    return file


def read(folder: Path, rows: str) -> list[tuple[str, float | None, float | None, tuple[str, ...] | None]]:
    return [
        (part.filename, part.onset, part.offset, None if part.classes is None else tuple(sorted(part.classes)))
        for part in read_reviewed(written(folder, HEADER + rows))
    ]


# Laws


def test_united_rows_say_what_the_rows_said(tmp_path: Path, rng: np.random.Generator) -> None:
    # On a grid of whole seconds, counted second by second.
    sets = ["dog", "cat", "dog,cat"]
    for _ in range(30):
        spans = [(int(begin), int(begin + length)) for begin, length in rng.integers(1, 12, size=(6, 2))]
        classes = [sets[int(index)] for index in rng.integers(0, len(sets), size=6)]
        rows = "".join(f"a.wav\t{b}\t{e}\t{c}\n" for (b, e), c in zip(spans, classes, strict=True))
        said = {
            (t, c) for (b, e), some in zip(spans, classes, strict=True) for t in range(b, e) for c in some.split(",")
        }
        parts = read(tmp_path, rows)
        assert {(t, c) for _, b, e, some in parts for t in range(int(b or 0), int(e or 0)) for c in some or ()} == said
        for _, begin, end, some in parts:
            same = [(b, e) for _, b, e, other in parts if other == some and (b, e) != (begin, end)]
            assert all((e or 0) < (begin or 0) or (b or 0) > (end or 0) for b, e in same)  # none overlaps or touches


# Worked numbers


def test_whole_files_spans_and_lists(tmp_path: Path) -> None:
    rows = 'b.wav\t\t\t\na.wav\t60\t90\tdog,"Air horn, truck horn"\na.wav\t0\t60\tdog\na.wav\t60\t80\tdog\n'
    assert read(tmp_path, rows) == [
        ("b.wav", None, None, None),
        ("a.wav", 0.0, 80.0, ("dog",)),
        ("a.wav", 60.0, 90.0, ("Air horn, truck horn", "dog")),
    ]


def test_what_another_row_covers_is_left_out(tmp_path: Path) -> None:
    assert read(tmp_path, "a.wav\t1\t2\tdog\na.wav\t\t\t\na.wav\t5\t9\t\n") == [("a.wav", None, None, None)]
    assert read(tmp_path, "a.wav\t1\t2\tdog\na.wav\t0\t3\tdog,cat\n") == [("a.wav", 0.0, 3.0, ("cat", "dog"))]


def test_columns_that_are_empty_may_be_missing(tmp_path: Path) -> None:
    (part,) = read_reviewed(written(tmp_path, "filename\na.wav\n"))
    assert (part.filename, part.onset, part.offset, part.classes) == ("a.wav", None, None, None)
    assert part.where.endswith("reviewed.tsv:2")


# Wrong input


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a.wav\t5\t5\t\n", "reviewed.tsv:2: the span from 5 to 5 s is empty - leave both empty"),
        ("a.wav\t9\t5\t\n", "reviewed.tsv:2: onset 9 is after offset 5"),
        ("a.wav\t9\t\t\n", "reviewed.tsv:2: onset is given but offset is empty"),
        ("a.wav\t0\t1\tdog,,cat\n", "reviewed.tsv:2: a label is empty - is there a comma too many"),
        ("a.wav\t0\t1\tdog\na.wav\t0\t1\t\n", "reviewed.tsv:3: the same span is complete for all .* dog only .*tsv:2"),
        ("a.wav\t\t\t\na.wav\t\t\tcat\n", "reviewed.tsv:3: the same span is complete for all .* cat only .*tsv:2"),
        ("", "reviewed.tsv: no row, so nothing is reviewed"),
    ],
)
def test_broken_rows(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_reviewed(written(tmp_path, HEADER + rows))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("filename\tonset\toffset\tevent_label\n", "1: the column 'event_label' says what was heard, but here stands"),
        ("filename\tonset\toffset\tclases\n", "1: unknown column 'clases' - did you mean 'classes'"),
        ("file\tonset\toffset\tclasses\n", "1: no column 'filename'"),
    ],
)
def test_other_tables(tmp_path: Path, header: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_reviewed(written(tmp_path, f"{header}a.wav\t0\t1\tdog\n"))
