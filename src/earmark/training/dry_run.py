"""A look before the night: the first batch, drawn; how long the run will take; how much memory it needs."""

from __future__ import annotations

import dataclasses
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from earmark.audio import find_clips, probe_audio
from earmark.config import Config
from earmark.labels.weak import WeakClip
from earmark.models.crnn import Network
from earmark.training.batch import Batch
from earmark.training.clips import ClipSet
from earmark.training.feature_store import feature_store
from earmark.training.held_out import batch_frames
from earmark.training.loop import TrainingData, drawn_batch, epoch_plan, new_optimiser, planned_batches
from earmark.training.run import Split, check_settings, choose_device, new_network, read_clips
from earmark.training.weak import weak_loss_terms

# As many clips are read as these batches need, the longest of the data set among them.
_SAMPLE_BATCHES = 4
_TIMED_STEPS = 3


@dataclass(frozen=True)
class DryRun:
    """What a run would be like.

    Args:
        classes: that would be learned.
        clips: training and held-out clips.
        hours: of audio, training and held out.
        weights: trainable numbers in the network.
        steps_per_epoch: optimiser steps.
        seconds_per_step: measured.
        memory_bytes: peak, of the GPU's memory on CUDA and of this process otherwise.
        unreadable: (where in the label file, filename, reason) among all clips.
        first_batch: as it would be drawn.
        first_batch_tags: the tags of its clips.
    """

    classes: tuple[str, ...]
    clips: int
    hours: float
    weights: int
    steps_per_epoch: int
    seconds_per_step: float
    memory_bytes: int
    unreadable: tuple[tuple[str, str, str], ...]
    first_batch: Batch
    first_batch_tags: tuple[str, ...]


def dry_run(
    labels: Path,
    *,
    audio: Path,
    config: Config,
    split: Split | None = None,
    device: str = "auto",
    on_file: Callable[[int, int], None],
) -> DryRun:
    """Return what a run with these arguments would be like, without leaving anything behind.

    Args:
        labels, audio, config, split, device: as for `earmark.training.run.train`.
        on_file: told how many of how many files were probed.
    """
    whole = read_clips(labels, config, Split() if split is None else split)
    check_settings(config, whole)
    seconds, unreadable = _durations(whole.clips, audio, on_file)
    training = np.flatnonzero(~whole.held_out & (seconds > 0))
    if not len(training):
        where, _, reason = unreadable[0]
        raise ValueError(f"no training clip could be read; the first: {where}: {reason}")
    sample = _sample(whole.only(training), seconds[training], config)
    with tempfile.TemporaryDirectory() as folder:
        store = feature_store(Path(folder), sample.clips, audio, config, on_clip=lambda done: None)
        data = TrainingData(sample.only(store.kept), store)
        network = new_network(data, config).to(choose_device(device))
        plan = epoch_plan(data, config, epoch=1)
        first = drawn_batch(network, data, plan[0], config, step=1)
        seconds_per_step = _time_steps(network, data, plan, config)
        tags = tuple(", ".join(np.array(whole.classes)[row]) for row in data.clips.tags[plan[0]])
    return DryRun(
        classes=whole.classes,
        clips=len(whole.clips),
        hours=float(seconds.sum()) / 3600,
        weights=sum(parameter.numel() for parameter in network.parameters()),
        steps_per_epoch=_steps_per_epoch(whole, training, seconds, config),
        seconds_per_step=seconds_per_step,
        memory_bytes=_peak_memory(network.mean.device),
        unreadable=tuple(unreadable),
        first_batch=first.to(torch.device("cpu")),
        first_batch_tags=tags,
    )


def _durations(
    clips: Sequence[WeakClip], audio: Path, on_file: Callable[[int, int], None]
) -> tuple[NDArray[np.float64], list[tuple[str, str, str]]]:
    """Seconds of every clip from the files' headers, 0 for those that cannot be opened."""
    files, reasons = find_clips(audio, (clip.filename for clip in clips))
    lengths: dict[str, float] = {}
    for number, (name, file) in enumerate(files.items()):
        try:
            lengths[name] = probe_audio(file).duration_seconds
        except ValueError as error:
            reasons[name] = str(error)
        on_file(number + 1, len(files))
    seconds = np.zeros(len(clips))
    for number, clip in enumerate(clips):
        if clip.filename in lengths:
            end = lengths[clip.filename] if clip.offset is None else min(lengths[clip.filename], clip.offset)
            seconds[number] = max(0.0, end - (0.0 if clip.onset is None else clip.onset))
    unreadable = [(clip.where, clip.filename, reasons[clip.filename]) for clip in clips if clip.filename in reasons]
    return seconds, unreadable


def _steps_per_epoch(clips: ClipSet, training: NDArray[np.intp], seconds: NDArray[np.float64], config: Config) -> int:
    """Batches of an epoch, drawn as training draws them but with lengths from the headers."""
    frames = np.ceil(seconds * config.features.sample_rate / config.features.hop_samples).astype(np.int64)
    if config.features.clip_frames is not None:
        frames[:] = config.features.clip_frames
    rng = np.random.default_rng([config.training.seed, 1, 1])
    return len(planned_batches(clips.tags[training], training, np.maximum(frames, 1), config, rng))


def _sample(clips: ClipSet, seconds: NDArray[np.float64], config: Config) -> ClipSet:
    """Clips for a few batches: the longest one, since it decides about memory, and others at random."""
    order = np.random.default_rng(config.training.seed).permutation(len(seconds))
    order = np.concatenate([[int(seconds.argmax())], order[order != int(seconds.argmax())]])
    enough = np.searchsorted(np.cumsum(seconds[order]), _SAMPLE_BATCHES * config.training.batch_seconds) + 1
    sample = clips.only(order[:enough])
    return dataclasses.replace(sample, held_out=np.zeros(len(sample.clips), dtype=bool))


def _time_steps(network: Network, data: TrainingData, plan: list[list[int]], config: Config) -> float:
    """Mean seconds of a step of full size, after one to warm up."""
    frames = data.store.lengths
    plan = sorted(plan, key=lambda batch: -len(batch) * int(frames[batch].max()))
    optimiser = new_optimiser(network, config)
    timed = []
    for number in range(_TIMED_STEPS + 1):
        begin = time.perf_counter()
        batch = drawn_batch(network, data, plan[number % len(plan)], config, step=number + 1)
        loss = torch.stack(list(weak_loss_terms(network, batch, config).values())).sum()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        loss.item()  # waits for a GPU
        share = len(batch.features) * batch.features.shape[1] / batch_frames(config)
        timed.append((time.perf_counter() - begin) / max(share, 1e-3))
    return float(np.mean(timed[1:]))


def _peak_memory(device: torch.device) -> int:
    """Bytes at the highest moment."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
