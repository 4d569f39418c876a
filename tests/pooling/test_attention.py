"""Attention pooling, over time and over classes; the laws of every pooling function are in test_pooling_laws.py."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from oracles import pooling_formulas
from torch import Tensor
from torch.testing import assert_close

from earmark import pooling
from earmark.pooling.attention import Attention


def with_head(pool: Attention, weight: list[list[float]]) -> Attention:
    """The pooling function with this head, (classes, dims), and no bias."""
    with torch.no_grad():
        pool.linear.weight.copy_(torch.tensor(weight))
    return pool


# -- laws -----------------------------------------------------------------------------------------------------------


def test_a_frame_pulls_attention_as_far_as_it_lies_above_the_clip(rng: np.random.Generator) -> None:
    # dy^c / du_i = p_i (y_i - y^c), seen through a head that copies the only feature.
    pool = with_head(Attention(1, n_features=1), [[1.0]]).double()
    y, u = rng.uniform(0.01, 0.99, size=12), rng.normal(size=12)
    features = torch.from_numpy(u).reshape(1, 12, 1).requires_grad_()
    pool(torch.logit(torch.from_numpy(y)).reshape(1, 12, 1), None, features).sum().backward()
    assert features.grad is not None
    expected = pooling_formulas.attention_score_gradient(y, u)
    np.testing.assert_allclose(features.grad.flatten().numpy(), expected, rtol=1e-9, atol=1e-15)


def test_the_class_axis_form_is_that_of_the_2019_baseline(rng: np.random.Generator) -> None:
    pool = Attention(4, n_features=3, axis="class").double()
    with torch.no_grad():
        pool.linear.weight.mul_(20)  # far enough for the clamp to matter
    features, logits = torch.from_numpy(rng.normal(size=(5, 30, 3))), torch.from_numpy(rng.normal(size=(5, 30, 4)))
    clip_probs = pool(logits, None, features).detach().numpy()
    head_scores = pool.linear(features).detach().numpy()
    shares = np.exp(head_scores) / np.exp(head_scores).sum(axis=2, keepdims=True)
    assert (shares < 1e-7).any()
    for clip in range(5):
        y = torch.sigmoid(logits[clip]).numpy()
        expected = pooling_formulas.attention_class_axis(y, head_scores[clip])
        np.testing.assert_allclose(clip_probs[clip], expected, rtol=1e-9)


def test_the_head_starts_xavier_uniform_without_bias() -> None:
    torch.manual_seed(440)
    pool = Attention(17, n_features=200)
    bound = math.sqrt(6 / (200 + 17))
    assert 0.95 * bound < pool.linear.weight.abs().max().item() <= bound
    assert bool((pool.linear.bias == 0).all())
    assert all(parameter.requires_grad for parameter in pool.parameters())
    # 200 weights and a bias for each of 17 classes
    assert sum(parameter.numel() for parameter in pool.parameters()) == 3417


# -- worked numbers -------------------------------------------------------------------------------------------------

# Two frames, y = 0.2 and 0.6 in both classes; the only feature is 0 and log 3.
CLIP = torch.logit(torch.tensor([[[0.2, 0.2], [0.6, 0.6]]]))
FEATURES = torch.tensor([[[0.0], [math.log(3.0)]]])


def test_time_axis() -> None:
    # Class 1 weighs e^0 : e^log 3 = 1 : 3, so 0.2 / 4 + 0.6 * 3 / 4; class 2 has no opinion: the mean.
    pool = with_head(Attention(2, n_features=1), [[1.0], [0.0]])
    assert pool(CLIP, features=FEATURES).tolist() == [pytest.approx([0.5, 0.4])]


def test_class_axis() -> None:
    # Shares of the two classes: frame 1 is 1/2 : 1/2, frame 2 is 3/4 : 1/4. Over time class 1 weighs 2 : 3 and class 2
    # 2 : 1, so (0.2 * 2 + 0.6 * 3) / 5 and (0.2 * 2 + 0.6 * 1) / 3.
    pool = with_head(Attention(2, n_features=1, axis="class"), [[1.0], [0.0]])
    assert pool(CLIP, features=FEATURES).tolist() == [pytest.approx([0.44, 1 / 3])]


def test_class_axis_clamps_small_shares() -> None:
    # Shares of class 2: sigmoid(-30) and sigmoid(-40), both clamped to 1e-7, so it is the mean of 0.2 and 0.6.
    pool = with_head(Attention(2, n_features=1, axis="class"), [[1.0], [0.0]])
    assert pool(CLIP, features=torch.tensor([[[30.0], [40.0]]]))[0, 1].item() == pytest.approx(0.4)


def test_mask() -> None:
    # Without the second frame the first has all the weight.
    pool = with_head(Attention(2, n_features=1), [[1.0], [0.0]])
    mask = torch.tensor([[True, False]])
    assert pool(CLIP, mask, FEATURES).tolist() == [pytest.approx([0.2, 0.2])]
    assert_close(pool.scores(CLIP, mask, FEATURES), torch.tensor([[[0.0, 0.0], [-torch.inf, -torch.inf]]]))


# -- wrong input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (None, r"features must have shape \(batch, frames, 3\), got None - attention pooling looks at the frame"),
        (torch.zeros(2, 5, 4), r"features must have 3 dims on the last axis, got shape \(2, 5, 4\)"),
        (torch.zeros(5, 3), r"features must have shape \(batch, frames, dims\), .* got \(5, 3\)"),
        (torch.zeros(2, 1, 3), r"as many clips and frames as the logits \(2, 5, 2\), got \(2, 1, 3\)"),
        (torch.zeros(1, 5, 3), r"as many clips and frames as the logits \(2, 5, 2\), got \(1, 5, 3\)"),
    ],
)
@pytest.mark.parametrize("masked", [False, True])
def test_wrong_features_are_refused(features: Tensor | None, message: str, masked: bool) -> None:
    mask = torch.ones(2, 5, dtype=torch.bool) if masked else None
    with pytest.raises(ValueError, match=message):
        Attention(2, n_features=3)(torch.zeros(2, 5, 2), mask, features)


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match=r"axis must be one of time, class, got 'frames'"):
        Attention(2, n_features=3, axis="frames")
    with pytest.raises(ValueError, match=r"n_features must be at least 1, got 0"):
        Attention(2, n_features=0)
    with pytest.raises(ValueError, match=r"pooling 'attention' needs 'n_features'"):
        pooling.create("attention", n_classes=2)
