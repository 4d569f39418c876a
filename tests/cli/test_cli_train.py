from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from cli_cases import CLASSES, done, earmark, make_clips, refused, train

from earmark.training import run as training_run
from earmark.training.checkpoint import load_checkpoint
from earmark.training.log import RunLog


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Twelve clips of two seconds: bark, chirp, knock, nothing, bark, ..."""
    return make_clips(tmp_path / "data")


@pytest.fixture(autouse=True)
def _threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def audio(labels: Path) -> list[object]:
    return ["--audio", labels.parent / "audio"]


def metrics(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    return found


def stored(run: Path) -> dict[str, Any]:
    """The settings a run left behind."""
    return tomllib.loads((run / "config.toml").read_text(encoding="utf-8"))


def with_column(labels: Path, name: str, values: list[str]) -> Path:
    """The same table with one more column."""
    header, *rows = labels.read_text(encoding="utf-8").splitlines()
    lines = [f"{header}\t{name}", *(f"{row}\t{value}" for row, value in zip(rows, values, strict=True))]
    labels.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return labels


def interrupted_after(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Ctrl-C come when a run has written so many rows of its log."""
    append = RunLog.append

    def counted(log: RunLog, row: dict[str, Any]) -> None:
        append(log, row)
        if len(log.rows) == rows:
            raise KeyboardInterrupt

    monkeypatch.setattr(RunLog, "append", counted)


# Laws


def test_what_a_run_leaves_behind(labels: Path, tmp_path: Path) -> None:
    result = done(*train(labels, tmp_path / "run", *audio(labels)))
    assert result.stdout == ""
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        "best.safetensors", "config.toml", "last.safetensors", "log.jsonl", "metrics.json", "pooling.tsv",
    }  # fmt: skip
    assert metrics(tmp_path / "run")["classes"] == list(CLASSES)
    assert "epoch   1 of 2   held-out loss 0." in result.stderr
    assert (
        f"next: earmark export {tmp_path}/run run.onnx && earmark detect RECORDING --model run.onnx\n" in result.stderr
    )


def test_the_same_command_gives_the_same_weights(labels: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        done(*train(labels, tmp_path / name, *audio(labels)))
    assert (tmp_path / "a/best.safetensors").read_bytes() == (tmp_path / "b/best.safetensors").read_bytes()


def test_a_stopped_run_goes_on_to_the_same_weights(
    labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def options(run: str) -> list[object]:
        return train(labels, tmp_path / run, *audio(labels), training__checkpoint_seconds="0")

    done(*options("whole"))
    with monkeypatch.context() as patch:
        interrupted_after(5, patch)  # in the middle of the second epoch: two batches and one row about each epoch
        result = earmark(*options("stopped"))
    assert result.exit_code == 130
    assert f"stopped; the same command with --resume goes on from the last checkpoint in {tmp_path}/stopped" in (
        result.stderr
    )
    assert not (tmp_path / "stopped/metrics.json").exists()
    done(*options("stopped"), "--resume")
    for name in ("best.safetensors", "last.safetensors", "metrics.json", "pooling.tsv"):
        assert (tmp_path / "stopped" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_a_resumed_run_needs_its_settings_only_once(
    labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        interrupted_after(3, patch)
        assert earmark(*train(labels, tmp_path / "run", *audio(labels))).exit_code == 130
    done("train", labels, *audio(labels), "--out", tmp_path / "run", "--threads", "1", "--device", "cpu", "--resume")
    assert stored(tmp_path / "run")["features"]["n_mels"] == 16
    assert metrics(tmp_path / "run")["epochs"] == 2


def test_resuming_what_has_ended_says_so_and_changes_nothing(labels: Path, tmp_path: Path) -> None:
    done(*train(labels, tmp_path / "run", *audio(labels)))
    before = (tmp_path / "run/best.safetensors").read_bytes()
    result = done(*train(labels, tmp_path / "run", *audio(labels), "--resume"))
    assert f"earmark: the run in {tmp_path}/run had already ended; for more epochs begin another" in result.stderr
    assert (tmp_path / "run/best.safetensors").read_bytes() == before


def test_resume_begins_where_there_is_nothing_yet(labels: Path, tmp_path: Path) -> None:
    assert "had already ended" not in done(*train(labels, tmp_path / "run", *audio(labels), "--resume")).stderr
    assert metrics(tmp_path / "run")["epochs"] == 2


def test_a_dry_run_leaves_nothing_but_its_picture(labels: Path, tmp_path: Path) -> None:
    done(*train(labels, tmp_path / "run", *audio(labels), "--dry-run"))
    assert {path.name for path in tmp_path.iterdir()} == {"data", "run-first-batch.png"}
    assert (tmp_path / "run-first-batch.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


# Worked numbers


def test_the_figures_of_a_dry_run(labels: Path, tmp_path: Path) -> None:
    result = done(*train(labels, tmp_path / "run", *audio(labels), "--dry-run"))
    figures = {line[:14].strip(): line[14:] for line in result.stdout.splitlines()}
    assert figures["classes"] == "3: bark, chirp, knock"
    assert figures["clips"] == "12, 0.01 h"  # 12 * 2 s = 24 s = 0.0067 h
    # 10 of the clips are for training (the other two are held out): 20 s in batches of 12 s.
    assert re.fullmatch(
        r"about \d+ s: 2 epochs of 2 steps of about 0\.\d+ s, \d+ s for held-out figures and checkpoints,"
        r" \d+ s for reading the clips; measured on a few batches",
        figures["time"],
    )
    assert figures["first batch"] == str(tmp_path / "run-first-batch.png")
    memory = float(figures["memory"].split()[0])
    assert 0.05 < memory < 16
    assert figures["memory"].endswith(
        "measured with the largest of the batches of 12 s of audio (training.batch_seconds)"
        " and the longest clip (2.0 s)"
    )
    done(*train(labels, tmp_path / "run", *audio(labels)))
    network = load_checkpoint(tmp_path / "run/best.safetensors").network
    weights = sum(parameter.numel() for parameter in network.parameters())
    assert figures["network"] == f"{weights:,} weights, pooling power"
    assert metrics(tmp_path / "run")["steps"] == 4


def test_the_figures_of_a_dry_run_and_of_a_run_for_other_programs(labels: Path, tmp_path: Path) -> None:
    figures = json.loads(done(*train(labels, tmp_path / "run", *audio(labels), "--dry-run", "--json")).stdout)
    assert (figures["classes"], figures["clips"], figures["steps_per_epoch"]) == (["bark", "chirp", "knock"], 12, 2)
    assert Path(figures["first_batch"]).is_file()
    assert (figures["unreadable"], figures["notes"]) == ([], [])
    parts = figures["reading_seconds"] + 4 * figures["seconds_per_step"] + figures["held_out_seconds"]
    assert figures["seconds"] == pytest.approx(parts)
    told = json.loads(done(*train(labels, tmp_path / "run", *audio(labels), "--json")).stdout)
    assert told == metrics(tmp_path / "run")


def test_settings_come_from_a_file_and_are_changed_by_options(labels: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[training]\nseed = 7\nepochs = 9\n[pooling]\nname = "power"\ninitial = 0.5\n')
    options = ["--config", file, "--set", "training.learning_rate=2e-3"]
    done(*train(labels, tmp_path / "a", *audio(labels), *options))
    found = stored(tmp_path / "a")
    assert (found["training"]["seed"], found["training"]["epochs"]) == (7, 2)
    assert found["training"]["learning_rate"] == 2e-3
    assert found["pooling"] == {"name": "power", "initial": 0.5}
    # Another function comes without the file's options, which are not its own.
    done(*train(labels, tmp_path / "b", *audio(labels), *options, "--pooling", "max"))
    assert stored(tmp_path / "b")["pooling"] == {"name": "max"}


def test_pooling_is_short_for_set(labels: Path, tmp_path: Path) -> None:
    done(*train(labels, tmp_path / "a", *audio(labels), "--pooling", "attention"))
    done(*train(labels, tmp_path / "b", *audio(labels), "--set", "pooling.name=attention"))
    assert (tmp_path / "a/best.safetensors").read_bytes() == (tmp_path / "b/best.safetensors").read_bytes()


def test_a_column_says_what_is_held_out(labels: Path, tmp_path: Path) -> None:
    with_column(labels, "split", ["train"] * 8 + ["test"] * 4)
    done(*train(labels, tmp_path / "run", *audio(labels), "--split", "split", "--held-out", "test"))
    found = metrics(tmp_path / "run")
    assert (found["training_clips"], found["held_out_clips"]) == (8, 4)
    assert found["held_out_f1"].keys() == set(CLASSES)  # clips 8, 9 and 10


def test_groups_are_never_cut(labels: Path, tmp_path: Path) -> None:
    with_column(labels, "site", ["hill"] * 4 + ["lake"] * 4 + ["road"] * 4)
    # A tenth of the clips is wanted, but a site has a third of them.
    result = done(*train(labels, tmp_path / "run", *audio(labels), "--group", "site", training__holdout_fraction="0.1"))
    assert (metrics(tmp_path / "run")["training_clips"], metrics(tmp_path / "run")["held_out_clips"]) == (8, 4)
    assert "no held-out clip has this class" not in result.stderr


def test_a_folder_per_class(labels: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sorted"
    for index, row in enumerate(labels.read_text(encoding="utf-8").splitlines()[1:]):
        name, label = row.split("\t")
        place = folder / (label if label else "_none")
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(labels.parent / "audio" / name, place / f"{index}.wav")
    result = done(*train(folder, tmp_path / "run"))
    assert metrics(tmp_path / "run")["classes"] == list(CLASSES)
    assert metrics(tmp_path / "run")["training_clips"] + metrics(tmp_path / "run")["held_out_clips"] == 12
    assert "every clip" not in result.stderr


def test_the_recordings_may_lie_beside_the_table(labels: Path, tmp_path: Path) -> None:
    moved = Path(shutil.copy(labels, labels.parent / "audio"))
    done(*train(moved, tmp_path / "run"))
    assert metrics(tmp_path / "run")["unreadable_clips"] == 0


def test_spans_of_long_files_and_partly_known_classes(labels: Path, tmp_path: Path) -> None:
    # Three nights of 8 s, with four spans of 2 s in each.
    clips = [soundfile.read(path)[0] for path in sorted((labels.parent / "audio").iterdir())]
    rows = ["filename\tonset\toffset\tevent_labels\tknown_classes"]
    for index, row in enumerate(labels.read_text(encoding="utf-8").splitlines()[1:]):
        label = row.split("\t")[1]
        known = f"{label},knock" if label == "bark" else ""  # whoever tagged barks did not listen for chirps
        onset = 2 * (index % 4)
        rows.append(f"night{index // 4}.flac\t{onset}\t{onset + 2}\t{label}\t{known}")
    (tmp_path / "long").mkdir()
    for night in range(3):
        soundfile.write(tmp_path / f"long/night{night}.flac", np.concatenate(clips[4 * night : 4 * night + 4]), 16000)
    (tmp_path / "long/tags.tsv").write_text("\n".join(rows) + "\n")
    done(*train(tmp_path / "long/tags.tsv", tmp_path / "run"))
    card = load_checkpoint(tmp_path / "run/best.safetensors").card
    assert (card["clips"], card["clip_seconds"], card["hours"]) == (12, 2.0, 0.007)  # 24 s
    # A night is held out as a whole.
    assert card["training_clips_per_class"] == {"bark": 2, "chirp": 2, "knock": 2}
    assert metrics(tmp_path / "run")["held_out_clips"] == 4


def test_threads_are_set_before_anything_is_computed(labels: Path, tmp_path: Path) -> None:
    refused(*train(labels, tmp_path / "run", *audio(labels), "--threads", "3", "--group", "nobody"))
    assert torch.get_num_threads() == 3


def test_the_device_is_chosen(labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def no_device(name: str) -> torch.device:
        asked.append(name)
        raise ValueError("enough")

    monkeypatch.setattr(training_run, "choose_device", no_device)
    for options in ([], ["--device", "auto"], ["--device", "cuda"]):
        assert refused("train", labels, *audio(labels), "--out", tmp_path / "run", *options) == "earmark: enough\n"
    assert asked == ["auto", "auto", "cuda"]
