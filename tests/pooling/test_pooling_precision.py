"""How exact every pooling function is, for extreme logits, in every precision, compiled and differentiated."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
import torch
from oracles import pooling_formulas
from pooling_cases import Case, gradients, hierarchical_cases, plain_cases, random_clips
from torch.testing import assert_close

from earmark import pooling

PLAIN = plain_cases()
ALL = PLAIN + hierarchical_cases()
every_pool = pytest.mark.parametrize("case", ALL, ids=str)
# Compiling is slow, and a stage of the hierarchical one calls nothing but the function inside: one of those will do.
COMPILED = PLAIN + [case for case in ALL if str(case) == "hierarchical-attention-time"]

# -- laws: extreme logits -------------------------------------------------------------------------------------------


@every_pool
@pytest.mark.parametrize("parameter", [0.0, 1e-3, 0.337, 1.0, 8.0, 50.0])
def test_extreme_logits_give_finite_results_and_gradients(
    case: Case, parameter: float, rng: np.random.Generator
) -> None:
    if "initial" in case.options:
        if case.options.get("constraint") == "softplus" and parameter == 0:
            parameter = 1e-6  # the least softplus can reach
        pool = case.pool(initial=parameter)
    else:
        pool = case.pool()
    extremes = torch.tensor([-200.0, -50.0, 0.0, 50.0, 200.0])
    # Every clip of one extreme, of two, and of all of them.
    pairs = torch.cartesian_prod(extremes, extremes)  # (25, 2)
    for frames in (extremes[:, None].expand(5, 11), pairs.repeat_interleave(4, dim=1), extremes[None]):
        clips = random_clips(rng, lengths=(frames.shape[1],) * len(frames))
        clips.logits[:] = frames[:, :, None]
        log_y, log_not_y = pool.log_probs(*clips.arguments())
        to_logits, to_features, to_parameters = gradients(pool, clips)
        for tensor in (log_y, log_not_y, to_logits, to_features, *to_parameters):
            assert bool(tensor.isfinite().all())


EXACT_FORMULAS = {
    "average": lambda y: pooling_formulas.average(y),
    "max": lambda y: pooling_formulas.maximum(y),
    "linear": lambda y: pooling_formulas.linear(y),
    "exponential": lambda y: pooling_formulas.exponential(y),
    "auto": lambda y: pooling_formulas.auto(y, Decimal("2.5")),
    "power": lambda y: pooling_formulas.power(y, Decimal("2.5")),
}


@pytest.mark.parametrize("name", EXACT_FORMULAS)
@pytest.mark.parametrize("present", [True, False])
def test_the_logarithm_of_almost_nothing_is_exact(name: str, present: bool) -> None:
    # 1 - y^c of a certain clip, or y^c of a silent one: about 1e-12, beyond what 1 - y^c has in float32.
    logits = torch.linspace(27.5, 32.0, 9) if present else torch.linspace(-32.0, -27.5, 9)
    options: dict[str, Any] = {"initial": 2.5} if "initial" in pooling.takes(name) else {}
    pool = pooling.create(name, n_classes=1, **options)
    log_y, log_not_y = pool.log_probs(logits[None, :, None])
    with localcontext() as context:
        context.prec = 60
        y = np.array([1 / (1 + (-Decimal(z)).exp()) for z in logits.tolist()])
        exact = EXACT_FORMULAS[name](y)
        smaller = 1 - exact if present else exact
        assert smaller < Decimal("2e-12")
        expected = float(smaller.ln())
    assert (log_not_y if present else log_y).item() == pytest.approx(expected, rel=1e-6)


# Weights that do not depend on the probabilities, so that nothing but the last step may cost digits.
@pytest.mark.parametrize("case", [case for case in ALL if case.has_head or case.name in ("average", "max")], ids=str)
@pytest.mark.parametrize("shift", [-17.0, 17.0])
def test_gradients_of_almost_certain_clips_survive_rounding(case: Case, shift: float, rng: np.random.Generator) -> None:
    # Rounding lifts some of these logarithms of about 1 - 1e-8 above 0; what puts them back costs no gradient.
    pool = case.pool()
    for n_frames in (2, 3, 7, 13):
        clips = random_clips(rng, lengths=(n_frames,) * 8)
        clips.logits[:] = clips.logits / 4 + shift
        found, exact = (
            _log_gradient(pool.to(dtype), clips.logits.to(dtype), clips.features.to(dtype), present=shift > 0)
            for dtype in (torch.float32, torch.float64)
        )
        assert_close(found, exact.float(), rtol=1e-4, atol=1e-13)


def _log_gradient(pool: pooling.Pool, logits: torch.Tensor, features: torch.Tensor, *, present: bool) -> torch.Tensor:
    """The gradient of log y^c, or of log (1 - y^c), to the frames."""
    logits = logits.detach().requires_grad_()
    pool.log_probs(logits, None, features)[0 if present else 1].sum().backward()
    assert logits.grad is not None
    return logits.grad


# -- laws: precision ------------------------------------------------------------------------------------------------


@every_pool
@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_half_precision_inputs_are_computed_in_float32(case: Case, half: torch.dtype, rng: np.random.Generator) -> None:
    clips, pool = random_clips(rng, dtype=half), case.pool()
    clip_probs = pool(*clips.arguments())
    assert clip_probs.dtype == torch.float32
    assert pool.scores(*clips.arguments()).dtype == torch.float32
    assert_close(clip_probs, pool(clips.logits.float(), clips.mask, clips.features.float()), atol=0, rtol=0)
    assert gradients(pool, clips)[0].dtype == half


@every_pool
def test_float64_stays_float64(case: Case, rng: np.random.Generator) -> None:
    clips = random_clips(rng, dtype=torch.float64)
    assert case.pool()(*clips.arguments()).dtype == torch.float64


@every_pool
@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16, torch.float64])
def test_parameters_of_another_precision_leave_the_result_in_float32(
    case: Case, precision: torch.dtype, rng: np.random.Generator
) -> None:
    clips, pool = random_clips(rng), case.pool().to(precision)
    for found in (*pool.log_probs(*clips.arguments()), pool.scores(*clips.arguments())):
        assert found.dtype == torch.float32
    assert_close(pool(*clips.arguments()), case.pool()(*clips.arguments()), atol=0.02, rtol=0)


@every_pool
def test_autocast_leaves_everything_in_float32(case: Case, rng: np.random.Generator) -> None:
    clips, pool = random_clips(rng), case.pool()

    def results_and_gradient(*, autocast: bool) -> tuple[torch.Tensor, ...]:
        logits = clips.logits.clone().requires_grad_()
        arguments = logits, clips.mask, clips.features
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            results = *pool.log_probs(*arguments), pool(*arguments), pool.scores(*arguments), pool.penalty()
        (results[0] - results[1]).sum().backward()  # outside, as autocast wants it
        assert logits.grad is not None
        return *results, logits.grad

    # Bit for bit, types included.
    assert_close(results_and_gradient(autocast=True), results_and_gradient(autocast=False), atol=0, rtol=0)


def test_scores_are_computed_outside_autocast() -> None:
    # Matrix products are what autocast rounds: no function here has one in its scores, one written later may.
    class Mixed(pooling.Pool):
        def frame_scores(self, log_y: torch.Tensor, head_scores: torch.Tensor | None) -> torch.Tensor:
            assert log_y.dtype == torch.float32
            return log_y.exp() @ torch.full((3, 3), 1.001)

    pool, logits = Mixed(3), torch.linspace(-3, 3, 30).reshape(1, 10, 3)
    outside = pool.scores(logits), *pool.log_probs(logits)
    with torch.autocast("cpu", torch.bfloat16):
        inside = pool.scores(logits), *pool.log_probs(logits)
    assert_close(inside, outside, atol=0, rtol=0)


@every_pool
def test_gradients_are_those_of_finite_differences(case: Case, rng: np.random.Generator) -> None:
    clips, pool = random_clips(rng, lengths=(5, 3), dtype=torch.float64), case.pool().double()
    logits, features = clips.logits.requires_grad_(), clips.features.requires_grad_()

    def results(logits: torch.Tensor, features: torch.Tensor, *parameters: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return *pool.log_probs(logits, clips.mask, features), pool(logits, clips.mask, features)

    assert torch.autograd.gradcheck(results, (logits, features, *pool.parameters()))


# -- laws: compiling ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_compiles_without_graph_breaks_once_for_any_number_of_frames(case: Case, rng: np.random.Generator) -> None:
    torch.compiler.reset()
    pool = case.pool()
    # The eager backend compiles nothing but still refuses, with fullgraph, whatever would break the graph.
    compiled = torch.compile(pool.log_probs, fullgraph=True, dynamic=True, backend="eager")
    clips = random_clips(rng)
    assert_close(compiled(*clips.arguments()), pool.log_probs(*clips.arguments()))
    assert_close(compiled(clips.logits, None, clips.features), pool.log_probs(clips.logits, None, clips.features))
    with torch.compiler.set_stance("fail_on_recompile"):
        for lengths in ((16, 2), (9, 9, 0)):
            others = random_clips(rng, lengths=lengths)
            assert_close(compiled(*others.arguments()), pool.log_probs(*others.arguments()))
