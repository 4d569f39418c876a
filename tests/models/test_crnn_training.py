"""What only shows while a network learns: dropout, statistics, and which weights a gradient reaches."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from oracles.training_cases import changed, lively_network, pooling_config
from torch import Tensor

from earmark.models.crnn import Network


def features(rng: np.random.Generator) -> Tensor:
    """Eight clips of twenty output frames."""
    return torch.from_numpy(rng.normal(-7, 2, size=(8, 40, 16))).float()


# --- laws: dropout ---


def test_dropout_behind_the_recurrent_layers_is_the_rnn_dropout(rng: np.random.Generator) -> None:
    network = lively_network(changed(model={"rnn_dropout": 0.75})).train()
    batch = features(rng)
    hidden = network(batch).hidden
    dropped = (hidden == 0).float().mean().item()
    assert dropped == pytest.approx(0.75, abs=0.05)  # 1920 numbers: a deviation of 0.01
    # What is left is multiplied by 4; an extra draw before the recurrent layers would have changed it.
    whole = network.eval()(batch).hidden
    network.train()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.eval()
    kept = network(batch).hidden
    torch.testing.assert_close(kept[kept != 0], 4 * whole[kept != 0], atol=1e-5, rtol=1e-4)


def test_dropout_behind_the_convolutions_is_the_conv_dropout(rng: np.random.Generator) -> None:
    network = lively_network(changed(model={"conv_dropout": 0.5})).train()
    batch = features(rng)
    assert not torch.equal(network(batch).logits, network(batch).logits)
    assert (network(batch).hidden != 0).all()  # and none behind the recurrent layers
    for block in network.crnn.blocks:
        outputs: list[Tensor] = []
        handle = block.get_submodule("dropout").register_forward_hook(
            lambda module, given, made, to=outputs: to.append((given[0], made))
        )
        network(batch)
        handle.remove()
        ((given, made),) = outputs
        assert (made[given > 0] == 0).float().mean().item() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("model", [{}, {"conv_dropout": 0.5}, {"rnn_dropout": 0.5}], ids=str)
def test_nothing_is_drawn_where_dropout_is_0_or_in_evaluation(
    model: dict[str, float], rng: np.random.Generator
) -> None:
    network = lively_network(changed(model=model)).train(not model)
    batch = features(rng)
    assert torch.equal(network(batch).logits, network(batch).logits)


# --- laws: statistics ---


@pytest.mark.parametrize("momentum", [0.25, 1.0])
@pytest.mark.parametrize("masked", [False, True])
def test_the_momentum_of_the_statistics_is_the_configured_one(
    momentum: float, masked: bool, rng: np.random.Generator
) -> None:
    network = lively_network(changed(model={"batch_norm_momentum": momentum})).train()
    mask = torch.ones(8, 20, dtype=torch.bool) if masked else None
    # The first block normalises what its convolution makes of the normalised features.
    batch = features(rng)
    norm = network.crnn.get_submodule("blocks.0.norm")
    assert isinstance(norm, torch.nn.BatchNorm2d)
    assert norm.running_mean is not None
    before = norm.running_mean.clone()
    with torch.no_grad():
        made = network.crnn.get_submodule("blocks.0.conv")(((batch - network.mean) / network.deviation)[:, None])
        network(batch, mask)
    expected = (1 - momentum) * before + momentum * made.mean(dim=(0, 2, 3))
    torch.testing.assert_close(norm.running_mean, expected, atol=1e-5, rtol=1e-4)


# --- laws: gradients ---


@pytest.mark.parametrize("axis", ["time", "class"])
def test_the_head_of_attention_trains_the_whole_body(axis: str, rng: np.random.Generator) -> None:
    network = lively_network(pooling_config({"name": "attention", "axis": axis})).train()
    output = network(features(rng))
    # Through the weights of the frames alone.
    network.pool(output.logits.detach(), output.mask, output.hidden).square().sum().backward()
    _assert_trained(network, without="crnn.linear")


def test_the_logits_train_the_whole_body(rng: np.random.Generator) -> None:
    network = lively_network().train()
    output = network(features(rng))
    network.pool(output.logits).square().sum().backward()
    _assert_trained(network, without="nothing")


def _assert_trained(network: Network, *, without: str) -> None:
    """Every weight of the network has a gradient, but for one module."""
    for name, parameter in network.named_parameters():
        if not name.startswith(without):
            assert parameter.grad is not None, name
            assert (parameter.grad != 0).any(), name
