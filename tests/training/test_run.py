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
from run_cases import QUICK, copied, files, trained

from earmark import pooling
from earmark.config_file import read_config
from earmark.detection.detector import Detector
from earmark.detection.settings import Decoding
from earmark.training.checkpoint import load_checkpoint
from earmark.training.run import Split, Watch, choose_device, train


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of tones with their tags."""
    folder = tmp_path_factory.mktemp("tones")
    write_tones(folder)
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


# --- worked numbers ---


def test_devices() -> None:
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device("auto").type in ("cpu", "cuda", "mps")
