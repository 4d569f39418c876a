from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from earmark.comparing.plan import BASELINE, Row, rows_of, seeds_of, with_clip_frames
from earmark.config import Config, ModelConfig, PoolingConfig, TrainingConfig
from earmark.labels.weak import WeakClip
from earmark.training.clips import clip_set
from earmark.training.drawing import TrainingData, drawn_batch, epoch_plan
from earmark.training.feature_store import FeatureStore
from earmark.training.starting import new_network

SMALL = Config(
    model=ModelConfig(channels=(2,), pool_time=(2,), pool_mel=(8,), rnn_units=2, conv_dropout=0.3),
    training=TrainingConfig(epochs=1, batch_seconds=3.0, seed=7),
)


def names(text: str, config: Config = SMALL) -> list[str]:
    return [row.name for row in rows_of(text, config)]


# Laws


def test_runs_of_one_seed_begin_with_the_same_weights_and_see_the_same_batches(rng: np.random.Generator) -> None:
    labels = [frozenset({"dog"} if index % 2 else {"cat"}) for index in range(12)]
    rows = [WeakClip(f"{i}.wav", label, None, None, None, {}, "weak.tsv:2") for i, label in enumerate(labels)]
    clips = clip_set(rows, ("cat", "dog"), holdout_fraction=0.25)
    frames = rng.normal(-7, 2, (600, 64)).astype(np.float16)
    data = TrainingData(clips, FeatureStore(frames, np.arange(0, 601, 50), tuple(range(12)), (), ()))
    seen = []
    for row in with_clip_frames(rows_of("all", SMALL), 25):
        config = row.config(SMALL, seed=3)
        network = new_network(data, config)
        plan = epoch_plan(data, config, epoch=1)
        batches = [drawn_batch(network, data, indices, config, step + 1) for step, indices in enumerate(plan)]
        dropout = torch.rand(3)  # drawn_batch has seeded it, for the dropout of the step
        seen.append((network.crnn.state_dict(), plan, [batch.features for batch in batches], dropout))
    assert len(seen) == 11
    for state, plan, features, dropout in seen[1:]:
        assert all(torch.equal(state[name], value) for name, value in seen[0][0].items())
        assert plan == seen[0][1]
        assert all(torch.equal(one, other) for one, other in zip(features, seen[0][2], strict=True))
        assert torch.equal(dropout, seen[0][3])


def test_runs_differ_in_function_and_seed_alone() -> None:
    for row in rows_of("all", SMALL):
        config = row.config(SMALL, seed=9)
        assert replace(config, pooling=SMALL.pooling, training=SMALL.training) == SMALL
        assert config.training == replace(SMALL.training, seed=9)


# Worked numbers


def test_all_are_the_rows_of_the_paper() -> None:
    assert names("all") == [
        "max", "average", "exponential", "attention", "auto", "cap", "rap 1e-2", "rap 1e-3", "rap 1e-4", "linear",
        "power",
    ]  # fmt: skip


def test_linear_is_added_where_it_is_missing() -> None:
    assert names("power,max") == ["power", "max", BASELINE]
    assert names("linear, power") == ["linear", "power"]


def test_options_stand_behind_the_name() -> None:
    rows = rows_of(
        "power:penalty=1e-4:constraint=softplus,hierarchical:inner=power:groups=[5, 5],rap:penalty=1e-5", SMALL
    )
    assert rows[0].pooling == PoolingConfig("power", penalty=1e-4, constraint="softplus")
    assert rows[1].pooling == PoolingConfig("hierarchical", inner="power", groups=(5, 5))
    assert [row.name for row in rows[2:]] == ["rap 1e-5", "linear"]
    assert len({row.folder(seed=1) for row in rows}) == 4


def test_a_function_of_the_settings_keeps_its_options() -> None:
    config = replace(SMALL, pooling=PoolingConfig("power", penalty=1e-4))
    plain, other, _ = rows_of("power,power:initial=2.0", config)
    assert plain.pooling == PoolingConfig("power", penalty=1e-4)
    assert other.pooling == PoolingConfig("power", penalty=1e-4, initial=2.0)


def test_cap_is_told_the_frames_of_a_clip_unless_it_knows_them() -> None:
    rows = with_clip_frames(rows_of("cap,cap:n_frames=100", SMALL), 250)
    assert [row.pooling.n_frames for row in rows] == [250, 100, None]


def test_seeds_begin_with_that_of_the_settings() -> None:
    assert seeds_of(2, SMALL) == (7, 8)


# Wrong input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("linear", "at least two functions, got only linear"),
        ("power,liner", "got 'liner' - did you mean 'linear'"),
        ("power,power", "different functions, got 'power' twice"),
        ("power,,max", "is there a comma too many"),
        ("power,all", "got both"),
        ("power:pennalty=1", "did you mean 'penalty'"),
        ("max:penalty=1.0", "--pooling max:penalty=1.0: pooling 'max' takes no 'penalty'"),
        ("hierarchical", "needs 'inner'.* - write hierarchical:option=value"),
        ("power:initial=-1.0", "initial must be at least 0"),
    ],
)
def test_functions_that_cannot_be_compared(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rows_of(text, SMALL)


def test_no_seed_is_no_comparison() -> None:
    with pytest.raises(ValueError, match="--seeds must be at least 1, got 0"):
        seeds_of(0, SMALL)


def test_a_folder_is_named_for_every_system() -> None:
    assert Row("power penalty=1e-4", PoolingConfig("power")).folder(seed=0) == "power-penalty-1e-4-seed-0"
