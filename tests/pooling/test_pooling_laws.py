"""What holds for every pooling function, whatever its weights. Worked numbers stand with each function's own test."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from pooling_cases import Case, Clips, gradients, hierarchical_cases, plain_cases, random_clips
from torch import Tensor
from torch.testing import assert_close

PLAIN = plain_cases()
ALL = PLAIN + hierarchical_cases()
every_pool = pytest.mark.parametrize("case", ALL, ids=str)
every_plain_pool = pytest.mark.parametrize("case", PLAIN, ids=str)

# -- laws: values ---------------------------------------------------------------------------------------------------


@every_pool
def test_a_clip_lies_between_its_quietest_and_its_loudest_frame(case: Case, rng: np.random.Generator) -> None:
    clips = random_clips(rng)
    y = torch.sigmoid(clips.logits)
    quietest = y.masked_fill(~clips.mask[:, :, None], 2).amin(dim=1)
    loudest = y.masked_fill(~clips.mask[:, :, None], -1).amax(dim=1)
    clip_probs = case.pool()(*clips.arguments())
    assert bool((clip_probs >= quietest - 1e-6).all())
    assert bool((clip_probs <= loudest + 1e-6).all())


@pytest.mark.parametrize("case", [case for case in ALL if not case.has_head], ids=str)
def test_a_clip_is_at_least_its_mean_frame(case: Case, rng: np.random.Generator) -> None:
    clips = random_clips(rng, lengths=(12, 12, 12))  # only equal groups have means whose mean is the mean
    clip_probs = case.pool()(*clips.arguments())
    assert bool((clip_probs >= torch.sigmoid(clips.logits).mean(dim=1) - 1e-6).all())


@every_pool
@pytest.mark.parametrize("shift", [-200.0, -20.0, -15.0, 0.0, 15.0, 20.0, 200.0])
def test_no_rounding_leads_out_of_0_to_1(case: Case, shift: float, rng: np.random.Generator) -> None:
    pool = case.pool()
    for n_frames in (1, 2, 3, 7, 13, 50):
        clips = random_clips(rng, lengths=(n_frames,) * 8)
        log_y, log_not_y = pool.log_probs(clips.logits + shift, clips.mask, clips.features)
        assert log_y.max().item() <= 0
        assert log_not_y.max().item() <= 0


@every_pool
def test_present_and_absent_sum_to_one(case: Case, rng: np.random.Generator) -> None:
    log_y, log_not_y = case.pool().log_probs(*random_clips(rng).arguments())
    assert_close(log_y.exp() + log_not_y.exp(), torch.ones_like(log_y), atol=2e-6, rtol=0)


@every_pool
def test_the_clip_is_the_frames_weighted_by_the_softmax_of_their_scores(case: Case, rng: np.random.Generator) -> None:
    clips, pool = random_clips(rng), case.pool()
    scores = pool.scores(*clips.arguments())
    assert scores.shape == clips.logits.shape
    weights = scores.softmax(dim=1)
    assert bool((weights[~clips.mask] == 0).all())
    assert_close((weights * torch.sigmoid(clips.logits)).sum(dim=1), pool(*clips.arguments()), atol=1e-6, rtol=1e-5)


# -- laws: padding and neighbours -----------------------------------------------------------------------------------


@every_pool
@pytest.mark.parametrize("padding", [0.0, 1.0, -1e30, 1e30, math.inf, -math.inf, math.nan])
def test_padding_reaches_neither_results_nor_gradients(case: Case, padding: float, rng: np.random.Generator) -> None:
    clips, pool = random_clips(rng), case.pool()
    hole = ~clips.mask[:, :, None]
    padded = Clips(clips.logits.masked_fill(hole, padding), clips.mask, clips.features.masked_fill(hole, padding))
    results, (to_logits, to_features, to_parameters) = pool(*padded.arguments()), gradients(pool, padded)
    assert bool((to_logits[~clips.mask] == 0).all())
    assert bool((to_features[~clips.mask] == 0).all())
    assert_close(gradients(pool, clips), (to_logits, to_features, to_parameters), atol=0, rtol=0)
    for clip, length in enumerate(clips.mask.sum(dim=1).tolist()):
        alone = pool(clips.logits[clip : clip + 1, :length], None, clips.features[clip : clip + 1, :length])
        assert_close(results[clip : clip + 1], alone, atol=1e-7, rtol=1e-5)


@every_pool
def test_gradients_of_padded_clips_are_those_of_the_clips_alone(case: Case, rng: np.random.Generator) -> None:
    clips, pool = random_clips(rng, dtype=torch.float64), case.pool().double()
    to_logits, to_features, _ = gradients(pool, clips)
    for clip, length in enumerate(clips.mask.sum(dim=1).tolist()):
        # One after the other in a batch of the same size, so that the loss weighs them alike.
        alone = Clips(*(tensor[:, :length] for tensor in clips.arguments()))
        alone = Clips(alone.logits, torch.ones_like(alone.mask), alone.features)
        alone_logits, alone_features, _ = gradients(pool, alone)
        assert_close(to_logits[clip, :length], alone_logits[clip])
        assert_close(to_features[clip, :length], alone_features[clip])


@every_plain_pool  # a gap changes which frames the hierarchical one takes for neighbours
def test_padding_may_stand_anywhere(case: Case, rng: np.random.Generator) -> None:
    clips, pool = random_clips(rng, lengths=(9,)), case.pool()
    keep = torch.tensor([[False, True, True, False, True, True, False, True, False]])
    gathered = pool(clips.logits[:, keep[0]], None, clips.features[:, keep[0]])
    assert_close(pool(clips.logits, keep, clips.features), gathered, atol=1e-7, rtol=1e-5)


@every_pool
@pytest.mark.parametrize("neighbour", [-50.0, 50.0, 1e30, math.inf, math.nan])
def test_a_clip_does_not_depend_on_its_neighbours(case: Case, neighbour: float, rng: np.random.Generator) -> None:
    clips, pool = random_clips(rng), case.pool()
    before = pool(*clips.arguments())
    clips.logits[1], clips.features[1] = neighbour, neighbour
    after = pool(*clips.arguments())
    assert_close(after[[0, 2, 3]], before[[0, 2, 3]], atol=1e-7, rtol=1e-6)


@every_pool
@pytest.mark.parametrize("rest", [0.0, math.nan])
def test_a_clip_without_a_frame_is_0_without_gradient(case: Case, rest: float, rng: np.random.Generator) -> None:
    clips, pool = random_clips(rng), case.pool()
    empty = Clips(clips.logits.clone(), clips.mask.clone(), clips.features.clone())
    empty.logits[1], empty.mask[1], empty.features[1] = rest, False, rest
    log_y, log_not_y = pool.log_probs(*empty.arguments())
    assert bool((log_y[1] == -math.inf).all())
    assert bool((log_not_y[1] == 0).all())
    assert bool((pool(*empty.arguments())[1] == 0).all())
    others = [0, 2, 3]
    assert_close(pool(*empty.arguments())[others], pool(*clips.arguments())[others])
    to_logits, to_features, to_parameters = gradients(pool, empty)
    assert bool((to_logits[1] == 0).all())
    assert bool((to_features[1] == 0).all())
    assert all(bool(gradient.isfinite().all()) for gradient in (to_logits, to_features, *to_parameters))
    assert_close(to_logits[others], gradients(pool, clips)[0][others])


@every_pool
def test_a_batch_without_any_frame_is_0_without_gradient(case: Case, rng: np.random.Generator) -> None:
    clips, pool = random_clips(rng), case.pool()
    empty = Clips(clips.logits, torch.zeros_like(clips.mask), clips.features)
    assert bool((pool(*empty.arguments()) == 0).all())
    to_logits, to_features, to_parameters = gradients(pool, empty)
    assert all(bool((gradient == 0).all()) for gradient in (to_logits, to_features, *to_parameters))


@every_pool
def test_a_batch_may_be_empty(case: Case, rng: np.random.Generator) -> None:
    clips = random_clips(rng)
    assert case.pool()(clips.logits[:0], clips.mask[:0], clips.features[:0]).shape == (0, clips.logits.shape[2])


# -- laws: order and direction --------------------------------------------------------------------------------------


@every_plain_pool
def test_the_order_of_frames_is_irrelevant(case: Case, rng: np.random.Generator) -> None:
    clips, pool = random_clips(rng), case.pool()
    order = torch.from_numpy(rng.permutation(clips.logits.shape[1]))
    shuffled = pool(clips.logits[:, order], clips.mask[:, order], clips.features[:, order])
    assert_close(shuffled, pool(*clips.arguments()), atol=1e-7, rtol=1e-5)


@every_plain_pool
def test_frames_above_the_sign_threshold_push_the_clip_up_and_the_others_down(
    case: Case, rng: np.random.Generator
) -> None:
    clips = random_clips(rng, lengths=(40, 40), dtype=torch.float64)
    pool, logits = case.pool().double(), clips.logits.requires_grad_()
    clip_probs = pool(logits, clips.mask, clips.features)
    clip_probs.sum().backward()
    assert logits.grad is not None
    threshold = pool.sign_threshold(clip_probs.detach())
    assert threshold.shape == clip_probs.shape
    # Where no threshold exists no frame may ever be pushed down.
    above = torch.sigmoid(logits) > threshold.nan_to_num(nan=-1.0)[:, None]
    assert bool((logits.grad[above] >= 0).all())
    assert bool((logits.grad[~above] < 0).all())


@pytest.mark.parametrize("name", ["average", "max", "exponential", "attention"])
def test_functions_that_never_push_down_have_no_threshold_rather_than_0(name: str) -> None:
    pool = next(case for case in PLAIN if case.name == name).pool()
    assert bool(pool.sign_threshold(torch.full((2, 3), 0.5)).isnan().all())


# -- laws: parameters -----------------------------------------------------------------------------------------------


@every_pool
def test_a_saved_state_restores_the_same_function(case: Case, rng: np.random.Generator) -> None:
    clips, pool, other = random_clips(rng), case.pool(), case.pool()
    with torch.no_grad():
        for parameter in pool.parameters():
            parameter.copy_(torch.from_numpy(rng.uniform(0.5, 2.0, size=parameter.shape)))
    other.load_state_dict(pool.state_dict())
    assert_close(other(*clips.arguments()), pool(*clips.arguments()), atol=0, rtol=0)


@pytest.mark.parametrize("case", [case for case in ALL if "initial" in case.options], ids=str)
def test_a_shared_parameter_is_one_that_sums_the_gradients_of_its_classes(case: Case, rng: np.random.Generator) -> None:
    clips, shared, own = random_clips(rng), case.pool(shared=True), case.pool()
    assert [parameter.numel() for parameter in shared.parameters()] == [1]
    assert_close(shared(*clips.arguments()), own(*clips.arguments()))
    assert_close(shared.parameter_values(), own.parameter_values())
    assert_close(shared.penalty(), own.penalty())
    assert_close(gradients(shared, clips)[2][0], gradients(own, clips)[2][0].sum(dim=0, keepdim=True))


@every_pool
def test_a_parameter_shown_in_tables_has_a_name_and_one_value_per_class(case: Case) -> None:
    pool = case.pool()
    values = pool.parameter_values()
    assert (pool.parameter_name is None) == (values is None)
    if values is not None:
        assert values.shape == (pool.n_classes,)
        assert not values.requires_grad


@every_pool
def test_a_table_of_parameters_is_a_copy(case: Case, rng: np.random.Generator) -> None:
    clips, pool = random_clips(rng), case.pool()
    if pool.parameter_values() is None:
        return
    optimiser = torch.optim.SGD(pool.parameters(), lr=0.1)
    rows: list[Tensor] = []
    for _ in range(3):
        optimiser.zero_grad()
        pool(*clips.arguments()).sum().backward()
        optimiser.step()
        values = pool.parameter_values()
        assert values is not None
        rows.append(values)
    assert len({tuple(row.tolist()) for row in rows}) == 3  # as they were at each step, not three times as they are
    before = pool(*clips.arguments())
    rows[-1].fill_(0.0)
    assert_close(pool(*clips.arguments()), before, atol=0, rtol=0)


@every_pool
def test_a_sign_threshold_is_a_number_to_read_and_not_to_train(case: Case) -> None:
    assert not case.pool().sign_threshold(torch.full((2, 3), 0.5)).requires_grad


@every_pool
def test_projecting_again_changes_nothing_and_the_penalty_is_one_number(case: Case) -> None:
    pool = case.pool()
    before = {key: value.clone() for key, value in pool.state_dict().items()}
    pool.project_()
    assert_close(pool.state_dict(), before, atol=0, rtol=0)
    assert pool.penalty().shape == ()
    assert pool.penalty().item() >= 0


@every_plain_pool
def test_the_docstring_works_an_example(case: Case) -> None:
    pool_class = type(case.pool())
    assert pool_class.__doc__ is not None
    assert ">>>" in pool_class.__doc__  # its own: Python does not inherit docstrings
