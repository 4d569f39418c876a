"""Frames that are certain, y = 0 or 1: their logits are infinite, results and gradients are not."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from oracles import pooling_formulas
from pooling_cases import N_CLASSES, Case, Clips, gradients, hierarchical_cases, plain_cases, random_clips
from torch.testing import assert_close

from earmark import pooling

every_pool = pytest.mark.parametrize("case", plain_cases() + hierarchical_cases(), ids=str)

# Four clips of six frames: nothing but silence, nothing but presence, both, and both among frames like any other.
CERTAIN = (
    [-math.inf] * 6,
    [math.inf] * 6,
    [math.inf, -math.inf] * 3,
    [-math.inf, 0.4, math.inf, -1.3, -math.inf, 2.0],
)


def certain_clips(rng: np.random.Generator, *, infinity: float = math.inf) -> Clips:
    """The clips above, for every class alike, with another number for infinity."""
    clips = random_clips(rng, lengths=(6,) * len(CERTAIN))
    clips.logits[:] = torch.tensor(CERTAIN)[:, :, None].clamp(-infinity, infinity)
    return clips


def pool_with(case: Case, parameter: float) -> pooling.Pool:
    """The pooling function, with this trainable parameter if it has one."""
    if "initial" not in case.options:
        return case.pool()
    if case.options.get("constraint") == "softplus" and parameter == 0:
        parameter = 1e-6  # the least softplus can reach
    return case.pool(initial=parameter)


# -- laws -----------------------------------------------------------------------------------------------------------

FORMULAS: list[tuple[str, dict[str, Any], Callable[..., Any]]] = [
    ("average", {}, pooling_formulas.average),
    ("max", {}, pooling_formulas.maximum),
    ("exponential", {}, pooling_formulas.exponential),
    ("linear", {}, pooling_formulas.linear),
    *[("auto", {"initial": alpha}, partial(pooling_formulas.auto, alpha=alpha)) for alpha in (0.0, 1.0, 4.0)],
    *[("power", {"initial": n}, partial(pooling_formulas.power, n=n)) for n in (0.0, 0.337, 1.0, 8.0)],
]


@pytest.mark.parametrize(("name", "options", "formula"), FORMULAS)
def test_certain_frames_count_as_printed(
    name: str, options: dict[str, Any], formula: Callable[..., Any], rng: np.random.Generator
) -> None:
    pool = pooling.create(name, n_classes=1, **options).double()
    for n_frames in (2, 5, 20):
        y = rng.uniform(0, 1, size=n_frames)
        y[0], y[-1] = 0.0, rng.integers(2)
        y[1 : n_frames // 2] = 1.0
        clip_prob = pool(torch.logit(torch.from_numpy(y)).reshape(1, -1, 1)).item()
        assert clip_prob == pytest.approx(formula(y), abs=1e-7)


@every_pool
def test_an_infinite_logit_is_a_very_large_one(case: Case, rng: np.random.Generator) -> None:
    # e^-1000 is 0 too; all that may differ are the gradients to the certain frames themselves.
    pool, clips = case.pool(), certain_clips(rng)
    large = Clips(certain_clips(rng, infinity=1000.0).logits, clips.mask, clips.features)
    assert_close(pool(*clips.arguments()), pool(*large.arguments()))
    usual = torch.tensor(CERTAIN[-1]).isfinite()
    assert_close(gradients(pool, clips)[0][-1, usual], gradients(pool, large)[0][-1, usual])


@every_pool
@pytest.mark.parametrize("parameter", [0.0, 1.0, 50.0])
def test_certain_frames_leave_every_gradient_a_number(case: Case, parameter: float, rng: np.random.Generator) -> None:
    pool, clips = pool_with(case, parameter), certain_clips(rng)
    to_logits, to_features, to_parameters = gradients(pool, clips)
    for tensor in (*pool.log_probs(*clips.arguments()), to_logits, to_features, *to_parameters):
        assert bool(tensor.isfinite().all())


@every_pool
def test_a_logit_that_is_no_number_makes_its_own_clip_none(case: Case, rng: np.random.Generator) -> None:
    clips, pool = random_clips(rng), case.pool()
    before = pool(*clips.arguments())
    clips.logits[1, 2, 0] = math.nan
    after = pool(*clips.arguments())
    is_nan = torch.zeros(4, N_CLASSES, dtype=torch.bool)
    is_nan[1, 0] = True
    assert torch.equal(after.isnan(), is_nan)
    assert_close(after[[0, 2, 3]], before[[0, 2, 3]], atol=1e-7, rtol=1e-6)


# -- worked numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "expected"), [(0.0, 0.8 / 3), (1.0, 0.5)])
def test_a_silent_frame_in_power_pooling(n: float, expected: float) -> None:
    # n = 0: 0^0 = 1, so (0 + 0.6 + 0.2) / 3; n = 1: (0 + 0.36 + 0.04) / (0 + 0.6 + 0.2)
    logits = torch.logit(torch.tensor([[[0.0], [0.6], [0.2]]])).requires_grad_()
    pool = pooling.create("power", n_classes=1, initial=n)
    clip_probs = pool(logits)
    assert clip_probs.item() == pytest.approx(expected)
    clip_probs.sum().backward()
    (exponent,) = pool.parameters()
    assert logits.grad is not None
    assert exponent.grad is not None
    assert logits.grad.isfinite().all()
    assert exponent.grad.isfinite().all()


def test_a_certain_frame_makes_a_certain_clip() -> None:
    log_y, log_not_y = pooling.create("max", n_classes=1).log_probs(torch.tensor([[[0.0], [math.inf]]]))
    assert (log_y.exp().item(), log_not_y.exp().item()) == (1.0, 0.0)
