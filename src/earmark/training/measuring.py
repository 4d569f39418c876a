"""What the steps of a run cost, in time and memory, measured on a few of its batches."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

import torch
from torch import nn

from earmark.config import Config
from earmark.models.crnn import Network
from earmark.training.checkpoint import Progress, save_checkpoint
from earmark.training.drawing import TrainingData, drawn_batch
from earmark.training.held_out import held_out_figures
from earmark.training.loop import new_optimiser
from earmark.training.mean_teacher import move_teacher
from earmark.training.terms import loss_terms

_TIMED_STEPS = 3


def step_seconds_per_frame(
    network: Network,
    data: TrainingData,
    config: Config,
    *,
    usual: Sequence[list[int]],
    longest: list[int],
    teacher: Network | None = None,
    old: Network | None = None,
) -> tuple[float, float]:
    """Return the seconds that a step takes per frame of its batch, padding included: usual batches, and a long clip.

    The very first step is not timed: it makes room in memory, and lets libraries choose their ways.

    Args:
        network: on its device; it learns.
        data: the clips of the batches.
        config: all settings.
        usual: batches of clips that pass whole; may be none.
        longest: a clip that passes in pieces, alone; may be none. It is timed once, since an hour of sound takes long.
        teacher: of the mean teacher, if the run has one; it learns too.
        old: the model the run continues, if it does.
    """
    optimiser = new_optimiser(network, config)

    def seconds_per_frame(batches: Sequence[list[int]], n_untimed: int, n_timed: int) -> float:
        timed = []
        for batch in islice(cycle(batches), n_untimed + n_timed):
            begin = time.perf_counter()
            n_frames = _step(network, teacher, old, optimiser, data, batch, config)
            timed.append((time.perf_counter() - begin, n_frames))
        return sum(seconds for seconds, _ in timed[n_untimed:]) / max(1, sum(n for _, n in timed[n_untimed:]))

    if not usual:
        return 0.0, seconds_per_frame([longest], 1, 1)
    rate = seconds_per_frame(usual, 1, _TIMED_STEPS)
    return rate, seconds_per_frame([longest], 0, 1) if longest else 0.0


def _step(
    network: Network,
    teacher: Network | None,
    old: Network | None,
    optimiser: torch.optim.Adam,
    data: TrainingData,
    batch_clips: list[int],
    config: Config,
) -> int:
    """One step as in training; returns the frames of its batch."""
    batch = drawn_batch(network, data, batch_clips, config, step=1)
    terms = loss_terms(network, batch, config, teacher=teacher, old=old)
    loss = torch.stack(list(terms.values())).sum()
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimiser.step()
    if teacher is not None:
        move_teacher(teacher, network, config, step=1, n_steps=1)
    norm.item()  # waits for a GPU
    return batch.features.shape[0] * batch.features.shape[1]


def look_seconds_per_frame(network: Network, data: TrainingData, config: Config) -> float:
    """Return the seconds that the held-out figures take per frame of the held-out clips in `data`, one batch."""
    if not len(data.held_out):
        return 0.0
    begin = time.perf_counter()
    held_out_figures(network, data.clips, data.store, data.held_out, config)
    n_frames = len(data.held_out) * int(data.store.lengths[data.held_out].max())
    return (time.perf_counter() - begin) / n_frames


def checkpoint_seconds(network: Network, config: Config, folder: Path) -> float:
    """Return the seconds that writing a checkpoint into `folder` takes."""
    begin = time.perf_counter()
    save_checkpoint(folder / "last.safetensors", network, optimiser=new_optimiser(network, config), progress=Progress())
    return time.perf_counter() - begin


def forget_peak_memory(device: torch.device) -> None:
    """Let the peak of a GPU's memory begin anew; that of this process cannot."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def peak_memory_bytes(device: torch.device) -> int | None:
    """Return the bytes at the highest moment, of the GPU's memory or of this process; None when nobody says."""
    if device.type == "cuda":
        return torch.cuda.max_memory_reserved(device)
    try:
        import resource  # not on Windows
    except ModuleNotFoundError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
