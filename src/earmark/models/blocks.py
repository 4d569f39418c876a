"""The pieces of the network. What they add to torch: padding never counts, neither in a sum nor in a statistic."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class ConvBlock(nn.Module):
    """Convolution, batch normalisation, activation, dropout, pooling over time and mel bands.

    Args:
        in_channels, out_channels, kernel_size: of the convolution, which keeps the size.
        pool_size: (time, mel).
        pool: ``"max"`` or ``"average"``.
        activation: ``"relu"``, ``"glu"`` (linear(x) * sigmoid(x)) or ``"context_gating"`` (x * sigmoid(linear(x))).
        bias: whether the convolution has a bias, which the normalisation removes again.
        eps, momentum: of the batch normalisation.
        dropout: after the activation.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        kernel_size: int,
        pool_size: tuple[int, int],
        pool: str,
        activation: str,
        bias: bool,
        eps: float,
        momentum: float,
        dropout: float,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, padding=kernel_size // 2, bias=bias)
        self.norm = MaskedBatchNorm(out_channels, eps=eps, momentum=momentum)
        self.gate = None if activation == "relu" else nn.Linear(out_channels, out_channels)
        self.activation = activation
        self.dropout = nn.Dropout(dropout)
        self.pool: nn.Module = nn.MaxPool2d(pool_size) if pool == "max" else nn.AvgPool2d(pool_size)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """(batch, channels, frames, mels) -> (batch, out_channels, frames / time, mels / mel)."""
        x = self.norm(self.conv(x), mask)
        x = self.dropout(self._activated(x))
        # The next convolution must see zeros beyond the end, as it would if this clip were alone in its batch.
        x = x if mask is None else torch.where(mask[:, None, :, None], x, 0.0)
        pooled: Tensor = self.pool(x)
        return pooled

    def _activated(self, x: Tensor) -> Tensor:
        """The activation; gates mix channels at every point of time and frequency."""
        if self.gate is None:
            return functional.relu(x)
        mixed = self.gate(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return mixed * torch.sigmoid(x) if self.activation == "glu" else x * torch.sigmoid(mixed)


class MaskedBatchNorm(nn.BatchNorm2d):
    """Batch normalisation whose statistics are those of the real frames alone."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(batch, channels, frames, mels) with mask (batch, frames) -> the same shape; padding becomes 0."""
        if mask is None:
            return super().forward(x)
        frames = x.permute(0, 2, 1, 3)[mask]  # (real frames, channels, mels)
        normalised = super().forward(frames[:, :, None, :])[:, :, 0, :]
        out = normalised.new_zeros(x.shape[0], x.shape[2], x.shape[1], x.shape[3])
        out[mask] = normalised
        return out.permute(0, 2, 1, 3)


class Recurrent(nn.Module):
    """Bidirectional GRU that starts, in both directions, at the clip's own ends."""

    def __init__(self, n_inputs: int, *, n_units: int, n_layers: int) -> None:
        super().__init__()
        self.gru = nn.GRU(n_inputs, n_units, n_layers, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """(batch, frames, inputs) -> (batch, frames, 2 * units)."""
        out: Tensor
        if mask is None:
            # A start state with the batch's own size: an exported graph would otherwise keep the example's size.
            start = x.new_zeros(2 * self.gru.num_layers, x.shape[0], self.gru.hidden_size)
            out, _ = self.gru(x, start)
            return out
        lengths = mask.sum(dim=1).cpu()
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=x.shape[1])
        return out
