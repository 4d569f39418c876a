from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_cases import earmark, refused
from click.testing import Result

from earmark.cli.evaluate_report import report_text
from earmark.events import Event
from earmark.metrics.evaluation import evaluate
from earmark.metrics.report import as_json

HEADER = "filename\tonset\toffset\tevent_label\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A reference, predictions, tags and durations."""
    (tmp_path / "reference.tsv").write_text(
        f"{HEADER}a.wav\t1.0\t2.0\tDog\na.wav\t4.0\t5.0\tAir horn, truck horn\na.wav\t0\t0\tOwl\nb.wav\t\t\t\n"
    )
    (tmp_path / "predicted.tsv").write_text(
        f"{HEADER}a.wav\t1.2\t2.0\tDog\nb.wav\t0.0\t3.5\tDog\nz.wav\t0.0\t1.0\tDog\n"
    )
    (tmp_path / "tags.tsv").write_text("filename\tlabel\na.wav\tDog\na.wav\tOwl\nb.wav\tDog\n")
    (tmp_path / "durations.tsv").write_text("filename\tduration\na.wav\t10.0\nb.wav\t4.0\n")
    return tmp_path


def arguments(folder: Path, *options: str) -> list[object]:
    """The command line; names of files among the options are those in the folder."""
    paths = [folder / option if option.endswith((".tsv", ".json")) else option for option in options]
    return ["evaluate", "--reference", folder / "reference.tsv", "--predicted", folder / "predicted.tsv", *paths]


def run(folder: Path, *options: str) -> Result:
    return earmark(*arguments(folder, *options))


# Laws


def test_the_report_shows_the_figures_of_evaluate(folder: Path) -> None:
    result = run(folder)
    assert result.exit_code == 0, result.output
    events = {
        "a.wav": [Event(1.0, 2.0, "Dog"), Event(4.0, 5.0, "Air horn, truck horn"), Event(0.0, 0.0, "Owl")],
        "b.wav": [],
    }
    found = {"a.wav": [Event(1.2, 2.0, "Dog")], "b.wav": [Event(0.0, 3.5, "Dog")], "z.wav": [Event(0.0, 1.0, "Dog")]}
    assert result.output == click_plain(report_text(evaluate(events, found), width=None))


def test_a_narrow_window_loses_no_figure_and_no_word(folder: Path) -> None:
    del folder
    label = "Fire engine, fire truck (siren) of an uncommonly long name"
    reference = {"a": [Event(float(second), second + 1.0, label) for second in range(0, 3000, 2)]}
    evaluation = evaluate(reference, {"a": reference["a"][::3]})
    narrow, wide = (click_plain(report_text(evaluation, width=width)) for width in (80, 200))
    assert max(map(len, narrow.splitlines())) <= 80
    assert report_text(evaluation, width=30) == report_text(evaluation, width=80)  # narrower than it can be
    assert sorted(narrow.replace("-", "").split()) == sorted(wide.replace("-", "").split())


# Worked numbers


def test_the_report_by_hand(folder: Path) -> None:
    lines = run(folder).output.splitlines()
    assert lines[0] == "2 files, 2 reference events, 2 predicted events, 3 classes"
    rows = {}
    for line in lines[: lines.index("") + 8]:  # the first table
        if "." in line[20:40]:
            rows[line[:20].strip()] = line[20:].split()
    # One of two dogs was found and one made up, exactly 200 ms late; the horn was missed; the owl never heard.
    assert rows["macro mean"][:3] == ["0.333", "0.250", "0.500"]
    assert rows["micro mean"][:3] == ["0.500", "0.500", "0.500"]
    assert rows["Dog"][:3] == ["0.667", "0.500", "1.000"]
    assert rows["Air horn, truck horn"][:3] == ["0.000", "0.000", "0.000"]
    assert any(line.split() == ["Owl", *["-"] * 9] for line in lines)
    # Of 2 reference events 1 was missed and 1 made up; of 8 segments without a dog 4 were left alone.
    assert ["micro", "mean", "1.000"] in [line.split()[:3] for line in lines]
    assert ["ER", "ER", "acc", "bal", "spec", "ER"] in [line.split() for line in lines]
    assert any(line.split()[:4] == ["Dog", "1", "1", "0"] for line in lines)
    assert lines[-1] == "macro F1   event 0.333   segment 0.167   clip 0.333"


def test_one_of_each_is_not_many(folder: Path) -> None:
    (folder / "reference.tsv").write_text(f"{HEADER}a.wav\t1.0\t2.0\tDog\n")
    (folder / "predicted.tsv").write_text(f"{HEADER}a.wav\t1.0\t2.0\tDog\n")
    assert run(folder).output.splitlines()[0] == "1 file, 1 reference event, 1 predicted event, 1 class"


def test_the_macro_mean_stands_out() -> None:
    events = {"a": [Event(1.0, 2.0, "Dog")]}
    lines = report_text(evaluate(events, events), width=None).splitlines()
    macro = next(line for line in lines if "macro mean" in line)
    assert macro.startswith("\x1b[1mmacro mean")
    assert "\x1b[1m  1.000\x1b[0m" in macro
    assert "\x1b[22m" not in macro
    assert lines[-1] == "\x1b[1mmacro F1   event 1.000   segment 1.000   clip 1.000\x1b[0m"


def test_what_does_not_count_is_said(folder: Path) -> None:
    output = run(folder).output
    assert "note  1 event of zero length was dropped (1 reference, 0 predicted)" in output
    assert "note  1 predicted file is not in the reference: 1 event ignored (first: z.wav)" in output
    assert "note  on neither side, so left out of the event, segment and clip means: Owl" in output
    assert "reference tags derived from the events, predicted tags derived from the events" in output


def test_options_reach_the_evaluation(folder: Path) -> None:
    kept = run(folder, "--zero-length", "keep").output.splitlines()
    assert ["Owl", "0.000", "0.000", "0.000"] in [line.split()[:4] for line in kept]
    output = run(folder, "--reference-tags", "tags.tsv", "--durations", "durations.tsv").output
    assert "reference tags as given, predicted tags derived" in output
    assert "1 s, 14 segments in all; durations as given" in output
    assert "predicted tags as given" in run(folder, "--predicted-tags", "tags.tsv").output
    compatible = run(folder, "--compatible", "sed_eval").output
    assert "as sed_eval has them" in compatible
    # 1.2 - 1.0 is below 0.2 even in floating point; the horn and the owl are never predicted: F1 undefined, left out.
    assert compatible.splitlines()[-1].startswith("macro F1   event 0.667")


def test_json_to_a_file_and_to_standard_output(folder: Path) -> None:
    beside = run(folder, "--json", "figures.json")
    assert "macro F1" in beside.stdout
    assert "figures.json" in beside.stderr
    instead = run(folder, "--json", "-")
    written = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    assert json.loads(instead.stdout) == written
    assert written["event"]["macro"]["recall"] == 0.5
    assert written["event"]["classes"].keys() == {"Air horn, truck horn", "Dog", "Owl"}
    assert written.keys() == as_json(evaluate({"a": []}, {})).keys()


def test_help_names_the_three_levels() -> None:
    output = earmark("evaluate", "--help").output
    assert "event    onset within 200 ms" in output
    assert "--compatible [sed_eval]" in output


# Wrong input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--predicted", "missing.tsv"],
            "missing.tsv: cannot be read (No such file or directory) - is the path relative",
        ),
        (["--durations", "tags.tsv"], "no column 'duration'"),
        (["--reference-tags", "durations.tsv"], "no column 'event_labels'"),
        (["--json", "."], "--json must be a file to write, got the folder ."),
        (["--zero-length", "half"], "Invalid value for '--zero-length'"),
    ],
)
def test_wrong_input_is_named(folder: Path, options: list[str], message: str) -> None:
    assert message in refused(*arguments(folder, *options))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a.wav\t2.0\t1.0\tDog\n", "predicted.tsv:2: "),
        ("a.flac\t1.0\t2.0\tDog\n", "predicted must have files of the reference, got 1 others, such as 'a.flac'"),
    ],
)
def test_wrong_predictions_are_named(folder: Path, row: str, message: str) -> None:
    (folder / "predicted.tsv").write_text(HEADER + row)
    assert message in refused(*arguments(folder))


def test_both_tables_are_needed() -> None:
    assert "Missing option '--reference'" in refused("evaluate", "--predicted", "a.tsv")
    assert "one of --predicted (events) and --scores (frame scores)" in refused("evaluate", "--reference", "a.tsv")


def click_plain(text: str) -> str:
    """Without colours, as click prints where there is no terminal."""
    import click

    return click.unstyle(text)
