"""Hierarchical pooling: frames to segments to longer segments to the clip, with the same function at every stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from earmark import checks
from earmark.pooling.base import Pool


class Hierarchical(Pool):
    r"""Pools in stages, each over groups of neighbours, with any pooling function inside and no parameter more.

    ``groups=(5, 5, 4)`` pools 100 frames into 20 segments, those into 4, and those into the clip. A clip of another
    length has more or fewer segments, and the last stage pools however many there are. With equal groups it changes
    nothing for average and max pooling. For attention a segment's head score is the weighted mean of its frames' ones,
    which is what the head would say about the weighted mean of their features.

    Args:
        inner: the pooling function of every stage.
        groups: how many neighbours each stage pools; the last number is nominal.

    Example:
        >>> from earmark.pooling import create
        >>> pool = create("hierarchical", n_classes=1, inner="linear", groups=(2, 2))
        >>> clip = torch.logit(torch.tensor([[[0.2], [0.6], [0.0001], [0.0001]]]))
        >>> round(pool(clip).item(), 3)     # segments 0.5 and 0.0001, then (0.25 + 0) / (0.5 + 0)
        0.5

    Reference:
        He et al., "Hierarchical pooling structure for weakly labeled sound event detection", 2019.
    """

    name: ClassVar[str] = "hierarchical"

    def __init__(self, inner: Pool, *, groups: Sequence[int]) -> None:
        if not isinstance(inner, Pool):
            raise ValueError(
                f"inner must be a pooling function, got {inner!r} - by its name: pooling.create('hierarchical', ...)"
            )
        super().__init__(inner.n_classes)
        if isinstance(inner, Hierarchical):
            raise ValueError("inner must be a plain pooling function, got 'hierarchical' - add to groups instead")
        if not isinstance(groups, Sequence) or len(groups) < 2:
            raise ValueError(f"groups must name at least two stages, for instance (5, 5, 4), got {groups!r}")
        self.inner = inner
        self.parameter_name = inner.parameter_name
        self.groups = tuple(int(checks.number("groups", size, at_least=1, whole=True)) for size in groups)

    def head(self, features: Tensor | None) -> Tensor | None:
        """Return what the inner function's head says."""
        return self.inner.head(features)

    def pool_logs(
        self, log_y: Tensor, log_not_y: Tensor, mask: Tensor | None, head_scores: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Pool stage by stage; shapes as in `Pool.log_probs`."""
        for size in self.groups[:-1]:
            stage = _Stage(log_y, log_not_y, mask, head_scores, size)
            log_y, log_not_y, mask, head_scores, _ = stage.pooled(self.inner)
        return self.inner.pool_logs(log_y, log_not_y, mask, head_scores)

    def masked_scores(
        self, log_y: Tensor, log_not_y: Tensor, mask: Tensor | None, head_scores: Tensor | None
    ) -> Tensor:
        """Return the logarithm of each frame's weight: the sum of its stages' ones, (batch, frames, classes)."""
        n_frames = log_y.shape[1]
        total = torch.zeros_like(log_y)
        span = 1  # frames under one item of the current stage
        for size in self.groups[:-1]:
            stage = _Stage(log_y, log_not_y, mask, head_scores, size)
            log_y, log_not_y, mask, head_scores, log_p = stage.pooled(self.inner)
            total = total + log_p.repeat_interleave(span, dim=1)[:, :n_frames]
            span *= size
        log_p = functional.log_softmax(self.inner.masked_scores(log_y, log_not_y, mask, head_scores), dim=1)
        return total + log_p.repeat_interleave(span, dim=1)[:, :n_frames]

    def sign_threshold(self, clip_probs: Tensor) -> Tensor:
        """Return NaN: the sign depends on the frame's segments too, so no single threshold exists."""
        return super().sign_threshold(clip_probs)

    def penalty(self) -> Tensor:
        """Return the inner function's regulariser."""
        return self.inner.penalty()

    def project_(self) -> None:
        """Bring the inner function's parameters back into their range."""
        self.inner.project_()

    def parameter_values(self) -> Tensor | None:
        """Return the inner function's parameter of each class."""
        return self.inner.parameter_values()


class _Stage:
    """One stage: items of (batch, items, classes) cut into groups of `size`, the last one padded and masked."""

    def __init__(
        self, log_y: Tensor, log_not_y: Tensor, mask: Tensor | None, head_scores: Tensor | None, size: int
    ) -> None:
        self.size = size
        self.batch, n_items, self.n_classes = log_y.shape
        self.n_groups = -(-n_items // size)
        missing = self.n_groups * size - n_items
        if mask is None and missing:
            mask = torch.ones(self.batch, n_items, dtype=torch.bool, device=log_y.device)
        self.log_y, self.log_not_y = self._grouped(log_y, missing), self._grouped(log_not_y, missing)
        self.head_scores = None if head_scores is None else self._grouped(head_scores, missing)
        self.mask = None
        if mask is not None:
            self.mask = functional.pad(mask, (0, missing)).reshape(self.batch * self.n_groups, size)

    def _grouped(self, items: Tensor, missing: int) -> Tensor:
        """(batch, items, classes) -> (batch * groups, size, classes)."""
        padded = functional.pad(items, (0, 0, 0, missing))
        return padded.reshape(self.batch * self.n_groups, self.size, self.n_classes)

    def pooled(self, inner: Pool) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None, Tensor]:
        """log y, log (1 - y), mask and head scores of the groups, and log p of the items inside their group."""
        shape = (self.batch, self.n_groups, self.n_classes)
        log_y, log_not_y = inner.pool_logs(self.log_y, self.log_not_y, self.mask, self.head_scores)
        log_p = functional.log_softmax(
            inner.masked_scores(self.log_y, self.log_not_y, self.mask, self.head_scores), dim=1
        )
        mask = None if self.mask is None else self.mask.any(dim=1).reshape(self.batch, self.n_groups)
        if mask is not None:
            # The next stage masks these groups, but only after arithmetic that must stay finite.
            log_y = torch.where(mask.reshape(-1, 1), log_y, 0.0)
        head_scores = None if self.head_scores is None else (log_p.exp() * self.head_scores).sum(dim=1).reshape(shape)
        log_p = log_p.reshape(self.batch, self.n_groups * self.size, self.n_classes)
        return log_y.reshape(shape), log_not_y.reshape(shape), mask, head_scores, log_p
