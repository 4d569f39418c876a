"""The pieces of the network: whatever stands in the padding, the real frames never notice."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from earmark.models.blocks import ConvBlock, MaskedBatchNorm, Recurrent

LENGTHS = (7, 3, 10)  # frames of the clips in a batch


def images(rng: np.random.Generator, *, n_channels: int = 3, n_mels: int = 4) -> list[Tensor]:
    """Clips of different length, (channels, frames, mels)."""
    return [torch.from_numpy(rng.normal(size=(n_channels, length, n_mels))).float() for length in LENGTHS]


def padded(clips: list[Tensor], *, filling: float) -> tuple[Tensor, Tensor]:
    """The clips as one batch (batch, channels, frames, mels) with its mask (batch, frames)."""
    longest = max(clip.shape[1] for clip in clips)
    batch = torch.full((len(clips), clips[0].shape[0], longest, clips[0].shape[2]), filling)
    for row, clip in enumerate(clips):
        batch[row, :, : clip.shape[1]] = clip
    mask = torch.arange(longest) < torch.tensor([clip.shape[1] for clip in clips])[:, None]
    return batch, mask


def conv_block(activation: str = "relu", *, pool: str = "max", bias: bool = False, time: int = 1) -> ConvBlock:
    """A small block with statistics and weights that are not the initial ones."""
    torch.manual_seed(3)
    block = ConvBlock(
        3, 5, kernel_size=3, pool_size=(time, 2), pool=pool, activation=activation, bias=bias, eps=1e-3, momentum=0.1,
        dropout=0.0,
    )  # fmt: skip
    with torch.no_grad():
        for values in (block.norm.weight, block.norm.bias, block.norm.running_mean):
            assert values is not None
            values.uniform_(-1, 1)
    return block


# --- laws: batch normalisation ---


@pytest.mark.parametrize("filling", [0.0, 1e6, float("nan")])
@pytest.mark.parametrize(("momentum", "eps"), [(0.1, 1e-5), (0.7, 1e-5), (1.0, 0.5)])
def test_statistics_are_those_of_the_real_frames(
    filling: float, momentum: float, eps: float, rng: np.random.Generator
) -> None:
    clips = images(rng)
    batch, mask = padded(clips, filling=filling)
    masked, plain = (kind(3, momentum=momentum, eps=eps) for kind in (MaskedBatchNorm, nn.BatchNorm2d))
    with torch.no_grad():
        for norm in (masked, plain):
            norm.weight.copy_(torch.tensor([0.5, 1.0, -2.0]))
            norm.bias.copy_(torch.tensor([0.0, 3.0, -1.0]))
    found = masked(batch, mask)
    expected = plain(torch.cat(clips, dim=1)[None])[0]  # one long clip of all the real frames
    for row, part in enumerate(expected.split(LENGTHS, dim=1)):
        torch.testing.assert_close(found[row, :, : LENGTHS[row]], part)
        assert (found[row, :, LENGTHS[row] :] == 0).all()
    for name in ("running_mean", "running_var", "num_batches_tracked"):
        torch.testing.assert_close(getattr(masked, name), getattr(plain, name))


@pytest.mark.parametrize("n_mels", [1, 4])
def test_one_real_frame_is_enough(n_mels: int, rng: np.random.Generator) -> None:
    batch = torch.full((2, 3, 50, n_mels), torch.nan)
    batch[1, :, 0] = torch.from_numpy(rng.normal(size=(3, n_mels))).float()
    mask = torch.zeros(2, 50, dtype=torch.bool)
    mask[1, 0] = True
    masked = MaskedBatchNorm(3)
    found = masked(batch.requires_grad_(), mask)
    found.square().sum().backward()
    assert batch.grad is not None
    assert batch.grad.isfinite().all()
    assert (found[0] == 0).all()
    assert (found[1, :, 1:] == 0).all()
    if n_mels == 1:  # torch refuses this one: a single number is its own mean and has no variance
        torch.testing.assert_close(found[1, :, 0, 0], torch.zeros(3))
        torch.testing.assert_close(masked.running_var, torch.full((3,), 0.9))
        return
    plain = nn.BatchNorm2d(3)
    torch.testing.assert_close(found[1:, :, :1], plain(batch[1:, :, :1].detach()))
    torch.testing.assert_close(masked.running_mean, plain.running_mean)
    torch.testing.assert_close(masked.running_var, plain.running_var)


def test_without_padding_it_is_plain_batch_normalisation(rng: np.random.Generator) -> None:
    batch = torch.from_numpy(rng.normal(size=(2, 3, 8, 4))).float()
    everything = torch.ones(2, 8, dtype=torch.bool)
    torch.testing.assert_close(MaskedBatchNorm(3)(batch, None), nn.BatchNorm2d(3)(batch))
    torch.testing.assert_close(MaskedBatchNorm(3)(batch, everything), nn.BatchNorm2d(3)(batch))


def test_in_evaluation_the_stored_statistics_count(rng: np.random.Generator) -> None:
    clips = images(rng)
    batch, mask = padded(clips, filling=float("nan"))
    norm = MaskedBatchNorm(3)
    norm(torch.from_numpy(rng.normal(2.0, 3.0, size=(4, 3, 9, 4))).float())
    norm.eval()
    before = {name: value.clone() for name, value in norm.state_dict().items()}
    found = norm(batch, mask)
    for row, clip in enumerate(clips):
        torch.testing.assert_close(found[row, :, : LENGTHS[row]], norm(clip[None])[0])
    torch.testing.assert_close(norm.state_dict(), before)


def test_no_gradient_reaches_the_padding_through_the_statistics(rng: np.random.Generator) -> None:
    batch, mask = padded(images(rng), filling=float("nan"))
    batch.requires_grad_()
    norm = MaskedBatchNorm(3)
    norm(batch, mask).square().sum().backward()
    assert batch.grad is not None
    is_real = mask[:, None, :, None].expand_as(batch)
    assert (batch.grad[~is_real] == 0).all()
    assert torch.isfinite(batch.grad).all()


# --- laws: convolution block ---


@pytest.mark.parametrize("activation", ["relu", "glu", "context_gating"])
@pytest.mark.parametrize("pool", ["max", "average"])
def test_a_clip_in_a_batch_is_the_clip_alone(activation: str, pool: str, rng: np.random.Generator) -> None:
    block = conv_block(activation, pool=pool, bias=True).eval()
    clips = images(rng)
    batch, mask = padded(clips, filling=0.0)  # as the network has already put zeros there
    found = block(batch, mask)
    for row, clip in enumerate(clips):
        torch.testing.assert_close(found[row, :, : LENGTHS[row]], block(clip[None], None)[0], atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("activation", ["relu", "glu", "context_gating"])
def test_the_next_convolution_sees_zeros_beyond_the_end(activation: str, rng: np.random.Generator) -> None:
    # Its bias, the shift of its normalisation and a gate would all put something else there.
    block = conv_block(activation, bias=True)
    batch, mask = padded(images(rng), filling=0.0)
    for found in (block(batch, mask), block.eval()(batch, mask)):
        for row, length in enumerate(LENGTHS):
            assert (found[row, :, length:] == 0).all()
            assert (found[row, :, :length] != 0).any()


# --- laws: recurrent layers ---


@pytest.mark.parametrize("n_layers", [1, 2])
def test_both_directions_begin_at_the_clips_own_ends(n_layers: int, rng: np.random.Generator) -> None:
    torch.manual_seed(1)
    recurrent = Recurrent(4, n_units=3, n_layers=n_layers)
    clips = [torch.from_numpy(rng.normal(size=(length, 4))).float() for length in LENGTHS]
    batch = nn.utils.rnn.pad_sequence(clips, batch_first=True, padding_value=1e3)
    mask = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    found = recurrent(batch, mask)
    assert found.shape == (3, 10, 6)
    for row, clip in enumerate(clips):
        torch.testing.assert_close(found[row, : LENGTHS[row]], recurrent(clip[None], None)[0])


@pytest.mark.parametrize("n_layers", [1, 2])
def test_turned_clips_are_packed_clips(n_layers: int, rng: np.random.Generator) -> None:
    torch.manual_seed(1)
    recurrent = Recurrent(4, n_units=3, n_layers=n_layers)
    lengths = torch.tensor(LENGTHS)
    is_real = torch.arange(12) < lengths[:, None]
    gradients = []
    for way in (recurrent.turned, recurrent.packed):
        batch = torch.from_numpy(np.random.default_rng(5).normal(size=(3, 12, 4))).float().requires_grad_()
        out = way(batch, lengths)[is_real]
        out.square().sum().backward()
        assert batch.grad is not None
        weights = [weight.grad for weight in recurrent.gru.parameters() if weight.grad is not None]
        assert len(weights) == 8 * n_layers  # two matrices and two biases per direction
        gradients.append([out, batch.grad, *weights])
        recurrent.zero_grad(set_to_none=True)
    for turned, packed in zip(*gradients, strict=True):
        torch.testing.assert_close(turned, packed)


def test_a_clip_without_a_frame_costs_the_others_nothing(rng: np.random.Generator) -> None:
    recurrent = Recurrent(4, n_units=3, n_layers=1)
    batch = torch.from_numpy(rng.normal(size=(2, 5, 4))).float()
    mask = torch.tensor([[False] * 5, [True] * 5])
    torch.testing.assert_close(recurrent(batch, mask)[1], recurrent(batch[1:], None)[0])
    torch.testing.assert_close(recurrent.packed(batch, mask.sum(dim=1))[1], recurrent(batch[1:], None)[0])


def test_padding_must_be_at_the_end() -> None:
    with pytest.raises(ValueError, match="mask must be true for the first frames of a clip and false behind them"):
        Recurrent(4, n_units=3, n_layers=1)(torch.zeros(1, 3, 4), torch.tensor([[False, True, True]]))


def test_the_length_of_a_batch_is_kept_even_when_no_clip_fills_it(rng: np.random.Generator) -> None:
    batch = torch.from_numpy(rng.normal(size=(2, 9, 4))).float()
    mask = torch.arange(9) < torch.tensor([[5], [7]])
    assert Recurrent(4, n_units=3, n_layers=1)(batch, mask).shape == (2, 9, 6)


# --- worked numbers ---


@pytest.mark.parametrize(
    ("activation", "expected"),
    [
        ("relu", 2.0),
        ("glu", (3 * 2 + 1) / (1 + np.exp(-2.0))),  # linear(x) * sigmoid(x)
        ("context_gating", 2 / (1 + np.exp(-7.0))),  # x * sigmoid(linear(x))
    ],
)
def test_activations(activation: str, expected: float) -> None:
    block = ConvBlock(
        1, 1, kernel_size=1, pool_size=(1, 1), pool="max", activation=activation, bias=False, eps=1e-5, momentum=0.1,
        dropout=0.0,
    ).eval()  # fmt: skip
    with torch.no_grad():
        block.conv.weight.fill_(2.0 * (1 + 1e-5) ** 0.5)  # variance 1 + eps divides it again
        if block.gate is not None:
            assert isinstance(block.gate, nn.Linear)
            block.gate.weight.fill_(3.0)
            block.gate.bias.fill_(1.0)
    assert block(torch.ones(1, 1, 1, 1), None).item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("pool", "expected"), [("max", 4.0), ("average", 2.5)])
def test_pooling_over_time_and_mel(pool: str, expected: float) -> None:
    block = ConvBlock(
        1, 1, kernel_size=1, pool_size=(2, 2), pool=pool, activation="relu", bias=False, eps=1e-5, momentum=0.1,
        dropout=0.0,
    ).eval()  # fmt: skip
    with torch.no_grad():
        block.conv.weight.fill_((1 + 1e-5) ** 0.5)
    tile = torch.tensor([[1.0, 2.0], [3.0, 4.0]])[None, None]
    assert block(tile, None).item() == pytest.approx(expected)


def test_dropout_is_drawn_anew_in_training_and_off_in_evaluation() -> None:
    block, without = conv_block(), conv_block()
    block.dropout.p = 0.5
    x = torch.ones(4, 3, 50, 8)
    assert not torch.equal(block(x, None), block(x, None))
    block.load_state_dict(without.state_dict())
    torch.testing.assert_close(block.eval()(x, None), without.eval()(x, None))
