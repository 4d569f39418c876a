"""What training minimises: only what is known counts, and a certain network does not break it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from earmark import pooling
from earmark.training.losses import clamped_tag_loss, frame_loss, tag_loss


def logs(probs: Tensor) -> tuple[Tensor, Tensor]:
    """log y and log (1 - y)."""
    return probs.log(), (1 - probs).log()


def example(rng: np.random.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Probabilities, tags and what is known, (6, 4) in double precision."""
    probs = torch.from_numpy(rng.uniform(0.01, 0.99, (6, 4)))
    tags = torch.from_numpy(rng.integers(0, 2, (6, 4)).astype(float))
    known = torch.from_numpy(rng.random((6, 4)) < 0.6)
    return probs, tags, known


# --- laws ---


def test_with_everything_known_it_is_the_cross_entropy_of_torch(rng: np.random.Generator) -> None:
    probs, tags, _ = example(rng)
    mixed = tags * 0.7 + 0.1  # of mixed clips, between 0 and 1
    for target in (tags, mixed):
        expected = functional.binary_cross_entropy(probs, target)
        everything = torch.ones_like(target, dtype=torch.bool)
        torch.testing.assert_close(tag_loss(*logs(probs), target, everything), expected)
        torch.testing.assert_close(clamped_tag_loss(probs.log(), target, everything), expected)


def test_unknown_classes_contribute_neither_loss_nor_gradient(rng: np.random.Generator) -> None:
    probs, tags, known = example(rng)
    probs.requires_grad_()
    expected = functional.binary_cross_entropy(probs[known], tags[known])
    (expected_gradient,) = torch.autograd.grad(expected, probs)
    for loss in (tag_loss(*logs(probs), tags, known), clamped_tag_loss(probs.log(), tags, known)):
        torch.testing.assert_close(loss, expected)
        (gradient,) = torch.autograd.grad(loss, probs, retain_graph=True)
        torch.testing.assert_close(gradient, expected_gradient)
        assert (gradient[~known] == 0).all()
    torch.testing.assert_close(tag_loss(*logs(probs), torch.where(known, tags, 1 - tags), known), expected)


@pytest.mark.parametrize("garbage", [math.nan, -math.inf, math.inf])
def test_garbage_where_nothing_is_known_stays_there(garbage: float, rng: np.random.Generator) -> None:
    probs, tags, known = example(rng)
    log_y, log_not_y = logs(probs)
    expected = tag_loss(log_y, log_not_y, tags, known)
    log_y = torch.where(known, log_y, garbage).requires_grad_()
    log_not_y = torch.where(known, log_not_y, garbage).requires_grad_()
    loss = tag_loss(log_y, log_not_y, tags, known)
    torch.testing.assert_close(loss, expected)
    for gradient in torch.autograd.grad(loss, (log_y, log_not_y)):
        assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("garbage", [math.nan, math.inf])
def test_garbage_in_unknown_labels_reaches_neither_loss_nor_gradient(garbage: float, rng: np.random.Generator) -> None:
    probs, tags, known = example(rng)
    logits = probs.logit().requires_grad_()
    spoilt = torch.where(known, tags, garbage)

    def losses(labels: Tensor) -> list[Tensor]:
        log_y, log_not_y = functional.logsigmoid(logits), functional.logsigmoid(-logits)
        frames = frame_loss(logits[:, :, None], labels[:, :, None], known[:, :, None])
        return [tag_loss(log_y, log_not_y, labels, known), clamped_tag_loss(log_y, labels, known), frames]

    for loss, expected in zip(losses(spoilt), losses(tags), strict=True):
        torch.testing.assert_close(loss, expected)
        gradients = [torch.autograd.grad(one, logits, retain_graph=True)[0] for one in (loss, expected)]
        torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("garbage", [math.nan, math.inf, -math.inf])
def test_the_loss_of_frames_is_the_cross_entropy_of_what_is_known(garbage: float, rng: np.random.Generator) -> None:
    probs, tags, known = (one[:, :, None].expand(6, 4, 3).clone() for one in example(rng))
    logits = probs.logit()
    expected = functional.binary_cross_entropy(probs[known], tags[known])
    spoilt = torch.where(known, logits, garbage).requires_grad_()  # padding may hold anything
    loss = frame_loss(spoilt, tags, known)
    torch.testing.assert_close(loss, expected)
    (gradient,) = torch.autograd.grad(loss, spoilt)
    assert (gradient[~known] == 0).all()
    # sigma(z) - Y for each known frame, over their number.
    torch.testing.assert_close(gradient[known], (probs - tags)[known] / known.sum())


def test_with_nothing_known_of_frames_their_loss_is_zero() -> None:
    logits = torch.ones(1, 2, 1, requires_grad=True)
    loss = frame_loss(logits, torch.ones(1, 2, 1), torch.zeros(1, 2, 1, dtype=torch.bool))
    assert loss.item() == 0.0
    assert (torch.autograd.grad(loss, logits)[0] == 0).all()


def test_a_certain_frame_costs_its_logit_and_still_learns() -> None:
    logits, known = torch.tensor([[[-200.0], [200.0]]], requires_grad=True), torch.ones(1, 2, 1, dtype=torch.bool)
    loss = frame_loss(logits, torch.tensor([[[1.0], [0.0]]]), known)
    assert loss.item() == pytest.approx(200.0)
    assert torch.autograd.grad(loss, logits)[0].flatten().tolist() == [-0.5, 0.5]  # of two frames


def test_with_nothing_known_the_loss_is_zero_with_a_zero_gradient(rng: np.random.Generator) -> None:
    probs, tags, _ = example(rng)
    probs.requires_grad_()
    nothing = torch.zeros_like(tags, dtype=torch.bool)
    for loss in (tag_loss(*logs(probs), tags, nothing), clamped_tag_loss(probs.log(), tags, nothing)):
        assert loss.item() == 0.0
        (gradient,) = torch.autograd.grad(loss, probs, retain_graph=True)
        assert (gradient == 0).all()


def test_a_network_that_is_certain_and_right_costs_nothing() -> None:
    log_y = torch.tensor([[0.0, -math.inf]], requires_grad=True)
    log_not_y = torch.tensor([[-math.inf, 0.0]], requires_grad=True)
    loss = tag_loss(log_y, log_not_y, torch.tensor([[1.0, 0.0]]), torch.ones(1, 2, dtype=torch.bool))
    assert loss.item() == 0.0
    for gradient in torch.autograd.grad(loss, (log_y, log_not_y)):
        assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("name", ["max", "linear", "power", "average"])
def test_a_network_that_is_certain_and_wrong_still_learns(name: str) -> None:
    # A logit of -60: y is 1e-26, where the clamped loss has no gradient left.
    logits = torch.full((1, 5, 1), -60.0, requires_grad=True)
    pool = pooling.create(name, n_classes=1)
    tags, known = torch.ones(1, 1), torch.ones(1, 1, dtype=torch.bool)
    loss = tag_loss(*pool.log_probs(logits), tags, known)
    assert loss.item() == pytest.approx(60.0)
    (gradient,) = torch.autograd.grad(loss, logits)
    assert gradient.sum().item() == pytest.approx(-1.0, rel=1e-4)
    clamped = clamped_tag_loss(pool.log_probs(logits)[0], tags, known)
    (gradient,) = torch.autograd.grad(clamped, logits)
    assert (gradient == 0).all()


# --- worked numbers ---


def test_the_mean_over_what_is_known() -> None:
    # -ln 0.5, -ln (1 - 0.2) and -ln 0.1 are known: (0.6931 + 0.2231 + 2.3026) / 3; the fourth is not.
    probs = torch.tensor([[0.5, 0.2], [0.1, 0.9]])
    tags = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    known = torch.tensor([[True, True], [True, False]])
    assert tag_loss(*logs(probs), tags, known).item() == pytest.approx(1.07295, abs=1e-4)
    assert clamped_tag_loss(probs.log(), tags, known).item() == pytest.approx(1.07295, abs=1e-4)


def test_a_mixed_tag() -> None:
    # A clip that is a dog to 70 %: -(0.7 ln 0.6 + 0.3 ln 0.4) = 0.35758 + 0.27489
    loss = tag_loss(*logs(torch.tensor([[0.6]])), torch.tensor([[0.7]]), torch.tensor([[True]]))
    assert loss.item() == pytest.approx(0.63247, abs=1e-5)


def test_the_clamp() -> None:
    everything = torch.tensor([[True]])
    for log_y, tag in ((-1000.0, 1.0), (0.0, 0.0)):
        loss = clamped_tag_loss(torch.tensor([[log_y]], dtype=torch.float64), torch.tensor([[tag]]), everything)
        assert loss.item() == pytest.approx(-math.log(1e-7), rel=1e-6)  # 16.118


# --- wrong input ---


def test_labels_of_feature_frames_are_refused() -> None:
    labels = torch.zeros(2, 10, 3)
    with pytest.raises(ValueError, match=r"shape of the logits, \(2, 5, 3\), got \(2, 10, 3\) .* of feature frames\?"):
        frame_loss(torch.zeros(2, 5, 3), labels, labels > 0)
