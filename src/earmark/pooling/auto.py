"""Auto-pooling and its two restrained forms: the weights' sharpness is learned, on probabilities."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor, nn

from earmark import checks
from earmark.pooling.base import Pool, one_or_each


class Auto(Pool):
    r"""Softmax weighting with a learned sharpness per class, from average (0) towards max (infinity).

    .. math:: y^c = \frac{\sum_i y_i e^{\alpha y_i}}{\sum_i e^{\alpha y_i}}, \qquad s_i = \alpha y_i

    Args:
        n_classes: number of classes.
        initial: alpha before training.
        shared: one alpha for all classes instead of one each.

    Example:
        >>> clip = torch.logit(torch.tensor([[[0.2], [0.6]]]))
        >>> round(Auto(1, initial=5.0)(clip).item(), 4)     # 0.2 + 0.4 / (1 + exp(-2))
        0.5523

    Reference:
        McFee, Salamon, Bello, "Adaptive pooling operators for weakly labeled sound event detection", 2018.
    """

    name: ClassVar[str] = "auto"
    parameter_name = "alpha"

    def __init__(self, n_classes: int, *, initial: float = 1.0, shared: bool = False) -> None:
        super().__init__(n_classes)
        checks.number("initial", initial)
        self.alpha = nn.Parameter(torch.full((one_or_each(shared, self.n_classes),), float(initial)))

    def frame_scores(self, log_y: Tensor, head_scores: Tensor | None) -> Tensor:
        """Return alpha y_i."""
        return self.alpha.to(log_y.dtype) * log_y.exp()

    def sign_threshold(self, clip_probs: Tensor) -> Tensor:
        """Return y^c - 1 / alpha, an additive margin; NaN where that is no probability, so the sign never changes.

        For alpha below 0 the gradient is positive below it, not above.
        """
        self.check_clip_probs(clip_probs)
        threshold = clip_probs - 1 / self.alpha.detach()
        return torch.where((threshold > 0) & (threshold < 1), threshold, torch.nan)

    def parameter_values(self) -> Tensor:
        """Return alpha per class, (classes,)."""
        return self.alpha.detach().expand(self.n_classes).clone()


class ConstrainedAuto(Auto):
    r"""Auto-pooling (CAP) in which no single frame may ever take more than half of the weight.

    .. math:: |\alpha| \le \ln(T - 1)

    Args:
        n_classes: number of classes.
        n_frames: T, the frames of a clip of nominal length.
        initial: alpha before training.
        shared: one alpha for all classes instead of one each.

    Example:
        >>> pool = ConstrainedAuto(1, n_frames=100, initial=9.0)
        >>> round(pool.alpha.item(), 3)     # ln 99
        4.595
    """

    name: ClassVar[str] = "cap"

    def __init__(self, n_classes: int, *, n_frames: int, initial: float = 1.0, shared: bool = False) -> None:
        super().__init__(n_classes, initial=initial, shared=shared)
        checks.number("n_frames", n_frames, at_least=3, whole=True, hint="CAP allows |alpha| <= ln(n_frames - 1)")
        self.max_alpha = math.log(n_frames - 1)
        self.project_()

    def project_(self) -> None:
        """Clamp alpha to [-ln(T - 1), ln(T - 1)]."""
        with torch.no_grad():
            self.alpha.clamp_(-self.max_alpha, self.max_alpha)


class RegularisedAuto(Auto):
    r"""Auto-pooling (RAP) whose sharpness costs something: the loss grows by the penalty times its square.

    .. math:: \mathcal{L} = \mathrm{BCE} + \lambda \sum_c \alpha_c^2

    Args:
        n_classes: number of classes.
        penalty: lambda.
        initial: alpha before training.
        shared: one alpha for all classes instead of one each.

    Example:
        >>> round(RegularisedAuto(2, penalty=0.01, initial=3.0).penalty().item(), 4)     # 0.01 (9 + 9)
        0.18
    """

    name: ClassVar[str] = "rap"

    def __init__(self, n_classes: int, *, penalty: float, initial: float = 1.0, shared: bool = False) -> None:
        super().__init__(n_classes, initial=initial, shared=shared)
        self.penalty_weight = checks.number("penalty", penalty, at_least=0)

    def penalty(self) -> Tensor:
        """Return lambda times the sum of alpha squared over the classes."""
        return self.penalty_weight * self.alpha.expand(self.n_classes).square().sum()
