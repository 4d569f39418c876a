"""Power pooling; the laws of every pooling function are in test_pooling_laws.py."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from oracles import pooling_formulas
from torch import Tensor
from torch.testing import assert_close

from earmark import pooling
from earmark.pooling.power import Power

EXPONENTS = [0.0, 1e-3, 0.337, 1.0, 2.5, 8.0]


def random_logits(rng: np.random.Generator, *, n_classes: int = 2) -> Tensor:
    """Six clips of fifteen frames in float64."""
    return torch.from_numpy(rng.normal(0, 2, size=(6, 15, n_classes)))


# -- laws: what it becomes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "same_as"), [(0.0, "average"), (1.0, "linear")])
def test_two_exponents_are_other_functions(n: float, same_as: str, rng: np.random.Generator) -> None:
    logits, mask = random_logits(rng).float(), torch.from_numpy(rng.random((6, 15)) < 0.7)
    other = pooling.create(same_as, n_classes=2)
    assert_close(Power(2, initial=n)(logits, mask), other(logits, mask), atol=1e-6, rtol=0)


def test_a_large_exponent_is_max() -> None:
    logits = torch.logit(torch.tensor([[[0.2], [0.9], [0.85], [0.5]], [[0.01], [0.02], [0.015], [0.001]]]))
    assert_close(Power(1, initial=1e3)(logits), pooling.create("max", n_classes=1)(logits), atol=1e-3, rtol=0)


# -- laws: gradients ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", EXPONENTS)
def test_the_gradient_needs_no_division_by_a_frame(n: float, rng: np.random.Generator) -> None:
    # dy^c / dz_i = p_i (1 - y_i) ((n + 1) y_i - n y^c), and its sign is that of the last factor.
    pool, logits = Power(2, initial=n).double(), random_logits(rng).requires_grad_()
    clip_probs = pool(logits)
    clip_probs.sum().backward()
    y = torch.sigmoid(logits.detach())
    n_stored = pool.n.detach()
    weights = y**n_stored / (y**n_stored).sum(dim=1, keepdim=True)
    distance = (n_stored + 1) * y - n_stored * clip_probs.detach()[:, None]
    assert logits.grad is not None
    assert_close(logits.grad, weights * (1 - y) * distance)
    assert bool((logits.grad.sign() == distance.sign()).all())


@pytest.mark.parametrize("n", EXPONENTS)
def test_a_positive_clip_moves_no_logit_by_more_than_n_plus_1(n: float, rng: np.random.Generator) -> None:
    logits = torch.cat([random_logits(rng), torch.full((1, 15, 2), -80.0, dtype=torch.float64)])
    logits[-1, 3] = -10.0  # one frame above silence: reaches 1 for n = 0
    logits.requires_grad_()
    log_y, _ = Power(2, initial=n).double().log_probs(logits)
    (-log_y).sum().backward()
    assert logits.grad is not None
    assert logits.grad.abs().max().item() <= n + 1


@pytest.mark.parametrize("n", EXPONENTS)
def test_a_larger_exponent_never_lowers_a_clip(n: float, rng: np.random.Generator) -> None:
    # dy^c / dn is the covariance of log y and y under the weights.
    logits = random_logits(rng, n_classes=1)
    for clip in logits:
        pool = Power(1, initial=n).double()
        pool(clip[None]).sum().backward()
        assert pool.raw.grad is not None
        expected = pooling_formulas.power_exponent_gradient(torch.sigmoid(clip).flatten().numpy(), pool.n.item())
        assert pool.raw.grad.item() == pytest.approx(expected, rel=1e-9)
        assert expected >= 0


@pytest.mark.parametrize("n", [1e-3, 0.1, 0.337, 1.0])
def test_frames_far_beyond_what_float32_holds_keep_their_order(n: float) -> None:
    # y = e^-300 is 0 in float32, but its n-th power is not: e^-30 for n = 0.1, which weighs against e^-20.
    logits = torch.tensor([-300.0, -200.0, -250.0, -120.0, -101.0])
    pool = Power(1, initial=n)
    asked = logits.clone().requires_grad_()
    log_y, log_not_y = pool.log_probs(asked[None, :, None])
    log_y.sum().backward()
    n_stored, log_frames = pool.n.item(), logits.double().numpy()  # log y = z - log(1 + e^z) = z here
    expected = _log_sum_exp((n_stored + 1) * log_frames) - _log_sum_exp(n_stored * log_frames)
    to_frames = (n_stored + 1) * _shares((n_stored + 1) * log_frames) - n_stored * _shares(n_stored * log_frames)
    assert log_y.item() == pytest.approx(expected, rel=1e-6)
    assert log_not_y.item() == pytest.approx(0, abs=1e-6)
    assert asked.grad is not None
    np.testing.assert_allclose(asked.grad.numpy(), to_frames, rtol=2e-5, atol=1e-7)
    assert ((asked.grad > 0).numpy() == (log_frames > np.log(n_stored / (n_stored + 1)) + expected)).all()


def _log_sum_exp(values: NDArray[np.float64]) -> float:
    """log of the sum of e to the values."""
    return float(values.max() + np.log(np.exp(values - values.max()).sum()))


def _shares(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """e to the values, divided by their sum."""
    return np.exp(values - _log_sum_exp(values))


def test_a_class_trains_its_own_exponent_only(rng: np.random.Generator) -> None:
    pool = Power(3, initial=1.0)
    pool(random_logits(rng, n_classes=3))[:, 1].sum().backward()
    assert pool.raw.grad is not None
    assert (pool.raw.grad != 0).tolist() == [False, True, False]


# -- laws: penalty and constraint -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [False, True])
def test_the_gradient_of_the_penalty_is_2_lambda_n(shared: bool) -> None:
    pool = Power(4, initial=3.0, penalty=0.01, shared=shared)
    pool.penalty().backward()
    assert pool.raw.grad is not None
    # A shared exponent stands for four classes: 4 * 2 * 0.01 * 3.
    assert pool.raw.grad.tolist() == pytest.approx([0.24] if shared else [0.06] * 4)


def test_projection_stops_at_0_and_leaves_the_rest_alone() -> None:
    pool = Power(4)
    with torch.no_grad():
        pool.raw.copy_(torch.tensor([-0.7, 0.0, 0.3, 60.0]))
    pool.project_()
    assert pool.parameter_values().tolist() == pytest.approx([0.0, 0.0, 0.3, 60.0])


def test_softplus_keeps_the_exponent_above_0_without_projection() -> None:
    pool = Power(3, constraint="softplus")
    assert pool.raw.tolist() == pytest.approx([0.5413] * 3, abs=5e-5)  # log(e - 1)
    with torch.no_grad():
        pool.raw.copy_(torch.tensor([-5.0, 0.5413, 40.0]))
    pool.project_()
    assert pool.raw.tolist() == pytest.approx([-5.0, 0.5413, 40.0])
    # log(1 + e^-5) = 0.006715, log(1 + e^0.5413) = 1, and 40 itself.
    assert pool.parameter_values().tolist() == pytest.approx([0.006715, 1.0, 40.0], abs=1e-4)


def test_softplus_is_exact_between_the_small_and_the_large() -> None:
    raw = torch.linspace(4.0, 19.0, 16, dtype=torch.float64)
    pool = Power(16, constraint="softplus").double()
    with torch.no_grad():
        pool.raw.copy_(raw)
    # log(1 + e^6) = 6.002476: for a bound as low as 5 torch would return 6 itself.
    assert pool.parameter_values().tolist() == pytest.approx(np.logaddexp(0, raw.numpy()).tolist(), rel=1e-12)


@pytest.mark.parametrize("initial", [1e-6, 0.5, 1.0, 30.0, 1e3])
def test_softplus_starts_where_it_is_told(initial: float) -> None:
    values = Power(2, initial=initial, constraint="softplus").parameter_values()
    assert values.tolist() == pytest.approx([initial] * 2, rel=1e-5)


# -- worked numbers -------------------------------------------------------------------------------------------------


def test_one_exponent_per_class() -> None:
    pool = Power(3)
    with torch.no_grad():
        pool.raw.copy_(torch.tensor([0.0, 1.0, 2.0]))
    clip = torch.logit(torch.tensor([0.2, 0.6])).reshape(1, 2, 1).expand(1, 2, 3)
    clip_probs = pool(clip)
    # n = 0: (0.2 + 0.6) / 2; n = 1: (0.04 + 0.36) / (0.2 + 0.6); n = 2: (0.008 + 0.216) / (0.04 + 0.36) = 0.224 / 0.4
    assert clip_probs.tolist() == [pytest.approx([0.4, 0.5, 0.56])]
    # theta = 0, 1/2, 2/3: the thresholds are 0, 0.25 and 0.3733.
    assert pool.sign_threshold(clip_probs).tolist() == [pytest.approx([0.0, 0.25, 0.373333])]


def test_scores() -> None:
    # n log y = 2 log 0.6 = -1.021651
    scores = Power(1, initial=2.0).scores(torch.logit(torch.tensor([[[0.6]]])))
    assert scores.item() == pytest.approx(-1.021651, abs=1e-5)


# -- wrong input ----------------------------------------------------------------------------------------------------


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match=r"initial must be at least 0, got -1.0 - n below 0 would favour the quietest"):
        Power(2, initial=-1.0)
    with pytest.raises(ValueError, match=r"initial must be above 0, got 0.0 - softplus never reaches 0"):
        Power(2, initial=0.0, constraint="softplus")
    with pytest.raises(ValueError, match=r"penalty must be at least 0, got -0.1"):
        Power(2, penalty=-0.1)
    with pytest.raises(ValueError, match=r"constraint must be one of project, softplus, got 'projct' - did you mean"):
        Power(2, constraint="projct")
    with pytest.raises(ValueError, match=r"initial must be a number, got '1' - n below 0 would favour the quietest"):
        pooling.create("power", n_classes=2, initial="1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"initial must be at least 0, got nan"):
        Power(2, initial=float("nan"))
