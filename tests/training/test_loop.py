"""The training loop: what it draws, what it keeps, and that stopping it anywhere changes nothing."""

from __future__ import annotations

import errno
import itertools
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from oracles.training_cases import changed, clips_in_memory

from earmark.config import Config
from earmark.models.crnn import Network
from earmark.training import loop
from earmark.training.checkpoint import Progress, load_checkpoint, restore_optimiser
from earmark.training.held_out import HeldOutFigures, batch_frames
from earmark.training.log import read_log
from earmark.training.loop import TrainingData, drawn_batch, epoch_plan, new_optimiser, train_network
from earmark.training.run import new_network

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


def run(
    folder: Path,
    config: Config,
    *,
    data: TrainingData | None = None,
    statistics_of: TrainingData | None = None,
    on_row: Callable[[dict[str, Any]], None] = lambda row: None,
    prepare: Callable[[Network], None] = lambda network: None,
) -> Progress:
    """Train in `folder`, from its last checkpoint if it has one."""
    data = some_data() if data is None else data
    last = folder / "last.safetensors"
    if last.exists():
        checkpoint = load_checkpoint(last)
        network, progress = checkpoint.network, checkpoint.progress
        optimiser = new_optimiser(network, config)
        restore_optimiser(optimiser, network, checkpoint.optimiser)
    else:
        network, progress = new_network(data if statistics_of is None else statistics_of, config), Progress()
        optimiser = new_optimiser(network, config)
    prepare(network)
    return train_network(
        network, optimiser, data, config, folder=folder, progress=progress, card={"clips": 14}, on_row=on_row
    )


def files(folder: Path) -> dict[str, bytes]:
    """Everything in a folder."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def rows(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Rows of one kind in the log."""
    return [row for row in read_log(folder / "log.jsonl") if row["kind"] == kind]


def bits(path: Path) -> dict[str, bytes]:
    """The network in a checkpoint, exactly."""
    return {name: value.numpy().tobytes() for name, value in load_checkpoint(path).network.state_dict().items()}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A busy run from beginning to end."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    run(folder, BUSY)
    return folder


# --- laws: stopping and resuming ---


def test_a_run_leaves_what_it_promises(uninterrupted: Path) -> None:
    assert set(files(uninterrupted)) == {
        "log.jsonl", "pooling.tsv", "last.safetensors", "best.safetensors", "snapshots/epoch-0002.safetensors"
    }  # fmt: skip
    n_rows = len(rows(uninterrupted, "step"))
    assert n_rows > 12  # several steps an epoch, or the laws below would say little
    assert any(len(epoch_plan(some_data(), BUSY, epoch)[0]) == 1 for epoch in (1, 2, 3))


def test_the_same_seed_gives_the_same_run_and_another_one_does_not(uninterrupted: Path, tmp_path: Path) -> None:
    run(tmp_path / "again", BUSY)
    assert files(tmp_path / "again") == files(uninterrupted)
    run(tmp_path / "other", changed(BUSY, training={"seed": 1}))
    assert bits(tmp_path / "other" / "last.safetensors") != bits(uninterrupted / "last.safetensors")


def test_how_often_a_checkpoint_is_written_changes_nothing(uninterrupted: Path, tmp_path: Path) -> None:
    run(tmp_path, changed(BUSY, training={"checkpoint_seconds": 1e9}))
    for name in ("log.jsonl", "pooling.tsv"):
        assert (tmp_path / name).read_bytes() == (uninterrupted / name).read_bytes()
    assert bits(tmp_path / "last.safetensors") == bits(uninterrupted / "last.safetensors")


@pytest.mark.parametrize("checkpoint_seconds", [0.0, 1e9], ids=["after every step", "after every epoch"])
def test_a_run_stopped_after_any_row_and_resumed_is_the_uninterrupted_run(
    checkpoint_seconds: float, tmp_path: Path
) -> None:
    config = changed(BUSY, training={"checkpoint_seconds": checkpoint_seconds, "epochs": 2})
    run(tmp_path / "whole", config)
    n_rows = len(read_log(tmp_path / "whole" / "log.jsonl"))
    for stop_at in range(1, n_rows + 1):
        folder = tmp_path / str(stop_at)
        count = itertools.count(1)

        def stop(row: dict[str, Any], count: Any = count, stop_at: int = stop_at) -> None:
            if next(count) == stop_at:
                raise Stopped

        with pytest.raises(Stopped):
            run(folder, config, on_row=stop)
        run(folder, config)
        assert files(folder) == files(tmp_path / "whole"), f"stopped after row {stop_at}"


def test_a_run_stopped_again_and_again_still_arrives(uninterrupted: Path, tmp_path: Path) -> None:
    def stop_at_third(count: list[int]) -> Callable[[dict[str, Any]], None]:
        def on_row(row: dict[str, Any]) -> None:
            count.append(1)
            if len(count) == 3:
                raise Stopped

        return on_row

    for _ in range(100):
        try:
            run(tmp_path, BUSY, on_row=stop_at_third([]))
        except Stopped:
            continue
        break
    assert files(tmp_path) == files(uninterrupted)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_run_stopped_at_any_of_its_writes_is_the_uninterrupted_run(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Just before and just after each rename: between best and last, between a snapshot and last, inside an epoch.
    config = changed(BUSY, training={"epochs": 2, "checkpoint_seconds": 1e9})
    run(tmp_path / "whole", config)
    replace = Path.replace
    for stop_at in itertools.count(1):
        folder = tmp_path / str(stop_at)
        count = itertools.count(1)

        def stopping(path: Path, target: Path, count: Any = count, stop_at: int = stop_at) -> Path:
            is_last = next(count) == stop_at
            if is_last and moment == "before":
                raise Stopped
            result = replace(path, target)
            if is_last:
                raise Stopped
            return result

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", stopping)
            try:
                run(folder, config)
                break
            except Stopped:
                pass
        run(folder, config)
        assert files(folder) == files(tmp_path / "whole"), f"stopped {moment} write {stop_at}"
    assert stop_at > 8  # the log, and per epoch the table, best, last; a snapshot


def test_a_full_disk_stops_the_run_and_with_room_again_it_goes_on(
    uninterrupted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync, count = os.fsync, itertools.count(1)

    def full_at_the_twelfth(descriptor: int) -> None:
        if next(count) >= 12:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full_at_the_twelfth)
        with pytest.raises(OSError, match="No space left on device"):
            run(tmp_path, BUSY)
    assert load_checkpoint(tmp_path / "last.safetensors").progress.step > 0
    run(tmp_path, BUSY)
    assert files(tmp_path) == files(uninterrupted)


# --- laws: what is drawn ---


def test_an_epoch_is_drawn_from_the_training_clips_alone() -> None:
    data = some_data()
    for epoch in range(1, 6):
        drawn = [clip for batch in epoch_plan(data, BUSY, epoch) for clip in batch]
        assert len(drawn) == 10
        assert set(drawn) <= set(range(10))  # the last four are held out
    plain = changed(BUSY, training={"balance": "none"})
    assert sorted(clip for batch in epoch_plan(data, plain, 1) for clip in batch) == list(range(10))


def test_a_plan_depends_on_seed_and_epoch_and_a_batch_on_seed_and_step() -> None:
    data = some_data()
    network = new_network(data, BUSY)
    reseeded = changed(BUSY, training={"seed": 1})
    assert epoch_plan(data, BUSY, 2) == epoch_plan(data, BUSY, 2)
    assert epoch_plan(data, BUSY, 2) != epoch_plan(data, BUSY, 3)
    assert epoch_plan(data, BUSY, 2) != epoch_plan(data, reseeded, 2)

    def features_and_dropout(config: Config, step: int) -> tuple[list[float], list[float]]:
        batch = drawn_batch(network, data, [0, 1, 2], config, step)
        return batch.features.flatten().tolist(), torch.rand(3).tolist()

    first = features_and_dropout(BUSY, 7)
    torch.rand(5)
    assert features_and_dropout(BUSY, 7) == first
    for other in (features_and_dropout(BUSY, 8), features_and_dropout(reseeded, 7)):
        assert other[0] != first[0]
        assert other[1] != first[1]


def test_no_step_ever_sees_more_frames_than_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []
    drawn = loop.drawn_batch

    def noted(*arguments: Any) -> Any:
        batch = drawn(*arguments)
        seen.append((batch.features.shape[0], batch.features.shape[1]))
        return batch

    monkeypatch.setattr(loop, "drawn_batch", noted)
    run(tmp_path, CALM)
    assert all(n_clips == 1 or n_clips * n_frames <= batch_frames(CALM) for n_clips, n_frames in seen)
    assert max(n_clips for n_clips, _ in seen) > 1


# --- laws: how it learns ---


def first_step(tmp_path: Path, config: Config) -> tuple[Network, Network]:
    """The network before and after the first step."""
    networks: list[Network] = []

    def stop(row: dict[str, Any]) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        run(tmp_path, config, on_row=stop, prepare=networks.append)
    return new_network(some_data(), config), networks[0]


def test_pooling_parameters_learn_by_their_own_rate(tmp_path: Path) -> None:
    moved = {}
    for factor in (1.0, 10.0):
        config = changed(CALM, training={"pooling_learning_rate_factor": factor})
        before, after = first_step(tmp_path / str(factor), config)
        moved[factor] = [
            (new - old).abs().max().item()
            for old, new in (
                (before.pool.parameter_values(), after.pool.parameter_values()),
                (before.crnn.linear.weight.detach(), after.crnn.linear.weight.detach()),
            )
            if old is not None and new is not None
        ]
    # Adam's first step has the size of the learning rate, whatever the gradient.
    assert moved[10.0][0] == pytest.approx(10 * moved[1.0][0], rel=0.01)  # of float32 beside 1
    assert moved[10.0][1] == pytest.approx(moved[1.0][1], rel=1e-6)


@pytest.mark.parametrize("pooling", ["power", "attention", "linear"])
def test_every_parameter_is_in_the_optimiser_once(pooling: str) -> None:
    config = changed(CALM, pooling={"name": pooling})
    network = new_network(some_data(), config)
    groups = new_optimiser(network, config).param_groups
    ids = [id(parameter) for group in groups for parameter in group["params"]]
    assert len(ids) == len(set(ids))
    assert set(ids) == {id(parameter) for parameter in network.parameters()}
    assert len(groups) == (1 if pooling == "linear" else 2)


def test_the_gradient_is_clipped_to_the_norm_asked_for(tmp_path: Path) -> None:
    def norm(network: Network) -> float:
        return math.sqrt(sum(p.grad.square().sum().item() for p in network.parameters() if p.grad is not None))

    norms = {}
    for clip in (0.0, 0.01, 1e6):
        _, after = first_step(tmp_path / str(clip), changed(CALM, training={"gradient_clip": clip}))
        (row,) = rows(tmp_path / str(clip), "step")
        norms[clip] = (norm(after), row["gradient_norm"])
    unclipped = norms[0.0][1]
    assert unclipped > 0.02
    assert norms[0.01] == pytest.approx((0.01, unclipped), rel=1e-3)
    assert norms[0.0] == pytest.approx((unclipped, unclipped))
    assert norms[1e6] == pytest.approx((unclipped, unclipped))


def test_the_exponent_never_falls_below_zero(tmp_path: Path) -> None:
    pooling = {"name": "power", "initial": 0.01, "penalty": 5.0}
    config = changed(CALM, pooling=pooling, training={"pooling_learning_rate_factor": 50.0})
    run(tmp_path, config)
    values = [value for row in rows(tmp_path, "epoch") for value in row["pooling"]]
    assert min(values) == 0.0


def test_the_loss_falls(tmp_path: Path) -> None:
    run(tmp_path, changed(CALM, training={"epochs": 15, "learning_rate": 2e-2}))
    losses = [row["tags"] for row in rows(tmp_path, "step")]
    assert np.mean(losses[-6:]) < 0.6 * np.mean(losses[:6])


# --- laws: which epoch is the best ---


def best_epochs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figures: Sequence[float], **training: Any
) -> list[int]:
    """The best epoch after each epoch when the held-out figures are these (F1, and minus the loss)."""
    scripted = iter(figures)

    def held_out_figures(*arguments: Any) -> HeldOutFigures:
        figure = next(scripted)
        return HeldOutFigures(-figure, figure, np.zeros((4, 2)))

    monkeypatch.setattr(loop, "held_out_figures", held_out_figures)
    epochs = training.pop("epochs", len(figures))
    snapshots = tuple(range(1, epochs + 1))
    config = changed(CALM, training={"epochs": epochs, "snapshot_epochs": snapshots, **training})
    progress = run(tmp_path, config)
    found = [row["best_epoch"] for row in rows(tmp_path, "epoch")]
    assert progress.best_epoch == found[-1]
    # And the file holds that epoch, which its snapshot shows.
    snapshot = tmp_path / "snapshots" / f"epoch-{found[-1]:04d}.safetensors"
    assert bits(tmp_path / "best.safetensors") == bits(snapshot)
    return found


@pytest.mark.parametrize("select", ["f1", "loss"])
@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ([0.5, 0.7, 0.7, 0.6], [1, 2, 3, 3]),  # of equals the later
        ([0.9, 0.8, 0.7], [1, 1, 1]),
        ([0.0, 0.0, 0.0], [1, 2, 3]),
    ],
)
def test_the_best_epoch_has_the_highest_figure(
    select: str, figures: list[float], expected: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert best_epochs(tmp_path, monkeypatch, figures, select=select) == expected


def test_the_last_epoch_when_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert best_epochs(tmp_path, monkeypatch, [0.9, 0.8, 0.7], select="last") == [1, 2, 3]
    assert [row["held_out_macro_f1"] for row in rows(tmp_path, "epoch")] == [0.9, 0.8, 0.7]  # still told


def test_figures_only_every_so_often_and_after_the_last_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = best_epochs(tmp_path, monkeypatch, [0.5, 0.4, 0.6], epochs=5, validate_every_epochs=2)
    assert found == [0, 2, 2, 2, 5]
    assert ["held_out_loss" in row for row in rows(tmp_path, "epoch")] == [False, True, False, True, True]


def test_without_held_out_clips_the_last_epoch_is_the_best(tmp_path: Path) -> None:
    config = changed(CALM, training={"epochs": 2})
    run(tmp_path, config, data=some_data(n_held_out=0))
    assert [row["best_epoch"] for row in rows(tmp_path, "epoch")] == [1, 2]
    assert "held_out_loss" not in rows(tmp_path, "epoch")[0]
    assert bits(tmp_path / "best.safetensors") == bits(tmp_path / "last.safetensors")


def test_the_best_so_far_is_remembered_by_a_resumed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = iter([0.9, 0.8, 0.7])

    def held_out_figures(*arguments: Any) -> HeldOutFigures:
        return HeldOutFigures(0.5, next(figures), np.zeros((4, 2)))

    def stop_after_two_epochs(row: dict[str, Any]) -> None:
        if row["kind"] == "epoch" and row["epoch"] == 2:
            raise Stopped

    monkeypatch.setattr(loop, "held_out_figures", held_out_figures)
    config = changed(CALM, training={"epochs": 3})
    with pytest.raises(Stopped):
        run(tmp_path, config, on_row=stop_after_two_epochs)
    assert run(tmp_path, config).best_epoch == 1
    assert load_checkpoint(tmp_path / "best.safetensors").progress.epoch == 1


# --- worked numbers ---


@pytest.mark.parametrize(
    ("warmup", "expected"),
    [
        # Four epochs of two steps, at 0, 1/2 ... 7/2 epochs. Warm-up over one epoch: (0 + 0.001) / 1 and (1/2 + 0.001).
        # Then (t - 1) / 3 of the way down a cosine from 1 to 0.01: 0.01 + 0.99 * (1 + cos(pi (t - 1) / 3)) / 2.
        (1.0, [0.001, 0.501, 1.0, 0.9337, 0.7525, 0.505, 0.2575, 0.0763]),
        (0.0, [1.0, 0.9623, 0.855, 0.6944, 0.505, 0.3156, 0.155, 0.0477]),
        (1e-9, [1.0, 0.9623, 0.855, 0.6944, 0.505, 0.3156, 0.155, 0.0477]),  # never more than the rate itself
    ],
)
def test_the_learning_rate_rises_and_falls(
    warmup: float, expected: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "epoch_plan", lambda data, config, epoch: [[0, 1], [2, 3]])
    run(tmp_path, changed(CALM, training={"warmup_epochs": warmup, "learning_rate": 1e-3}))
    rates = [row["learning_rate"] / 1e-3 for row in rows(tmp_path, "step")]
    assert rates == pytest.approx(expected, abs=1e-4)


def test_what_a_row_of_the_log_says(uninterrupted: Path) -> None:
    step_rows, epoch_rows = rows(uninterrupted, "step"), rows(uninterrupted, "epoch")
    assert set(step_rows[0]) == {
        "kind", "step", "epoch", "of_epoch", "loss", "tags", "penalty", "gradient_norm", "learning_rate"
    }  # fmt: skip
    assert [row["step"] for row in step_rows] == list(range(1, len(step_rows) + 1))
    assert all(row["loss"] == pytest.approx(row["tags"] + row["penalty"]) for row in step_rows)
    assert step_rows[-1]["of_epoch"] == 1.0
    assert set(epoch_rows[0]) == {
        "kind", "step", "epoch", "pooling", "held_out_loss", "held_out_macro_f1", "best_epoch"
    }  # fmt: skip
    assert [row["epoch"] for row in epoch_rows] == [1, 2, 3]
    table = (uninterrupted / "pooling.tsv").read_text().splitlines()
    assert table[0] == "epoch\tstep\tclass\tn"
    assert len(table) == 1 + 3 * 2


def test_a_pooling_function_without_a_parameter_has_no_table(tmp_path: Path) -> None:
    run(tmp_path, changed(CALM, training={"epochs": 1}, pooling={"name": "linear"}))
    assert not (tmp_path / "pooling.tsv").exists()
    assert rows(tmp_path, "epoch")[0]["pooling"] is None


# --- wrong input ---


def poisoned(data: TrainingData, index: int) -> TrainingData:
    """The same clips, one of them with a feature that is not a number."""
    frames = np.array(data.store.frames)
    frames[data.store.starts[index] + 2, 3] = np.nan
    store = type(data.store)(frames, data.store.starts, data.store.kept, (), ())
    return TrainingData(data.clips, store)


def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_last_good_checkpoint(tmp_path: Path) -> None:
    config = changed(CALM, training={"checkpoint_seconds": 0.0, "balance": "none"})
    step = 3
    third_batch = epoch_plan(some_data(), config, 1)[step - 1]
    bad = poisoned(some_data(), third_batch[0])
    names = ", ".join(f"{index}.wav" for index in third_batch)
    message = (
        rf"the loss is no longer a finite number at step {step} \(tags nan, penalty 0, gradient norm nan\) on the clips"
        rf" {names}; the last good checkpoint is .*last.safetensors - lower training.learning_rate, or look at these"
    )
    with pytest.raises(ValueError, match=message):
        run(tmp_path, config, data=bad, statistics_of=some_data())
    last = load_checkpoint(tmp_path / "last.safetensors")
    assert last.progress.step == step - 1
    assert all(torch.isfinite(value).all() for value in last.network.state_dict().values())
    assert all(torch.isfinite(value).all() for value in last.optimiser.values())
    assert [row["step"] for row in rows(tmp_path, "step")] == list(range(1, step))

    # With the clip repaired, the run goes on and ends as if nothing had been.
    run(tmp_path, config)
    run(tmp_path / "never poisoned", config)
    assert bits(tmp_path / "last.safetensors") == bits(tmp_path / "never poisoned" / "last.safetensors")


def test_a_loss_that_is_no_number_before_the_first_checkpoint(tmp_path: Path) -> None:
    data = some_data(n_clips=30, n_held_out=4)
    for index in range(26):
        data = poisoned(data, index)
    config = changed(CALM, training={"batch_seconds": 1000.0})
    message = r"at step 1 .* on the clips (\d+\.wav, ){25}\d+\.wav; no checkpoint had been written yet"
    with pytest.raises(ValueError, match=message):
        run(tmp_path, config, data=data, statistics_of=some_data())


def test_a_gradient_that_is_no_number_reaches_no_weight(tmp_path: Path) -> None:
    networks: list[Network] = []

    def prepare(network: Network) -> None:
        networks.append(network)
        network.crnn.linear.weight.register_hook(lambda gradient: gradient * torch.inf)

    with pytest.raises(
        ValueError, match=r"the gradient is no longer a finite number at step 1 \(tags 0\.\d+, penalty 0"
    ):
        run(tmp_path, CALM, prepare=prepare)
    assert all(torch.isfinite(parameter).all() for parameter in networks[0].parameters())
