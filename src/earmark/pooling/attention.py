"""Attention pooling: a second head learns which frames to believe."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from earmark import checks
from earmark.pooling.base import Pool


class Attention(Pool):
    r"""A trained linear head on the frame features decides how much each frame counts.

    .. math:: y^c = \sum_i a_i y_i, \qquad a = \mathrm{softmax}_i(V h_i + b)

    The weight of a frame is not tied to its probability, so a frame nobody attends to gets no gradient and may claim
    anything. With ``axis="class"`` the head's softmax runs over the classes instead, is clamped to [1e-7, 1] and then
    divided by its sum over time: the form of the DCASE 2019 baseline.

    Args:
        n_classes: number of classes.
        n_features: size of the frame features h_i.
        axis: what the head's softmax runs over, ``"time"`` or ``"class"``.

    Example:
        >>> pool = Attention(1, n_features=2)
        >>> with torch.no_grad():
        ...     _ = pool.linear.weight.copy_(torch.tensor([[1.0, 0.0]]))
        >>> clip = torch.logit(torch.tensor([[[0.2], [0.6]]]))
        >>> features = torch.tensor([[[0.0, 5.0], [1.0, 5.0]]])
        >>> round(pool(clip, features=features).item(), 4)     # (0.2 + 0.6 e) / (1 + e)
        0.4924
    """

    name: ClassVar[str] = "attention"

    def __init__(self, n_classes: int, *, n_features: int, axis: str = "time") -> None:
        super().__init__(n_classes)
        self.n_features = int(checks.number("n_features", n_features, at_least=1, whole=True))
        self.axis = checks.choice("axis", axis, ("time", "class"))
        self.linear = nn.Linear(self.n_features, self.n_classes)
        nn.init.xavier_uniform_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def head(self, features: Tensor | None) -> Tensor:
        """Return V h_i + b, (batch, frames, dims) -> (batch, frames, classes)."""
        if features is None:
            raise ValueError(
                f"features must have shape (batch, frames, {self.n_features}), got None"
                " - attention pooling looks at the frame features, pass them beside the logits"
            )
        if features.shape[2] != self.n_features:
            raise ValueError(
                f"features must have {self.n_features} dims on the last axis, got shape {tuple(features.shape)}"
            )
        scores: Tensor = self.linear(features.to(self.linear.weight.dtype))
        return scores

    def frame_scores(self, log_y: Tensor, head_scores: Tensor | None) -> Tensor:
        """Return the head's scores, for ``axis="class"`` as the logarithm of their clamped softmax over classes."""
        if head_scores is None:
            raise ValueError("head_scores must be given for attention pooling, got None")
        if self.axis == "time":
            return head_scores.to(log_y.dtype)
        # log(clamp(q, 1e-7, 1)); the softmax over time that follows divides by the sum over time.
        log_q = functional.log_softmax(head_scores.to(log_y.dtype), dim=2)
        return torch.clamp(log_q, min=math.log(1e-7))
