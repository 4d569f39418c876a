"""What one batch costs, by what is known of its clips."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from oracles.training_cases import SMALL, changed, clips_in_memory, lively_network
from torch.nn import functional

from earmark.config import Config, FeatureConfig, ModelConfig, TrainingConfig
from earmark.config_file import read_config
from earmark.training.batch import Batch, collate
from earmark.training.supervised import clip_log_probs, piece_and_context_frames
from earmark.training.terms import loss_terms

TAGS = [[1, 0, 0], [0, 1, 1], [1, 1, 0]]
KNOWN = [[1, 1, 0], [1, 1, 1], [0, 1, 1]]


def batch(rng: np.random.Generator, lengths: tuple[int, ...] = (40, 100, 62)) -> Batch:
    """Three clips with their tags."""
    features = [rng.normal(-7.0, 1.5, (length, 16)) for length in lengths]
    clips, store = clips_in_memory(features, TAGS, known=KNOWN)
    return collate(clips, store, [0, 1, 2], time_reduction=2)


# --- laws ---


def test_clip_probabilities_are_those_of_every_clip_alone(rng: np.random.Generator) -> None:
    network, one = lively_network(), batch(rng)
    log_y, log_not_y = clip_log_probs(network, one, SMALL)
    torch.testing.assert_close(log_y.exp() + log_not_y.exp(), torch.ones(3, 3))
    for row, length in enumerate((40, 100, 62)):
        alone = network.pool(network(one.features[row : row + 1, :length]).logits)[0]
        torch.testing.assert_close(log_y[row].exp(), alone, atol=1e-5, rtol=0)


@pytest.mark.parametrize("loss", ["log", "clamped"])
def test_the_loss_is_the_cross_entropy_of_what_is_known(loss: str, rng: np.random.Generator) -> None:
    config = changed(training={"loss": loss})
    network, one = lively_network(config), batch(rng)
    terms = loss_terms(network, one, config)
    probs = clip_log_probs(network, one, config)[0].exp()
    expected = functional.binary_cross_entropy(probs[one.tags_known], one.tags[one.tags_known])
    torch.testing.assert_close(terms["tags"], expected, atol=1e-5, rtol=1e-5)
    assert terms["penalty"].item() == 0.0
    assert set(terms) == {"tags", "penalty"}


def test_the_two_losses_differ_where_the_clamp_begins(rng: np.random.Generator) -> None:
    network, one = lively_network(), batch(rng)
    with torch.no_grad():
        network.crnn.linear.bias.sub_(100.0)  # certain that nothing is there, and wrong
    log = loss_terms(network, one, SMALL)["tags"].item()
    clamped = loss_terms(network, one, changed(training={"loss": "clamped"}))["tags"].item()
    assert clamped < 16.2 < 40 < log


def test_unknown_tags_do_not_matter(rng: np.random.Generator) -> None:
    network, one = lively_network(), batch(rng)
    turned = dataclasses.replace(one, tags=torch.where(one.tags_known, one.tags, 1 - one.tags))
    torch.testing.assert_close(loss_terms(network, turned, SMALL), loss_terms(network, one, SMALL))


def test_the_penalty_is_that_of_the_pooling_function(rng: np.random.Generator) -> None:
    config = changed(pooling={"name": "power", "initial": 2.0, "penalty": 0.25})
    terms = loss_terms(lively_network(config), batch(rng), config)
    assert terms["penalty"].item() == pytest.approx(3.0)  # 0.25 * (4 + 4 + 4)


@pytest.mark.parametrize("name", ["linear", "attention", "max"])
def test_a_long_clip_in_pieces_costs_what_it_costs_whole(name: str, rng: np.random.Generator) -> None:
    config = changed(pooling={"name": name}, training={"piece_seconds": 4.0, "context_seconds": 1.2})
    network = lively_network(config)
    clips, store = clips_in_memory([rng.normal(-7.0, 1.5, (900, 16))], [TAGS[0]])  # 18 s
    one = collate(clips, store, [0], time_reduction=2)
    whole = loss_terms(network, one, changed(config, training={"piece_seconds": 60.0}))
    torch.testing.assert_close(loss_terms(network, one, config), whole, atol=1e-4, rtol=0)


def with_frames(one: Batch, rng: np.random.Generator) -> Batch:
    """The batch with frame labels of which much is unknown; everything is known of the second clip's first class."""
    assert one.mask is not None
    shape = (*one.mask.shape, one.tags.shape[1])
    known = torch.from_numpy(rng.random(shape) < 0.4)
    known[1, :, 0] = True
    known &= one.mask[:, :, None]
    labels = torch.from_numpy(rng.integers(0, 2, shape)).float()
    return dataclasses.replace(one, frame_tags=torch.where(known, labels, math.nan), frame_known=known)


def test_every_loss_sees_only_what_is_known(rng: np.random.Generator) -> None:
    network, one = lively_network(), with_frames(batch(rng), rng)
    one = dataclasses.replace(one, tags=torch.where(one.tags_known, one.tags, math.nan))
    terms = loss_terms(network, one, SMALL)
    assert set(terms) == {"tags", "frames", "penalty"}
    assert one.frame_tags is not None
    probs = torch.sigmoid(network(one.features, one.mask).logits)
    frames = functional.binary_cross_entropy(probs[one.frame_known], one.frame_tags[one.frame_known])
    torch.testing.assert_close(terms["frames"], frames, atol=1e-5, rtol=1e-5)
    clip_probs = clip_log_probs(network, one, SMALL)[0].exp()
    tags = functional.binary_cross_entropy(clip_probs[one.tags_known], one.tags[one.tags_known])
    torch.testing.assert_close(terms["tags"], tags, atol=1e-5, rtol=1e-5)
    torch.stack(list(terms.values())).sum().backward()
    assert all(torch.isfinite(weight.grad).all() for weight in network.parameters() if weight.grad is not None)


def test_the_weight_of_frames_and_tags_where_all_frames_are_known(rng: np.random.Generator) -> None:
    network, one = lively_network(), with_frames(batch(rng), rng)
    terms = loss_terms(network, one, SMALL)
    heavy = changed(training={"frame_weight": 2.5, "tags_of_strong": False})
    other = loss_terms(network, one, heavy)
    torch.testing.assert_close(other["frames"], 2.5 * terms["frames"])
    # Of the second clip's first class every frame is known, so its tag no longer counts; all others do.
    fewer = one.tags_known.clone()
    assert fewer[1, 0]
    fewer[1, 0] = False
    expected = loss_terms(network, dataclasses.replace(one, tags_known=fewer), SMALL)
    torch.testing.assert_close(other["tags"], expected["tags"])
    assert other["tags"] != terms["tags"]


# --- worked numbers ---


def test_frames_of_a_piece_and_its_context() -> None:
    # 60 s and 2 s in output frames of 40 ms are 1500 and 50, of two feature frames each.
    default = Config(training=TrainingConfig(piece_seconds=60.0, context_seconds=2.0))
    assert piece_and_context_frames(default) == (3000, 100)
    # 22050 / 365 / 4 = 15.103 output frames a second: 60 s are 906, 2 s are 30.
    recipe = dataclasses.replace(
        default,
        features=FeatureConfig(sample_rate=22050, window_samples=2048, hop_samples=365),
        model=ModelConfig(channels=(4, 4), pool_time=(2, 2), pool_mel=(2, 2)),
    )
    assert piece_and_context_frames(recipe) == (906 * 4, 30 * 4)
    # A piece is never longer than a batch may be: 10 s are 250 output frames.
    small_batches = Config(training=TrainingConfig(piece_seconds=60.0, batch_seconds=10.0, context_seconds=2.0))
    assert piece_and_context_frames(small_batches) == (500, 100)
    shortest = Config(training=TrainingConfig(piece_seconds=1e-6, context_seconds=0.0))
    assert piece_and_context_frames(shortest) == (2, 0)  # one output frame at least


def test_the_recipes_never_cut_their_clips() -> None:
    for name in ("dcase2017", "dcase2019"):
        config = read_config(Path(__file__).parents[2] / "src" / "earmark" / "paper" / f"{name}.toml")
        assert config.features.clip_frames is not None
        assert piece_and_context_frames(config)[0] > config.features.clip_frames
