"""The network once more, for clips of different length and without any mask: every clip passes alone.

Only where training ties the clips of a batch together, in the statistics of batch normalisation, their frames are
joined: end to end, without padding. Weights are read from the network under test, nothing else of it is used.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from earmark.models.crnn import Network


def logits(network: Network, clips: Sequence[Tensor], *, train: bool) -> list[Tensor]:
    """Logits of each clip, (frames, mels) -> (output frames, classes); with the batch's own statistics in training."""
    config = network.config.model
    weights = dict(network.named_parameters()) | dict(network.named_buffers())
    images = [((clip - weights["mean"]) / weights["deviation"])[None] for clip in clips]  # (channels, frames, mels)
    for number in range(len(config.channels)):
        at = f"crnn.blocks.{number}"
        bias = weights.get(f"{at}.conv.bias")
        images = [_convolved(image, weights[f"{at}.conv.weight"], bias) for image in images]
        if train:
            joined = torch.cat([image.flatten(1) for image in images], dim=1)  # (channels, all real points)
            mean, variance = joined.mean(dim=1), joined.var(dim=1, unbiased=False)
        else:
            mean, variance = weights[f"{at}.norm.running_mean"], weights[f"{at}.norm.running_var"]
        scale = weights[f"{at}.norm.weight"] / torch.sqrt(variance + config.batch_norm_eps)
        shift = weights[f"{at}.norm.bias"] - mean * scale
        images = [image * scale[:, None, None] + shift[:, None, None] for image in images]
        images = [_activated(image, config.activation, weights, at) for image in images]
        images = [_pooled(image, config.pool, config.pool_time[number], config.pool_mel[number]) for image in images]
    sequences = [image.permute(1, 0, 2).flatten(1) for image in images]  # (frames, channels * mels)
    for layer in range(config.rnn_layers):
        sequences = [
            torch.cat(
                [
                    _gru(sequence, weights, f"l{layer}"),
                    _gru(sequence.flip(0), weights, f"l{layer}_reverse").flip(0),
                ],
                dim=1,
            )
            for sequence in sequences
        ]
    return [sequence @ weights["crnn.linear.weight"].T + weights["crnn.linear.bias"] for sequence in sequences]


def _convolved(image: Tensor, kernel: Tensor, bias: Tensor | None) -> Tensor:
    """A convolution as a sum over the kernel's places, with zeros around the clip: (channels, frames, mels)."""
    size = kernel.shape[2]
    half = size // 2
    n_frames, n_mels = image.shape[1:]
    padded = image.new_zeros(image.shape[0], n_frames + 2 * half, n_mels + 2 * half)
    padded[:, half : half + n_frames, half : half + n_mels] = image
    out = image.new_zeros(kernel.shape[0], n_frames, n_mels)
    for i in range(size):
        for j in range(size):
            out = out + torch.einsum("oc,cfm->ofm", kernel[:, :, i, j], padded[:, i : i + n_frames, j : j + n_mels])
    return out if bias is None else out + bias[:, None, None]


def _activated(image: Tensor, name: str, weights: dict[str, Tensor], at: str) -> Tensor:
    """relu(x), linear(x) * sigmoid(x) or x * sigmoid(linear(x)), linear mixing the channels of a point."""
    if name == "relu":
        return image * (image > 0)
    linear = torch.einsum("oc,cfm->ofm", weights[f"{at}.gate.weight"], image)
    linear = linear + weights[f"{at}.gate.bias"][:, None, None]
    return linear / (1 + torch.exp(-image)) if name == "glu" else image / (1 + torch.exp(-linear))


def _pooled(image: Tensor, pool: str, time: int, mel: int) -> Tensor:
    """The maximum or mean of every tile; what does not fill a tile is left out."""
    n_channels, n_frames, n_mels = image.shape
    tiles = image[:, : n_frames // time * time, : n_mels // mel * mel]
    tiles = tiles.reshape(n_channels, n_frames // time, time, n_mels // mel, mel)
    return tiles.amax(dim=(2, 4)) if pool == "max" else tiles.mean(dim=(2, 4))


def _gru(sequence: Tensor, weights: dict[str, Tensor], direction: str) -> Tensor:
    """One direction of one layer, from a state of zeros, frame by frame."""
    name = "crnn.recurrent.gru."
    w_in, w_state = weights[f"{name}weight_ih_{direction}"], weights[f"{name}weight_hh_{direction}"]
    b_in, b_state = weights[f"{name}bias_ih_{direction}"], weights[f"{name}bias_hh_{direction}"]
    state = sequence.new_zeros(w_state.shape[1])
    states = []
    for frame in sequence:
        reset_in, update_in, new_in = (w_in @ frame + b_in).chunk(3)
        reset_state, update_state, new_state = (w_state @ state + b_state).chunk(3)
        reset = torch.sigmoid(reset_in + reset_state)
        update = torch.sigmoid(update_in + update_state)
        proposed = torch.tanh(new_in + reset * new_state)
        state = (1 - update) * proposed + update * state
        states.append(state)
    return torch.stack(states)
