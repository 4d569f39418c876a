"""`earmark evaluate` with frame scores, several runs, baselines, intervals and pictures."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_cases import done, earmark, refused

from earmark.cli.evaluate_report import LEGEND

HEADER = "filename\tonset\toffset\tevent_label\n"
CLASSES = ("Dog", "Air horn, truck horn")
N_CLIPS, N_FRAMES, HOP_SECONDS = 8, 20, 0.5
Rows = list[tuple[int, float, float, str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Eight clips of 10 s; one.tsv and two.tsv, scores one and two: two runs; base.tsv and base: somebody else's."""
    rng = np.random.default_rng(5)
    events: Rows = []
    for clip in range(N_CLIPS - 1):  # nothing in the last one
        for label in CLASSES:
            if rng.random() < 0.7:
                onset = int(rng.integers(0, 14)) * HOP_SECONDS
                events.append((clip, onset, onset + 1.5, label))
    write_events(tmp_path / "reference.tsv", events)
    for name, noise in (("one", 0.45), ("two", 0.6), ("base", 0.9)):
        found = [row for row in events if rng.random() > noise / 2]
        write_events(tmp_path / f"{name}.tsv", found)
        write_scores(tmp_path / name, events, noise, rng)
    rows = [f"{clip}.wav\tPatient {clip // 2}\n" for clip in range(N_CLIPS)]
    (tmp_path / "groups.tsv").write_text("filename\tpatient\n" + "".join(rows))
    rows = [f"{clip}.wav\t12.0\n" for clip in range(N_CLIPS)]
    (tmp_path / "durations.tsv").write_text("filename\tduration\n" + "".join(rows))
    (tmp_path / "tags.tsv").write_text("filename\tlabel\n0.wav\tDog\n1.wav\tDog\n2.wav\t\n")
    return tmp_path


def write_events(path: Path, events: Rows) -> None:
    """A table that names every clip."""
    rows = [f"{clip}.wav\t{onset}\t{offset}\t{label}\n" for clip, onset, offset, label in events]
    silent = sorted(set(range(N_CLIPS)) - {clip for clip, *_ in events})
    path.write_text(HEADER + "".join(rows) + "".join(f"{clip}.wav\t\t\t\n" for clip in silent))


def write_scores(folder: Path, events: Rows, noise: float, rng: np.random.Generator) -> None:
    """A table of frames for every clip."""
    folder.mkdir()
    for clip in range(N_CLIPS):
        values = noise * rng.random((N_FRAMES, len(CLASSES)))
        for of_clip, onset, offset, label in events:
            if of_clip == clip:
                frames = slice(int(onset / HOP_SECONDS), int(offset / HOP_SECONDS))
                values[frames, CLASSES.index(label)] += 0.4
        (folder / f"{clip}.tsv").write_text(score_text(values, CLASSES))


def score_text(values: np.ndarray, classes: tuple[str, ...]) -> str:
    """As score folders have it."""
    rows = ["\t".join(["onset", "offset", *classes])]
    rows += [
        "\t".join(f"{number:.6g}" for number in (frame * HOP_SECONDS, (frame + 1) * HOP_SECONDS, *scores))
        for frame, scores in enumerate(values.tolist())
    ]
    return "\n".join(rows) + "\n"


def arguments(folder: Path, *options: str, reference: str = "reference.tsv") -> list[object]:
    """The command line; what is there in the folder, and files to write, are named with it."""
    paths = [folder / option if is_path(folder, option) else option for option in options]
    return ["evaluate", "--reference", folder / reference, *paths]


def is_path(folder: Path, option: str) -> bool:
    """Names of files and folders, and no option or number."""
    return option.endswith((".tsv", ".json")) or option in ("plots", "nowhere") or (folder / option).is_dir()


def table(output: str, title: str) -> dict[str, list[str]]:
    """The rows of the first table behind a title: name -> figures, which have three decimals or are a dash."""
    rows: dict[str, list[str]] = {}
    for line in output[output.index(title) :].splitlines():
        row = re.fullmatch(r"(\S.*?)((?: +(?:-|[<+-]?\d\.\d{3}))+)", line)
        if row is not None:
            rows[row[1]] = row[2].split()
        elif rows and not line:
            break
    return rows


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
    assert "intervals over only 4 groups are too narrow themselves" in output
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
        (["--predicted", "one"], "one: cannot be read (Is a directory) - name the table inside it"),
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
