"""Clips of any length through the network with bounded memory, and no tag cut off from its sound."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from earmark.models.crnn import FrameOutput, Network


def frame_output(
    network: Network, features: Tensor, mask: Tensor | None, *, piece_frames: int, context_frames: int
) -> FrameOutput:
    """Return what the network says about every frame of clips of any length.

    Up to `piece_frames` this is ``network(features, mask)``. A longer clip (alone in its batch) passes in pieces, each
    with some context on both sides whose output is thrown away; then all its frames are pooled together, so its tag
    may come from anywhere in it. While training, a piece keeps only its input and is computed again on the way back:
    the memory is that of one piece, however long the clip.

    Args:
        network: the network.
        features: (batch, frames, mels).
        mask: bool (batch, output frames) or None.
        piece_frames: feature frames of a piece, a multiple of the time reduction.
        context_frames: feature frames heard on both sides, likewise.
    """
    n_frames = features.shape[1]
    if n_frames <= piece_frames:
        output: FrameOutput = network(features, mask)
        return output
    if mask is not None:
        raise ValueError(
            f"a clip longer than a piece ({n_frames} > {piece_frames} frames) must be alone in its batch, unmasked"
        )
    logits, hidden = [], []
    for begin in range(0, n_frames, piece_frames):
        end = min(begin + piece_frames, n_frames)
        heard_from, heard_to = max(0, begin - context_frames), min(end + context_frames, n_frames)
        piece = features[:, heard_from:heard_to]
        # The recomputation updates the running statistics of batch normalisation a second time with the same
        # numbers; for a long clip they move as if the momentum were 0.19 instead of 0.1.
        piece_logits, piece_hidden = _recomputed(network, piece) if torch.is_grad_enabled() else _direct(network, piece)
        reduction = network.crnn.time_reduction
        keep = slice((begin - heard_from) // reduction, (end - heard_from) // reduction)
        logits.append(piece_logits[:, keep])
        hidden.append(piece_hidden[:, keep])
    return FrameOutput(torch.cat(logits, dim=1), torch.cat(hidden, dim=1), None)


def _direct(network: Network, piece: Tensor) -> tuple[Tensor, Tensor]:
    """Logits and hidden states of a piece."""
    output: FrameOutput = network(piece)
    return output.logits, output.hidden


def _recomputed(network: Network, piece: Tensor) -> tuple[Tensor, Tensor]:
    """The same, but its inner values are computed again when the gradient needs them."""
    # The reentrant form, because the other one keeps what a GRU saves for its gradient: 50 MB a minute. It passes a
    # gradient on only if one of its inputs asks for one.
    piece = piece.detach().requires_grad_()
    result: tuple[Tensor, Tensor] = checkpoint(_direct, network, piece, use_reentrant=True)
    return result
