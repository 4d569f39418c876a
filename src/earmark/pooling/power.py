"""Power pooling: a frame counts by a learned power of its own probability."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from earmark import checks
from earmark.pooling.base import Pool, one_or_each


class Power(Pool):
    r"""Each class learns how much its loud frames outweigh its quiet ones, by an exponent n.

    .. math:: y^c = \frac{\sum_i y_i^{n+1}}{\sum_i y_i^n}, \qquad s_i = n \log y_i

    n = 0 is average pooling, n = 1 linear softmax, and a large n approaches max pooling. In a positive clip the frames
    above theta * y^c, theta = n / (n + 1), are pushed up and the others down: so n decides how long events become.

    Args:
        n_classes: number of classes.
        initial: n before training; 1 starts as linear softmax.
        penalty: lambda of the regulariser lambda * sum of n squared.
        constraint: how n stays at or above 0: ``"project"`` clamps it after every step, so that 0 is reachable;
            ``"softplus"`` trains log(exp(n) - 1) instead.
        shared: one n for all classes instead of one each.

    Example:
        >>> clip = torch.logit(torch.tensor([[[0.2], [0.6]]]))
        >>> pool = Power(1, initial=2.0)
        >>> round(pool(clip).item(), 4)     # (0.2^3 + 0.6^3) / (0.2^2 + 0.6^2) = 0.224 / 0.4
        0.56
        >>> round(pool.sign_threshold(pool(clip)).item(), 4)     # 2/3 of 0.56
        0.3733

    Reference:
        Liu, Chen, Wang, Zhang, "Power pooling: an adaptive pooling function for weakly labelled sound event
        detection", 2020.
    """

    name: ClassVar[str] = "power"
    parameter_name = "n"

    def __init__(
        self,
        n_classes: int,
        *,
        initial: float = 1.0,
        penalty: float = 0.0,
        constraint: str = "project",
        shared: bool = False,
    ) -> None:
        super().__init__(n_classes)
        self.constraint = checks.choice("constraint", constraint, ("project", "softplus"))
        self.penalty_weight = checks.number("penalty", penalty, at_least=0)
        checks.number("initial", initial, at_least=0, hint="n below 0 would favour the quietest frames")
        if constraint == "softplus":
            checks.number("initial", initial, above=0, hint="softplus never reaches 0, use constraint='project'")
            initial = initial + math.log(-math.expm1(-initial))  # the inverse of softplus, stable for large n
        self.raw = nn.Parameter(torch.full((one_or_each(shared, self.n_classes),), float(initial)))

    @property
    def n(self) -> Tensor:
        """The exponent of each class, (classes,), or (1,) when shared."""
        return functional.softplus(self.raw) if self.constraint == "softplus" else self.raw

    def frame_scores(self, log_y: Tensor, head_scores: Tensor | None) -> Tensor:
        """Return n log y_i."""
        return self.n.to(log_y.dtype) * log_y

    def sign_threshold(self, clip_probs: Tensor) -> Tensor:
        """Return theta * y^c with theta = n / (n + 1)."""
        self.check_clip_probs(clip_probs)
        n = self.n.detach()
        return n / (n + 1) * clip_probs

    def penalty(self) -> Tensor:
        """Return lambda times the sum of n squared over the classes."""
        return self.penalty_weight * self.n.expand(self.n_classes).square().sum()

    def project_(self) -> None:
        """Clamp n at 0 from below."""
        if self.constraint == "project":
            with torch.no_grad():
                self.raw.clamp_(min=0)

    def parameter_values(self) -> Tensor:
        """Return n per class, (classes,)."""
        return self.n.detach().expand(self.n_classes).clone()
