"""The mean teacher: an average by the book, a copy at the start, and an opinion about every clip."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from oracles.training_cases import SMALL, changed, clips_in_memory, lively_network

from earmark.config import Config
from earmark.models.crnn import Network
from earmark.training.batch import Batch, collate
from earmark.training.mean_teacher import move_teacher, new_teacher, ramp, with_noise
from earmark.training.terms import loss_terms

CERTAIN = changed(teacher={"noise_db": 0.0})


def unlabelled_batch(rng: np.random.Generator, lengths: tuple[int, ...] = (40, 60)) -> Batch:
    """Clips of which nothing is known."""
    features = [rng.normal(-7.0, 1.5, (length, 16)) for length in lengths]
    clips, store = clips_in_memory(features, np.zeros((len(lengths), 3)), known=np.zeros((len(lengths), 3)))
    return collate(clips, store, range(len(lengths)), time_reduction=2)


# --- laws ---


def test_the_teacher_is_the_moving_average_of_the_student(rng: np.random.Generator) -> None:
    # The oracle writes the average out as a sum over all past selves, in double precision.
    config = changed(pooling={"name": "power"}, teacher={"momentum": 0.9})
    network = lively_network(config)
    teacher = new_teacher(network)
    past = [{name: value.detach().double().numpy().copy() for name, value in network.named_parameters()}]
    for step in range(1, 31):
        with torch.no_grad():
            for value in network.parameters():
                value.add_(torch.from_numpy(rng.normal(0.0, 0.1, value.shape)).float())
        move_teacher(teacher, network, config, step=step, n_steps=30)
        past.append({name: value.detach().double().numpy().copy() for name, value in network.named_parameters()})
    kept = [min(1 - 1 / (step + 1), 0.9) for step in range(1, 31)]  # 1/2, 2/3, 3/4 ... 0.9, 0.9
    shares = [math.prod(kept), *((1 - kept[i]) * math.prod(kept[i + 1 :]) for i in range(30))]
    assert sum(shares) == pytest.approx(1.0)
    for name, value in teacher.named_parameters():
        expected = sum(share * one[name] for share, one in zip(shares, past, strict=True))
        np.testing.assert_allclose(value.numpy(), expected, atol=1e-5)
    assert "pool.raw" in dict(teacher.named_parameters())  # pooling parameters as well


@pytest.mark.parametrize("batch_norm", ["own", "student"])
def test_statistics_of_batch_normalisation_are_never_averaged(batch_norm: str) -> None:
    config = changed(teacher={"batch_norm": batch_norm})
    network = lively_network(config)
    teacher = new_teacher(network)
    before = {name: value.clone() for name, value in teacher.named_buffers()}
    with torch.no_grad():
        for value in network.buffers():
            value.add_(1)
    move_teacher(teacher, network, config, step=5, n_steps=30)
    for name, value in teacher.named_buffers():
        expected = before[name] if batch_norm == "own" else network.get_buffer(name)
        assert torch.equal(value, expected), name


def test_a_teacher_that_hears_the_same_agrees(rng: np.random.Generator) -> None:
    network, one = lively_network(CERTAIN).train(), unlabelled_batch(rng)
    terms = loss_terms(network, one, CERTAIN, teacher=new_teacher(network), epochs_done=9.0)
    assert terms["consistency_frames"].item() == pytest.approx(0.0, abs=1e-10)
    assert terms["consistency_clips"].item() == pytest.approx(0.0, abs=1e-10)
    assert terms["tags"].item() == 0.0


def test_the_disagreement_is_that_of_real_frames_and_all_clips(rng: np.random.Generator) -> None:
    network, teacher = lively_network(CERTAIN).train(), lively_network(CERTAIN, seed=8).train()
    one = unlabelled_batch(rng)
    spoilt = dataclasses.replace(one, features=one.features.clone())
    spoilt.features[0, 40:] = 1e4  # padding
    with torch.no_grad():
        said = [model(one.features, one.mask) for model in (network, teacher)]
        frames = [output.logits.sigmoid().double().numpy() for output in said]
        clips = [
            model.pool(o.logits, o.mask, o.hidden).double() for model, o in zip((network, teacher), said, strict=True)
        ]
    squares = [(frames[0] - frames[1])[row, : length // 2].flatten() ** 2 for row, length in enumerate((40, 60))]
    for epochs_done, weight in ((0.0, 2 * math.exp(-5)), (0.75, 2 * math.exp(-1.25)), (1.5, 2.0), (3.0, 2.0)):
        terms = loss_terms(network, spoilt, CERTAIN, teacher=teacher, epochs_done=epochs_done)  # T is 1.5 of 3 epochs
        expected = weight * np.concatenate(squares).mean()
        assert terms["consistency_frames"].item() == pytest.approx(expected, rel=1e-4)
        assert terms["consistency_clips"].item() == pytest.approx(
            weight * float((clips[0] - clips[1]).square().mean()), rel=1e-4
        )


def test_only_the_student_learns_and_both_hear_with_their_own_dropout(rng: np.random.Generator) -> None:
    config = changed(CERTAIN, model={"conv_dropout": 0.4})
    network = lively_network(config).train()
    teacher = new_teacher(network)
    terms = loss_terms(network, unlabelled_batch(rng), config, teacher=teacher, epochs_done=3.0)
    assert terms["consistency_frames"].item() > 1e-4  # with one and the same dropout it would be 0
    torch.stack(list(terms.values())).sum().backward()
    assert all(value.grad is None for value in teacher.parameters())
    assert any(value.grad is not None and value.grad.abs().max() > 0 for value in network.parameters())


def test_labels_count_as_without_a_teacher(rng: np.random.Generator) -> None:
    network, one = lively_network(CERTAIN), unlabelled_batch(rng)
    one = dataclasses.replace(one, tags_known=torch.tensor([[True, False, True], [False, False, False]]))
    terms = loss_terms(network, one, CERTAIN, teacher=new_teacher(network), epochs_done=3.0)
    for name, value in loss_terms(network, one, CERTAIN).items():
        torch.testing.assert_close(terms[name], value)


def test_noise_is_as_much_weaker_as_it_should_be_and_depends_on_no_padding(rng: np.random.Generator) -> None:
    one = unlabelled_batch(rng, lengths=(4000, 8000))
    torch.manual_seed(3)
    noisy = with_noise(one, 30.0)
    for row, length in enumerate((4000, 8000)):
        noise = (noisy.features - one.features)[row, :length]
        strength = one.features[row, :length].square().mean(dim=0).sqrt()
        torch.testing.assert_close(noise.std(dim=0) / strength, torch.full((16,), 10**-1.5), rtol=0.1, atol=0)
        assert noise.mean(dim=0).abs().max() < 0.02
    assert with_noise(one, 0.0) is one


# --- worked numbers ---


def test_the_ramp_by_hand() -> None:
    # exp(-5 (1 - 10 / 50)^2) = exp(-3.2)
    assert ramp(10, 50) == pytest.approx(0.0407622, abs=1e-7)
    assert ramp(0, 50) == pytest.approx(0.0067379, abs=1e-7)
    assert ramp(50, 50) == ramp(70, 50) == 1.0


@pytest.mark.parametrize(
    ("n_steps", "momentum"), [(400, 0.975), (9_999, 0.998999900), (10_000, 0.999), (42_000, 0.999), (5, 0.0)]
)
def test_a_short_run_remembers_a_tenth_of_itself(n_steps: int, momentum: float) -> None:
    network = Network(Config(), ["dog"])
    teacher = new_teacher(network)
    teacher.crnn.linear.bias.fill_(1.0)
    _ = network.crnn.linear.bias.data.zero_()
    move_teacher(teacher, network, SMALL, step=10**6, n_steps=n_steps)
    assert teacher.crnn.linear.bias.item() == pytest.approx(momentum, abs=1e-7)


def test_the_first_two_moves_by_hand() -> None:
    # The copy at 0; the student at 1, then at 3. a = 1/2, then 2/3: 0 + 1/2 = 0.5, then 0.5 * 2/3 + 3 * 1/3 = 4/3.
    network = Network(Config(), ["dog"])
    _ = network.crnn.linear.bias.data.zero_()
    teacher = new_teacher(network)
    for step, value, expected in ((1, 1.0, 0.5), (2, 3.0, 4 / 3)):
        network.crnn.linear.bias.data.fill_(value)
        move_teacher(teacher, network, SMALL, step=step, n_steps=400)
        assert teacher.crnn.linear.bias.item() == pytest.approx(expected)
