"""The loss of one batch: which terms it has, and how often the network hears the batch for them."""

from __future__ import annotations

import numpy as np
import torch
from oracles.training_cases import SMALL, changed, lively_network

from earmark.training.batch import Batch
from earmark.training.mean_teacher import new_teacher
from earmark.training.terms import loss_terms

CLASSES = ("high", "low")
LABELS = {"tags", "penalty"}


def test_the_network_hears_a_batch_once_whatever_is_asked(rng: np.random.Generator) -> None:
    config = changed(SMALL, model={"conv_dropout": 0.3})
    network, old = lively_network(config, CLASSES).train(), lively_network(config, ("high",), seed=8)
    teacher = new_teacher(network)
    features = torch.from_numpy(rng.normal(-7.0, 2.0, (2, 50, 16))).float()
    known = torch.tensor([[False, True], [True, True]])
    batch = Batch(features, None, torch.ones(2, 2), known, ("a.wav", "b.wav"))
    heard: list[str] = []
    for name, model in (("network", network), ("teacher", teacher), ("old", old)):
        model.register_forward_hook(lambda *_, name=name: heard.append(name))
    terms = loss_terms(network, batch, config, teacher=teacher, old=old, epochs_done=1.0)
    assert sorted(heard) == ["network", "old", "teacher"]
    assert set(terms) == LABELS | {"consistency_frames", "consistency_clips", "kept"}
    assert all(terms[name] > 0 for name in terms if name != "penalty")
    assert set(loss_terms(network, batch, config)) == LABELS
    assert set(loss_terms(network, batch, config, old=old)) == LABELS | {"kept"}
