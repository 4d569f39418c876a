"""Changes to training clips, drawn anew each time.

What a batch says about its tags stays true, with one exception: a mask may hide the only event of a class, and the tag
stays. So masks must be short against events (`AugmentConfig.time_mask_seconds`).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from earmark.config import AugmentConfig
from earmark.timeline import Timeline
from earmark.training.batch import Batch
from earmark.training.strong_labels import output_labels


def augment(
    batch: Batch,
    config: AugmentConfig,
    *,
    fill: Tensor,
    timeline: Timeline,
    rng: np.random.Generator,
    spectrum: str = "power",
    time_reduction: int = 1,
) -> Batch:
    """Return the batch with every change that is switched on: shift, gain, mixup, masks, in this order.

    After the shift the labels of feature frames become those of output frames.

    Args:
        batch: log-mel features and tags.
        config: which changes, and how strong.
        fill: (mels,), what stands under a mask; the training mean, which is zero after normalisation.
        timeline: of the feature frames.
        rng: source of randomness.
        spectrum: what the features are the logarithm of, energies (``"power"``) or their roots (``"magnitude"``).
        time_reduction: feature frames per output frame.

    Example:
        >>> yes = torch.ones(1, 1, dtype=torch.bool)
        >>> batch = Batch(torch.arange(4.0)[None, :, None], None, torch.ones(1, 1), yes, ("a",))     # frames 0 1 2 3
        >>> grid, shift = Timeline(sample_rate=10, hop_samples=1), AugmentConfig(time_shift_seconds=1.0)
        >>> shifted = augment(batch, shift, fill=torch.zeros(1), timeline=grid, rng=np.random.default_rng(0))
        >>> shifted.features.flatten()     # the first normal number of this generator is 0.126: one frame later
        tensor([3., 0., 1., 2.])
    """
    logs_per_energy_log = 1.0 if spectrum == "power" else 0.5
    if config.time_shift_seconds > 0:
        batch = time_shift(batch, config.time_shift_seconds / timeline.hop_seconds, rng)
    if batch.frame_tags is not None and batch.frame_known is not None:
        tags, known = output_labels(batch.frame_tags, batch.frame_known, time_reduction=time_reduction)
        batch = replace(batch, frame_tags=tags, frame_known=known)
    if config.gain_db > 0:
        batch = gain(batch, config.gain_db, rng, logs_per_energy_log=logs_per_energy_log)
    if config.mixup > 0:
        batch = mixup(batch, config.mixup, rng, logs_per_energy_log=logs_per_energy_log)
    if config.n_mel_masks > 0 or config.n_time_masks > 0:
        longest_mask = round(config.time_mask_seconds / timeline.hop_seconds)
        batch = masks(batch, config, fill=fill, longest_time_mask_frames=longest_mask, rng=rng)
    return batch


def time_shift(batch: Batch, deviation_frames: float, rng: np.random.Generator) -> Batch:
    """Return every clip rolled by a normal number of frames; what leaves at its end comes back at its beginning.

    A clip rolls inside its own length: no padding ever moves into it. Its frame labels, one per feature frame, roll
    with it.

    Example:
        >>> yes = torch.ones(1, 1, dtype=torch.bool)
        >>> batch = Batch(torch.arange(4.0)[None, :, None], None, torch.ones(1, 1), yes, ("a",))     # frames 0 1 2 3
        >>> time_shift(batch, 10.0, np.random.default_rng(0)).features.flatten()     # 10 * 0.126: one frame later
        tensor([3., 0., 1., 2.])
    """
    moving = {name: getattr(batch, name) for name in ("features", "frame_tags", "frame_known")}
    rolled = {name: value.clone() for name, value in moving.items() if value is not None}
    for row, length in enumerate(_lengths(batch)):
        shift = round(rng.normal(0.0, deviation_frames))
        for value in rolled.values():
            value[row, :length] = torch.roll(value[row, :length], shift, dims=0)
    return replace(batch, **rolled)


def gain(batch: Batch, deviation_db: float, rng: np.random.Generator, *, logs_per_energy_log: float = 1.0) -> Batch:
    """Return every clip louder or quieter by a normal number of decibels.

    Example:
        >>> yes = torch.ones(1, 1, dtype=torch.bool)
        >>> batch = Batch(torch.zeros(1, 2, 1), None, torch.ones(1, 1), yes, ("a.wav",))     # energies of 1
        >>> gain(batch, 10.0, np.random.default_rng(0)).features.exp().flatten()     # 10 * 0.12573 dB: 10 ** 0.12573
        tensor([1.3358, 1.3358])
    """
    decibels = torch.from_numpy(rng.normal(0.0, deviation_db, len(batch.features))).float()
    # Features are natural logarithms of energy, or half of that.
    shift = (decibels * math.log(10) / 10 * logs_per_energy_log).to(batch.features.device)
    return replace(batch, features=batch.features + shift[:, None, None])


def mixup(batch: Batch, alpha: float, rng: np.random.Generator, *, logs_per_energy_log: float = 1.0) -> Batch:
    """Return each clip mixed with another of the batch, energies and tags in the same proportion.

    The proportion is drawn from Beta(alpha, alpha) and the larger share stays with the clip itself. Energies are
    added, not logarithms, as sounds are in air. A class is known of a mixture when it is known of both clips, and of a
    frame likewise; where a clip has ended it is known to be silent. So clips are mixed with others of which as much is
    known: a strongly labelled clip mixed with an unlabelled one would teach nothing.

    Example:
        >>> energies, tags = torch.tensor([1.0, 3.0]), torch.eye(2)     # one clip of the first class, one of the second
        >>> batch = Batch(energies.log()[:, None, None], None, tags, tags == tags, ("a.wav", "b.wav"))
        >>> mixed = mixup(batch, 1.0, np.random.default_rng(1))
        >>> torch.allclose(mixed.features.exp().flatten(), mixed.tags @ energies)     # in the proportion of the tags
        True
    """
    n_clips = len(batch.features)
    partner = torch.from_numpy(_partners(batch.kinds, rng))
    drawn = rng.beta(alpha, alpha, n_clips)
    share = torch.from_numpy(np.maximum(drawn, 1 - drawn)).float().to(batch.features.device)
    own = _real_features(batch) / logs_per_energy_log
    energy = torch.logaddexp(own + torch.log(share)[:, None, None], own[partner] + torch.log1p(-share)[:, None, None])
    features = energy * logs_per_energy_log
    # Frames that are padding in both clips hold the logarithm of nothing.
    features = torch.where(torch.isfinite(features), features, 0.0)
    mask = None if batch.mask is None else batch.mask | batch.mask[partner]
    tags = share[:, None] * batch.tags + (1 - share[:, None]) * batch.tags[partner]
    known = batch.tags_known & batch.tags_known[partner]
    mixed = replace(batch, features=features, mask=mask, tags=tags, tags_known=known)
    if batch.frame_tags is None or batch.frame_known is None:
        return mixed
    is_real = torch.ones(batch.frame_tags.shape[:2], dtype=torch.bool, device=share.device)
    is_real = (is_real if batch.mask is None else batch.mask)[:, :, None]
    frame_tags = torch.where(is_real & batch.frame_known, batch.frame_tags, 0.0)
    known_or_silent = batch.frame_known | ~is_real
    return replace(
        mixed,
        frame_tags=share[:, None, None] * frame_tags + (1 - share[:, None, None]) * frame_tags[partner],
        frame_known=known_or_silent & known_or_silent[partner] & (is_real | is_real[partner]),
    )


def masks(
    batch: Batch, config: AugmentConfig, *, fill: Tensor, longest_time_mask_frames: int, rng: np.random.Generator
) -> Batch:
    """Return every clip with random mel bands and short moments hidden; its tags stay, whatever was hidden.

    Example:
        >>> yes = torch.ones(1, 1, dtype=torch.bool)
        >>> batch = Batch(torch.arange(4.0)[None, :, None], None, torch.ones(1, 1), yes, ("a",))     # frames 0 1 2 3
        >>> one, rng = AugmentConfig(n_time_masks=1), np.random.default_rng(0)
        >>> hidden = masks(batch, one, fill=torch.tensor([9.0]), longest_time_mask_frames=2, rng=rng)
        >>> hidden.features.flatten()     # the mask drawn is two frames long
        tensor([0., 9., 9., 3.])
    """
    features = batch.features.clone()
    n_mels = features.shape[2]
    for row, length in enumerate(_lengths(batch)):
        for _ in range(config.n_mel_masks):
            begin, end = _span(n_mels, config.mel_mask_bands, rng)
            features[row, :, begin:end] = fill[begin:end]
        for _ in range(config.n_time_masks):
            begin, end = _span(length, longest_time_mask_frames, rng)
            features[row, begin:end] = fill
    return replace(batch, features=features)


def _partners(kinds: list[str], rng: np.random.Generator) -> NDArray[np.intp]:
    """With whom each clip is mixed, (clips,): a random one of its kind, perhaps itself."""
    partners = np.zeros(len(kinds), dtype=np.intp)
    for kind in sorted(set(kinds)):
        members = np.array([number for number, other in enumerate(kinds) if other == kind])
        partners[members] = members[rng.permutation(len(members))]
    return partners


def _span(size: int, longest: int, rng: np.random.Generator) -> tuple[int, int]:
    """A random stretch of at most `longest` inside `size`."""
    length = int(rng.integers(0, min(longest, size) + 1))
    begin = int(rng.integers(0, size - length + 1))
    return begin, begin + length


def _lengths(batch: Batch) -> list[int]:
    """Real feature frames of each clip."""
    n_frames = batch.features.shape[1]
    if batch.mask is None:
        return [n_frames] * len(batch.features)
    reduction = n_frames // batch.mask.shape[1]
    return [int(n) * reduction for n in batch.mask.sum(dim=1)]


def _real_features(batch: Batch) -> Tensor:
    """The features with no energy at all, log 0, in the padding."""
    if batch.mask is None:
        return batch.features
    reduction = batch.features.shape[1] // batch.mask.shape[1]
    real = batch.mask.repeat_interleave(reduction, dim=1)
    return torch.where(real[:, :, None], batch.features, -torch.inf)
