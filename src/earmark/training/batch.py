"""One batch: features, what is real in them, and what is known of each clip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from earmark.labels.weak import WeakClip
from earmark.timeline import Timeline
from earmark.training.clips import ClipSet
from earmark.training.feature_store import FeatureStore
from earmark.training.strong_labels import frame_labels


@dataclass(frozen=True)
class Batch:
    """Clips of about the same length, padded to the longest.

    Args:
        features: float32 (batch, frames, mels).
        mask: bool (batch, output frames), true where a frame is real; None when all are.
        tags: float32 (batch, classes), 0 or 1, or between for mixed clips.
        tags_known: bool (batch, classes); a loss looks nowhere else.
        filenames: one per clip, with its span where it is one, for messages and pictures.
        frame_tags: float32 (batch, output frames, classes), 0 or 1, or between for mixed clips; None when no clip of
            the run has strong labels. As `collate` makes it there is one row per feature frame, with the share that
            events cover, because a shift moves it by feature frames; `augment` makes output frames of them.
        frame_known: bool of the same shape; a loss looks nowhere else. Never true in padding.

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
    frame_tags: Tensor | None = None
    frame_known: Tensor | None = None

    @property
    def kinds(self) -> list[str]:
        """What is known of each clip: ``"strong"`` (of moments too), ``"weak"`` (tags) or ``"unlabelled"``.

        Example:
            >>> no = torch.zeros(1, 1, dtype=torch.bool)
            >>> Batch(torch.zeros(1, 50, 64), None, torch.zeros(1, 1), no, ("a.wav",)).kinds
            ['unlabelled']
        """
        has_tags = self.tags_known.any(dim=1).tolist()
        has_frames = [False] * len(has_tags)
        if self.frame_known is not None:
            has_frames = self.frame_known.flatten(1).any(dim=1).tolist()
        return [
            "strong" if frames else "weak" if tags else "unlabelled"
            for frames, tags in zip(has_frames, has_tags, strict=True)
        ]

    def to(self, device: torch.device) -> Batch:
        """The same on another device.

        Example:
            >>> yes = torch.ones(1, 1, dtype=torch.bool)
            >>> batch = Batch(torch.zeros(1, 50, 64), None, torch.ones(1, 1), yes, ("a.wav",))     # one clip of 1 s
            >>> batch.to(torch.device("cpu")).features.device
            device(type='cpu')
        """
        return replace(
            self,
            features=self.features.to(device),
            mask=None if self.mask is None else self.mask.to(device),
            tags=self.tags.to(device),
            tags_known=self.tags_known.to(device),
            frame_tags=None if self.frame_tags is None else self.frame_tags.to(device),
            frame_known=None if self.frame_known is None else self.frame_known.to(device),
        )


def collate(
    clips: ClipSet,
    store: FeatureStore,
    indices: Sequence[int],
    *,
    time_reduction: int,
    timeline: Timeline | None = None,
) -> Batch:
    """Return the clips at `indices` as one batch.

    Args:
        clips: what is known of each clip.
        store: their features, in the same order.
        indices: which clips.
        time_reduction: feature frames per output frame; every clip is a multiple of it long.
        timeline: of the feature frames, for their labels; None leaves what is known of moments out.

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
    frame_tags = frame_known = None
    if timeline is not None and clips.strong is not None:
        frame_tags = torch.zeros(len(indices), longest, len(clips.classes))
        frame_known = torch.zeros(frame_tags.shape, dtype=torch.bool)
        for row, index in enumerate(indices):
            strong, n_frames = clips.strong[index], int(lengths[row])
            if strong is not None:
                shares, known = frame_labels(
                    strong, clips.classes, n_frames=n_frames, timeline=timeline, time_reduction=time_reduction
                )
                frame_tags[row, :n_frames] = torch.from_numpy(shares)
                frame_known[row, :n_frames] = torch.from_numpy(known)
    return Batch(
        torch.from_numpy(features),
        mask,
        torch.from_numpy(clips.tags[list(indices)].astype(np.float32)),
        torch.from_numpy(clips.known[list(indices)]),
        tuple(clip_name(clips.clips[i]) for i in indices),
        frame_tags,
        frame_known,
    )


def clip_name(clip: WeakClip) -> str:
    """Return the file of a clip, and the seconds of it that are meant when it is a span: many clips may share a file.

    Example:
        >>> clip_name(WeakClip("day.wav", frozenset(), None, 600.0, 610.5, {}, "weak.tsv:2"))
        'day.wav 600-610.5 s'
    """
    return clip.filename if clip.onset is None else f"{clip.filename} {clip.onset:.10g}-{clip.offset:.10g} s"
