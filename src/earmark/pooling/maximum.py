"""Max pooling: the clip is its single best frame."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from earmark.pooling.base import Pool


class Max(Pool):
    r"""The most probable frame alone speaks for the clip, and alone receives its gradient.

    .. math:: y^c = \max_i y_i

    Of several frames that are equally probable the first is taken.

    Example:
        >>> clip = torch.logit(torch.tensor([[[0.2], [0.6]]]))
        >>> round(Max(1)(clip).item(), 4)
        0.6
    """

    name: ClassVar[str] = "max"

    def masked_scores(
        self, log_y: Tensor, log_not_y: Tensor, mask: Tensor | None, head_scores: Tensor | None
    ) -> Tensor:
        """Return 0 at the best real frame of each class and -inf elsewhere, (batch, frames, classes)."""
        # The logit, not log y: above 100 or so log y is 0, and different frames look equal.
        logits = (log_y - log_not_y).detach()
        if mask is not None:
            logits = logits.masked_fill(~mask[:, :, None], -torch.inf)
        best = logits.argmax(dim=1, keepdim=True)  # (batch, 1, classes)
        return torch.full_like(logits, -torch.inf).scatter(1, best, 0.0)
