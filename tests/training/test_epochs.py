"""What changes between steps and epochs: the learning rate by each schedule, and state that resumes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from oracles.training_cases import SMALL, changed
from run_cases import CALM, Stopped, files, rows, run_loop

from earmark.config import Config
from earmark.training import epochs as module
from earmark.training.epochs import set_learning_rate
from earmark.training.held_out import HeldOutFigures


def rate(config: Config, epochs_done: float, halvings: int = 0) -> float:
    """The learning rate of a step."""
    optimiser = torch.optim.Adam([{"params": [torch.nn.Parameter(torch.zeros(1))], "factor": 3.0}])
    set_learning_rate(optimiser, config, epochs_done, halvings=halvings)
    found: float = optimiser.param_groups[0]["lr"]
    return found


# --- laws ---


def test_the_plateau_schedule_halves_and_resumes_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Lower until the second look; two that are not lower are borne, the third halves; then again.
    losses = [0.9, 0.8, 0.8, 0.9, 0.85, 0.8, 0.79999, 0.9, 0.7, 0.7]
    halvings = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    config = changed(
        CALM,
        training={
            "epochs": 10,
            "batch_seconds": 20.0,
            "schedule": "plateau",
            "plateau_patience": 2,
            "warmup_epochs": 0.0,
        },
    )

    def looks(folder: Path, begin: int, n_epochs: int) -> None:
        said = iter(losses[begin:])
        with monkeypatch.context() as patch:
            patch.setattr(module, "held_out_figures", lambda *_: HeldOutFigures(next(said), {}, np.zeros((4, 2))))

            def stop(row: dict[str, object]) -> None:
                if row["kind"] == "epoch" and row["epoch"] == n_epochs < 10:
                    raise Stopped

            run_loop(folder, config, on_row=stop)

    looks(tmp_path / "whole", 0, 10)
    assert [row["halvings"] for row in rows(tmp_path / "whole", "epoch")] == halvings
    rates = {row["epoch"]: row["learning_rate"] for row in rows(tmp_path / "whole", "step")}
    assert [rates[epoch + 1] for epoch in range(10)] == [5e-3 * 0.5**n for n in [0, *halvings[:-1]]]
    with pytest.raises(Stopped):
        looks(tmp_path / "stopped", 0, 7)
    looks(tmp_path / "stopped", 7, 10)
    assert files(tmp_path / "stopped") == files(tmp_path / "whole")


# --- worked numbers ---


def test_the_ramp_rises_with_the_teacher_and_then_stays() -> None:
    config = changed(training={"epochs": 200, "schedule": "ramp", "learning_rate": 1e-3}, teacher={"ramp_epochs": 50.0})
    # exp(-5 (1 - 25 / 50)^2) = exp(-1.25), and the factor of the group is 3.
    assert rate(config, 25.0) == pytest.approx(3e-3 * math.exp(-1.25))
    assert rate(config, 0.0) == pytest.approx(3e-3 * math.exp(-5))
    assert rate(config, 50.0) == rate(config, 199.0) == pytest.approx(3e-3)


def test_the_other_schedules_by_hand() -> None:
    plateau = changed(training={"schedule": "plateau", "learning_rate": 1e-3, "warmup_epochs": 2.0})
    assert rate(plateau, 0.999) == pytest.approx(3e-3 / 2)
    assert rate(plateau, 2.5, halvings=3) == pytest.approx(3e-3 / 8)
    cosine = changed(training={"epochs": 10, "learning_rate": 1e-3, "warmup_epochs": 0.0})
    assert rate(cosine, 5.0) == pytest.approx(3e-3 * (0.01 + 0.99 / 2))


def test_the_ramp_is_half_of_the_epochs_unless_it_is_said() -> None:
    assert SMALL.ramp_epochs == 1.5  # of 3
