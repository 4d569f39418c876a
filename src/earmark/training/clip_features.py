"""Log-mel features of one clip of any length: the sound arrives in blocks, and the features leave in blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from earmark.config import Config
from earmark.models.features import LogMel

# Longer clips pass in blocks of this length: the spectrum of an hour takes a gigabyte.
BLOCK_SECONDS = 30.0


def clip_features(audio: NDArray[np.float32], log_mel: LogMel, time_reduction: int) -> torch.Tensor:
    """Return a clip's features, (samples,) -> (frames, mels), filled up with silence to a whole output frame.

    Example:
        >>> from earmark.config import FeatureConfig
        >>> clip_features(np.zeros(16001, np.float32), LogMel(FeatureConfig()), time_reduction=2).shape
        torch.Size([52, 64])
    """
    return torch.cat(list(feature_blocks([audio], log_mel, time_reduction)))


def feature_blocks(
    sound: Iterable[NDArray[np.float32]], log_mel: LogMel, time_reduction: int
) -> Iterator[torch.Tensor]:
    """Yield the features of a clip, (frames, mels) each, as its sound arrives; joined they are `clip_features`.

    Every block is heard with what the windows of its frames reach over, so the features are those of the whole clip.
    With ``clip_frames`` what lies behind them is not kept; with ``dynamic_range_db`` alone the whole clip is kept,
    because every frame depends on the loudest one.

    Args:
        sound: the clip's samples in pieces of any size, (samples,) each.
        log_mel: the features.
        time_reduction: feature frames per output frame.

    Example:
        >>> from earmark.config import FeatureConfig
        >>> minute = np.zeros(60 * 16000, np.float32)
        >>> [len(block) for block in feature_blocks([minute, minute], LogMel(FeatureConfig()), time_reduction=2)]
        [1500, 1500, 1500, 1500]
    """
    config = log_mel.config
    if config.clip_frames is not None:
        yield _fixed(sound, log_mel, config.clip_frames)
        return
    hop, unit = config.hop_samples, config.hop_samples * time_reduction
    context = -(-config.window_samples // hop) * hop  # at least what a window reaches over, in whole hops
    block = max(1, round(BLOCK_SECONDS * config.sample_rate / unit)) * unit
    waiting, n_before = np.zeros(0, np.float32), 0  # the sound not yet done, behind so much that is heard again
    for samples in sound:
        waiting = np.concatenate([waiting, samples])
        while config.dynamic_range_db is None and len(waiting) > n_before + block + context:
            end = n_before + block
            yield _frames(waiting[: end + context], log_mel, n_before, end)
            waiting, n_before = waiting[end - context :] if end >= context else waiting, min(end, context)
    n_left = -(-(len(waiting) - n_before) // unit) * unit
    waiting = np.pad(waiting, (0, n_before + n_left - len(waiting)))
    yield _frames(waiting, log_mel, n_before, n_before + n_left)


def length_remark(seconds: float, config: Config) -> str:
    """Return what is odd about a clip of this length: shorter than an output frame, or longer than what is used of it.

    Example:
        >>> length_remark(0.0002, Config()), length_remark(10.0, Config())
        ('lasts only 0.0002 s', '')
    """
    settings = config.features
    if seconds * settings.sample_rate < settings.hop_samples * config.model.time_reduction:
        return f"lasts only {seconds:.2g} s"
    # What does not even fill a window more is no loss.
    used = 0 if settings.clip_frames is None else settings.clip_frames * settings.hop_samples
    if used == 0 or seconds * settings.sample_rate <= used + settings.window_samples:
        return ""
    return f"only the first {used / settings.sample_rate:.2f} of {seconds:.2f} s are used, as features.clip_frames says"


def _frames(samples: NDArray[np.float32], log_mel: LogMel, begin: int, end: int) -> torch.Tensor:
    """The frames of the samples from `begin` to `end`, both whole hops; what lies around them is only heard."""
    hop = log_mel.config.hop_samples
    with torch.no_grad():
        features: torch.Tensor = log_mel(torch.from_numpy(samples)[None])[0]
    # Centred framing has one frame more, behind the last whole output frame. A copy, so that the rest is freed.
    return features[begin // hop : end // hop].clone()


def _fixed(sound: Iterable[NDArray[np.float32]], log_mel: LogMel, n_frames: int) -> torch.Tensor:
    """The first `n_frames` frames, filled up with silence."""
    config = log_mel.config
    fitted = np.zeros((n_frames - (1 if config.framing == "centred" else 0)) * config.hop_samples, np.float32)
    n_filled = 0
    for samples in sound:  # to its end, though the rest is not used: what is wrong with it is worth a remark
        used = samples[: len(fitted) - n_filled]
        fitted[n_filled : n_filled + len(used)] = used
        n_filled += len(used)
    with torch.no_grad():
        features: torch.Tensor = log_mel(torch.from_numpy(fitted)[None])[0]
    return features
