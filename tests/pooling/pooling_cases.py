"""Every pooling function in small, so that each law is tried on each of them and on every one written later.

The list is `pooling.names()`. A function without options of its own needs nothing here; a new option needs its value
in OPTION_VALUES, and a function whose options change what it does may list its forms in FORMS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from earmark import pooling
from earmark.pooling import Pool

N_CLASSES = 3
N_FEATURES = 5

# 2.5 rather than the default of 1, at which power pooling could not be told from linear softmax.
OPTION_VALUES: dict[str, Any] = {"n_features": N_FEATURES, "n_frames": 30, "penalty": 0.01, "initial": 2.5}
FORMS: dict[str, tuple[dict[str, Any], ...]] = {
    "attention": ({"axis": "time"}, {"axis": "class"}),
    "power": ({"constraint": "project"}, {"constraint": "softplus"}),
}


@dataclass(frozen=True)
class Case:
    """One pooling function with its options."""

    name: str
    options: Mapping[str, Any]

    def __str__(self) -> str:
        """The name in the list of tests, for instance ``hierarchical-attention-class``."""
        words = [self.options.get(key) for key in ("inner", "axis", "constraint")]
        return "-".join([self.name, *(word for word in words if word is not None)])

    @property
    def has_head(self) -> bool:
        """Whether the weights come from the features and not from the probabilities."""
        return "n_features" in self.options

    def pool(self, **changed: Any) -> Pool:
        """A fresh one, always with the same random head."""
        pool = pooling.create(self.name, n_classes=N_CLASSES, **{**self.options, **changed})
        if self.has_head:
            head_rng = np.random.default_rng(7)
            with torch.no_grad():
                for parameter in pool.parameters():
                    parameter.copy_(torch.from_numpy(head_rng.normal(size=parameter.shape)))
        return pool


@dataclass(frozen=True)
class Clips:
    """A batch of clips of different length."""

    logits: Tensor  # (batch, frames, classes)
    mask: Tensor  # (batch, frames)
    features: Tensor  # (batch, frames, dims)

    def arguments(self) -> tuple[Tensor, Tensor, Tensor]:
        """In the order in which every pooling function takes them."""
        return self.logits, self.mask, self.features


def plain_cases() -> list[Case]:
    """Every function but the hierarchical one."""
    cases = []
    for name in pooling.names():
        if name != "hierarchical":
            needed = {key: OPTION_VALUES[key] for key in pooling.takes(name) if key in OPTION_VALUES}
            cases += [Case(name, {**needed, **form}) for form in FORMS.get(name, ({},))]
    return cases


def hierarchical_cases() -> list[Case]:
    """The hierarchical one around every other; eleven frames leave its last groups incomplete."""
    return [Case("hierarchical", {**case.options, "inner": case.name, "groups": (3, 2, 2)}) for case in plain_cases()]


def random_clips(
    rng: np.random.Generator, *, lengths: tuple[int, ...] = (11, 7, 3, 1), dtype: torch.dtype = torch.float32
) -> Clips:
    """Clips of the given lengths, padded with random numbers."""
    n_frames = max(lengths)
    logits = torch.from_numpy(rng.normal(0, 2, size=(len(lengths), n_frames, N_CLASSES))).to(dtype)
    features = torch.from_numpy(rng.normal(size=(len(lengths), n_frames, N_FEATURES))).to(dtype)
    mask = torch.arange(n_frames) < torch.tensor(lengths)[:, None]
    return Clips(logits, mask, features)


def gradients(pool: Pool, clips: Clips) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Gradients of a loss that uses both results: to the logits, the features and the pooling function's parameters."""
    logits = clips.logits.detach().clone().requires_grad_()
    features = clips.features.detach().clone().requires_grad_()
    pool.zero_grad()
    log_y, log_not_y = pool.log_probs(logits, clips.mask, features)
    has_frames = clips.mask.any(dim=1)
    # Different weights for each clip, class and result, so that no two errors cancel.
    weights = torch.arange(1, log_y.numel() + 1, dtype=log_y.dtype).reshape(log_y.shape).sqrt()
    (log_y[has_frames] * weights[has_frames]).sum().add((log_not_y * weights.flip(1) * 0.7).sum()).backward()
    return _grad(logits), _grad(features), [_grad(parameter) for parameter in pool.parameters()]


def _grad(tensor: Tensor) -> Tensor:
    """The gradient, zeros where there is none."""
    return torch.zeros_like(tensor) if tensor.grad is None else tensor.grad.clone()
