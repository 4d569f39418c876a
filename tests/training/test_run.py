"""A training run from label file to finished model: from tags alone it must find when things happen."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from numpy.typing import NDArray
from oracles.training_cases import RATE, changed, exported, lively_audio, write_tones

from earmark import pooling
from earmark.config import Config
from earmark.config_file import read_config
from earmark.detection.detector import Detector
from earmark.detection.settings import Decoding
from earmark.training import run as module
from earmark.training.checkpoint import load_checkpoint
from earmark.training.run import Split, TrainingResult, Watch, choose_device, train

QUICK = changed(training={"epochs": 2, "checkpoint_seconds": 0.0, "holdout_fraction": 0.25})


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of tones with their tags."""
    folder = tmp_path_factory.mktemp("tones")
    write_tones(folder)
    return folder


def trained(
    folder: Path, out: Path, config: Config = QUICK, *, labels: str = "weak.tsv", **options: Any
) -> TrainingResult:
    """A run over the recordings in a folder."""
    return train(folder / labels, audio=folder, out=out, config=config, device="cpu", **options)


def files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def copied(tones: Path, folder: Path) -> Path:
    """The recordings where a test may spoil them."""
    shutil.copytree(tones, folder)
    return folder


# --- laws: it learns ---


def frames_against_truth(
    detector: Detector, folder: Path, truth: dict[str, list[tuple[str, float, float]]]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Probabilities of all frames of a folder, and whether something is really there, both (frames, classes)."""
    probs, labels = [], []
    for name, events in truth.items():
        analysis = detector.analyse(folder / name)
        middle = (np.arange(len(analysis.frame_probs)) + 0.5) * detector.info.timeline.hop_seconds
        is_there = np.zeros(analysis.frame_probs.shape, bool)
        for label, onset, offset in events:
            is_there[:, detector.classes.index(label)] |= (middle >= onset) & (middle < offset)
        probs.append(analysis.frame_probs)
        labels.append(is_there)
    return np.concatenate(probs), np.concatenate(labels)


@pytest.mark.parametrize("name", ["power", "linear"])
def test_from_tags_alone_it_finds_the_frames_of_new_events(name: str, tmp_path: Path) -> None:
    write_tones(tmp_path / "train", n_clips=80, seed=5, seconds=(1.5, 3.0))
    truth = write_tones(tmp_path / "test", n_clips=40, seed=99, seconds=(1.5, 3.0))
    config = changed(
        training={"epochs": 12, "learning_rate": 2e-2, "batch_seconds": 20.0},
        pooling={"name": name},
        model={"channels": (8, 8), "rnn_units": 8},
    )
    result = trained(tmp_path / "train", tmp_path / "run", config)
    assert result.metrics["held_out_macro_f1"] > 0.95

    network = load_checkpoint(tmp_path / "run" / "best.safetensors").network
    detector = Detector(exported(tmp_path / "model.onnx", network, decoding=Decoding.fixed(network.classes)))
    probs, is_there = frames_against_truth(detector, tmp_path / "test", truth)
    assert 0.05 < is_there.mean() < 0.15  # so "everywhere" has an F1 below 0.26
    for column in range(2):
        inside, outside = probs[is_there[:, column], column], probs[~is_there[:, column], column]
        area = (inside[:, None] > outside[None, :]).mean()  # under the ROC curve; chance is 0.5
        found = probs[:, column] >= 0.5
        f1 = 2 * (found & is_there[:, column]).sum() / (found.sum() + is_there[:, column].sum())
        assert area > 0.97
        assert f1 > 0.75
    if name == "power":
        assert min(result.metrics["n"].values()) > 1.1  # events are short, so n has grown


@pytest.mark.parametrize("name", pooling.names())
def test_every_pooling_function_can_be_trained(name: str, tones: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "cap": {"n_frames": 50},
        "rap": {"penalty": 1e-3},
        "hierarchical": {"inner": "power", "groups": (5, 5)},
    }
    config = changed(QUICK, pooling={"name": name, **options.get(name, {})}, training={"epochs": 1})
    result = trained(tones, tmp_path / "run", config)
    assert np.isfinite(result.metrics["held_out_loss"])
    parameter = {"power": "n", "hierarchical": "n", "auto": "alpha", "cap": "alpha", "rap": "alpha"}.get(name)
    assert (parameter in result.metrics) == (parameter is not None)
    assert (tmp_path / "run" / "pooling.tsv").exists() == (parameter is not None)


@pytest.mark.parametrize(
    "sections",
    [
        {"features": {"framing": "centred"}},
        {"features": {"clip_frames": 100, "framing": "centred", "dynamic_range_db": 80.0, "spectrum": "magnitude"}},
        {"model": {"activation": "glu", "pool": "average", "init": "baseline2019", "conv_dropout": 0.5}},
        {"model": {"pool_time": (2, 3), "pool_mel": (4, 4)}},
        {"training": {"balance": "none", "loss": "clamped", "select": "loss", "gradient_clip": 0.0}},
        {"training": {"piece_seconds": 0.5, "context_seconds": 0.1, "batch_seconds": 1.0}},
    ],
    ids=str,
)
def test_every_kind_of_settings_can_be_trained(
    sections: dict[str, dict[str, Any]], tones: Path, tmp_path: Path
) -> None:
    result = trained(tones, tmp_path / "run", changed(QUICK, **{"training": {"epochs": 1}, **sections}))
    assert np.isfinite(result.metrics["held_out_loss"])


# --- laws: the run's folder ---


def test_what_a_finished_run_leaves(tones: Path, tmp_path: Path) -> None:
    config = changed(QUICK, training={"snapshot_epochs": (1,)})
    result = trained(tones, tmp_path / "run", config)
    assert set(files(tmp_path / "run")) == {
        "config.toml", "log.jsonl", "pooling.tsv", "metrics.json", "last.safetensors", "best.safetensors",
        "snapshots/epoch-0001.safetensors",
    }  # fmt: skip
    assert not (tmp_path / "run" / "cache").exists()
    assert read_config(tmp_path / "run" / "config.toml") == config
    assert json.loads((tmp_path / "run" / "metrics.json").read_text()) == result.metrics
    assert (result.folder, result.failures, result.notes) == (tmp_path / "run", (), ())
    best = load_checkpoint(tmp_path / "run" / "best.safetensors")
    assert best.decoding is not None
    assert best.progress.epoch == result.metrics["best_epoch"]
    assert best.card["training_clips_per_class"] == {"high": 10, "low": 9}  # of 12 each
    assert (best.card["clips"], best.card["clip_seconds"]) == (24, pytest.approx(1.5, abs=0.2))


def test_figures_of_the_metrics(tones: Path, tmp_path: Path) -> None:
    metrics = trained(tones, tmp_path / "run").metrics
    assert metrics["classes"] == ["high", "low"]
    assert (metrics["training_clips"], metrics["held_out_clips"], metrics["unreadable_clips"]) == (18, 6, 0)
    assert metrics["epochs"] == 2
    assert set(metrics["n"]) == set(metrics["held_out_f1"]) == {"high", "low"}


def test_the_watcher_is_told_everything(tones: Path, tmp_path: Path) -> None:
    clips: list[tuple[int, int]] = []
    rows: list[dict[str, Any]] = []
    watch = Watch(on_clip=lambda done, total: clips.append((done, total)), on_row=rows.append)
    trained(tones, tmp_path / "run", watch=watch)
    assert clips == [(done, 24) for done in range(1, 25)]
    assert rows == [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]


def test_the_statistics_are_those_of_the_training_clips(tones: Path, tmp_path: Path) -> None:
    folder = copied(tones, tmp_path / "data")
    split = Split("split", "test")
    trained(folder, tmp_path / "run", split=split)
    before = load_checkpoint(tmp_path / "run" / "last.safetensors").network.mean
    held_out = [line.split("\t")[0] for line in (folder / "weak.tsv").read_text().splitlines() if "\ttest\t" in line]
    assert len(held_out) == 4
    for name in held_out:  # a hundred times as loud
        samples, rate = soundfile.read(folder / name)
        soundfile.write(folder / name, 100 * samples, rate, subtype="FLOAT")
    trained(folder, tmp_path / "louder", split=split)
    assert torch.equal(load_checkpoint(tmp_path / "louder" / "last.safetensors").network.mean, before)


@pytest.mark.parametrize(
    ("decoding", "mode"),
    [
        ({"mode": "fixed", "threshold": 0.4, "low_threshold": 0.3}, "fixed"),
        ({"mode": "duration", "mean_seconds": (0.9, 3.0)}, "duration"),
        ({"mode": "tuned"}, "tuned"),
    ],
)
def test_the_decoding_asked_for_travels_in_the_model(
    decoding: dict[str, Any], mode: str, tones: Path, tmp_path: Path
) -> None:
    result = trained(tones, tmp_path / "run", changed(QUICK, decoding=decoding))
    stored = load_checkpoint(tmp_path / "run" / "best.safetensors").decoding
    assert stored is not None
    found = Decoding.from_dict(stored)
    assert (found.mode, found.classes) == (mode, ("high", "low"))
    if mode == "fixed":
        assert [(one.threshold, one.low_threshold) for one in found.settings] == [(0.4, 0.3)] * 2
    if mode == "duration":
        assert [one.median_seconds for one in found.settings] == pytest.approx([0.3, 1.0])
    if mode == "tuned":
        assert result.untuned == ()
        assert found.settings[0].threshold != 0.5


def test_without_held_out_clips_the_last_epoch_is_kept_and_nothing_is_tuned(tones: Path, tmp_path: Path) -> None:
    config = changed(QUICK, training={"holdout_fraction": 0.0}, decoding={"mode": "tuned"})
    result = trained(tones, tmp_path / "run", config)
    assert result.untuned == ("high", "low")
    assert (result.metrics["best_epoch"], result.metrics["held_out_clips"], result.metrics["held_out_f1"]) == (2, 0, {})
    assert "held_out_loss" not in result.metrics


# --- laws: kinds of labels ---


def test_a_folder_per_class_with_clips_of_none(tones: Path, tmp_path: Path) -> None:
    for line in (tones / "weak.tsv").read_text().splitlines()[1:]:
        name, labels = line.split("\t")[:2]
        if labels.count(",") == 0:
            target = tmp_path / "data" / (labels if labels else "_none") / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(tones / name, target)
    result = train(tmp_path / "data", audio=tmp_path / "data", out=tmp_path / "run", config=QUICK, device="cpu")
    assert result.metrics["classes"] == ["high", "low"]
    assert result.metrics["training_clips"] + result.metrics["held_out_clips"] == 18


def test_spans_of_long_recordings(tmp_path: Path, rng: np.random.Generator) -> None:
    rows = []
    for number in range(4):
        soundfile.write(tmp_path / f"{number}.wav", lively_audio(rng, 5 * RATE), RATE, subtype="FLOAT")
        rows += [f"{number}.wav\t{i}\t{i + 1}\t{'high' if i % 2 else 'low'}" for i in range(5)]
    (tmp_path / "weak.tsv").write_text("\n".join(["filename\tonset\toffset\tevent_labels", *rows, ""]))
    result = trained(tmp_path, tmp_path / "run")
    assert (result.metrics["training_clips"], result.metrics["held_out_clips"]) == (15, 5)  # one recording whole


def test_a_recording_of_minutes_among_short_ones(tones: Path, tmp_path: Path, rng: np.random.Generator) -> None:
    folder = copied(tones, tmp_path / "data")
    soundfile.write(folder / "long.wav", lively_audio(rng, 120 * RATE), RATE, subtype="FLOAT")
    with (folder / "weak.tsv").open("a") as file:
        file.write("long.wav\thigh\ttrain\ta\n")
    config = changed(QUICK, training={"epochs": 1, "piece_seconds": 20.0, "context_seconds": 1.0})
    result = trained(folder, tmp_path / "run", config, split=Split("split", "test"))
    assert result.metrics["training_clips"] == 21


# --- laws: resuming ---


class Stopped(BaseException):
    """Stands for a kill."""


@pytest.mark.parametrize("stop_in", ["feature_store", "new_network", "train_network", "held_out_figures", "rmtree"])
def test_a_run_stopped_anywhere_and_resumed_leaves_the_same_folder(
    stop_in: str, tones: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained(tones, tmp_path / "whole")

    def stopping(*arguments: Any, **options: Any) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(module if stop_in != "rmtree" else shutil, stop_in, stopping)
        with pytest.raises(Stopped):
            trained(tones, tmp_path / "run")
    (tmp_path / "run" / ".last.safetensors.x1y2z3.tmp").write_bytes(b"half a checkpoint")  # what a real kill leaves
    result = trained(tones, tmp_path / "run", resume=True)
    assert files(tmp_path / "run").keys() - {".last.safetensors.x1y2z3.tmp"} == files(tmp_path / "whole").keys()
    whole = files(tmp_path / "whole")
    assert all(files(tmp_path / "run")[name] == content for name, content in whole.items())
    assert result.metrics["steps"] == json.loads(whole["metrics.json"])["steps"]


def test_what_a_kill_in_the_middle_of_a_write_leaves_is_removed(tones: Path, tmp_path: Path) -> None:
    config = changed(QUICK, training={"snapshot_epochs": (1,)})
    trained(tones, tmp_path / "run", config)
    names = set(files(tmp_path / "run"))
    (tmp_path / "run" / ".last.safetensors.x1y2z3.tmp").write_bytes(b"half a checkpoint")
    (tmp_path / "run" / "snapshots" / ".epoch-0001.safetensors.abc.tmp").write_bytes(b"half a snapshot")
    trained(tones, tmp_path / "run", config, resume=True)
    assert set(files(tmp_path / "run")) == names


def test_a_cache_of_which_a_kill_removed_a_part_is_made_anew(
    tones: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained(tones, tmp_path / "whole")
    monkeypatch.setattr(shutil, "rmtree", lambda folder: None)
    trained(tones, tmp_path / "run")
    monkeypatch.undo()
    (tmp_path / "run" / "cache" / "features.f16").unlink()
    trained(tones, tmp_path / "run", resume=True)
    assert files(tmp_path / "run") == files(tmp_path / "whole")


def test_resuming_a_finished_run_changes_nothing(tones: Path, tmp_path: Path) -> None:
    first = trained(tones, tmp_path / "run")
    before = files(tmp_path / "run")
    again = trained(tones, tmp_path / "run", resume=True)
    assert files(tmp_path / "run") == before
    assert again.metrics == first.metrics


def test_resuming_where_there_is_nothing_begins(tones: Path, tmp_path: Path) -> None:
    trained(tones, tmp_path / "run", resume=True)
    trained(tones, tmp_path / "other")
    assert files(tmp_path / "run") == files(tmp_path / "other")


# --- worked numbers ---


def test_devices() -> None:
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device("auto").type in ("cpu", "cuda", "mps")


# --- wrong input ---


def refused(message: str, folder: Path, out: Path, config: Config = QUICK, **options: Any) -> None:
    """The run must say this, and leave everything as it was."""
    before = files(out) if out.exists() else None
    with pytest.raises(ValueError, match=message):
        trained(folder, out, config, **options)
    assert (files(out) if out.exists() else None) == before


def test_a_run_that_is_there_already(tones: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    trained(tones, out)
    refused(r"run already holds a run - add --resume to go on with it, or choose another --out", tones, out)
    other = changed(QUICK, training={"epochs": 3}, pooling={"name": "max"})
    message = (
        r"begun with other settings \(pooling.name was 'power', now 'max'; training.epochs was 2, now 3\) - resume"
    )
    refused(message, tones, out, other, resume=True)


def test_a_run_with_other_labels_or_another_split(tones: Path, tmp_path: Path) -> None:
    folder, out = copied(tones, tmp_path / "data"), tmp_path / "run"
    split = Split("split", "test")
    trained(folder, out, split=split)
    before = files(out)
    rows = (folder / "weak.tsv").read_text()

    def refused_with(changed_rows: str, split: Split) -> None:
        (folder / "weak.tsv").write_text(changed_rows)
        with pytest.raises(ValueError, match=r"was trained on other labels or held-out clips \(24 clips, now 24\)"):
            trained(folder, out, split=split, resume=True)
        after = files(out)
        assert {name: after[name] for name in before} == before  # the features are there again, nothing else

    refused_with(rows.replace("001.wav\thigh", "001.wav\tlow"), split)
    # As many clips of each class on both sides, but others: those held out so far would be learned.
    lines = rows.splitlines()
    swapped = [line.replace("\ttrain\t", "\t?\t") for line in lines]
    first = [i for i, line in enumerate(lines) if "\ttrain\t" in line][:4]
    held = [i for i, line in enumerate(lines) if "\ttest\t" in line]
    assert [lines[i].split("\t")[1] for i in first] == [lines[i].split("\t")[1] for i in held]
    swapped = [
        line.replace("\ttrain\t", "\ttest\t") if i in first else line.replace("\ttest\t", "\ttrain\t")
        for i, line in enumerate(lines)
    ]
    refused_with("\n".join(swapped) + "\n", split)
    (folder / "weak.tsv").write_text(rows)
    trained(folder, out, split=split, resume=True)
    assert files(out) == before


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"pooling": {"name": "powr"}}, r"pooling must be one of .*, got 'powr' - did you mean 'power'\?"),
        ({"pooling": {"name": "cap"}}, "pooling 'cap' needs 'n_frames'"),
        ({"pooling": {"name": "linear", "penalty": 1e-4}}, "pooling 'linear' takes no 'penalty'"),
        ({"model": {"pool_mel": (4, 8)}}, "must leave at least one band of features.n_mels = 16"),
        ({"features": {"n_mels": 200}}, "n_mels = 200 is too many for a window of 256 samples"),
        (
            {"decoding": {"mode": "duration", "mean_seconds": (1.0,)}},
            r"mean_seconds must have one entry per class, 2 \(high, low\), got 1",
        ),
    ],
)
def test_settings_that_do_not_fit_are_refused_before_anything_is_read_or_written(
    sections: dict[str, dict[str, Any]], message: str, tones: Path, tmp_path: Path
) -> None:
    read: list[int] = []
    watch = Watch(on_clip=lambda done, total: read.append(done))
    refused(message, tones, tmp_path / "run", changed(QUICK, **sections), watch=watch)
    assert read == []


def test_a_wrong_split_leaves_no_folder_behind(tones: Path, tmp_path: Path) -> None:
    refused(
        "--group names a column 'sites' .* did you mean 'site'", tones, tmp_path / "r", split=Split(None, None, "sites")
    )
    refused(r"no clip has 'tset' in column 'split'", tones, tmp_path / "r", split=Split("split", "tset"))
    assert not (tmp_path / "r").exists()


def test_a_class_that_is_only_held_out(tones: Path, tmp_path: Path) -> None:
    folder = copied(tones, tmp_path / "data")
    rows = (folder / "weak.tsv").read_text().splitlines()
    (folder / "weak.tsv").write_text(
        "\n".join(
            row
            if "\ttest\t" in row or row.startswith("filename")
            else row.replace("high,low", "high").replace("low", "")
            for row in rows
        )
    )
    message = r"no training clip has the class 'low' \(1 of 2 classes are missing\) - all its clips are held out"
    refused(message, folder, tmp_path / "run", split=Split("split", "test"))


def test_labels_without_any_class(tones: Path, tmp_path: Path) -> None:
    (tmp_path / "weak.tsv").write_text("filename\tevent_labels\n000.wav\t\n001.wav\t\n")
    with pytest.raises(ValueError, match="classes must name at least one class, got none"):
        train(tmp_path / "weak.tsv", audio=tones, out=tmp_path / "run", config=QUICK, device="cpu")
    assert not (tmp_path / "run").exists()


def test_a_recording_that_cannot_be_read_costs_only_itself(tones: Path, tmp_path: Path) -> None:
    folder = copied(tones, tmp_path / "data")
    (folder / "001.wav").write_bytes(b"not audio")
    (folder / "010.wav").unlink()
    cut = (folder / "023.wav").read_bytes()
    (folder / "023.wav").write_bytes(cut[: len(cut) // 2])
    result = trained(folder, tmp_path / "run")
    assert [(Path(where).name, name) for where, name, _ in result.failures] == [
        ("weak.tsv:3", "001.wav"), ("weak.tsv:12", "010.wav")
    ]  # fmt: skip
    assert [name for name, _ in result.notes] == ["023.wav"]
    assert result.metrics["unreadable_clips"] == 2
    assert result.metrics["training_clips"] + result.metrics["held_out_clips"] == 22


def test_no_recording_that_can_be_read(tones: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    shutil.copy(tones / "weak.tsv", tmp_path / "empty" / "weak.tsv")
    with pytest.raises(ValueError, match=r"none of the 24 clips could be read; the first: .*weak.tsv:2: 000.wav"):
        trained(tmp_path / "empty", tmp_path / "run")
    # The right folder may follow, into the same place and with other settings: nothing was learned yet.
    config = changed(QUICK, training={"epochs": 1})
    result = train(tones / "weak.tsv", audio=tones, out=tmp_path / "run", config=config, device="cpu")
    assert result.metrics["unreadable_clips"] == 0
    assert read_config(tmp_path / "run" / "config.toml") == config


@pytest.mark.parametrize(("side", "word"), [("test", "held-out"), ("train", "training")])
def test_one_side_that_cannot_be_read(side: str, word: str, tones: Path, tmp_path: Path) -> None:
    folder = copied(tones, tmp_path / "data")
    for row in (folder / "weak.tsv").read_text().splitlines()[1:]:
        if f"\t{side}\t" in row:
            (folder / row.split("\t")[0]).unlink()
    with pytest.raises(ValueError, match=f"none of the {word} clips could be read - are they in another folder than"):
        trained(folder, tmp_path / "run", split=Split("split", "test"))


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_device_that_is_not_there(name: str) -> None:
    is_there = torch.cuda.is_available() if name == "cuda" else torch.backends.mps.is_available()
    if is_there:
        assert choose_device(name).type == name
    else:
        with pytest.raises(ValueError, match=rf"device '{name}' is not there - .* Try 'auto'"):
            choose_device(name)
    with pytest.raises(ValueError, match=r"device must be one of auto, cpu, cuda, mps, got 'gpu'"):
        choose_device("gpu")
