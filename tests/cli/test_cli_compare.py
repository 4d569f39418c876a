from __future__ import annotations

import errno
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli_cases import CLASSES, done, earmark, refused
from click.testing import Result
from compare_cases import compare, in_this_process, make_data, table

from earmark.comparing import foreseen, runs
from earmark.comparing.measuring import read_measured
from earmark.config_file import read_config
from earmark.training.checkpoint import load_checkpoint

WITH_EVENTS = ("event_f1", "segment_f1", "psds_1", "psds_2", "clip_f1", "average_precision", "auroc", "loss")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def compared(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result, list[str]]:
    """A comparison with events, in which nothing went wrong: its folder, what it said, and the runs it began."""
    out = tmp_path_factory.mktemp("compared") / "out"
    with pytest.MonkeyPatch.context() as patch:
        started = in_this_process(patch, with_page=True)
        strong = data.parent / "strong.tsv"
        result = done(*compare(data, out, "--pooling", "power", "--group", "patient", "--strong", strong, "--json"))
    return out, result, started


# Laws


def test_every_function_and_seed_has_a_run_and_all_have_the_same_clips(
    compared: tuple[Path, Result, list[str]], data: Path
) -> None:
    out, result, started = compared
    assert started == ["power-seed-0", "linear-seed-0", "power-seed-1", "linear-seed-1"]
    assert "linear was added" in result.stderr
    cards = [load_checkpoint(out / "runs" / name / "best.safetensors").card for name in started]
    assert all(card == cards[0] for card in cards)
    settings = {name: read_config(out / "runs" / name / "config.toml") for name in started}
    assert [config.training.seed for config in settings.values()] == [0, 0, 1, 1]
    assert not (out / "cache").exists()  # features are removed when nobody needs them any more

    learn, test = table(out / "learn.tsv"), table(out / "test.tsv")
    assert sorted(row["filename"] for row in learn + test) == sorted(row["filename"] for row in table(data))
    assert {row["part"] for row in learn} == {"learn", "held-out"}
    assert not {row["group"] for row in learn} & {row["group"] for row in test}
    # Measured by the events of the test, and of the held-out clips, which decoding is chosen by.
    measured = {row["filename"] for row in table(out / "measure-strong.tsv")}
    assert measured == {row["filename"] for row in learn + test if row["part"] != "learn"}


def test_what_is_said_is_what_is_written(compared: tuple[Path, Result, list[str]], data: Path) -> None:
    out, result, _ = compared
    found = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert json.loads(result.stdout) == found
    assert found["advice"]["sentence"] in result.stderr
    assert set(found["figures"]["power"]) == set(WITH_EVENTS)
    long = {(row["figure"], row["class"], row["pooling"]): row for row in table(out / "comparison.tsv")}
    assert len(long) == 2 * len(WITH_EVENTS) * (1 + len(CLASSES))
    for name in WITH_EVENTS:
        of_runs = [
            read_measured(out / "runs" / f"power-seed-{seed}" / "figures.npz").values[name][0] for seed in (0, 1)
        ]
        figure = found["figures"]["power"][name]
        assert figure["mean"]["value"] == pytest.approx(np.mean(of_runs))
        assert figure["of_seeds"] == {"0": pytest.approx(of_runs[0]), "1": pytest.approx(of_runs[1])}
        assert float(long[name, "", "power"]["mean"]) == pytest.approx(np.mean(of_runs), abs=1e-5)
    assert found["parts"]["test"]["groups"] == found["n_units"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert found["advice"]["sentence"] in page
    assert f"earmark compare {data} --audio {data.parent / 'audio'} --out {out} --pooling power --seeds 2" in page
    assert "--group patient --strong" in page
    pictures = sorted(path.name for path in (out / "figures").iterdir())
    assert pictures == ["differences.png", "differences_by_class.png", "figures.png", "parameters.png", "training.png"]
    assert (out / "comparison.md").read_text(encoding="utf-8").startswith(found["advice"]["sentence"])


def test_resume_does_only_what_is_missing(
    compared: tuple[Path, Result, list[str]], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A third function is added, whose second run fails; then only that one is done.
    out = tmp_path / "out"
    shutil.copytree(compared[0], out)
    before = {path: path.read_bytes() for path in (out / "runs").glob("*-seed-?/*")}
    strong = ("--group", "patient", "--strong", data.parent / "strong.tsv")
    arguments = compare(data, out, "--pooling", "power,linear,max", *strong, "--resume")
    started = in_this_process(monkeypatch, "max-seed-1", with_page=True)
    failed = earmark(*arguments)
    assert failed.exit_code == 1
    assert started == ["max-seed-0", "max-seed-1"]
    assert "4 runs were done before" in failed.stderr
    assert "max seed 1 failed: the loss is no longer a finite number" in failed.stderr
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert list(results["figures"]["max"]["event_f1"]["of_seeds"]) == ["0"]
    assert results["failures"] == {"max seed 1": "the loss is no longer a finite number"}
    assert "max seed 1" in (out / "report.html").read_text(encoding="utf-8")

    monkeypatch.undo()
    started = in_this_process(monkeypatch)
    done(*arguments)
    assert started == ["max-seed-1"]
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert list(results["figures"]["max"]["event_f1"]["of_seeds"]) == ["0", "1"]
    for path, content in before.items():
        assert path.read_bytes() == content, path.name


def test_other_events_are_measured_without_training(
    compared: tuple[Path, Result, list[str]], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    shutil.copytree(compared[0], out)
    trained = {path: path.stat().st_mtime_ns for path in (out / "runs").glob("*-seed-?/metrics.json")}
    started = in_this_process(monkeypatch)
    done(*compare(data, out, "--pooling", "power,linear", "--group", "patient", "--resume"))  # no --strong any more
    assert len(started) == 4
    assert trained == {path: path.stat().st_mtime_ns for path in trained}
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert set(results["figures"]["power"]) == {"clip_f1", "average_precision", "auroc", "loss"}
    assert any("Tags alone" in caution for caution in results["advice"]["cautions"])


def test_figures_of_events_are_over_the_groups_with_events(
    compared: tuple[Path, Result, list[str]], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, few = tmp_path / "out", tmp_path / "few.tsv"
    shutil.copytree(compared[0], out)
    test = table(out / "test.tsv")
    two = sorted({row["group"] for row in test})[:2]
    names = {row["filename"] for row in test if row["group"] in two}
    header, *rows = (data.parent / "strong.tsv").read_text().splitlines()
    few.write_text("\n".join([header, *(row for row in rows if row.split("\t")[0] in names)]) + "\n")
    in_this_process(monkeypatch)
    result = done(*compare(data, out, "--pooling", "power", "--group", "patient", "--strong", few, "--resume"))
    found = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert found["n_units"] == 2 < found["parts"]["test"]["groups"]
    assert "over 2 groups and 2 seeds" in result.stderr


def test_events_may_be_audacity_tracks(
    compared: tuple[Path, Result, list[str]], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The same events in another form: nothing is trained and nothing measured again.
    out, tracks = tmp_path / "out", tmp_path / "tracks"
    shutil.copytree(compared[0], out)
    tracks.mkdir()
    lines: dict[str, list[str]] = {row["filename"]: [] for row in table(data)}
    for row in table(data.parent / "strong.tsv"):
        if row["onset"]:
            lines[row["filename"]].append(f"{row['onset']}\t{row['offset']}\t{row['event_label']}\n")
    for name, of_file in lines.items():
        (tracks / f"{name.removesuffix('.wav')}.txt").write_text("".join(of_file))
    started = in_this_process(monkeypatch)
    done(*compare(data, out, "--pooling", "power", "--group", "patient", "--strong", tracks, "--resume"))
    assert started == []


def test_events_of_the_test_are_never_learned_from(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_this_process(monkeypatch)
    strong = data.parent / "strong.tsv"
    options = ("--pooling", "power,linear", "--group", "patient", "--strong", strong, "--learn-strong")
    done(*compare(data, tmp_path / "out", *options, seeds=1))
    learned = {row["filename"] for row in table(tmp_path / "out" / "learn-strong.tsv")}
    assert learned == {row["filename"] for row in table(tmp_path / "out" / "learn.tsv") if row["part"] == "learn"}
    log = (tmp_path / "out" / "runs" / "power-seed-0" / "log.jsonl").read_text().splitlines()
    assert json.loads(log[0])["frames"] > 0  # the loss of the moments


def test_a_dry_run_leaves_nothing(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreseen, "start_seconds", lambda: 600.0)
    result = done(*compare(data, tmp_path / "out", "--dry-run"))
    assert not (tmp_path / "out").exists()
    assert "22 runs of 1 epoch, " in result.stderr
    assert "test" in result.stderr
    assert "side by side, 10 min each" in result.stderr
    assert "the figures on the test come on top" in result.stderr
    assert result.stdout == ""


def test_a_dry_run_tells_how_long_it_will_take(data: Path, tmp_path: Path) -> None:
    found = json.loads(done(*compare(data, tmp_path / "out", "--dry-run", "--json", "--jobs", 3)).stdout)
    assert (found["jobs"], found["n_rounds"]) == (3, 8)  # 11 functions with 2 seeds
    assert found["seconds"] == pytest.approx(found["reading_seconds"] + 8 * found["run_seconds"])
    assert found["run_seconds"] > 0
    assert sum(found["parts"].values()) == 24


def test_a_clip_that_cannot_be_read_is_in_no_run_and_costs_none(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(data.parent, tmp_path / "data")
    labels = tmp_path / "data" / "weak.tsv"
    (tmp_path / "data" / "audio" / "0003.wav").write_bytes(b"no sound")
    in_this_process(monkeypatch)
    result = earmark(*compare(labels, tmp_path / "out", "--pooling", "max,linear", seeds=1))
    assert result.exit_code == 1
    assert "earmark: left out, could not be read:" in result.stderr
    assert "0003.wav" in result.stderr
    used = {row["filename"] for name in ("learn.tsv", "test.tsv") for row in table(tmp_path / "out" / name)}
    assert len(used) == 23
    assert "0003.wav" not in used


def test_ctrl_c_says_how_to_go_on(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(job: object, *, one_thread: bool) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "_start", stop)
    result = earmark(*compare(data, tmp_path / "out", "--pooling", "power"))
    assert result.exit_code == 130
    assert f"the same command with --resume goes on with the runs in {tmp_path / 'out'}" in result.stderr


def test_a_full_disk_says_how_to_go_on(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(job: object, *, one_thread: bool) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "out/runs/power-seed-0.txt")

    monkeypatch.setattr(runs, "_start", full)
    message = refused(*compare(data, tmp_path / "out", "--pooling", "power"))
    assert "power-seed-0.txt: No space left on device - the runs that have ended are whole; make room" in message


# Wrong input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--pooling", "linear"), "at least two functions"),
        (("--pooling", "power,liner"), "did you mean 'linear'"),
        (("--seeds", "0"), "--seeds must be at least 1, got 0"),
        (("--jobs", "0"), "--jobs must be at least 1, got 0"),
        (("--test", "x"), "--test x needs --split"),
        (("--group", "patiant"), "did you mean 'patient'"),
        (("--split", "patient", "--test", "P99"), "no clip has 'P99' in column 'patient'"),
        (("--split", "patient", "--test", "P01", "--group", "patient"), "at least 2 groups, got 1|has the class"),
        (("--set", "pooling.penalty=1e-4"), "--pooling linear,power:penalty=1e-4"),
        (("--learn-strong",), "--learn-strong needs --strong"),
        (("--strong", "nowhere.tsv"), "nowhere.tsv"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_begins(
    data: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    assert re.search(message, refused(*compare(data, tmp_path / "out", *options)))
    assert not (tmp_path / "out").exists()


def test_three_clips_are_no_data(data: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.tsv"
    few.write_text("".join(data.read_text().splitlines(keepends=True)[:4]))
    message = refused("compare", few, "--audio", data.parent / "audio", "--out", tmp_path / "out")
    assert "at least 10 clips are needed" in message
    assert "got 3" in message


def test_events_of_other_clips_are_refused(data: Path, tmp_path: Path) -> None:
    other = tmp_path / "strong.tsv"
    other.write_text(f"filename\tonset\toffset\tevent_label\nelsewhere.wav\t0.0\t0.5\t{CLASSES[0]}\n")
    message = refused(*compare(data, tmp_path / "out", "--strong", other))
    assert "must name clips of the test part, got none" in message
    assert "'elsewhere.wav'" in message
    other.write_text("filename\tonset\toffset\tevent_label\n0001.wav\t0.0\t0.5\tbrak\n")
    assert "did you mean 'bark'" in refused(*compare(data, tmp_path / "out", "--strong", other))


def test_events_of_one_group_of_the_test_are_too_few(
    compared: tuple[Path, Result, list[str]], data: Path, tmp_path: Path
) -> None:
    test = table(compared[0] / "test.tsv")
    of_one = {row["filename"] for row in test if row["group"] == test[0]["group"]}
    header, *rows = (data.parent / "strong.tsv").read_text().splitlines()
    few = tmp_path / "few.tsv"
    few.write_text("\n".join([header, *(row for row in rows if row.split("\t")[0] in of_one)]) + "\n")
    message = refused(*compare(data, tmp_path / "out", "--group", "patient", "--strong", few))
    assert f"at least 2 groups of the test part, got only those of '{test[0]['group']}'" in message


def test_other_recordings_or_events_than_it_began_with_are_refused(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_this_process(monkeypatch)
    out, strong = tmp_path / "out", tmp_path / "strong.tsv"
    shutil.copy(data.parent / "strong.tsv", strong)
    options = ("--pooling", "power", "--strong", strong, "--learn-strong")
    done(*compare(data, out, *options, seeds=1))
    learned = next(row["filename"] for row in table(out / "learn-strong.tsv") if row["onset"])
    lines = strong.read_text().splitlines()
    strong.write_text("\n".join(line for line in lines if not line.startswith(learned)) + "\n")
    message = refused(*compare(data, out, *options, "--resume"))
    assert "the events to learn from are not those the comparison began with" in message
    shutil.copytree(data.parent / "audio", tmp_path / "audio")
    moved = ("--pooling", "power", "--strong", data.parent / "strong.tsv", "--learn-strong", "--resume")
    done(*compare(data, out, *moved, "--audio", tmp_path / "audio", seeds=1))  # a folder may be moved
    recording = tmp_path / "audio" / "0001.wav"
    recording.write_bytes(recording.read_bytes() + b"more")
    message = refused(*compare(data, out, *moved, "--audio", tmp_path / "audio", seeds=1))
    assert "a comparison on other recordings" in message


def test_the_comparison_may_not_lie_among_the_classes(data: Path, tmp_path: Path) -> None:
    for label in ("bark", "knock"):
        shutil.copytree(data.parent / "audio", tmp_path / "clips" / label)
    message = refused("compare", tmp_path / "clips", "--out", tmp_path / "clips" / "out", "--dry-run")
    assert "--out must not lie in" in message


def test_another_folder_is_never_written_over(
    compared: tuple[Path, Result, list[str]], data: Path, tmp_path: Path
) -> None:
    out = compared[0]
    assert "already holds a comparison - add --resume" in refused(*compare(data, out))
    assert "on other clips, tags or parts" in refused(*compare(data, out, "--resume"))  # without --group
    (tmp_path / "thesis.tex").touch()
    assert "holds something else" in refused(*compare(data, tmp_path))
    message = refused(*compare(data, out, "--group", "patient", "--resume", "--set", "training.learning_rate=0.5"))
    assert "learning_rate = 0.001, now learning_rate = 0.5" in message
