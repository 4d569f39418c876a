"""Training from tags and some strong labels: what it is for, and that it stops and resumes as any run."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from oracles.training_cases import changed, clips_in_memory
from run_cases import BUSY, CALM, Stopped, files, rows, run_loop, some_data

from earmark.events import Event
from earmark.training import loop
from earmark.training.checkpoint import load_checkpoint
from earmark.training.drawing import TrainingData, epoch_plan
from earmark.training.strong_labels import Complete, StrongLabels

HOP_SECONDS = 0.02  # of the small network's features


def mixed_data(*, n_clips: int, n_strong: int, seed: int = 0) -> tuple[TrainingData, list[NDArray[np.bool_]]]:
    """Clips of 2 s in which two sounds are always together, one after the other: tags cannot tell which is meant.

    The first `n_strong` have strong labels. Also returns the true feature frames of each clip.
    """
    rng = np.random.default_rng(seed)
    features, strong, truth = [], [], []
    for number in range(n_clips):
        clip = rng.normal(-8.0, 1.0, (100, 16))
        is_event = np.zeros(100, bool)
        events: tuple[Event, ...] = ()
        if number % 2:
            at = int(rng.integers(40, 70))
            is_event[at : at + 30] = True
            clip[is_event, :4] += 3.0
            other = int(rng.integers(0, 10))
            clip[other : other + 30, 8:12] += 3.0
            events = (Event(at * HOP_SECONDS, (at + 30) * HOP_SECONDS, "class 0"),)
        strong.append(StrongLabels(events, (Complete(),)) if number < n_strong else None)
        features.append(clip)
        truth.append(is_event)
    tags = np.array([[number % 2] for number in range(n_clips)], bool)
    clips, store = clips_in_memory(features, tags)
    return TrainingData(replace(clips, strong=tuple(strong)), store), truth


def with_strong(data: TrainingData) -> TrainingData:
    """Some of the clips with strong labels, some of them partly reviewed, and some without any label."""
    strong: list[StrongLabels | None] = [None] * len(data.clips.clips)
    strong[1] = StrongLabels((Event(0.1, 0.18, "class 0"),), (Complete(),))
    strong[2] = StrongLabels((Event(0.0, 0.08, "class 1"),), (Complete(0.0, 0.2),))
    strong[5] = StrongLabels((Event(0.0, 0.08, "class 0"),), ())
    known = data.clips.known.copy()
    known[[6, 7, 8]] = False
    return TrainingData(replace(data.clips, strong=tuple(strong), known=known), data.store)


# --- laws ---


def test_a_tenth_of_strong_labels_tells_which_of_two_sounds_is_meant(tmp_path: Path) -> None:
    config = changed(
        model={"channels": (4,), "pool_time": (2,), "pool_mel": (2,)},
        pooling={"name": "linear"},
        training={
            "learning_rate": 0.02,
            "epochs": 10,
            "batch_seconds": 20.0,
            "checkpoint_seconds": 1e9,
            "select": "last",
        },
    )
    unseen, truth = mixed_data(n_clips=20, n_strong=0, seed=1)
    f1 = []
    for n_strong in (0, 4):
        data, _ = mixed_data(n_clips=40, n_strong=n_strong)
        run_loop(tmp_path / str(n_strong), config, data=data)
        network = load_checkpoint(tmp_path / str(n_strong) / "last.safetensors").network.eval()
        clips = [torch.from_numpy(unseen.store.clip(number).astype(np.float32)) for number in range(20)]
        with torch.no_grad():
            frames = (network(torch.stack(clips)).logits[:, :, 0] > 0).numpy().repeat(2, axis=1)
        f1.append(2 * (frames & np.array(truth)).sum() / (frames.sum() + np.array(truth).sum()))
    assert f1[1] > 0.9, f1
    assert f1[0] < 0.7, f1


def test_the_teacher_knows_how_many_steps_there_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Early in a run it averages over the steps so far, so their number counts on through the epochs.
    told: list[tuple[int, int]] = []
    honest = loop.move_teacher

    def noted(*models: Any, step: int, n_steps: int) -> None:
        told.append((step, n_steps))
        honest(*models, step=step, n_steps=n_steps)

    monkeypatch.setattr(loop, "move_teacher", noted)
    config = changed(CALM, training={"epochs": 2, "method": "mean_teacher"})
    progress = run_loop(tmp_path, config)
    assert progress.step > progress.epoch == 2
    assert [step for step, _ in told] == list(range(1, progress.step + 1))
    assert {n_steps for _, n_steps in told} == {2 * len(epoch_plan(some_data(), config, epoch=1))}


def test_the_teacher_moves_after_every_step(tmp_path: Path) -> None:
    # Without any memory it is the student, weight by weight; with one it is not.
    for momentum in (0.0, 0.9):
        config = changed(CALM, training={"epochs": 1}, teacher={"momentum": momentum})
        run_loop(tmp_path / str(momentum), config, data=with_strong(some_data()))
        last = load_checkpoint(tmp_path / str(momentum) / "last.safetensors")
        assert last.teacher is not None
        weights = zip(last.teacher.parameters(), last.student.parameters(), strict=True)
        assert all(torch.equal(mine, its) for mine, its in weights) == (momentum == 0.0)


def test_a_run_with_strong_labels_and_a_teacher_stopped_after_any_row_is_the_uninterrupted_run(tmp_path: Path) -> None:
    config, data = changed(BUSY, training={"epochs": 2}), with_strong(some_data())
    run_loop(tmp_path / "whole", config, data=data)
    steps = rows(tmp_path / "whole", "step")
    assert any(row["frames"] > 0 for row in steps)
    assert all(row["consistency_frames"] > 0 for row in steps)
    for stop_at in range(1, len(steps) + 2, 5):
        count = itertools.count(1)

        def stop(row: dict[str, Any], count: Any = count, stop_at: int = stop_at) -> None:
            if next(count) == stop_at:
                raise Stopped

        with pytest.raises(Stopped):
            run_loop(tmp_path / str(stop_at), config, data=data, on_row=stop)
        run_loop(tmp_path / str(stop_at), config, data=data)
        assert files(tmp_path / str(stop_at)) == files(tmp_path / "whole"), f"stopped after row {stop_at}"
