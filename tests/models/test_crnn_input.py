"""What the network refuses, and clips that hold nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from oracles.training_cases import SMALL, changed, lively_network, pooling_config
from torch import Tensor

from earmark.config import Config, ModelConfig, for_embeddings
from earmark.models.crnn import CRNN, Network

# The small network takes 16 mels and makes one output frame of two.
FEATURES = torch.zeros(2, 10, 16)
MASK = torch.ones(2, 5, dtype=torch.bool)

# --- laws ---


@pytest.mark.parametrize("filling", [0.0, float("nan")])
@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize(
    "pooling",
    [
        {"name": "power", "initial": 0.0},
        {"name": "max"},
        {"name": "attention"},
        {"name": "hierarchical", "inner": "power", "groups": (2, 2)},
    ],
    ids=lambda value: value["name"],
)
def test_a_clip_without_a_frame_is_0_and_teaches_nothing(
    pooling: dict[str, Any], train: bool, filling: float, rng: np.random.Generator
) -> None:
    network = lively_network(pooling_config(pooling)).train(train)
    features = torch.from_numpy(rng.normal(-7, 2, size=(2, 10, 16))).float()
    alone = network(features[1:])
    expected = network.pool(alone.logits, None, alone.hidden)
    features[0] = filling
    features.requires_grad_()
    mask = torch.tensor([[False] * 5, [True] * 5])
    output = network(features, mask)
    log_y, log_not_y = network.pool.log_probs(output.logits, output.mask, output.hidden)
    assert (log_y[0].exp() == 0).all()
    assert (log_not_y[0] == 0).all()
    torch.testing.assert_close(log_y[1:].exp(), expected)  # nor does the other clip notice
    (log_y[1].sum() + log_not_y.sum()).backward()
    assert features.grad is not None
    assert (features.grad[0] == 0).all()
    assert (features.grad[1] != 0).any()
    for name, parameter in network.named_parameters():
        assert parameter.grad is None or parameter.grad.isfinite().all(), name


def test_a_batch_without_any_frame_teaches_nothing() -> None:
    network = lively_network().train()
    output = network(FEATURES, torch.zeros_like(MASK))
    log_y, log_not_y = network.pool.log_probs(output.logits, output.mask, output.hidden)
    assert (log_y.exp() == 0).all()
    log_not_y.sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is None or (parameter.grad == 0).all(), name
    assert all(value.isfinite().all() for value in network.state_dict().values())


# --- wrong input ---


@pytest.mark.parametrize(
    ("features", "mask", "message"),
    [
        (torch.zeros(10, 16), None, r"features must have shape \(batch, frames, mels\), got \(10, 16\) - did you"),
        (torch.zeros(2, 10, 64), None, r"features must have 16 mels on the last axis, got shape \(2, 10, 64\)"),
        (FEATURES.transpose(1, 2), None, r"16 mels on the last .* \(2, 16, 10\) - are frames and mels swapped\?"),
        (torch.zeros(2, 10, 1), None, r"features must have 16 mels on the last axis, got shape \(2, 10, 1\)"),
        (torch.zeros(2, 11, 16), None, r"must have a multiple of 2 frames, the product of .*pool_time, got 11 - fill"),
        (torch.zeros(2, 0, 16), None, r"features must have a multiple of 2 frames, .* got 0"),
        (
            FEATURES,
            FEATURES[:, :, 0] == 0,
            r"\(2, 5\), got torch.bool \(2, 10\) - is it at the frame rate of the features",
        ),
        (FEATURES, MASK[:1], r"mask must be bool \(batch, output frames\) = \(2, 5\), got torch.bool \(1, 5\)"),
        (FEATURES, MASK.float(), r"mask must be bool \(batch, output frames\) = \(2, 5\), got torch.float32 \(2, 5\)"),
        (FEATURES, MASK.byte(), r"mask must be bool .* got torch.uint8 \(2, 5\)"),
    ],
)
def test_wrong_features_and_masks_are_refused(features: Tensor, mask: Tensor | None, message: str) -> None:
    network = lively_network()
    for call in (network.crnn, network):
        with pytest.raises(ValueError, match=message):
            call(features, mask)


@pytest.mark.parametrize(
    ("features", "mask", "message"),
    [
        (FEATURES.tolist(), None, "features must be a torch tensor, got list - use torch.as_tensor"),
        (FEATURES.numpy(), None, "features must be a torch tensor, got ndarray"),
        (None, None, "features must be a torch tensor, got NoneType"),
        (FEATURES, MASK.tolist(), "mask must be a torch tensor, got list"),
        (
            FEATURES.long(),
            None,
            r"features must be .* than the weights \(torch.float32\), got torch.int64 - convert them",
        ),
        (
            FEATURES.double(),
            None,
            r"features must be .* the weights \(torch.float32\), got torch.float64 - convert them",
        ),
    ],
)
def test_what_torch_would_refuse_deep_inside_is_refused_here(features: Any, mask: Any, message: str) -> None:
    network = lively_network()
    for call in (network.crnn, network):
        with pytest.raises(ValueError, match=message):
            call(features, mask)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ("cat", r"classes must be a list of names, got 'cat' - did you mean \['cat'\]\?"),
        (["cat", "cat"], r"classes must be different names, got 'cat' more than once"),
        (["cat", ""], r"classes must be names, got '' among them"),
        ([1, 2], r"classes must be names, got 1 among them"),
        ([], r"classes must name at least one class, got none"),
    ],
)
def test_wrong_classes_are_refused(classes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Network(SMALL, classes)


@pytest.mark.parametrize(("n_classes", "rule"), [(0, "at least 1"), (2.5, "a whole number"), (True, "a number")])
def test_wrong_numbers_of_classes_are_refused(n_classes: Any, rule: str) -> None:
    with pytest.raises(ValueError, match=f"n_classes must be {rule}, got {n_classes}"):
        CRNN(SMALL.model, n_mels=16, n_classes=n_classes)


def test_more_pooling_than_bands() -> None:
    model = changed(model={"pool_mel": (8, 16)}).model
    with pytest.raises(ValueError, match=r"must leave at least one band of features.n_mels = 64, got \(8, 16\) - pool"):
        CRNN(model, n_mels=64, n_classes=2)


def test_settings_that_do_not_belong_to_the_pooling_function() -> None:
    with pytest.raises(ValueError, match="pooling 'linear' takes no 'penalty'"):
        Network(pooling_config({"name": "linear", "penalty": 1e-4}), ["cat"])


def test_a_network_for_embeddings_does_not_see_padding_or_neighbours(rng: np.random.Generator) -> None:
    config = for_embeddings(Config(), frames_per_second=2.0, n_dims=5)
    network = Network(config, ["dog"]).eval()
    assert (network.crnn.time_reduction, len(network.crnn.blocks)) == (1, 0)
    assert network.mean.shape == (5,)
    clips = [torch.from_numpy(rng.normal(size=(1, n, 5))).float() for n in (9, 4)]
    batch = torch.full((2, 9, 5), torch.nan)
    for row, clip in enumerate(clips):
        batch[row, : clip.shape[1]] = clip[0]
    mask = torch.arange(9)[None] < torch.tensor([[9], [4]])
    together = network(batch, mask).logits
    for row, clip in enumerate(clips):
        torch.testing.assert_close(together[row, : clip.shape[1]], network(clip).logits[0])


def test_a_projection_behind_convolutions_too() -> None:
    crnn = CRNN(ModelConfig(projection_units=7), n_mels=64, n_classes=2)
    assert crnn.recurrent is not None
    assert crnn.recurrent.gru.input_size == 7
    assert crnn(torch.zeros(1, 4, 64)).logits.shape == (1, 2, 2)
