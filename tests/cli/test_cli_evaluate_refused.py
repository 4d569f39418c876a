"""What `earmark evaluate` says when options do not go together, or scores are not what they should be."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from cli_cases import refused
from evaluate_cases import CLASSES, N_CLIPS, N_FRAMES, arguments, make_folder, score_text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Eight clips, two runs and somebody else's; see `make_folder`."""
    return make_folder(tmp_path)


# Wrong input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--json", "-"], "one of --predicted (events) and --scores (frame scores) must be given - what was found?"),
        (["--scores", "one", "--baseline", "base.tsv"], "--baseline needs --predicted: events are compared with"),
        (["--predicted", "one.tsv", "--baseline-scores", "base"], "--baseline-scores needs --scores: frame scores"),
        (["--scores", "one", "--predicted-tags", "tags.tsv"], "--predicted-tags goes with one --predicted, got 0"),
        (
            ["--predicted", "one.tsv", "--predicted", "two.tsv", "--predicted-tags", "tags.tsv"],
            "--predicted-tags goes with one --predicted, got 2 - tags of which run?",
        ),
        (
            ["--predicted", "one.tsv", "--baseline", "base.tsv", "--predicted-tags", "tags.tsv"],
            "--predicted-tags cannot be compared with --baseline, which has none",
        ),
        (["--predicted", "one.tsv", "--predicted", "one.tsv"], "--predicted must name every run once, got"),
        (["--scores", "one", "--scores", "two", "--scores", "one"], "--scores must name every run once, got"),
        (["--scores", "one", "--compatible", "sed_eval"], "--compatible needs --predicted: that tool has figures of"),
        (["--scores", "one", "--zero-length", "keep"], "--zero-length needs --predicted: curves and PSDS always"),
        (["--predicted", "one.tsv", "--median", "0.5"], "--median needs --scores: frame scores are filtered"),
        (["--scores", "one", "--median", "-1"], "--median must be at least 0, in seconds, for instance 0.5, got -1.0"),
        (["--scores", "one", "--median", "nan"], "--median must be at least 0, in seconds, for instance 0.5, got nan"),
        (["--scores", "one", "--collar", "-0.1"], "must be at least 0 and at most 1e+06, got -0.1 - in seconds"),
        (["--scores", "one", "--collar", "nan"], "must be at least 0 and at most 1e+06, got nan - in seconds"),
        (["--scores", "one", "--offset-fraction", "inf"], "offset_fraction must be"),
        (["--scores", "one", "--segment", "0"], "segment_seconds must be at least 0.001, got 0.0"),
        (["--scores", "one", "--segment", "nan"], "segment_seconds must be at least 0.001, got nan"),
        (["--scores", "one", "--resamples", "0"], "Invalid value for '--resamples': 0 is not in the range x>=1"),
        (["--scores", "one", "--collar", "wide"], "Invalid value for '--collar': 'wide' is not a valid float"),
        (["--scores", "nowhere"], "nowhere: scores must be a folder with one table per clip, there is no such folder"),
        (["--scores", "one.tsv"], "one.tsv: scores must be a folder with one table per clip"),
        (["--predicted", "one"], "are those of frame scores, but events are expected here"),
        (["--predicted", "one.tsv", "--baseline", "none.tsv"], "none.tsv: cannot be read (No such file or directory)"),
        (["--scores", "one", "--group", "none.tsv"], "none.tsv: cannot be read (No such file or directory)"),
        (["--scores", "one", "--group", "reference.tsv"], "reference.tsv:1: one column must be called 'group'"),
        (["--scores", "one", "--reference-tags", "groups.tsv"], "groups.tsv"),
        (["--scores", "one", "--plot", "one.tsv"], "--plot must be a folder, got the file"),
        (["--scores", "one", "--json", "one"], "--json must be a file to write, got the folder"),
    ],
)
def test_options_that_cannot_be_are_named(folder: Path, options: list[str], message: str) -> None:
    assert message in " ".join(refused(*arguments(folder, *options)).split("\n"))


def test_a_folder_without_tables_is_named(folder: Path) -> None:
    (folder / "empty").mkdir()
    assert "empty: scores must be a folder with one .tsv file per clip, there is none in it" in refused(
        *arguments(folder, "--scores", "empty")
    )


def test_a_clip_without_scores_is_named(folder: Path) -> None:
    (folder / "one" / "3.tsv").unlink()
    message = refused(*arguments(folder, "--scores", "one"))
    assert "1 of 8 reference clips have no scores (first: '3.wav'; there is 0.tsv) - another folder, or did" in message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.5\t1\t", "0.5\t1\tnan\t", "3.tsv:3: the header has 4 columns, this row 5"),
        ("Dog", "Cat", "3.tsv:1: the classes must be those of"),
        ("onset", "start", "3.tsv:1: the columns must be onset, offset and one for each class"),
        ("\t", ";", "3.tsv:1: the columns must be onset, offset and one for each class, separated by tabs"),
        ("\n0.5\t1\t", "\n0.6\t1\t", "3.tsv:3: every frame must begin where the one before ends"),
    ],
)
def test_a_wrong_table_of_scores_is_named(folder: Path, old: str, new: str, message: str) -> None:
    path = folder / "one" / "3.tsv"
    path.write_text(path.read_text().replace(old, new))
    assert message in refused(*arguments(folder, "--scores", "one"))


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_score_that_is_no_number_is_named_with_its_line(folder: Path, value: str) -> None:
    path = folder / "one" / "3.tsv"
    lines = path.read_text().splitlines()
    lines[6] = "\t".join([*lines[6].split("\t")[:3], value])
    path.write_text("\n".join(lines))
    assert f"3.tsv:7: scores must be finite numbers, got {value} in column 4" in refused(
        *arguments(folder, "--scores", "one")
    )


def test_scores_of_another_model_are_named(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    for clip in range(N_CLIPS):
        (other / f"{clip}.tsv").write_text(score_text(np.full((N_FRAMES, 2), 0.5), ("Dog", "Owl")))
    message = refused(*arguments(folder, "--scores", "other"))
    assert f"{other}: the scores lack a class of {folder / 'reference.tsv'}: unknown class 'Air horn, truck" in message
    for clip in range(N_CLIPS):
        (other / f"{clip}.tsv").write_text(score_text(np.full((N_FRAMES, 3), 0.5), (*CLASSES, "Owl")))
    for option in ("--baseline-scores", "--scores"):
        message = refused(*arguments(folder, "--scores", "one", option, "other"))
        assert f"{other}: the scores must have the classes of {folder / 'one'}, but only one of the two has" in message
        assert "Owl - is one of another model?" in message


def test_tags_durations_and_groups_that_lack_a_clip_are_named(folder: Path) -> None:
    (folder / "durations.tsv").write_text("filename\tduration\n0.wav\t12.0\n")
    message = refused(*arguments(folder, "--scores", "one", "--durations", "durations.tsv"))
    assert "durations must have every file of the reference, 7 are missing (first: '1.wav')" in message
    (folder / "tags.tsv").write_text("filename\tlabel\n0.wav\tDog\n77.wav\tDog\n")
    message = refused(*arguments(folder, "--scores", "one", "--reference-tags", "tags.tsv"))
    assert "scores must have every file of the tags, 1 are missing (first: '77.wav')" in message
    (folder / "groups.tsv").write_text("filename\tgroup\n0.wav\tAda\n")
    message = refused(*arguments(folder, "--predicted", "one.tsv", "--group", "groups.tsv"))
    assert "groups must have every file that was scored, 7 of 8 are missing (first: '1.wav')" in message
    rows = "".join(f"{clip}.wav\tAda\n" for clip in range(N_CLIPS))
    (folder / "groups.tsv").write_text(f"filename\tgroup\n{rows}")
    message = refused(*arguments(folder, "--predicted", "one.tsv", "--group", "groups.tsv"))
    assert "intervals need at least 2 groups, got only 'Ada' - another column as group?" in message


def test_without_matplotlib_plot_is_refused_before_the_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = refused(*arguments(folder, "--scores", "one", "--plot", "plots"))
    assert "'matplotlib', which is not installed: pip install \"earmark[plot]\"" in message
    assert not (folder / "plots").exists()


def test_no_input_is_replaced(folder: Path) -> None:
    before = (folder / "reference.tsv").read_bytes()
    message = refused(*arguments(folder, "--predicted", "one.tsv", "--json", str(folder / "." / "reference.tsv")))
    assert "--json would replace" in message
    assert (folder / "reference.tsv").read_bytes() == before
