"""What changes between steps and between epochs: the learning rate, and which epoch is the best so far."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch

from earmark.config import Config
from earmark.models.crnn import Network
from earmark.training.checkpoint import Progress
from earmark.training.drawing import TrainingData
from earmark.training.held_out import HeldOutFigures, held_out_figures
from earmark.training.mean_teacher import ramp

# As torch's ReduceLROnPlateau has it: a loss is lower when it is so by this part.
_LOWER = 1e-4


def set_learning_rate(optimiser: torch.optim.Adam, config: Config, epochs_done: float, *, halvings: int) -> None:
    """Set the rate of the next step, as `training.schedule` says.

    Example:
        >>> from earmark.config import TrainingConfig
        >>> weight = torch.nn.Parameter(torch.zeros(1))
        >>> optimiser = torch.optim.Adam([{"params": [weight], "factor": 1.0}])
        >>> config = Config(training=TrainingConfig(epochs=10, warmup_epochs=0.0, learning_rate=1.0))
        >>> set_learning_rate(optimiser, config, 5.0, halvings=0)     # half way down the cosine, to a hundredth
        >>> optimiser.param_groups[0]["lr"]
        0.505
    """
    settings = config.training
    if settings.schedule == "ramp":
        share = ramp(epochs_done, config.ramp_epochs)
    elif epochs_done < settings.warmup_epochs:
        share = min(1.0, (epochs_done + 1e-3) / settings.warmup_epochs)
    elif settings.schedule == "plateau":
        share = 1.0
    else:
        way = (epochs_done - settings.warmup_epochs) / max(settings.epochs - settings.warmup_epochs, 1e-9)
        share = 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * way))
    for group in optimiser.param_groups:
        group["lr"] = settings.learning_rate * group["factor"] * share * 0.5**halvings


def epoch_row(
    network: Network, teacher: Network | None, data: TrainingData, config: Config, progress: Progress
) -> tuple[dict[str, Any], Progress]:
    """Return the row of the log after an epoch, and whether it is the best so far.

    Held-out figures and pooling parameters are those of the network to be deployed. Where there is a teacher, the
    figures of the other of the two stand beside them, under its name.
    """
    used, other, name = network, teacher, "teacher"
    if teacher is not None and config.teacher.deploy == "teacher":
        used, other, name = teacher, network, "student"
    row: dict[str, Any] = {"kind": "epoch", "step": progress.step, "epoch": progress.epoch}
    values = used.pool.parameter_values()
    row["pooling"] = None if values is None else [round(value, 6) for value in values.tolist()]
    is_last = progress.epoch == config.training.epochs
    due = progress.epoch % config.training.validate_every_epochs == 0 or is_last
    if config.training.select == "last" or not len(data.held_out):
        progress = replace(progress, best_epoch=progress.epoch)
    if len(data.held_out) and due:
        figures = held_out_figures(used, data.clips, data.store, data.held_out, config)
        row |= logged(figures)
        if other is not None:
            others = held_out_figures(other, data.clips, data.store, data.held_out, config)
            row |= {f"{name}_{key}": value for key, value in logged(others).items()}
        figure = figures.selecting(config.training.select)
        # Of equal figures the later epoch, which has seen more.
        if config.training.select != "last" and figure >= progress.best_figure:
            progress = replace(progress, best_figure=figure, best_epoch=progress.epoch)
        if config.training.schedule == "plateau":
            progress = _halved_or_not(progress, figures.loss, config.training.plateau_patience)
            row["halvings"] = progress.halvings
    row["best_epoch"] = progress.best_epoch
    return row, progress


def logged(figures: HeldOutFigures) -> dict[str, float | None]:
    """Return held-out figures as they stand in the log.

    Example:
        >>> import numpy as np
        >>> logged(HeldOutFigures(loss=0.3, best_f1={"dog": 0.5}, clip_probs=np.zeros((0, 1))))
        {'held_out_loss': 0.3, 'held_out_macro_f1': 0.5}
    """
    row = {"held_out_loss": figures.loss, "held_out_macro_f1": figures.macro_f1}
    if figures.events is None:
        return row
    return {**row, "held_out_macro_event_f1": figures.macro_event_f1}


def _halved_or_not(progress: Progress, loss: float, patience: int) -> Progress:
    """The state of the learning rate after a look at the held-out clips."""
    if progress.lowest_loss is None or loss < progress.lowest_loss * (1 - _LOWER):
        return replace(progress, lowest_loss=loss, looks_without=0)
    if progress.looks_without < patience:
        return replace(progress, looks_without=progress.looks_without + 1)
    return replace(progress, looks_without=0, halvings=progress.halvings + 1)
