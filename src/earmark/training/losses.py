"""What training minimises. Every loss sees only what is known."""

from __future__ import annotations

import torch
from torch import Tensor

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
    # Where a factor is 0 the product is 0, even against the -inf of a certain "no".
    positive = torch.where(tags > 0, tags * log_y, 0.0)
    negative = torch.where(tags < 1, (1 - tags) * log_not_y, 0.0)
    terms = torch.where(known, positive + negative, 0.0)
    return -terms.sum() / known.sum().clamp(min=1)


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
