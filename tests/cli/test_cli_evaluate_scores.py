"""`earmark evaluate` with frame scores, several runs, baselines, intervals and pictures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_cases import done, earmark, refused
from evaluate_cases import HEADER, arguments, make_folder, score_text, table

from earmark.cli.evaluate_report import LEGEND


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Eight clips, two runs and somebody else's; see `make_folder`."""
    return make_folder(tmp_path)


# Laws


def test_scores_give_the_rows_of_evaluate_scores(folder: Path) -> None:
    from earmark.labels.strong import read_strong
    from earmark.metrics.curves.evaluation import curve_rows, evaluate_scores
    from earmark.metrics.curves.folder import read_scores

    reference = read_strong(folder / "reference.tsv")
    expected = curve_rows(evaluate_scores(read_scores(folder / "one", files=list(reference)), reference))
    result = done(*arguments(folder, "--scores", "one"))
    assert table(result.stdout, "") == {name: figures for name, *figures in expected}
    assert result.stderr == ""
    assert "PSDS in scenario 1 (exact times) and 2 (right class)" in result.stdout
    assert LEGEND[1] not in result.stdout  # which is about lists


def test_what_is_said_alone_is_said_together(folder: Path) -> None:
    lists, scores = (done(*arguments(folder, *one)).stdout for one in (("--predicted", "one.tsv"), ("--scores", "one")))
    assert done(*arguments(folder, "--predicted", "one.tsv", "--scores", "one")).stdout == f"{scores}\n{lists}"


def test_json_to_standard_output_is_the_file_and_nothing_else(folder: Path) -> None:
    options = ["--predicted", "one.tsv", "--scores", "one", "--baseline", "base.tsv", "--baseline-scores", "base"]
    beside = done(*arguments(folder, *options, "--resamples", "20", "--json", "figures.json"))
    instead = done(*arguments(folder, *options, "--resamples", "20", "--json", "-"))
    written = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    assert json.loads(instead.stdout) == written
    assert instead.stderr == "resampling 20 times ...\n"
    assert beside.stderr == f"resampling 20 times ...\nwrote {folder / 'figures.json'}\n"
    assert "macro F1" in beside.stdout
    assert "event" in written  # one run of lists: its figures as they have always been
    assert written["baseline"].keys() == written.keys() - {"baseline", "intervals", "differences"}
    for name in ("intervals", "differences"):
        assert list(written[name]["lists"]) == ["event", "segment", "clip"]
        assert list(written[name]["scores"]) == ["event", "segment", "clip", "PSDS 1", "PSDS 2"]
    psds = written["differences"]["scores"]["PSDS 1"]["overall"]["psds"]["value"]
    assert psds == pytest.approx(
        written["scores"]["psds_1"]["value"] - written["baseline"]["scores"]["psds_1"]["value"]
    )


def test_a_system_against_itself_is_no_difference(folder: Path) -> None:
    options = ["--predicted", "one.tsv", "--baseline", "one.tsv", "--scores", "one", "--baseline-scores", "one"]
    output = done(*arguments(folder, *options, "--resamples", "10")).stdout
    rows = table(output, "system minus baseline") | table(output[output.rindex("system minus baseline") :], "")
    assert len(rows) == 8 + 10
    for figures in rows.values():
        assert set(figures) <= {"+0.000", "1.000"}


def test_the_order_of_the_columns_means_nothing(folder: Path) -> None:
    turned = folder / "turned"
    turned.mkdir()
    for path in (folder / "one").iterdir():
        rows = [line.split("\t") for line in path.read_text().splitlines()]
        (turned / path.name).write_text("".join("\t".join([*row[:2], row[3], row[2]]) + "\n" for row in rows))
    output = done(*arguments(folder, "--scores", "one", "--baseline-scores", "turned", "--resamples", "5")).stdout
    assert {figures[0] for figures in table(output, "system minus baseline").values()} == {"+0.000"}


def test_lists_alone_import_nothing_of_curves_and_nobody_torch_or_pandas(folder: Path) -> None:
    def imported(*options: str) -> set[str]:
        words = [str(word) for word in arguments(folder, *options)]
        code = f"from earmark.cli.main import main\nmain({words!r}, standalone_mode=False)"
        code += "\nimport sys\nprint('\\n' + ' '.join(sys.modules))"
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        return set(out.splitlines()[-1].split())

    lists = imported("--predicted", "one.tsv", "--json", "figures.json")
    assert {name for name in lists if name.startswith(("earmark.metrics.curves", "earmark.metrics.systems"))} == set()
    scores = imported("--predicted", "one.tsv", "--scores", "one", "--baseline-scores", "base", "--resamples", "2")
    assert "earmark.metrics.curves.psds" in scores
    for loaded in (lists, scores):
        assert not loaded & {"torch", "pandas", "matplotlib", "onnxruntime"}


# Worked numbers


def test_scores_by_hand(tmp_path: Path) -> None:
    (tmp_path / "reference.tsv").write_text(f"{HEADER}a.wav\t0.5\t1.0\tDog\nb.wav\t\t\t\n")
    (tmp_path / "scores").mkdir()
    for name, values in (("a", [0.1, 0.9, 0.2]), ("b", [0.3, 0.3, 0.3])):
        (tmp_path / "scores" / f"{name}.tsv").write_text(score_text(np.array([values]).T, ("Dog",)))
    output = done(*arguments(tmp_path, "--scores", "scores")).stdout
    assert table(output, "") == {"mean": ["1.000"] * 10, "Dog": ["1.000"] * 10}


def test_intervals_when_somebody_wants_them(folder: Path) -> None:
    lists = ["--predicted", "one.tsv"]
    assert "intervals" not in done(*arguments(folder, *lists)).stdout
    for options in (["--intervals"], ["--resamples", "1000"], ["--baseline", "base.tsv"], ["--predicted", "two.tsv"]):
        assert "over 8 clips, 1,000 resamples" in done(*arguments(folder, *lists, *options)).stdout
    output = done(*arguments(folder, *lists, "--group", "groups.tsv", "--resamples", "50")).stdout
    assert "intervals, 95 % over 4 groups, 50 resamples\n" in output
    assert "intervals over only 4 groups are too narrow, and p-values too small" in output
    assert "no groups were given" not in output
    rows = table(output, "intervals")
    assert list(rows) == [f"{mean} {figure}" for mean in ("macro", "micro") for figure in ("F1", "P", "R", "ER")]
    value, low, high = map(float, rows["macro F1"][:3])
    assert low < value < high
    assert rows["macro F1"][0] == output.splitlines()[-1].split()[3]


def test_groups_are_other_intervals_than_clips(folder: Path) -> None:
    options = ["--scores", "one", "--resamples", "200"]
    clips = done(*arguments(folder, *options)).stdout
    groups = done(*arguments(folder, *options, "--group", "groups.tsv")).stdout
    assert "intervals are over clips, because no groups were given" in clips
    rows = [table(output, "intervals") for output in (clips, groups)]
    assert list(rows[0])[-2:] == ["PSDS 1", "PSDS 2"]
    assert rows[0]["segment AP"][0] == rows[1]["segment AP"][0]
    assert rows[0]["segment AP"][1:] != rows[1]["segment AP"][1:]


def test_several_runs_are_told_as_their_mean(folder: Path) -> None:
    options = ["--predicted", "one.tsv", "--predicted", "two.tsv", "--scores", "one", "--scores", "two"]
    output = done(*arguments(folder, *options, "--resamples", "20", "--json", "figures.json")).stdout
    assert output.count("intervals, means over 2 runs; 95 % over 8 clips") == 2
    assert "best F1 at each class's own" not in output
    assert LEGEND[1] not in output  # nor the report of lists
    written = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    of_lists = [run["event"]["macro"]["f1"] for run in written["runs"]]
    of_scores = [run["psds_1"]["value"] for run in written["scores"]["runs"]]
    assert table(output, "intervals")["macro F1"][0] == f"{np.mean(of_lists):.3f}"
    assert f"PSDS 1           {np.mean(of_scores):.3f}" in output


def test_runs_without_a_report_keep_their_notes(folder: Path) -> None:
    text = (folder / "two.tsv").read_text()
    (folder / "more.tsv").write_text(f"{text}z.wav\t0.0\t1.0\tDog\n")
    extra = "note  {}1 predicted file is not in the reference: 1 event ignored (first: z.wav)"
    runs = ["--predicted", "one.tsv", "--predicted", "more.tsv", "--resamples", "5"]
    assert extra.format("run 2: ") in done(*arguments(folder, *runs)).stdout
    both = ["--predicted", "more.tsv", "--resamples", "5", "--baseline", "more.tsv"]
    output = done(*arguments(folder, *both)).stdout
    assert extra.format("baseline: ") in output
    assert extra.format("") in output
    rows = [row for row in (folder / "reference.tsv").read_text().splitlines() if not row.startswith("7.wav")]
    (folder / "reference.tsv").write_text("\n".join([*rows, "7.wav\t9.0\t9.0\tDog"]))
    for options in (["--scores", "one", "--scores", "two"], ["--scores", "one"]):
        output = done(*arguments(folder, *options, "--resamples", "2")).stdout
        assert output.count("note  1 reference event of zero length left out of curves and PSDS") == 1
    output = done(*arguments(folder, "--scores", "one", "--baseline-scores", "two", "--resamples", "2")).stdout
    assert output.count("note  baseline: 1 reference event of zero length left out") == 1
    assert output.count("1 reference event of zero length left out") == 2


def test_collars_segments_durations_tags_and_the_median_reach_the_curves(folder: Path) -> None:
    def rows(*options: str) -> dict[str, list[str]]:
        return table(done(*arguments(folder, "--scores", "one", *options)).stdout, "")

    plain = rows()["mean"]
    assert rows("--collar", "0.2", "--offset-fraction", "0.2", "--segment", "1.0", "--median", "0")["mean"] == plain
    wide, only_offset = rows("--collar", "1.0")["mean"], rows("--offset-fraction", "0.9")["mean"]
    assert float(wide[0]) > float(plain[0])
    assert wide[2:] == only_offset[2:] == plain[2:]  # of events alone
    segments = rows("--segment", "2.5")["mean"]
    assert segments[2:5] != plain[2:5]
    assert segments[:2] + segments[5:] == plain[:2] + plain[5:]
    assert rows("--median", "1.5")["mean"] != plain
    longer = rows("--durations", "durations.tsv")["mean"]
    assert longer[4] != plain[4]  # more segments without the class, behind the last frame
    assert longer[5:8] == plain[5:8]
    tagged = rows("--reference-tags", "tags.tsv")["mean"]
    assert tagged[5:8] != plain[5:8]
    assert tagged[:5] == plain[:5]


def test_collars_and_segments_reach_the_lists(folder: Path) -> None:
    shifted = (folder / "reference.tsv").read_text().replace(".5\t", ".9\t")
    (folder / "shifted.tsv").write_text(shifted)
    plain, wide = (
        table(done(*arguments(folder, "--predicted", "shifted.tsv", *options)).stdout, "")["macro mean"]
        for options in ([], ["--collar", "0.5"])
    )
    assert float(plain[0]) < float(wide[0]) == 1.0
    output = done(*arguments(folder, "--predicted", "shifted.tsv", "--collar", "0.25", "--segment", "0.1")).stdout
    assert "onset within 250 ms, offset within 250 ms or 20%" in output
    assert "segment  0.1 s" in output


def test_compatible_is_for_lists_and_says_so_beside_scores(folder: Path) -> None:
    options = ["--predicted", "one.tsv", "--scores", "one"]
    output = done(*arguments(folder, *options, "--compatible", "sed_eval")).stdout
    assert "note  --compatible is for lists: sed_eval has no curves, these figures are earmark's" in output
    assert "as sed_eval has them" in output
    assert table(output, "") == table(done(*arguments(folder, *options)).stdout, "")


def test_plot_draws_what_there_is(folder: Path) -> None:
    options = ["--predicted", "one.tsv", "--scores", "one", "--resamples", "5", "--plot", "plots"]
    result = done(*arguments(folder, *options))
    names = ["classes-lists", "classes-scores", "precision-recall-clip", "precision-recall-event"]
    names += ["precision-recall-segment", "psd-roc-1", "psd-roc-2"]
    pictures = sorted((folder / "plots").iterdir())
    assert [picture.name for picture in pictures] == [f"{name}.png" for name in names]
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)
    assert sorted(result.stderr.splitlines()[1:]) == [f"wrote {picture}" for picture in pictures]
    assert "plots" not in result.stdout
    before = {picture.name: picture.read_bytes() for picture in pictures}
    done(*arguments(folder, *options))
    assert {picture.name: picture.read_bytes() for picture in pictures} == before


def test_plot_draws_every_run(folder: Path) -> None:
    runs = ["--scores", "one", "--scores", "two", "--resamples", "5", "--plot", "plots"]
    done(*arguments(folder, *runs))
    names = {path.stem for path in (folder / "plots").iterdir()}
    assert {name for name in names if "roc" in name} == {f"psd-roc-{n}-run-{run}" for n in (1, 2) for run in (1, 2)}


def test_one_clip_has_pictures_and_no_intervals(folder: Path) -> None:
    (folder / "single.tsv").write_text(f"{HEADER}0.wav\t1.0\t2.0\tDog\n")
    result = done(*arguments(folder, "--scores", "one", "--plot", "plots", reference="single.tsv"))
    assert "intervals" not in result.stdout
    assert len(result.stderr.splitlines()) == 5
    lists = done(*arguments(folder, "--predicted", "single.tsv", "--plot", "plots", reference="single.tsv"))
    assert lists.stderr == "nothing to draw: pictures of lists show intervals, which need at least 2 clips\n"
    message = refused(*arguments(folder, "--scores", "one", "--intervals", reference="single.tsv"))
    assert "intervals need at least 2 clips, got only '0.wav'" in message


def test_help_explains_the_new_options() -> None:
    output = " ".join(earmark("evaluate", "--help").output.split())
    for text in (
        "--scores DIR",
        "--baseline-scores DIR",
        "--resamples N",
        "--plot DIR",
        "[default: with several runs, --group, --baseline, --resamples or --plot]",
        "PSDS found against false alarms per hour, at all thresholds (needs --scores)",
    ):
        assert text in output
