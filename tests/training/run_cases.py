"""Small runs, of the loop alone and from label file to finished model, and what they leave behind."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from oracles.training_cases import changed, clips_in_memory

from earmark.config import Config
from earmark.models.crnn import Network
from earmark.training.checkpoint import Progress, load_checkpoint, restore_optimiser
from earmark.training.drawing import TrainingData
from earmark.training.log import read_log
from earmark.training.loop import new_optimiser, train_network
from earmark.training.mean_teacher import has_teacher, new_teacher
from earmark.training.run import TrainingResult, train
from earmark.training.starting import new_network

# Everything that draws random numbers is on, and some clips are long enough to pass in pieces.
BUSY = changed(
    model={"conv_dropout": 0.3, "rnn_dropout": 0.3},
    training={
        "epochs": 3, "batch_seconds": 2.4, "piece_seconds": 0.8, "context_seconds": 0.2, "checkpoint_seconds": 0.0,
        "snapshot_epochs": (2,), "pooling_learning_rate_factor": 5.0,
    },
    augment={"time_shift_seconds": 0.1, "mixup": 0.3, "n_mel_masks": 1, "n_time_masks": 1, "gain_db": 3.0},
)  # fmt: skip
CALM = changed(training={"epochs": 4, "batch_seconds": 2.4, "checkpoint_seconds": 1e9})
QUICK = changed(training={"epochs": 2, "checkpoint_seconds": 0.0, "holdout_fraction": 0.25})


class Stopped(BaseException):
    """Stands for whatever ends a run in the middle."""


def some_data(seed: int = 0, n_clips: int = 14, n_held_out: int = 4) -> TrainingData:
    """Clips of 0.2 to 1 s in which a class is a loud band somewhere."""
    rng = np.random.default_rng(seed)
    tags = np.array([[number & 1, number >> 1 & 1] for number in range(n_clips)], bool)
    features = []
    for row in tags:
        length = 2 * int(rng.integers(5, 26))
        clip = rng.normal(-8.0, 1.0, (length, 16))
        for label in np.flatnonzero(row):
            at = int(rng.integers(0, length - 6))
            clip[at : at + 6, 8 * label : 8 * label + 4] += 6.0
        features.append(clip)
    known = rng.random(tags.shape) < 0.9
    return TrainingData(*clips_in_memory(features, tags, known=known, n_held_out=n_held_out))


def run_loop(
    folder: Path,
    config: Config,
    *,
    data: TrainingData | None = None,
    statistics_of: TrainingData | None = None,
    on_row: Callable[[dict[str, Any]], None] = lambda row: None,
    prepare: Callable[[Network], None] = lambda network: None,
) -> Progress:
    """Train in `folder`, from its last checkpoint if it has one; with a teacher, if the clips want one."""
    data = some_data() if data is None else data
    last = folder / "last.safetensors"
    if last.exists():
        checkpoint = load_checkpoint(last)
        network, progress, teacher = checkpoint.student, checkpoint.progress, checkpoint.teacher
        optimiser = new_optimiser(network, config)
        restore_optimiser(optimiser, network, checkpoint.optimiser)
    else:
        network, progress = new_network(data if statistics_of is None else statistics_of, config), Progress()
        optimiser = new_optimiser(network, config)
        teacher = new_teacher(network) if has_teacher(config, data.clips) else None
    prepare(network)
    return train_network(
        network, optimiser, data, config, folder=folder, progress=progress, card={"clips": 14}, on_row=on_row,
        teacher=None if teacher is None else teacher.requires_grad_(False),
    )  # fmt: skip


def trained(
    folder: Path, out: Path, config: Config = QUICK, *, labels: str = "weak.tsv", **options: Any
) -> TrainingResult:
    """A run over the recordings in a folder."""
    return train(folder / labels, audio=folder, out=out, config=config, device="cpu", **options)


def copied(tones: Path, folder: Path) -> Path:
    """The recordings where a test may spoil them."""
    shutil.copytree(tones, folder)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def rows(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Rows of one kind in the log."""
    return [row for row in read_log(folder / "log.jsonl") if row["kind"] == kind]


def bits(path: Path) -> dict[str, bytes]:
    """The network in a checkpoint, exactly."""
    return {name: value.numpy().tobytes() for name, value in load_checkpoint(path).network.state_dict().items()}
