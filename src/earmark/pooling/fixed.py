"""Pooling functions without a parameter: average, linear softmax, exponential softmax."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from earmark.pooling.base import Pool


class Average(Pool):
    r"""Every frame counts alike: the clip is as much of a class as its mean frame.

    .. math:: y^c = \frac{1}{T} \sum_i y_i, \qquad s_i = 0

    Example:
        >>> clip = torch.logit(torch.tensor([[[0.2], [0.6]]]))
        >>> round(Average(1)(clip).item(), 4)     # (0.2 + 0.6) / 2
        0.4
    """

    name: ClassVar[str] = "average"

    def frame_scores(self, log_y: Tensor, head_scores: Tensor | None) -> Tensor:
        """Return zeros."""
        return torch.zeros_like(log_y)


class LinearSoftmax(Pool):
    r"""A frame counts in proportion to its own probability; power pooling with n fixed at 1.

    .. math:: y^c = \frac{\sum_i y_i^2}{\sum_i y_i}, \qquad s_i = \log y_i

    Example:
        >>> clip = torch.logit(torch.tensor([[[0.2], [0.6]]]))
        >>> round(LinearSoftmax(1)(clip).item(), 4)     # (0.04 + 0.36) / (0.2 + 0.6)
        0.5
    """

    name: ClassVar[str] = "linear"

    def frame_scores(self, log_y: Tensor, head_scores: Tensor | None) -> Tensor:
        """Return log y_i."""
        return log_y

    def sign_threshold(self, clip_probs: Tensor) -> Tensor:
        """Return y^c / 2."""
        self.check_clip_probs(clip_probs)
        return clip_probs / 2


class ExponentialSoftmax(Pool):
    r"""A frame counts by the exponential of its probability; the weights differ by a factor of e at most.

    .. math:: y^c = \frac{\sum_i y_i e^{y_i}}{\sum_i e^{y_i}}, \qquad s_i = y_i

    Example:
        >>> clip = torch.logit(torch.tensor([[[0.2], [0.6]]]))
        >>> round(ExponentialSoftmax(1)(clip).item(), 4)     # 0.2 + 0.4 / (1 + exp(-0.4))
        0.4395
    """

    name: ClassVar[str] = "exponential"

    def frame_scores(self, log_y: Tensor, head_scores: Tensor | None) -> Tensor:
        """Return y_i."""
        return log_y.exp()
