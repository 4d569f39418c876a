"""What a step of training sees: whose clips, in which batches, and changed by which random numbers."""

from __future__ import annotations

import torch
from oracles.training_cases import changed
from run_cases import BUSY, some_data

from earmark.config import Config
from earmark.training.drawing import drawn_batch, epoch_plan
from earmark.training.starting import new_network

# --- laws ---


def test_an_epoch_is_drawn_from_the_training_clips_alone() -> None:
    data = some_data()
    for epoch in range(1, 6):
        drawn = [clip for batch in epoch_plan(data, BUSY, epoch) for clip in batch]
        assert len(drawn) == 10
        assert set(drawn) <= set(range(10))  # the last four are held out
    plain = changed(BUSY, training={"balance": "none"})
    assert sorted(clip for batch in epoch_plan(data, plain, 1) for clip in batch) == list(range(10))


def test_a_plan_depends_on_seed_and_epoch_and_a_batch_on_seed_and_step() -> None:
    data = some_data()
    network = new_network(data, BUSY)
    reseeded = changed(BUSY, training={"seed": 1})
    assert epoch_plan(data, BUSY, 2) == epoch_plan(data, BUSY, 2)
    assert epoch_plan(data, BUSY, 2) != epoch_plan(data, BUSY, 3)
    assert epoch_plan(data, BUSY, 2) != epoch_plan(data, reseeded, 2)

    def features_and_dropout(config: Config, step: int) -> tuple[list[float], list[float]]:
        batch = drawn_batch(network, data, [0, 1, 2], config, step)
        return batch.features.flatten().tolist(), torch.rand(3).tolist()

    first = features_and_dropout(BUSY, 7)
    torch.rand(5)
    assert features_and_dropout(BUSY, 7) == first
    for other in (features_and_dropout(BUSY, 8), features_and_dropout(reseeded, 7)):
        assert other[0] != first[0]
        assert other[1] != first[1]
