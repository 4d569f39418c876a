"""The pieces of the network. What they add to torch: padding never counts, neither in a sum nor in a statistic."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

_GRU_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


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
        # The next convolution must see zeros beyond the end, as it would if this clip were alone in its batch. The
        # normalisation has put them there; only gates, which have a bias, make something else of them.
        if mask is not None and self.gate is not None:
            x = torch.where(mask[:, None, :, None], x, 0.0)
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
        is_real = mask[:, None, :, None]
        x = torch.where(is_real, x, 0.0)
        normalised = self._by_real_frames(x, mask) if self.training else super().forward(x)
        return torch.where(is_real, normalised, 0.0)

    def _by_real_frames(self, x: Tensor, mask: Tensor) -> Tensor:
        """Normalise with the statistics of the real frames; `x` is 0 in the padding.

        With the real frames' mean in the padding, the whole batch has that mean and n / N times the real frames'
        variance, where n of its N values per channel are real. So torch's own normalisation gives the wanted one when
        epsilon and the scale make up for n / N, without gathering the real frames, which takes far longer.
        """
        assert self.running_mean is not None, "statistics are always kept"
        assert self.running_var is not None
        assert self.num_batches_tracked is not None
        assert self.momentum is not None
        n_all = x.numel() // x.shape[1]
        n_real = max(1, int(mask.sum()) * x.shape[3])
        share = n_real / n_all
        mean = x.sum(dim=(0, 2, 3), keepdim=True) / n_real
        x = torch.where(mask[:, None, :, None], x, mean)
        batch_mean, batch_variance = torch.zeros_like(self.running_mean), torch.zeros_like(self.running_var)
        normalised = functional.batch_norm(
            x, batch_mean, batch_variance, self.weight * share**0.5, self.bias, True, 1.0, self.eps * share
        )
        with torch.no_grad():
            self.num_batches_tracked += 1
            self.running_mean.lerp_(batch_mean, self.momentum)
            # Both unbiased: torch's divides by N - 1, ours by n - 1.
            self.running_var.lerp_(batch_variance * ((n_all - 1) / max(1, n_real - 1)), self.momentum)
        return normalised


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
        lengths = mask.sum(dim=1)
        if not torch.equal(mask, torch.arange(mask.shape[1], device=mask.device) < lengths[:, None]):
            raise ValueError("mask must be true for the first frames of a clip and false behind them - pad at the end")
        # cuDNN has a kernel for packed sequences; on a CPU they take four times as long as turned ones.
        return self.turned(x, lengths) if x.device.type == "cpu" else self.packed(x, lengths)

    def turned(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Run both directions forwards, the second over clips turned around inside their own `lengths`, (batch,)."""
        steps = torch.arange(x.shape[1], device=x.device)
        turn = torch.where(steps < lengths[:, None], lengths[:, None] - 1 - steps, steps)[:, :, None]
        start = x.new_zeros(1, x.shape[0], self.gru.hidden_size)
        for layer in range(self.gru.num_layers):
            directions = []
            for suffix in ("", "_reverse"):
                weights = [getattr(self.gru, f"{name}_l{layer}{suffix}") for name in _GRU_WEIGHTS]
                heard = torch.take_along_dim(x, turn, dim=1) if suffix else x
                out, _ = torch.gru(heard, start, weights, True, 1, 0.0, self.training, False, True)
                directions.append(torch.take_along_dim(out, turn, dim=1) if suffix else out)
            x = torch.cat(directions, dim=2)  # (batch, frames, 2 * units)
        return x

    def packed(self, x: Tensor, lengths: Tensor) -> Tensor:
        """Run torch's own GRU over packed sequences; the same numbers as `turned` in all real frames."""
        # A clip without a frame passes as one of a single frame, which pooling never looks at.
        packed = pack_padded_sequence(x, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False)
        out: Tensor
        out, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=x.shape[1])
        return out
