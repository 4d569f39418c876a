"""The training loop: how it learns, and what stops it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from oracles.training_cases import changed
from run_cases import BUSY, CALM, Stopped, bits, rows, run_loop, some_data

from earmark.config import Config
from earmark.models.crnn import Network
from earmark.training import loop
from earmark.training.checkpoint import load_checkpoint
from earmark.training.drawing import TrainingData, epoch_plan
from earmark.training.held_out import batch_frames
from earmark.training.loop import new_optimiser
from earmark.training.starting import new_network

# --- laws ---


def test_no_step_ever_sees_more_frames_than_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []
    drawn = loop.drawn_batch

    def noted(*arguments: Any) -> Any:
        batch = drawn(*arguments)
        seen.append((batch.features.shape[0], batch.features.shape[1]))
        return batch

    monkeypatch.setattr(loop, "drawn_batch", noted)
    run_loop(tmp_path, CALM)
    assert all(n_clips == 1 or n_clips * n_frames <= batch_frames(CALM) for n_clips, n_frames in seen)
    assert max(n_clips for n_clips, _ in seen) > 1


def first_step(tmp_path: Path, config: Config) -> tuple[Network, Network]:
    """The network before and after the first step."""
    networks: list[Network] = []

    def stop(row: dict[str, Any]) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        run_loop(tmp_path, config, on_row=stop, prepare=networks.append)
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
    run_loop(tmp_path, config)
    values = [value for row in rows(tmp_path, "epoch") for value in row["pooling"]]
    assert min(values) == 0.0


def test_the_loss_falls(tmp_path: Path) -> None:
    run_loop(tmp_path, changed(CALM, training={"epochs": 15, "learning_rate": 2e-2}))
    losses = [row["tags"] for row in rows(tmp_path, "step")]
    assert np.mean(losses[-6:]) < 0.6 * np.mean(losses[:6])


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
    run_loop(tmp_path, changed(CALM, training={"warmup_epochs": warmup, "learning_rate": 1e-3}))
    rates = [row["learning_rate"] / 1e-3 for row in rows(tmp_path, "step")]
    assert rates == pytest.approx(expected, abs=1e-4)


def test_what_a_row_of_the_log_says(tmp_path: Path) -> None:
    run_loop(tmp_path, BUSY)
    step_rows, epoch_rows = rows(tmp_path, "step"), rows(tmp_path, "epoch")
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
    table = (tmp_path / "pooling.tsv").read_text().splitlines()
    assert table[0] == "epoch\tstep\tclass\tn"
    assert len(table) == 1 + 3 * 2


def test_a_pooling_function_without_a_parameter_has_no_table(tmp_path: Path) -> None:
    run_loop(tmp_path, changed(CALM, training={"epochs": 1}, pooling={"name": "linear"}))
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
        rf" {names}; the last good checkpoint is .*last.safetensors - begin another run with a lower training.learning_"
    )
    with pytest.raises(ValueError, match=message):
        run_loop(tmp_path, config, data=bad, statistics_of=some_data())
    last = load_checkpoint(tmp_path / "last.safetensors")
    assert last.progress.step == step - 1
    assert all(torch.isfinite(value).all() for value in last.network.state_dict().values())
    assert all(torch.isfinite(value).all() for value in last.optimiser.values())
    assert [row["step"] for row in rows(tmp_path, "step")] == list(range(1, step))

    # With the clip repaired, the run goes on and ends as if nothing had been.
    run_loop(tmp_path, config)
    run_loop(tmp_path / "never poisoned", config)
    assert bits(tmp_path / "last.safetensors") == bits(tmp_path / "never poisoned" / "last.safetensors")


def test_a_loss_that_is_no_number_before_the_first_checkpoint(tmp_path: Path) -> None:
    data = some_data(n_clips=30, n_held_out=4)
    for index in range(26):
        data = poisoned(data, index)
    config = changed(CALM, training={"batch_seconds": 1000.0})
    message = r"at step 1 .* on the clips (\d+\.wav, ){25}\d+\.wav; no checkpoint had been written yet"
    with pytest.raises(ValueError, match=message):
        run_loop(tmp_path, config, data=data, statistics_of=some_data())


@pytest.mark.parametrize("seconds", [0.0, 1e9])  # between the epochs, and at their ends alone
def test_weights_that_say_nothing_any_more_are_not_a_good_checkpoint(seconds: float, tmp_path: Path) -> None:
    run_loop(tmp_path, changed(CALM, training={"epochs": 1, "checkpoint_seconds": seconds}))
    before = bits(tmp_path / "last.safetensors")
    fast = changed(CALM, training={"epochs": 2, "checkpoint_seconds": seconds, "warmup_epochs": 0.0})
    fast = changed(fast, training={"learning_rate": 1e30})
    lost = r"after step \d+ \(before it: tags 0\.\d+, penalty 0\) the network says nan where .* on the clips"
    met = lost if seconds == 0 else "the loss is no longer a finite number at step 7"
    kept = r"; the last good checkpoint is .*last\.safetensors - begin another run with a"
    with pytest.raises(ValueError, match=met + ".*" + kept):
        run_loop(tmp_path, fast)
    assert bits(tmp_path / "last.safetensors") == before


def test_a_gradient_that_is_no_number_reaches_no_weight(tmp_path: Path) -> None:
    networks: list[Network] = []

    def prepare(network: Network) -> None:
        networks.append(network)
        network.crnn.linear.weight.register_hook(lambda gradient: gradient * torch.inf)

    with pytest.raises(
        ValueError, match=r"the gradient is no longer a finite number at step 1 \(tags 0\.\d+, penalty 0"
    ):
        run_loop(tmp_path, CALM, prepare=prepare)
    assert all(torch.isfinite(parameter).all() for parameter in networks[0].parameters())
