"""Training from tags alone: what one batch costs."""

from __future__ import annotations

from torch import Tensor

from earmark.config import Config
from earmark.models.crnn import Network
from earmark.training.batch import Batch
from earmark.training.long_clips import frame_output
from earmark.training.losses import clamped_tag_loss, tag_loss


def weak_loss_terms(network: Network, batch: Batch, config: Config) -> dict[str, Tensor]:
    """Return the terms of the loss of one batch, by name; their sum is what training minimises.

    ``tags`` is the cross-entropy of the clips' probabilities against their tags; ``penalty`` the pooling function's own
    regulariser.

    Example:
        >>> import torch
        >>> network, yes = Network(Config(), ["dog"]), torch.ones(1, 1, dtype=torch.bool)
        >>> _ = network.crnn.linear.weight.data.zero_()     # untrained: it says 0.5 of everything
        >>> batch = Batch(torch.zeros(1, 50, 64), None, torch.ones(1, 1), yes, ("a.wav",))     # 1 s with a dog
        >>> terms = weak_loss_terms(network, batch, Config())
        >>> {name: round(term.item(), 4) for name, term in terms.items()}     # -log 0.5
        {'tags': 0.6931, 'penalty': 0.0}
    """
    log_y, log_not_y = clip_log_probs(network, batch, config)
    if config.training.loss == "log":
        tags = tag_loss(log_y, log_not_y, batch.tags, batch.tags_known)
    else:
        tags = clamped_tag_loss(log_y, batch.tags, batch.tags_known)
    return {"tags": tags, "penalty": network.pool.penalty().to(tags.device)}


def clip_log_probs(network: Network, batch: Batch, config: Config) -> tuple[Tensor, Tensor]:
    """Return log y^c and log (1 - y^c) of every clip of a batch, each (batch, classes).

    Example:
        >>> import torch
        >>> network, yes = Network(Config(), ["dog"]), torch.ones(1, 1, dtype=torch.bool)
        >>> _ = network.crnn.linear.weight.data.zero_()     # untrained: it says 0.5 of everything
        >>> batch = Batch(torch.zeros(1, 50, 64), None, torch.ones(1, 1), yes, ("a.wav",))     # 1 s with a dog
        >>> log_y, log_not_y = clip_log_probs(network, batch, Config())
        >>> round(log_y.exp().item(), 4), round(log_not_y.exp().item(), 4)
        (0.5, 0.5)
    """
    piece_frames, context_frames = piece_and_context_frames(config)
    output = frame_output(network, batch.features, batch.mask, piece_frames=piece_frames, context_frames=context_frames)
    return network.pool.log_probs(output.logits, output.mask, output.hidden)


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
