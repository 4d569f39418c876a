"""Which epoch the training loop keeps as the best."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.training_cases import changed
from run_cases import CALM, Stopped, bits, rows, run_loop, some_data

from earmark.training import epochs as module
from earmark.training.checkpoint import load_checkpoint
from earmark.training.held_out import HeldOutFigures

# --- laws ---


def best_epochs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figures: Sequence[float], **training: Any
) -> list[int]:
    """The best epoch after each epoch when the held-out figures are these (F1, and minus the loss)."""
    scripted = iter(figures)

    def held_out_figures(*arguments: Any) -> HeldOutFigures:
        figure = next(scripted)
        return HeldOutFigures(-figure, {"high": figure}, np.zeros((4, 2)))

    monkeypatch.setattr(module, "held_out_figures", held_out_figures)
    epochs = training.pop("epochs", len(figures))
    snapshots = tuple(range(1, epochs + 1))
    config = changed(CALM, training={"epochs": epochs, "snapshot_epochs": snapshots, **training})
    progress = run_loop(tmp_path, config)
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


def test_where_no_class_has_an_f1_the_loss_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    losses = iter([0.5, 0.2, 0.3])
    monkeypatch.setattr(module, "held_out_figures", lambda *_: HeldOutFigures(next(losses), {}, np.zeros((4, 2))))
    assert run_loop(tmp_path, changed(CALM, training={"epochs": 3, "select": "f1"})).best_epoch == 2
    assert [row["held_out_macro_f1"] for row in rows(tmp_path, "epoch")] == [None] * 3
    assert load_checkpoint(tmp_path / "best.safetensors").progress.epoch == 2


def test_the_last_epoch_when_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert best_epochs(tmp_path, monkeypatch, [0.9, 0.8, 0.7], select="last") == [1, 2, 3]
    assert [row["held_out_macro_f1"] for row in rows(tmp_path, "epoch")] == [0.9, 0.8, 0.7]  # still told


def test_figures_only_every_so_often_and_after_the_last_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = best_epochs(tmp_path, monkeypatch, [0.5, 0.4, 0.6], epochs=5, validate_every_epochs=2)
    assert found == [0, 2, 2, 2, 5]
    assert ["held_out_loss" in row for row in rows(tmp_path, "epoch")] == [False, True, False, True, True]


def test_without_held_out_clips_the_last_epoch_is_the_best(tmp_path: Path) -> None:
    config = changed(CALM, training={"epochs": 2})
    run_loop(tmp_path, config, data=some_data(n_held_out=0))
    assert [row["best_epoch"] for row in rows(tmp_path, "epoch")] == [1, 2]
    assert "held_out_loss" not in rows(tmp_path, "epoch")[0]
    assert bits(tmp_path / "best.safetensors") == bits(tmp_path / "last.safetensors")


def test_the_best_so_far_is_remembered_by_a_resumed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = iter([0.9, 0.8, 0.7])

    def held_out_figures(*arguments: Any) -> HeldOutFigures:
        return HeldOutFigures(0.5, {"high": next(figures)}, np.zeros((4, 2)))

    def stop_after_two_epochs(row: dict[str, Any]) -> None:
        if row["kind"] == "epoch" and row["epoch"] == 2:
            raise Stopped

    monkeypatch.setattr(module, "held_out_figures", held_out_figures)
    config = changed(CALM, training={"epochs": 3})
    with pytest.raises(Stopped):
        run_loop(tmp_path, config, on_row=stop_after_two_epochs)
    assert run_loop(tmp_path, config).best_epoch == 1
    assert load_checkpoint(tmp_path / "best.safetensors").progress.epoch == 1
