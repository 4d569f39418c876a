"""What training minimises. Every loss sees only what is known."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

_CLAMP = 1e-7


def tag_loss(log_y: Tensor, log_not_y: Tensor, tags: Tensor, known: Tensor) -> Tensor:
    r"""Return the mean binary cross-entropy of clip probabilities over what is known, a scalar.

    .. math:: -\text{mean}\,[\,Y \log y^c + (1 - Y) \log (1 - y^c)\,]

    It takes the logarithms as pooling gives them, so nothing is clamped and no gradient is lost.

    Args:
        log_y: log y^c, (batch, classes).
        log_not_y: log (1 - y^c), (batch, classes).
        tags: Y, 0 to 1, (batch, classes).
        known: bool (batch, classes). With nothing known the loss is 0.

    Example:
        >>> half = torch.log(torch.tensor([[0.5, 0.9]]))
        >>> loss = tag_loss(half, half, torch.tensor([[1.0, 0.0]]), torch.tensor([[True, False]]))
        >>> round(loss.item(), 4)     # only the first class is known: -log 0.5
        0.6931
    """
    tags = torch.where(known, tags, 0.0)  # whatever stands where nothing is known must not reach a gradient
    # Where a factor is 0 the product is 0, even against the -inf of a certain "no".
    positive = torch.where(tags > 0, tags * log_y, 0.0)
    negative = torch.where(tags < 1, (1 - tags) * log_not_y, 0.0)
    terms = torch.where(known, positive + negative, 0.0)
    return 0.0 - terms.sum() / known.sum().clamp(min=1)  # not -0.0 when nothing is known


def clamped_tag_loss(log_y: Tensor, tags: Tensor, known: Tensor) -> Tensor:
    """Return the same cross-entropy from y^c clamped to [1e-7, 1 - 1e-7], as the five-pooling code computes it.

    Outside the clamp its gradient is zero; it is here for comparison.

    Example:
        >>> loss = clamped_tag_loss(torch.tensor([[-100.0]]), torch.tensor([[1.0]]), torch.tensor([[True]]))
        >>> round(loss.item(), 2)     # -log 1e-7 instead of 100
        16.12
    """
    clip_probs = log_y.exp().clamp(_CLAMP, 1 - _CLAMP)
    return tag_loss(clip_probs.log(), (1 - clip_probs).log(), tags, known)


def frame_loss(logits: Tensor, frame_tags: Tensor, frame_known: Tensor) -> Tensor:
    r"""Return the mean binary cross-entropy of frame probabilities over what is known, a scalar.

    .. math:: -\text{mean}\,[\,Y_t \log y_t + (1 - Y_t) \log (1 - y_t)\,], \quad y_t = \sigma(z_t)

    Args:
        logits: z, (batch, output frames, classes).
        frame_tags: Y, 0 to 1, of the same shape.
        frame_known: bool of the same shape. With nothing known the loss is 0.

    Raises:
        ValueError: the shapes differ: the labels are those of feature frames, for instance.

    Example:
        >>> known = torch.tensor([[[True], [True], [False]]])
        >>> loss = frame_loss(torch.zeros(1, 3, 1), torch.tensor([[[1.0], [0.0], [1.0]]]), known)
        >>> round(loss.item(), 4)     # -log 0.5 for both frames that are known
        0.6931
    """
    if not logits.shape == frame_tags.shape == frame_known.shape:
        raise ValueError(
            f"frame_tags and frame_known must have the shape of the logits, {tuple(logits.shape)}, got"
            f" {tuple(frame_tags.shape)} and {tuple(frame_known.shape)} - are they of feature frames?"
        )
    z = torch.where(frame_known, logits, 0.0)  # whatever stands elsewhere: neither it nor its label gets a gradient
    terms = frame_tags * functional.logsigmoid(z) + (1 - frame_tags) * functional.logsigmoid(-z)
    return 0.0 - torch.where(frame_known, terms, 0.0).sum() / frame_known.sum().clamp(min=1)
