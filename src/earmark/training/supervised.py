"""What one batch costs, by what is known of its clips: tags, moments, or both."""

from __future__ import annotations

import torch
from torch import Tensor

from earmark.config import Config
from earmark.models.crnn import FrameOutput, Network
from earmark.training.batch import Batch
from earmark.training.long_clips import frame_output
from earmark.training.losses import clamped_tag_loss, frame_loss, tag_loss


def label_terms(
    network: Network, output: FrameOutput, log_probs: tuple[Tensor, Tensor], batch: Batch, config: Config
) -> dict[str, Tensor]:
    """Return the terms of the loss that the labels of one batch tell, by name.

    ``tags`` is the cross-entropy of the clips' probabilities against their tags; ``frames``, where the run has strong
    labels, that of the frames against theirs; ``penalty`` the pooling function's own regulariser.

    Args:
        network: whose pooling function it is.
        output: what it says about the frames of the batch.
        log_probs: log y^c and log (1 - y^c), what it says about the clips.
        batch: the clips.
        config: which loss, and how much frames count.

    Example:
        >>> network, yes = Network(Config(), ["dog"]), torch.ones(1, 1, dtype=torch.bool)
        >>> batch = Batch(torch.zeros(1, 50, 64), None, torch.ones(1, 1), yes, ("a.wav",))     # 1 s with a dog
        >>> output, log_probs = batch_output(network, batch, Config()), clip_log_probs(network, batch, Config())
        >>> list(label_terms(network, output, log_probs, batch, Config()))
        ['tags', 'penalty']
    """
    log_y, log_not_y = log_probs
    known = batch.tags_known if config.training.tags_of_strong else batch.tags_known & ~_has_all_moments(batch)
    if config.training.loss == "log":
        terms = {"tags": tag_loss(log_y, log_not_y, batch.tags, known)}
    else:
        terms = {"tags": clamped_tag_loss(log_y, batch.tags, known)}
    if batch.frame_tags is not None and batch.frame_known is not None:
        frames = frame_loss(output.logits, batch.frame_tags, batch.frame_known)
        terms["frames"] = config.training.frame_weight * frames
    return {**terms, "penalty": network.pool.penalty().to(log_y.device)}


def batch_output(network: Network, batch: Batch, config: Config) -> FrameOutput:
    """Return what the network says about every frame of a batch, long clips in pieces.

    Example:
        >>> network, yes = Network(Config(), ["dog"]), torch.ones(1, 1, dtype=torch.bool)
        >>> batch = Batch(torch.zeros(1, 50, 64), None, torch.ones(1, 1), yes, ("a.wav",))     # 1 s
        >>> batch_output(network, batch, Config()).logits.shape     # output frames of 40 ms
        torch.Size([1, 25, 1])
    """
    piece_frames, context_frames = piece_and_context_frames(config)
    return frame_output(network, batch.features, batch.mask, piece_frames=piece_frames, context_frames=context_frames)


def clip_log_probs(network: Network, batch: Batch, config: Config) -> tuple[Tensor, Tensor]:
    """Return log y^c and log (1 - y^c) of every clip of a batch, each (batch, classes).

    Example:
        >>> network, yes = Network(Config(), ["dog"]), torch.ones(1, 1, dtype=torch.bool)
        >>> _ = network.crnn.linear.weight.data.zero_()     # untrained: it says 0.5 of everything
        >>> batch = Batch(torch.zeros(1, 50, 64), None, torch.ones(1, 1), yes, ("a.wav",))     # 1 s with a dog
        >>> log_y, log_not_y = clip_log_probs(network, batch, Config())
        >>> round(log_y.exp().item(), 4), round(log_not_y.exp().item(), 4)
        (0.5, 0.5)
    """
    output = batch_output(network, batch, config)
    return network.pool.log_probs(output.logits, output.mask, output.hidden)


def _has_all_moments(batch: Batch) -> Tensor:
    """Whether every real frame of a clip is known, bool (batch, classes)."""
    if batch.frame_known is None:
        return torch.zeros_like(batch.tags_known)
    is_padding = torch.zeros_like(batch.frame_known) if batch.mask is None else ~batch.mask[:, :, None]
    return (batch.frame_known | is_padding).all(dim=1)


def piece_and_context_frames(config: Config) -> tuple[int, int]:
    """Return the feature frames of a piece of a long clip and of its context, multiples of the time reduction.

    Example:
        >>> piece_and_context_frames(Config())     # 60 s and 2 s of 50 feature frames each
        (3000, 100)
    """
    reduction = config.model.time_reduction
    output_frames_per_second = config.features.timeline.frames_per_second / reduction
    # A clip as long as a piece still passes whole, so a piece is never longer than a batch may be.
    seconds = min(config.training.piece_seconds, config.training.batch_seconds)
    piece = max(1, round(seconds * output_frames_per_second)) * reduction
    return piece, round(config.training.context_seconds * output_frames_per_second) * reduction
