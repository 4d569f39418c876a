from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from oracles.curves_cases import scores_of, small_case

from earmark.metrics.curves import read_scores, scores_from_frames, unread_scores

HEADER = "onset\toffset\tdog\tcat"
ROWS = "0.0\t0.5\t0.1\t0.2\n0.5\t1.0\t0.3\t0.4"
GOOD = f"{HEADER}\n{ROWS}\n"


class Frame:
    """What of a data frame is used."""

    def __init__(self, columns: list[str], rows: list[list[float]]) -> None:
        self.columns, self._rows = columns, rows

    def to_numpy(self) -> np.ndarray:
        return np.array(self._rows).reshape(-1, len(self.columns))


def folder_of(root: Path, **tables: str) -> Path:
    """Files by their names without .tsv; two underscores are a slash."""
    for name, text in tables.items():
        path = root / f"{name.replace('__', '/')}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return root


# Laws


def test_what_was_written_is_read(rng: np.random.Generator, tmp_path: Path) -> None:
    for number in range(20):
        case = small_case(rng)
        folder = tmp_path / str(number)
        folder.mkdir()
        frames = {}
        for name, rows in case.scores.items():
            edges = case.edges[name]
            full = [[edges[i], edges[i + 1], *row] for i, row in enumerate(rows)]
            lines = ["\t".join(["onset", "offset", *case.classes]), *("\t".join(map(repr, row)) for row in full)]
            (folder / f"{name}.tsv").write_text("\n".join(lines))
            frames[name] = Frame(["onset", "offset", *case.classes], full)
        expected = scores_of(case)
        for found in (read_scores(folder), read_scores(folder, files=list(case.scores)), scores_from_frames(frames)):
            assert (found.files, found.classes) == (expected.files, expected.classes)
            for field in ("values", "first_frame", "edge_seconds"):
                np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.rstrip("\n"),
        lambda text: text + "\n\n",
        lambda text: text.replace(HEADER + "\n", HEADER + "\n\n"),
    ],
    ids=["byte order mark", "Windows", "old Mac", "no end of line", "empty lines", "an empty line between"],
)
def test_how_lines_end_does_not_matter(tmp_path: Path, change: Callable[[str], str]) -> None:
    folder_of(tmp_path, a=change(GOOD))
    found = read_scores(tmp_path)
    assert found.classes == ("dog", "cat")
    assert found.values.tolist() == [[0.1, 0.3], [0.2, 0.4]]
    assert found.edge_seconds.tolist() == [0.0, 0.5, 1.0]


# Worked numbers


def test_files_are_found_by_the_names_of_the_clips(tmp_path: Path) -> None:
    other = GOOD.replace("0.1", "0.7")
    folder_of(tmp_path, **{"kitchen__a": GOOD, "b.wav": other, "c.flac": other})
    found = read_scores(tmp_path, files=["b.wav", "kitchen/a.wav"])
    assert found.files == ("b.wav", "kitchen/a.wav")
    assert found.values[0].tolist() == [0.7, 0.3, 0.1, 0.3]
    assert read_scores(tmp_path).files == ("b.wav", "c.flac", "kitchen/a")


def test_a_name_with_extension_comes_before_one_without(tmp_path: Path) -> None:
    folder_of(tmp_path, **{"a": GOOD, "a.wav": GOOD.replace("0.1", "0.7")})
    assert read_scores(tmp_path, files=["a.wav"]).values[0, 0] == 0.7


def test_two_clips_of_one_name_with_a_file_each(tmp_path: Path) -> None:
    folder_of(tmp_path, **{"a.flac": GOOD, "a.wav": GOOD.replace("0.1", "0.7")})
    assert read_scores(tmp_path, files=["a.flac", "a.wav"]).values[0].tolist() == [0.1, 0.3, 0.7, 0.3]


def test_a_dot_in_a_folder_is_no_extension(tmp_path: Path) -> None:
    folder_of(tmp_path, **{"v1.2__a": GOOD})
    assert read_scores(tmp_path, files=["v1.2/a"]).files == read_scores(tmp_path).files == ("v1.2/a",)


def test_unicode_forms_of_one_name_are_one(tmp_path: Path) -> None:
    folder_of(tmp_path, **{"ku\u0308che": GOOD.replace("dog", "Tu\u0308r"), "b": GOOD.replace("dog", "T\u00fcr")})
    files = ["k\u00fcche.wav", "ku\u0308che.wav", "b.wav"]
    found = read_scores(tmp_path, files=files)
    assert (found.files, found.classes) == (("k\u00fcche.wav", "b.wav"), ("T\u00fcr", "cat"))


def test_class_names_with_commas(tmp_path: Path) -> None:
    folder_of(tmp_path, a=GOOD.replace("dog", "Air horn, truck horn"))
    assert read_scores(tmp_path).classes == ("Air horn, truck horn", "cat")


def test_a_header_alone_is_a_clip_without_frames(tmp_path: Path) -> None:
    folder_of(tmp_path, a=f"{HEADER}\n", b=GOOD)
    found = read_scores(tmp_path)
    assert (found.n_frames.tolist(), found.edge_seconds.tolist()) == ([0, 2], [0.0, 0.0, 0.5, 1.0])


def test_hidden_files_and_folders_are_somebody_elses(tmp_path: Path) -> None:
    folder_of(tmp_path, **{"a": GOOD, ".b": "nothing", ".checkpoints__a": "nothing"})
    (tmp_path / "notes.txt").write_text("nothing")
    assert read_scores(tmp_path).files == ("a",)


def test_files_that_no_clip_needs_are_not_opened(tmp_path: Path) -> None:
    folder_of(tmp_path, a=GOOD, b="nothing that could be read")
    assert read_scores(tmp_path, files=["a.wav"]).files == ("a.wav",)


def test_rounded_times_are_no_gap(tmp_path: Path) -> None:
    folder_of(tmp_path, a=GOOD.replace("0.5\t1.0", "0.5000009\t1.0"))
    assert read_scores(tmp_path).edge_seconds.tolist() == [0.0, 0.5000009, 1.0]


def test_data_frames_of_pandas() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame([[0.0, 0.5, 0.1], [0.5, 1.0, 0.9]], columns=["onset", "offset", "dog"])
    found = scores_from_frames({"a.wav": frame})
    assert (found.classes, found.values.tolist()) == (("dog",), [[0.1, 0.9]])


# Wrong input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"a.tsv: is empty, expected a header and one row per frame"),
        ("\ufeff", r"a.tsv: is empty"),
        (
            GOOD.replace("\t", ";"),
            r"a.tsv:1: the columns must be onset, offset and one for each class, separated by tabs",
        ),
        (GOOD.replace("\t", ","), r"a.tsv:1: .* separated by tabs, got onset,offset,dog,cat"),
        (ROWS, r"a.tsv:1: the columns must be onset, offset"),
        (GOOD.replace("onset\toffset", "offset\tonset"), r"a.tsv:1: the columns must be onset, offset"),
        ("onset\toffset\n0.0\t0.5\n", r"a.tsv:1: the columns must be onset, offset and one for each class"),
        (GOOD.replace("cat", "dog"), r"a.tsv:1: classes must be different names, got 'dog' more than once"),
        (GOOD.replace("cat", ""), r"a.tsv:1: classes must be names, got ''"),
        (GOOD.replace("dog\tcat", "u\u0308\t\u00fc"), r"a.tsv:1: classes must be different names"),
        (GOOD.replace("0.3\t0.4", "0.3"), r"a.tsv:3: the header has 4 columns, this row 3"),
        (GOOD.replace("\t0.2", "").replace("\t0.4", ""), r"a.tsv:2: the header has 4 columns, this row 3"),
        (GOOD.replace("0.4", "0,4"), r"a.tsv:3: all columns must be numbers, got '0,4' - is the decimal sign a comma"),
        (GOOD.replace("0.4", ""), r"a.tsv:3: all columns must be numbers, got ''"),
        (GOOD.replace("0.4", "x"), r"a.tsv:3: all columns must be numbers, got 'x'\n"),
        (GOOD.replace("0.4", "nan"), r"a.tsv:3: scores must be finite numbers, got nan in column 4"),
        (GOOD.replace("0.1", "inf"), r"a.tsv:2: scores must be finite numbers, got inf in column 3"),
        (
            GOOD.replace("0.4", "-inf").replace("\n0.5", "\n\n\n0.5"),
            r"a.tsv:5: scores must be finite numbers, got -inf",
        ),
        (
            GOOD.replace("0.0\t0.5", "0.5\t0.5"),
            r"a.tsv:2: a frame must end after it begins, .* got onset 0.5 and offset 0.5",
        ),
        (GOOD.replace("0.5\t1.0", "0.5\t0.4"), r"a.tsv:3: a frame must end after it begins"),
        (GOOD.replace("0.0\t0.5", "-0.5\t0.5"), r"a.tsv:2: a frame must .* not begin before 0, got onset -0.5"),
        (GOOD.replace("0.0\t0.5", "nan\t0.5"), r"a.tsv:2: a frame must end after it begins, .* got onset nan"),
        (GOOD.replace("0.5\t1.0", "0.5\tinf"), r"a.tsv:3: a frame must .* offset inf - .* or the times not in seconds"),
        (
            GOOD.replace("0.5\t1.0", "0.7\t1.0"),
            r"a.tsv:3: every frame must begin where the one before ends, got onset 0.7",
        ),
        (
            GOOD.replace("0.5\t1.0", "0.500002\t1.0"),
            r"a.tsv:3: every frame must begin where the one before ends, got onset 0.500002 after offset 0.5",
        ),
        (
            GOOD.replace("0.5\t1.0", "0.4\t1.0"),
            r"a.tsv:3: every frame must begin where .* after offset 0.5 - is a row miss",
        ),
    ],
)
def test_tables_that_cannot_be(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_scores(folder_of(tmp_path, a=text))


def test_a_gap_behind_empty_lines_is_named_with_its_own_line(tmp_path: Path) -> None:
    folder_of(tmp_path, a=f"{HEADER}\n\n0.0\t0.5\t0.1\t0.2\n\n0.9\t1.0\t0.3\t0.4\n")
    with pytest.raises(ValueError, match=r"a.tsv:5: every frame must begin where the one before ends"):
        read_scores(tmp_path)


def test_text_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(GOOD.encode("utf-16"))
    with pytest.raises(ValueError, match=r"a.tsv: is not UTF-8 text"):
        read_scores(tmp_path)


@pytest.mark.parametrize(
    "other", [GOOD.replace("\tcat", "").replace("\t0.2", "").replace("\t0.4", ""), GOOD.replace("dog\tcat", "cat\tdog")]
)
def test_other_classes_in_one_file(tmp_path: Path, other: str) -> None:
    folder_of(tmp_path, a=GOOD, b=other)
    with pytest.raises(
        ValueError, match=r"b.tsv:1: the classes must be those of .*a.tsv in the same order \(dog, cat\)"
    ):
        read_scores(tmp_path)


def test_clips_without_scores(tmp_path: Path) -> None:
    folder_of(tmp_path, a=GOOD)
    with pytest.raises(ValueError, match=r"1 of 2 reference clips have no scores \(first: 'b.wav'; there is a.tsv\)"):
        read_scores(tmp_path, files=["a.wav", "b.wav"])
    folder_of(tmp_path, **{"c.flac": GOOD})
    with pytest.raises(ValueError, match=r"have no scores \(first: 'c.wav'"):
        read_scores(tmp_path, files=["c.wav"])


def test_one_file_that_could_be_of_two_clips(tmp_path: Path) -> None:
    folder_of(tmp_path, a=GOOD)
    with pytest.raises(ValueError, match=r"a.tsv could be the scores of a.wav or of a.flac - call it a.wav.tsv"):
        read_scores(tmp_path, files=["a.wav", "a.flac"])


def test_two_files_of_one_name_in_two_unicode_forms(tmp_path: Path) -> None:
    folder_of(tmp_path, **{"u\u0308": GOOD, "\u00fc": GOOD})
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("this file system knows one form only")
    with pytest.raises(
        ValueError, match="the same clip has scores in two files whose names differ in their unicode form"
    ):
        read_scores(tmp_path)


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nowhere: scores must be a folder .* there is no such folder"):
        read_scores(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"one .tsv file per clip, there is none in it"):
        read_scores(tmp_path)
    with pytest.raises(ValueError, match=r"one table per clip, got a file - are these events\?"):
        read_scores(folder_of(tmp_path, a=GOOD) / "a.tsv")


def test_tables_of_other_clips_are_listed(tmp_path: Path) -> None:
    folder_of(tmp_path, a=GOOD, b=GOOD, c=GOOD)
    assert unread_scores(tmp_path, files=["a.wav", "c.flac"]) == ("b.tsv",)


def test_data_frames_that_are_none() -> None:
    good = Frame(["onset", "offset", "dog"], [[0.0, 0.5, 0.1], [0.5, 1.0, 0.2]])
    with pytest.raises(ValueError, match=r"scores\['a'\] must be a data frame, got list - see score_table"):
        scores_from_frames({"a": [[0.1]]})
    with pytest.raises(ValueError, match=r"scores\['a'\] must be a data frame, got SimpleNamespace"):
        scores_from_frames({"a": SimpleNamespace(columns=["onset"])})
    with pytest.raises(ValueError, match=r"scores\['b'\] must have the classes dog, got cat"):
        scores_from_frames({"a": good, "b": Frame(["onset", "offset", "cat"], [[0.0, 0.5, 0.1]])})
    with pytest.raises(ValueError, match=r"scores\['a'\]: the columns must be onset, offset"):
        scores_from_frames({"a": Frame(["start", "end", "dog"], [[0.0, 0.5, 0.1]])})
    with pytest.raises(ValueError, match=r"scores\['a'\], row 1: every frame must begin where the one before ends"):
        scores_from_frames({"a": Frame(["onset", "offset", "dog"], [[0.0, 0.5, 0.1], [0.6, 1.0, 0.2]])})
    with pytest.raises(ValueError, match=r"scores\['a'\], row 0: scores must be finite numbers, got nan in column 3"):
        scores_from_frames({"a": Frame(["onset", "offset", "dog"], [[0.0, 0.5, np.nan]])})
    with pytest.raises(ValueError, match="scores must have at least one clip, got none"):
        scores_from_frames({})
