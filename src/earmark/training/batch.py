"""One batch: features, what is real in them, and what is known of each clip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from earmark.labels.weak import WeakClip
from earmark.training.clips import ClipSet
from earmark.training.feature_store import FeatureStore


@dataclass(frozen=True)
class Batch:
    """Clips of about the same length, padded to the longest.

    Args:
        features: float32 (batch, frames, mels).
        mask: bool (batch, output frames), true where a frame is real; None when all are.
        tags: float32 (batch, classes), 0 or 1, or between for mixed clips.
        tags_known: bool (batch, classes); a loss looks nowhere else.
        filenames: one per clip, with its span where it is one, for messages and pictures.

    Example:
        >>> tags, known = torch.tensor([[1.0], [0.0]]), torch.tensor([[True], [False]])     # nobody listened to b.wav
        >>> batch = Batch(torch.zeros(2, 50, 64), None, tags, known, ("a.wav", "b.wav"))
        >>> batch.tags[batch.tags_known]
        tensor([1.])
    """

    features: Tensor
    mask: Tensor | None
    tags: Tensor
    tags_known: Tensor
    filenames: tuple[str, ...]

    def to(self, device: torch.device) -> Batch:
        """The same on another device.

        Example:
            >>> yes = torch.ones(1, 1, dtype=torch.bool)
            >>> batch = Batch(torch.zeros(1, 50, 64), None, torch.ones(1, 1), yes, ("a.wav",))     # one clip of 1 s
            >>> batch.to(torch.device("cpu")).features.device
            device(type='cpu')
        """
        return Batch(
            self.features.to(device),
            None if self.mask is None else self.mask.to(device),
            self.tags.to(device),
            self.tags_known.to(device),
            self.filenames,
        )


def collate(clips: ClipSet, store: FeatureStore, indices: Sequence[int], *, time_reduction: int) -> Batch:
    """Return the clips at `indices` as one batch.

    Args:
        clips: what is known of each clip.
        store: their features, in the same order.
        indices: which clips.
        time_reduction: feature frames per output frame; every clip is a multiple of it long.

    Example:
        >>> from earmark.training.clips import clip_set
        >>> names = ("cat", "dog")
        >>> rows = [WeakClip(f"{name}.wav", frozenset({name}), None, None, None, {}, "weak.tsv:2") for name in names]
        >>> clips = clip_set(rows, names, holdout_fraction=0)
        >>> frames = np.zeros((10, 64), np.float16)     # 4 of the first clip, 6 of the second
        >>> store = FeatureStore(frames, np.array([0, 4, 10]), (0, 1), (), ())
        >>> batch = collate(clips, store, [0, 1], time_reduction=2)
        >>> batch.features.shape, batch.mask.int().tolist()
        (torch.Size([2, 6, 64]), [[1, 1, 0], [1, 1, 1]])
    """
    lengths = store.lengths[list(indices)]
    longest = int(lengths.max())
    features = np.zeros((len(indices), longest, store.frames.shape[1]), np.float32)
    for row, index in enumerate(indices):
        features[row, : lengths[row]] = store.clip(index)
    mask = None
    if (lengths < longest).any():
        output_frames = torch.arange(longest // time_reduction)
        mask = output_frames[None, :] < torch.from_numpy(lengths // time_reduction)[:, None]
    return Batch(
        torch.from_numpy(features),
        mask,
        torch.from_numpy(clips.tags[list(indices)].astype(np.float32)),
        torch.from_numpy(clips.known[list(indices)]),
        tuple(clip_name(clips.clips[i]) for i in indices),
    )


def clip_name(clip: WeakClip) -> str:
    """Return the file of a clip, and the seconds of it that are meant when it is a span: many clips may share a file.

    Example:
        >>> clip_name(WeakClip("day.wav", frozenset(), None, 600.0, 610.5, {}, "weak.tsv:2"))
        'day.wav 600-610.5 s'
    """
    return clip.filename if clip.onset is None else f"{clip.filename} {clip.onset:.10g}-{clip.offset:.10g} s"
