"""Average, linear softmax and exponential softmax; the laws of every pooling function are in test_pooling_laws.py."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from earmark import pooling
from earmark.pooling.fixed import Average, ExponentialSoftmax, LinearSoftmax

# y = 0.1, 0.4, 0.7 and 0.9, 0.9, 0.3: two classes with different contrast.
CLIP = torch.logit(torch.tensor([[[0.1, 0.9], [0.4, 0.9], [0.7, 0.3]]]))

# -- laws -----------------------------------------------------------------------------------------------------------


def test_exponential_weights_differ_by_a_factor_of_e_at_most(rng: np.random.Generator) -> None:
    # The bounds are reached by one frame against 99: e / (e + 99) = 0.0267 and 1 / (1 + 99 e) = 0.0037.
    logits = torch.full((2, 100, 1), -200.0)
    logits[0, 0], logits[1, 1:] = 200.0, 200.0
    weights = ExponentialSoftmax(1).scores(logits).softmax(dim=1)
    assert weights[0, 0].item() == pytest.approx(math.e / (math.e + 99), rel=1e-5)
    assert weights[1, 0].item() == pytest.approx(1 / (1 + 99 * math.e), rel=1e-5)
    random_logits = torch.from_numpy(rng.normal(0, 5, size=(50, 100, 1)))
    random_weights = ExponentialSoftmax(1).scores(random_logits).softmax(dim=1)
    assert random_weights.max().item() <= math.e / (math.e + 99)
    assert random_weights.min().item() >= 1 / (1 + 99 * math.e)


@pytest.mark.parametrize("pool", [Average(2), LinearSoftmax(2), ExponentialSoftmax(2)])
def test_nothing_is_trained(pool: pooling.Pool) -> None:
    assert list(pool.parameters()) == []
    assert pool.parameter_values() is None
    assert pool.penalty().item() == 0


# -- worked numbers -------------------------------------------------------------------------------------------------


def test_average() -> None:
    # (0.1 + 0.4 + 0.7) / 3 and (0.9 + 0.9 + 0.3) / 3
    assert Average(2)(CLIP).tolist() == [pytest.approx([0.4, 0.7])]


def test_linear() -> None:
    # (0.01 + 0.16 + 0.49) / (0.1 + 0.4 + 0.7) = 0.66 / 1.2 and (0.81 + 0.81 + 0.09) / 2.1 = 1.71 / 2.1
    assert LinearSoftmax(2)(CLIP).tolist() == [pytest.approx([0.55, 0.814286])]
    # Half of them: frames of the first class above 0.275 rise.
    assert LinearSoftmax(2).sign_threshold(torch.tensor([[0.55, 0.8]])).tolist() == [pytest.approx([0.275, 0.4])]


def test_exponential() -> None:
    # weights e^0.1 = 1.10517, e^0.4 = 1.49182, e^0.7 = 2.01375, sum 4.61075:
    # (0.110517 + 0.596730 + 1.409627) / 4.61075 = 0.459117
    # weights 2 of e^0.9 = 2.45960, e^0.3 = 1.34986: (4.427286 + 0.404958) / 6.269065 = 0.770807
    assert ExponentialSoftmax(2)(CLIP).tolist() == [pytest.approx([0.459117, 0.770807], abs=1e-5)]


def test_both_logarithms() -> None:
    # Average of the first class: log 0.4 and log 0.6.
    log_y, log_not_y = Average(2).log_probs(CLIP)
    assert log_y[0, 0].item() == pytest.approx(-0.916291)
    assert log_not_y[0, 0].item() == pytest.approx(-0.510826)


def test_mask() -> None:
    # Without its last frame: (0.1 + 0.4) / 2, and (0.01 + 0.16) / (0.1 + 0.4) = 0.34.
    mask = torch.tensor([[True, True, False]])
    assert Average(2)(CLIP, mask)[0, 0].item() == pytest.approx(0.25)
    assert LinearSoftmax(2)(CLIP, mask)[0, 0].item() == pytest.approx(0.34)


# -- wrong input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["average", "linear", "exponential"])
def test_options_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"pooling '{name}' takes no 'initial' \(it takes: no options\)"):
        pooling.create(name, n_classes=2, initial=1.0)
