"""What a continued network must not forget: where the labels are silent, it agrees with the model it came from."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from earmark.config import Config
from earmark.models.crnn import FrameOutput, Network
from earmark.training.batch import Batch
from earmark.training.supervised import batch_output


def kept_terms(old: Network, output: FrameOutput, batch: Batch, config: Config) -> dict[str, Tensor]:
    """Return the term ``kept`` of the loss: how far the network has gone from the model it continues.

    It counts for the old classes alone, and in a clip only for those of which its labels say nothing: neither their
    tags nor, in the frame, their events are known. Without it, what the network knows of them fades while it learns
    others from the same layers.

    Args:
        old: the model, on the same device, in evaluation mode.
        output: what the network says about the batch.
        batch: the clips, as the network heard them.
        config: of the run, with ``training.keep_weight``.

    Example:
        >>> old, new = Network(Config(), ["dog"]).eval(), Network(Config(), ["dog", "cat"])
        >>> known = torch.tensor([[False, True]])     # nobody listened for dogs
        >>> batch = Batch(torch.zeros(1, 50, 64), None, torch.ones(1, 2), known, ("a.wav",))
        >>> list(kept_terms(old, batch_output(new, batch, Config()), batch, Config()))
        ['kept']
    """
    if config.training.keep_weight == 0:
        return {}
    with torch.no_grad():
        before = batch_output(old, batch, config).logits
    n_old = before.shape[2]
    counts = (~batch.tags_known[:, None, :n_old]).expand(before.shape)
    if batch.mask is not None:
        counts = counts & batch.mask[:, :, None]
    if batch.frame_known is not None:
        counts = counts & ~batch.frame_known[:, :, :n_old]
    return {"kept": config.training.keep_weight * divergence(output.logits[:, :, :n_old], before, counts)}


def divergence(logits: Tensor, before: Tensor, counts: Tensor) -> Tensor:
    r"""Return the mean Kullback-Leibler divergence of frame probabilities from what they were, a scalar.

    .. math:: \text{mean}\Big[\, q \log \frac{q}{y} + (1 - q) \log \frac{1 - q}{1 - y} \,\Big], \quad
        q = \sigma(z_{\text{before}}),\ y = \sigma(z)

    Args:
        logits: z, (batch, frames, classes).
        before: those of the model, of the same shape.
        counts: bool of the same shape. Where it is true nowhere the divergence is 0.

    Example:
        >>> now, before = torch.tensor([[[0.0], [5.0]]]), torch.tensor([[[0.0], [-5.0]]])
        >>> divergence(now, before, torch.tensor([[[True], [False]]])).item()     # they agree where it counts
        0.0
        >>> certain = torch.tensor([[[100.0]]])
        >>> round(divergence(torch.zeros(1, 1, 1), certain, certain > 0).item(), 4)     # 1 log (1 / 0.5)
        0.6931
    """
    # Padding may hold anything, and what does not count must not reach a gradient.
    now, was = torch.where(counts, logits, 0.0), torch.where(counts, before, 0.0)
    q = torch.sigmoid(was)
    terms = q * (functional.logsigmoid(was) - functional.logsigmoid(now))
    terms = terms + (1 - q) * (functional.logsigmoid(-was) - functional.logsigmoid(-now))
    return torch.where(counts, terms, 0.0).sum() / counts.sum().clamp(min=1)
