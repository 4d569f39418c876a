"""Max pooling; the laws of every pooling function are in test_pooling_laws.py."""

from __future__ import annotations

import pytest
import torch

from earmark import pooling
from earmark.pooling.maximum import Max

# -- laws -----------------------------------------------------------------------------------------------------------


def test_of_equal_frames_the_first_gets_the_whole_gradient() -> None:
    logits = torch.tensor([[[0.5], [2.0], [2.0], [1.0]]], requires_grad=True)
    Max(1)(logits).sum().backward()
    y = torch.sigmoid(torch.tensor(2.0)).item()
    assert logits.grad is not None
    assert logits.grad.flatten().tolist() == pytest.approx([0.0, y * (1 - y), 0.0, 0.0])


@pytest.mark.parametrize("base", [-150.0, 0.0, 18.0, 150.0])
def test_the_larger_of_two_logits_wins_where_their_probabilities_look_equal(base: float) -> None:
    logits = torch.tensor([[[base], [base + 0.5], [base + 0.25]]])
    assert Max(1).scores(logits).flatten().tolist() == [-torch.inf, 0.0, -torch.inf]
    assert Max(1).log_probs(logits)[1].item() == pytest.approx(torch.nn.functional.logsigmoid(-logits[0, 1]).item())


def test_the_padding_never_wins() -> None:
    logits = torch.tensor([[[-3.0], [-5.0], [9.0]]])
    mask = torch.tensor([[True, True, False]])
    assert Max(1)(logits, mask).item() == pytest.approx(torch.sigmoid(torch.tensor(-3.0)).item())


# -- worked numbers -------------------------------------------------------------------------------------------------


def test_max() -> None:
    # The larger of 0.2, 0.6 and of 0.9, 0.3.
    clip = torch.logit(torch.tensor([[[0.2, 0.9], [0.6, 0.3]]]))
    assert Max(2)(clip).tolist() == [pytest.approx([0.6, 0.9])]


# -- wrong input ----------------------------------------------------------------------------------------------------


def test_options_are_refused() -> None:
    with pytest.raises(ValueError, match=r"pooling 'max' takes no 'axis' \(it takes: no options\)"):
        pooling.create("max", n_classes=2, axis="time")
