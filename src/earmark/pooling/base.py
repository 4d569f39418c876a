"""The one idea behind every pooling function.

Each frame i says how much of a class it holds, y_i, and how much it is to be believed, its score s_i. A clip's
probability is the average of its frames, weighted by the softmax of their scores over time:

    y^c = sum_i p_i y_i,    p = softmax_i(s)

A pooling function is its scores: zero (average), log y_i (linear softmax), n log y_i (power) and so on. Everything
here happens on logarithms, so that nothing overflows, underflows or divides by zero:

    log y^c       = logsumexp_i(log p_i + log y_i)
    log (1 - y^c) = logsumexp_i(log p_i + log (1 - y_i))        (exact, because the p_i sum to one)
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from earmark import checks

# e^-10000 is 0 in every precision, and its logarithm times any exponent is still a finite float32.
CERTAIN_LOGIT = 1e4


class Pool(nn.Module):
    """Base of all pooling functions: (batch, frames, classes) logits to (batch, classes) probabilities.

    A subclass gives `name` and `frame_scores`; masks, precision, padding and logarithms are handled here, once.

    Args:
        n_classes: size of the last axis.
    """

    name: ClassVar[str]
    # What the trainable parameter is called in tables and plots, "n" for power pooling; None when there is none.
    parameter_name: str | None = None

    def __init__(self, n_classes: int) -> None:
        super().__init__()
        self.n_classes = int(checks.number("n_classes", n_classes, at_least=1, whole=True))

    # -- what a subclass may say -------------------------------------------------------------------------------

    def frame_scores(self, log_y: Tensor, head_scores: Tensor | None) -> Tensor:
        """Return s_i of every frame, (batch, frames, classes), from log y_i and what `head` said about the frame."""
        raise NotImplementedError(f"{type(self).__name__} must define frame_scores")

    def head(self, features: Tensor | None) -> Tensor | None:
        """Return trained scores from frame features (batch, frames, dims); None for functions without a head."""
        return None

    def sign_threshold(self, clip_probs: Tensor) -> Tensor:
        """Return the frame probability at which dy^c/dy_i changes sign, positive above; NaN where it never does.

        Args:
            clip_probs: y^c, (batch, classes) or any shape that ends in classes.
        """
        self.check_clip_probs(clip_probs)
        return torch.full_like(clip_probs, torch.nan)

    def penalty(self) -> Tensor:
        """Return the regulariser that training adds to the loss, a scalar."""
        return torch.zeros(())

    def project_(self) -> None:
        """Bring the parameters back into their allowed range; called after every optimiser step."""

    def parameter_values(self) -> Tensor | None:
        """Return a copy of the trainable parameter of each class, (classes,); None when there is none."""
        return None

    # -- what a caller uses ------------------------------------------------------------------------------------

    def forward(self, logits: Tensor, mask: Tensor | None = None, features: Tensor | None = None) -> Tensor:
        """Return the clip probabilities y^c, (batch, classes), in float32 (float64 for float64 logits).

        Args:
            logits: frame logits z_i with y_i = sigmoid(z_i), (batch, frames, classes), any floating type.
            mask: bool (batch, frames), true where a frame is real; None when all are. Whatever stands in the rest,
                NaN too, reaches neither result nor gradient. A clip without a real frame gives 0 and no gradient.
            features: (batch, frames, dims), only for pooling functions with a head of their own (attention).
        """
        return self.log_probs(logits, mask, features)[0].exp()

    def log_probs(
        self, logits: Tensor, mask: Tensor | None = None, features: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return log y^c and log (1 - y^c), both (batch, classes): what the loss uses, without any clamp."""
        log_y, log_not_y, head_scores = self._frames(logits, mask, features)
        with torch.autocast(logits.device.type, enabled=False):
            return self.pool_logs(log_y, log_not_y, mask, head_scores)

    def scores(self, logits: Tensor, mask: Tensor | None = None, features: Tensor | None = None) -> Tensor:
        """Return the scores s_i, (batch, frames, classes); their softmax over time gives the weights p_i."""
        log_y, log_not_y, head_scores = self._frames(logits, mask, features)
        with torch.autocast(logits.device.type, enabled=False):
            return self.masked_scores(log_y, log_not_y, mask, head_scores)

    def check_clip_probs(self, clip_probs: Tensor) -> None:
        """Raise ValueError for what would broadcast into nonsense; the first line of every `sign_threshold`."""
        _check_tensor("clip_probs", clip_probs)
        if clip_probs.ndim == 0 or clip_probs.shape[-1] != self.n_classes:
            raise ValueError(
                f"clip_probs must have {self.n_classes} classes on the last axis, got shape {tuple(clip_probs.shape)}"
            )
        if not clip_probs.is_floating_point():
            raise ValueError(f"clip_probs must be floating point numbers, got {clip_probs.dtype}")

    # -- how it is done ----------------------------------------------------------------------------------------

    def pool_logs(
        self, log_y: Tensor, log_not_y: Tensor, mask: Tensor | None, head_scores: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Pool logarithms of frame (or segment) probabilities; shapes as in `log_probs`."""
        log_p = functional.log_softmax(self.masked_scores(log_y, log_not_y, mask, head_scores), dim=1)
        log_clip = torch.logsumexp(log_p + log_y, dim=1)  # (batch, frames, classes) -> (batch, classes)
        log_not_clip = torch.logsumexp(log_p + log_not_y, dim=1)
        return _zero_without_frames(_at_most_zero(log_clip), _at_most_zero(log_not_clip), mask)

    def masked_scores(
        self, log_y: Tensor, log_not_y: Tensor, mask: Tensor | None, head_scores: Tensor | None
    ) -> Tensor:
        """Return the scores with -inf in the padding, (batch, frames, classes)."""
        return _minus_inf_in_padding(self.frame_scores(log_y, head_scores), mask)

    def _frames(
        self, logits: Tensor, mask: Tensor | None, features: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """log y_i, log (1 - y_i) and head scores, at full precision and with harmless values in the padding."""
        _check(logits, mask, features, self.n_classes)
        z = logits if logits.dtype == torch.float64 else logits.float()
        if mask is not None:
            # Selected, not multiplied: 0 * NaN is NaN, forwards and backwards.
            z = torch.where(mask[:, :, None], z, 0.0)
            features = None if features is None else torch.where(mask[:, :, None], features, 0.0)
        # A certain frame, torch.logit(0) = -inf: n log y would be 0 * inf for n = 0, and so would its gradient.
        z = z.clamp(-CERTAIN_LOGIT, CERTAIN_LOGIT)
        with torch.autocast(logits.device.type, enabled=False):
            return functional.logsigmoid(z), functional.logsigmoid(-z), self.head(features)


def one_or_each(shared: bool, n_classes: int) -> int:
    """Return how many numbers a trainable parameter has: one for all classes, or one for each."""
    if not isinstance(shared, bool):
        raise ValueError(f"shared must be True or False, got {shared!r} - True: one parameter for all classes")
    return 1 if shared else n_classes


def _minus_inf_in_padding(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Scores whose softmax gives the padding no weight."""
    if mask is None:
        return scores
    # A clip without any real frame keeps its scores: a softmax over nothing but -inf would be NaN.
    padding = ~mask & mask.any(dim=1, keepdim=True)
    return scores.masked_fill(padding[:, :, None], -torch.inf)


def _at_most_zero(log_probs: Tensor) -> Tensor:
    """The logarithms of probabilities, which rounding may have lifted above 0 by a few 1e-7; same gradient."""
    return log_probs - log_probs.detach().clamp(min=0)


def _zero_without_frames(log_clip: Tensor, log_not_clip: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """A clip without a real frame is certain to hold nothing: y^c = 0, with no gradient."""
    if mask is None:
        return log_clip, log_not_clip
    has_frames = mask.any(dim=1)[:, None]
    return torch.where(has_frames, log_clip, -torch.inf), torch.where(has_frames, log_not_clip, 0.0)


def _check(logits: Tensor, mask: Tensor | None, features: Tensor | None, n_classes: int) -> None:
    """Refuse shapes that would broadcast into nonsense."""
    _check_tensor("logits", logits)
    for name, value in (("mask", mask), ("features", features)):
        if value is not None:
            _check_tensor(name, value)
    checks.shape("logits", logits.shape, "(batch, frames, classes)", hint="did you forget the batch axis?")
    if logits.shape[2] != n_classes:
        raise ValueError(
            f"logits must have {n_classes} classes on the last axis, got shape {tuple(logits.shape)}"
            " - are frames and classes swapped?"
        )
    if logits.shape[1] == 0:
        raise ValueError(f"logits must have at least one frame, got shape {tuple(logits.shape)}")
    if not logits.is_floating_point():
        raise ValueError(f"logits must be floating point numbers, got {logits.dtype}")
    if features is not None and (features.ndim != 3 or features.shape[:2] != logits.shape[:2]):
        raise ValueError(
            "features must have shape (batch, frames, dims), as many clips and frames as the logits"
            f" {tuple(logits.shape)}, got {tuple(features.shape)}"
        )
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise ValueError(f"mask must be bool (true = real frame), got {mask.dtype} - convert it with mask.bool()")
    if mask.shape != logits.shape[:2]:
        raise ValueError(f"mask must have shape (batch, frames) = {tuple(logits.shape[:2])}, got {tuple(mask.shape)}")


def _check_tensor(name: str, value: object) -> None:
    """Refuse lists and arrays, which have no gradient, and None."""
    if not isinstance(value, Tensor):
        raise ValueError(f"{name} must be a torch tensor, got {type(value).__name__} - convert it: torch.as_tensor()")
