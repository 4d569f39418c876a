"""The network: log-mel in, one logit per frame and class out, and from those the clip's probability."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from earmark import checks, pooling
from earmark.config import Config, ModelConfig
from earmark.models.blocks import ConvBlock, Recurrent


class FrameOutput(NamedTuple):
    """What the network says about every frame."""

    logits: Tensor  # (batch, frames, classes)
    hidden: Tensor  # (batch, frames, dims): what attention pooling looks at
    mask: Tensor | None  # (batch, frames), true where a frame is real


class CRNN(nn.Module):
    """Convolution blocks, a bidirectional GRU (or none) and a linear layer.

    Args:
        config: sizes of everything.
        n_mels: bands of the input.
        n_classes: logits per frame.

    Example:
        >>> crnn = CRNN(ModelConfig(), n_mels=64, n_classes=10)
        >>> crnn(torch.zeros(2, 500, 64)).logits.shape     # 10 s in 20 ms frames -> 40 ms frames
        torch.Size([2, 250, 10])
    """

    def __init__(self, config: ModelConfig, *, n_mels: int, n_classes: int) -> None:
        super().__init__()
        checks.number("n_classes", n_classes, at_least=1, whole=True)
        self.n_mels, self.time_reduction, self.pool_time = n_mels, config.time_reduction, config.pool_time
        blocks = []
        n_channels, n_bands = 1, n_mels
        for channels, time, mel in zip(config.channels, config.pool_time, config.pool_mel, strict=True):
            blocks.append(
                ConvBlock(
                    n_channels,
                    channels,
                    kernel_size=config.kernel_size,
                    pool_size=(time, mel),
                    pool=config.pool,
                    activation=config.activation,
                    bias=config.conv_bias,
                    eps=config.batch_norm_eps,
                    momentum=config.batch_norm_momentum,
                    dropout=config.conv_dropout,
                )
            )
            n_channels, n_bands = channels, n_bands // mel
        if n_bands == 0:  # never without blocks: embeddings pass as they are
            raise ValueError(
                f"model.pool_mel must leave at least one band of features.n_mels = {n_mels},"
                f" got {config.pool_mel} - pool less, or use more bands"
            )
        self.blocks = nn.ModuleList(blocks)
        self.n_hidden = n_channels * n_bands
        self.projection: nn.Module | None = None
        if config.projection_units:  # None or 0: no such layer
            self.projection = nn.Sequential(nn.Linear(self.n_hidden, config.projection_units), nn.ReLU())
            self.n_hidden = config.projection_units
        self.recurrent: Recurrent | None = None
        if config.rnn_layers > 0:
            self.recurrent = Recurrent(self.n_hidden, n_units=config.rnn_units, n_layers=config.rnn_layers)
            self.n_hidden = 2 * config.rnn_units
        self.dropout = nn.Dropout(config.rnn_dropout)
        self.linear = nn.Linear(self.n_hidden, n_classes)
        _initialise(self, config.init)
        # Convolution weights with the channels innermost: a third faster on a CPU, and the same numbers.
        for block in blocks:
            block.conv.weight.data = block.conv.weight.data.contiguous(memory_format=torch.channels_last)

    def forward(self, features: Tensor, mask: Tensor | None = None) -> FrameOutput:
        """Return logits, hidden states and mask at the output's frame rate.

        Args:
            features: normalised log-mel, (batch, frames, mels); frames a multiple of the time reduction.
            mask: bool (batch, frames / time reduction), true where an output frame is real: an output frame is real
                or padding as a whole, because clips are filled up to whole output frames.
        """
        self.check(features, mask)
        x = features[:, None]  # (batch, 1, frames, mels)
        stretch = self.time_reduction  # frames of x under one output frame
        if mask is not None:
            x = torch.where(_stretched(mask, stretch)[:, None, :, None], x, 0.0)
        for block, time in zip(self.blocks, self.pool_time, strict=True):
            x = block(x, None if mask is None else _stretched(mask, stretch))
            stretch //= time
        x = x.permute(0, 2, 1, 3).flatten(2)  # (batch, channels, frames, mels) -> (batch, frames, channels * mels)
        if self.projection is not None:
            x = self.projection(x)
        hidden = self.dropout(x if self.recurrent is None else self.recurrent(x, mask))
        return FrameOutput(self.linear(hidden), hidden, mask)

    def check(self, features: Tensor, mask: Tensor | None) -> None:
        """Raise ValueError for shapes that torch would refuse somewhere deep inside, or not at all.

        Example:
            >>> CRNN(ModelConfig(), n_mels=64, n_classes=10).check(torch.zeros(2, 64, 500), None)
            Traceback (most recent call last):
            ...
            ValueError: features must have 64 mels on the last axis, got shape (2, 64, 500)
            - are frames and mels swapped?
        """
        for name, value in (("features", features), ("mask", mask)):
            if not isinstance(value, Tensor) and not (name == "mask" and value is None):
                raise ValueError(f"{name} must be a torch tensor, got {type(value).__name__} - use torch.as_tensor()")
        checks.shape("features", features.shape, "(batch, frames, mels)", hint="did you forget the batch axis?")
        n_clips, n_frames, n_mels = features.shape
        if n_mels != self.n_mels:
            raise ValueError(
                f"features must have {self.n_mels} mels on the last axis, got shape {tuple(features.shape)}"
                " - are frames and mels swapped?"
            )
        weights = self.linear.weight.dtype
        if not features.is_floating_point() or (features.dtype == torch.float64 and weights != torch.float64):
            raise ValueError(
                f"features must be floating point numbers no finer than the weights ({weights}), got {features.dtype}"
                " - convert them with features.float()"
            )
        if n_frames == 0 or n_frames % self.time_reduction:
            raise ValueError(
                f"features must have a multiple of {self.time_reduction} frames, the product of model.pool_time,"
                f" got {n_frames} - fill the audio up with silence"
            )
        if mask is not None and (mask.dtype != torch.bool or mask.shape != (n_clips, n_frames // self.time_reduction)):
            raise ValueError(
                f"mask must be bool (batch, output frames) = {(n_clips, n_frames // self.time_reduction)},"
                f" got {mask.dtype} {tuple(mask.shape)} - is it at the frame rate of the features?"
            )


class Network(nn.Module):
    """A CRNN with the statistics of its input in front and a pooling function behind: what a model file holds.

    Args:
        config: the run's configuration.
        classes: names of the classes, in the order of the logits.

    Example:
        >>> network = Network(Config(), ["cat", "dog"])
        >>> output = network(torch.zeros(1, 500, 64))
        >>> network.pool(output.logits, output.mask, output.hidden).shape
        torch.Size([1, 2])
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, config: Config, classes: tuple[str, ...] | list[str]) -> None:
        super().__init__()
        self.config, self.classes = config, checks.names("classes", classes)
        if not self.classes:
            raise ValueError("classes must name at least one class, got none")
        self.crnn = CRNN(config.model, n_mels=config.features.n_inputs, n_classes=len(classes))
        # Statistics of the training features, per mel band or dim. They live and travel with the weights.
        self.register_buffer("mean", torch.zeros(config.features.n_inputs))
        self.register_buffer("deviation", torch.ones(config.features.n_inputs))
        chosen = config.pooling
        needs_features = "n_features" in pooling.takes(chosen.inner if chosen.inner is not None else chosen.name)
        self.pool = pooling.create(
            **vars(chosen),  # the section [pooling] of a configuration: create's own arguments
            n_classes=len(classes),
            n_features=self.crnn.n_hidden if needs_features else None,
        )

    def forward(self, features: Tensor, mask: Tensor | None = None) -> FrameOutput:
        """Return frame logits from log-mel features as LogMel makes them, (batch, frames, mels)."""
        self.crnn.check(features, mask)  # before the statistics, whose bands a single one would be stretched to
        output: FrameOutput = self.crnn((features - self.mean) / self.deviation, mask)
        return output


def _stretched(mask: Tensor, factor: int) -> Tensor:
    """(batch, frames) -> (batch, frames * factor)."""
    return mask if factor == 1 else mask.repeat_interleave(factor, dim=1)


def _initialise(crnn: CRNN, scheme: str) -> None:
    """Weights before training: ``xavier`` as the 2017 network has them, ``baseline2019`` as the 2019 one."""
    for name, weight in () if crnn.recurrent is None else crnn.recurrent.named_parameters():
        if "weight" in name:
            nn.init.orthogonal_(weight)
        else:
            nn.init.zeros_(weight)
    for module in crnn.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.xavier_uniform_(module.weight, gain=1.0 if scheme == "xavier" else 2.0**0.5)
        elif isinstance(module, nn.Linear):
            if scheme == "xavier":
                nn.init.xavier_uniform_(module.weight)
            else:
                nn.init.normal_(module.weight, std=0.01)
        elif isinstance(module, nn.BatchNorm2d) and scheme == "baseline2019":
            nn.init.normal_(module.weight, mean=1.0, std=0.02)
        if isinstance(module, nn.Conv2d | nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
