"""A look before the night: the first batch, drawn; how long the run will take; how much memory it needs."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from earmark.config import Config
from earmark.training import measuring
from earmark.training.batch import Batch
from earmark.training.checking import prepared
from earmark.training.clips import KINDS, ClipSet
from earmark.training.continuing import read_start
from earmark.training.device import choose_device
from earmark.training.drawing import TrainingData, drawn_batch, planned_batches
from earmark.training.feature_store import located
from earmark.training.headers import headers_of_audio, headers_of_embeddings
from earmark.training.held_out import batch_frames
from earmark.training.mean_teacher import has_teacher, new_teacher
from earmark.training.reading import read_features
from earmark.training.sampling import batches_by_length
from earmark.training.sources import Sources, Split
from earmark.training.starting import new_network
from earmark.training.supervised import piece_and_context_frames

_PLANNED_CLIPS = 100_000  # over all epochs that are planned, but one at least; it takes less than a second


@dataclass(frozen=True)
class DryRun:
    """What a run would be like.

    Args:
        classes: that would be learned.
        clips: training and held-out clips.
        hours: of audio, training and held out.
        weights: trainable numbers in the network.
        steps_per_epoch: optimiser steps in the first epoch.
        reading_seconds: for the features of all clips.
        epoch_seconds: for the steps of an epoch, on average.
        held_out_seconds: for the held-out figures and the checkpoints of all epochs.
        seconds: for the whole run.
        longest_seconds: of audio in the longest clip.
        memory_bytes: peak with the largest batch and the longest clip, of the GPU's memory on CUDA and of this process
            otherwise; None where the system does not say.
        unreadable: (where in the label file, filename, reason) among all clips.
        notes: (where in the label file, filename, remark) of clips of which only a part would be used.
        first_batch: of the run, as it would be drawn.
        first_batch_tags: the tags of its clips, and what is not known of them.
        kinds: training clips of each kind: with tags alone, with strong labels, without labels.
        has_teacher: whether the mean teacher is used.
        remarks: on how the labels fit together.
    """

    classes: tuple[str, ...]
    clips: int
    hours: float
    weights: int
    steps_per_epoch: int
    reading_seconds: float
    epoch_seconds: float
    held_out_seconds: float
    seconds: float
    longest_seconds: float
    memory_bytes: int | None
    unreadable: tuple[tuple[str, str, str], ...]
    notes: tuple[tuple[str, str, str], ...]
    first_batch: Batch
    first_batch_tags: tuple[str, ...]
    kinds: dict[str, int]
    has_teacher: bool
    remarks: tuple[str, ...]

    @property
    def seconds_per_step(self) -> float:
        """Mean over an epoch."""
        return self.epoch_seconds / self.steps_per_epoch


@dataclass(frozen=True)
class _Plan:
    """Some epochs and a look at the held-out clips, as batches, with the frames of every clip.

    Not every clip is drawn in every epoch, so the first one alone might miss the longest clip.
    """

    epochs: list[list[list[int]]]
    looks: list[list[int]]
    frames: NDArray[np.int64]
    longest_clip: int  # of the training clips
    piece_frames: int

    @property
    def batches(self) -> list[list[int]]:
        """Those of the first epoch."""
        return self.epochs[0]

    def cost(self, batch: list[int]) -> int:
        """Frames of a batch, padding included."""
        return len(batch) * int(self.frames[batch].max())

    def is_long(self, batch: list[int]) -> bool:
        """Whether it is one clip that passes in pieces."""
        return int(self.frames[batch].max()) > self.piece_frames

    def usual_to_time(self) -> list[list[int]]:
        """The largest batch, which decides about memory, and the first, which is drawn; none when all are long."""
        usual = [batch for batch in self.batches if not self.is_long(batch)]
        largest = sorted(usual, key=self.cost)[-1:]
        return largest + [batch for batch in self.batches[:1] if batch not in largest and not self.is_long(batch)]

    def longest(self) -> list[int]:
        """The longest clip, in a batch of its own, if it passes in pieces; otherwise no clip."""
        return [self.longest_clip] if self.is_long([self.longest_clip]) else []

    def look(self) -> list[int]:
        """The largest batch of held-out clips."""
        return max(self.looks, key=self.cost, default=[])


def dry_run(
    sources: Sources,
    *,
    config: Config,
    split: Split | None = None,
    device: str = "auto",
    on_file: Callable[[int, int], None],
) -> DryRun:
    """Return what a run with these arguments would be like, without leaving anything behind.

    The first epochs are planned with the lengths in the files' headers. Four batches at most are read and timed: the
    first, the largest of the first epoch, that of the longest clip, and one of held-out clips. All others are estimated
    from their frames.

    Args:
        sources: labels and recordings.
        config, split, device: as for `earmark.training.run.train`.
        on_file: told how many of how many files were probed.
    """
    start = None if sources.start_from is None else read_start(sources.start_from)
    joined, config = prepared(sources, config, Split() if split is None else split, start)
    whole = joined.clips
    if sources.embeddings is not None:
        headers = headers_of_embeddings(whole.clips, sources.embeddings, config)
    else:
        assert sources.audio is not None, "one of the two is given"
        headers = headers_of_audio(whole.clips, sources.audio, config, on_file)
    clips, samples = whole.only(np.flatnonzero(headers.samples)), headers.samples[headers.samples > 0]
    if clips.held_out.all():
        raise ValueError(f"no training clip could be read; the first: {located(*headers.unreadable[0])}")
    plan = _plan(clips, samples, config)
    chosen = [*plan.usual_to_time(), plan.longest(), plan.look(), plan.batches[0]]
    to_read = np.array(sorted({clip for batch in chosen for clip in batch}))
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        store = read_features(Path(folder), clips.only(to_read).clips, sources, config, on_clip=lambda done: None)
        reading_seconds = (time.perf_counter() - begin) * float(samples.sum() / samples[to_read].sum())
        data = TrainingData(clips.only(to_read[list(store.kept)]), store)
        if not len(data.training):
            reason = located(*store.failures[0])
            raise ValueError(f"none of the training clips of the first batches could be read; the first: {reason}")
        # Clips whose header is better than their sound are missing in their batches.
        row_of = {int(clip): row for row, clip in enumerate(to_read[list(store.kept)])}

        def rows(batch: list[int]) -> list[int]:
            return [row_of[clip] for clip in batch if clip in row_of]

        network = new_network(data, config).to(choose_device(device))
        teacher = new_teacher(network) if has_teacher(config, whole) else None
        old = None if start is None else start.frozen(network.mean.device)
        measuring.forget_peak_memory(network.mean.device)
        first_rows = rows(plan.batches[0]) or data.training[:1].tolist()
        first = drawn_batch(network, data, first_rows, config, step=1)
        usual = [rows(batch) for batch in plan.usual_to_time() if rows(batch)]
        rate, long_rate = measuring.step_seconds_per_frame(
            network, data, config, usual=usual, longest=rows(plan.longest()), teacher=teacher, old=old
        )
        look_rate = measuring.look_seconds_per_frame(network, data, config)
        checkpoint_seconds = measuring.checkpoint_seconds(network, config, Path(folder))
    costs = [
        plan.cost(batch) * (long_rate if plan.is_long(batch) else rate) for epoch in plan.epochs for batch in epoch
    ]
    epoch_seconds = sum(costs) / len(plan.epochs)
    # One more look, and one more checkpoint, after the last epoch; a checkpoint of the best network may follow each.
    n_looks = math.ceil(config.training.epochs / config.training.validate_every_epochs) + 1
    held_out_seconds = n_looks * look_rate * sum(plan.cost(batch) for batch in plan.looks)
    held_out_seconds += (2 * config.training.epochs + 1) * checkpoint_seconds
    remarks = {(where, name): remark for where, name, remark in (*headers.notes, *store.notes)}
    return DryRun(
        classes=whole.classes,
        clips=len(whole.clips),
        hours=float(samples.sum()) / config.features.timeline.sample_rate / 3600,
        weights=sum(parameter.numel() for parameter in network.parameters()),
        steps_per_epoch=len(plan.batches),
        reading_seconds=reading_seconds,
        epoch_seconds=epoch_seconds,
        held_out_seconds=held_out_seconds,
        seconds=reading_seconds + config.training.epochs * epoch_seconds + held_out_seconds,
        longest_seconds=float(samples.max()) / config.features.timeline.sample_rate,
        memory_bytes=measuring.peak_memory_bytes(network.mean.device),
        unreadable=(*headers.unreadable, *store.failures),
        notes=tuple((where, name, remark) for (where, name), remark in remarks.items()),
        first_batch=first.to(torch.device("cpu")),
        first_batch_tags=tuple(_tags_in_words(data.clips, row) for row in first_rows),
        kinds={kind: int((whole.kinds[~whole.held_out] == kind).sum()) for kind in KINDS},
        has_teacher=teacher is not None,
        remarks=joined.remarks,
    )


def _tags_in_words(clips: ClipSet, row: int) -> str:
    """The tags of a clip, and what nobody listened for; empty when it is known to hold none of the classes."""
    names = np.array(clips.classes)
    present, absent = clips.tags[row], clips.known[row] & ~clips.tags[row]
    if clips.known[row].all():
        return ", ".join(names[present])
    said = [*names[present], *(f"no {name}" for name in names[absent] if not present.any())]
    return f"{', '.join(said)} ({', '.join(names[~clips.known[row]])} unknown)".lstrip()


def _plan(clips: ClipSet, samples: NDArray[np.int64], config: Config) -> _Plan:
    """The batches of the first epochs, drawn as training draws them, and those of a look at the held-out clips."""
    unit = config.features.timeline.hop_samples * config.model.time_reduction
    frames = -(-samples // unit) * config.model.time_reduction
    if config.features.clip_frames is not None:
        frames = np.full_like(frames, config.features.clip_frames)
    training, held_out = np.flatnonzero(~clips.held_out), np.flatnonzero(clips.held_out)
    n_epochs = min(config.training.epochs, max(1, _PLANNED_CLIPS // len(training)))
    rngs = [np.random.default_rng([config.training.seed, 1, epoch]) for epoch in range(1, n_epochs + 1)]
    epochs = [planned_batches(clips, frames, config, rng) for rng in rngs]
    piece_frames = piece_and_context_frames(config)[0]
    looks = batches_by_length(held_out, frames, max_frames=batch_frames(config), max_together=piece_frames)
    return _Plan(epochs, looks, frames, int(training[frames[training].argmax()]), piece_frames)
