"""Auto-pooling, CAP and RAP; the laws of every pooling function are in test_pooling_laws.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from oracles import pooling_formulas
from torch.testing import assert_close

from earmark import pooling
from earmark.pooling.auto import Auto, ConstrainedAuto, RegularisedAuto

SHARPNESSES = [-3.0, 0.0, 1e-3, 1.0, 4.0, 20.0]

# -- laws: what it becomes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("alpha", "same_as"), [(0.0, "average"), (1.0, "exponential")])
def test_two_sharpnesses_are_other_functions(alpha: float, same_as: str, rng: np.random.Generator) -> None:
    logits = torch.from_numpy(rng.normal(0, 2, size=(6, 15, 2))).float()
    mask = torch.from_numpy(rng.random((6, 15)) < 0.7)
    other = pooling.create(same_as, n_classes=2)
    assert_close(Auto(2, initial=alpha)(logits, mask), other(logits, mask), atol=1e-6, rtol=0)


def test_a_large_sharpness_is_max_and_a_large_negative_one_is_min() -> None:
    logits = torch.logit(torch.tensor([[[0.2], [0.9], [0.85], [0.5]], [[0.3], [0.02], [0.1], [0.05]]]))
    assert Auto(1, initial=1e3)(logits).flatten().tolist() == pytest.approx([0.9, 0.3], abs=1e-3)
    assert Auto(1, initial=-1e3)(logits).flatten().tolist() == pytest.approx([0.2, 0.02], abs=1e-3)


# -- laws: gradients ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", SHARPNESSES)
def test_a_larger_sharpness_never_lowers_a_clip(alpha: float, rng: np.random.Generator) -> None:
    # dy^c / dalpha is the variance of y under the weights.
    for clip in torch.from_numpy(rng.normal(0, 2, size=(6, 15, 1))):
        pool = Auto(1, initial=alpha).double()
        pool(clip[None]).sum().backward()
        assert pool.alpha.grad is not None
        expected = pooling_formulas.auto_sharpness_gradient(torch.sigmoid(clip).flatten().numpy(), pool.alpha.item())
        assert pool.alpha.grad.item() == pytest.approx(expected, rel=1e-9)
        assert expected >= 0


def test_a_negative_sharpness_pushes_up_the_frames_below_its_threshold() -> None:
    y = torch.tensor([0.05, 0.3, 0.5, 0.95], dtype=torch.float64)
    pool, logits = Auto(1, initial=-4.0).double(), torch.logit(y).reshape(1, -1, 1).requires_grad_()
    clip_probs = pool(logits)
    clip_probs.sum().backward()
    threshold = pool.sign_threshold(clip_probs.detach()).item()  # y^c + 1/4
    assert 0.3 < threshold < 0.95
    assert logits.grad is not None
    assert ((logits.grad.flatten() > 0) == (y < threshold)).all()


def test_a_negative_sharpness_near_0_never_changes_sign() -> None:
    # y^c - 1 / alpha = y^c + 2 is no probability: every frame lies below it.
    y = torch.tensor([0.05, 0.3, 0.5, 0.95], dtype=torch.float64)
    pool, logits = Auto(1, initial=-0.5).double(), torch.logit(y).reshape(1, -1, 1).requires_grad_()
    clip_probs = pool(logits)
    clip_probs.sum().backward()
    assert pool.sign_threshold(clip_probs.detach()).isnan().all()
    assert logits.grad is not None
    assert (logits.grad > 0).all()


# -- laws: the restrained forms -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_frames", "bound"), [(100, 4.595), (152, 5.017), (160, 5.069)])
def test_cap_projects_to_both_sides_of_its_bound(n_frames: int, bound: float) -> None:
    pool = ConstrainedAuto(4, n_frames=n_frames)
    with torch.no_grad():
        pool.alpha.copy_(torch.tensor([-99.0, -2.0, 3.0, 99.0]))
    pool.project_()
    assert pool.parameter_values().tolist() == pytest.approx([-bound, -2.0, 3.0, bound], abs=5e-4)


@pytest.mark.parametrize("sign", [-1, 1])
def test_at_its_bound_cap_gives_a_single_frame_half_of_the_weight(sign: int) -> None:
    pool = ConstrainedAuto(1, n_frames=100, initial=sign * 99.0)
    logits = torch.full((1, 100, 1), -200.0 * sign)
    logits[0, 40] = 200.0 * sign  # one loud frame in silence; one silent frame in noise for a negative sharpness
    assert pool.scores(logits).softmax(dim=1).max().item() == pytest.approx(0.5, abs=1e-5)


def test_auto_and_rap_are_not_projected() -> None:
    for pool in (Auto(2, initial=-50.0), RegularisedAuto(2, initial=-50.0, penalty=0.1)):
        pool.project_()
        assert pool.parameter_values().tolist() == [-50.0, -50.0]


@pytest.mark.parametrize("shared", [False, True])
def test_the_gradient_of_the_penalty_is_2_lambda_alpha(shared: bool) -> None:
    pool = RegularisedAuto(4, initial=-3.0, penalty=0.01, shared=shared)
    pool.penalty().backward()
    assert pool.alpha.grad is not None
    assert pool.alpha.grad.tolist() == pytest.approx([-0.24] if shared else [-0.06] * 4)


def test_auto_and_cap_have_no_penalty() -> None:
    assert Auto(2, initial=9.0).penalty().item() == 0
    assert ConstrainedAuto(2, n_frames=100, initial=3.0).penalty().item() == 0


# -- worked numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["auto", "cap", "rap"])
def test_one_sharpness_per_class(name: str) -> None:
    needed: dict[str, dict[str, Any]] = {"auto": {}, "cap": {"n_frames": 1000}, "rap": {"penalty": 0.1}}
    pool = pooling.create(name, n_classes=3, **needed[name])
    with torch.no_grad():
        next(pool.parameters()).copy_(torch.tensor([0.0, 1.0, 5.0]))
    clip = torch.logit(torch.tensor([0.2, 0.6])).reshape(1, 2, 1).expand(1, 2, 3)
    # The weight of 0.6 is 1 / (1 + e^(-0.4 alpha)) = 0.5, 0.598688, 0.880797; y^c = 0.2 + 0.4 times that.
    assert pool(clip).tolist() == [pytest.approx([0.4, 0.439475, 0.552319], abs=1e-5)]
    # alpha = 0 and 1: the gradient never changes sign; alpha = 5: 0.552319 - 1/5.
    assert pool.sign_threshold(pool(clip)).tolist() == [
        pytest.approx([np.nan, np.nan, 0.352319], abs=1e-5, nan_ok=True)
    ]


def test_rap_penalty() -> None:
    # 0.01 * (3^2 + 3^2)
    assert RegularisedAuto(2, initial=3.0, penalty=0.01).penalty().item() == pytest.approx(0.18)


# -- wrong input ----------------------------------------------------------------------------------------------------


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match=r"n_frames must be at least 3, got 2 - CAP allows"):
        ConstrainedAuto(2, n_frames=2)
    with pytest.raises(ValueError, match=r"penalty must be at least 0, got -1"):
        RegularisedAuto(2, penalty=-1.0)
    with pytest.raises(ValueError, match=r"initial must be a finite number, got inf"):
        Auto(2, initial=float("inf"))
    with pytest.raises(ValueError, match=r"pooling 'cap' needs 'n_frames'"):
        pooling.create("cap", n_classes=2)
    with pytest.raises(ValueError, match=r"pooling 'rap' needs 'penalty'"):
        pooling.create("rap", n_classes=2)
    with pytest.raises(ValueError, match=r"pooling 'auto' takes no 'penalty' \(it takes: initial, shared\)"):
        pooling.create("auto", n_classes=2, penalty=0.1)
