"""The network: the published sizes and first weights, and clips that do not notice who else is in their batch."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from oracles import training_network
from torch import Tensor, nn

from earmark.config import Config, FeatureConfig, ModelConfig, PoolingConfig
from earmark.config_file import read_config
from earmark.models.crnn import CRNN, Network

PAPER = Path(__file__).parents[2] / "src" / "earmark" / "paper"
LENGTHS = (12, 4, 20)  # feature frames; the time reduction below is 4

SMALL = Config(
    features=FeatureConfig(n_mels=8, window_samples=256, hop_samples=160),
    model=ModelConfig(channels=(3, 4), pool_time=(2, 2), pool_mel=(2, 2), rnn_units=5),
)


def small_network(*, dtype: torch.dtype = torch.float32, **model: Any) -> Network:
    """A network with two blocks whose statistics, scales and biases are not the initial ones."""
    torch.manual_seed(7)
    config = dataclasses.replace(SMALL, model=dataclasses.replace(SMALL.model, **model))
    network = Network(config, ["cat", "dog", "owl"]).to(dtype)
    with torch.no_grad():
        for name, values in [*network.named_parameters(), *network.named_buffers()]:
            if name.endswith(("bias", "running_mean", "mean")):
                values.uniform_(-0.5, 0.5)
            elif name.endswith(("norm.weight", "running_var", "deviation")):
                values.uniform_(0.5, 2.0)
    return network


def clips(rng: np.random.Generator, *, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """Features of clips of different length, (frames, mels)."""
    return [torch.from_numpy(rng.normal(size=(length, 8))).to(dtype) for length in LENGTHS]


def padded(features: list[Tensor], *, filling: float) -> tuple[Tensor, Tensor]:
    """The clips as one batch, with the mask of their output frames."""
    batch = nn.utils.rnn.pad_sequence(features, batch_first=True, padding_value=filling)
    n_output = torch.tensor([len(clip) // 4 for clip in features])
    return batch, torch.arange(batch.shape[1] // 4) < n_output[:, None]


VARIANTS: list[dict[str, Any]] = [
    {},
    {"rnn_layers": 2, "conv_bias": True, "batch_norm_eps": 1e-3},
    {"activation": "glu", "pool": "average"},
    {"activation": "context_gating", "kernel_size": 5},
    {"rnn_layers": 0},
]

# --- laws ---


@pytest.mark.parametrize("model", VARIANTS, ids=str)
@pytest.mark.parametrize("filling", [0.0, -1e4, float("nan")])
@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
def test_a_batch_is_its_clips(model: dict[str, Any], filling: float, train: bool, rng: np.random.Generator) -> None:
    network = small_network(**model).train(train)
    features = clips(rng)
    batch, mask = padded(features, filling=filling)
    found = network(batch, mask)
    expected = training_network.logits(network, features, train=train)
    for row, clip in enumerate(expected):
        torch.testing.assert_close(found.logits[row, : len(clip)], clip, atol=1e-5, rtol=1e-5)
    assert found.mask is mask


def test_a_clip_alone_is_the_clip_among_others(rng: np.random.Generator) -> None:
    network = small_network(rnn_layers=2).eval()
    features = clips(rng)
    batch, mask = padded(features, filling=float("nan"))
    found = network(batch, mask)
    pooled = network.pool(found.logits, found.mask, found.hidden)
    for row, clip in enumerate(features):
        alone = network(clip[None])
        n_output = len(clip) // 4
        torch.testing.assert_close(found.logits[row, :n_output], alone.logits[0], atol=1e-5, rtol=0)
        torch.testing.assert_close(found.hidden[row, :n_output], alone.hidden[0], atol=1e-5, rtol=0)
        torch.testing.assert_close(pooled[row], network.pool(alone.logits)[0], atol=1e-5, rtol=0)


def test_without_recurrent_layers_a_frame_hears_as_far_as_the_convolutions_reach(rng: np.random.Generator) -> None:
    network = small_network(rnn_layers=0).eval()
    features = torch.from_numpy(rng.normal(size=(1, 64, 8))).float()
    changed = features.clone()
    changed[:, 32:] += 5.0
    # 3x3 after 1x and 2x pooling: 1 + 2 feature frames to either side of the 4 of an output frame; 8 * 4 = 32.
    is_same = (network(features).logits == network(changed).logits).all(dim=2)[0]
    assert is_same.tolist() == [True] * 7 + [False] * 9


@pytest.mark.parametrize("model", VARIANTS, ids=str)
def test_gradients_are_those_of_the_clips_and_none_reaches_the_padding(
    model: dict[str, Any], rng: np.random.Generator
) -> None:
    network = small_network(dtype=torch.float64, **model)
    features = clips(rng, dtype=torch.float64)
    weighing = torch.from_numpy(rng.normal(size=(3, 5, 3)))

    def gradients(logits: list[Tensor]) -> dict[str, Tensor]:
        total = torch.stack([(clip * weighing[row, : len(clip)]).sum() for row, clip in enumerate(logits)]).sum()
        named = {name: p for name, p in network.named_parameters() if name.startswith("crnn")}
        return dict(zip(named, torch.autograd.grad(total, list(named.values()), retain_graph=True), strict=True))

    batch, mask = padded(features, filling=float("nan"))
    batch.requires_grad_()
    found = network(batch, mask).logits
    ours = gradients([found[row, : len(clip) // 4] for row, clip in enumerate(features)])
    theirs = gradients(training_network.logits(network, features, train=True))
    torch.testing.assert_close(ours, theirs, atol=1e-9, rtol=1e-7)

    (to_input,) = torch.autograd.grad(found[mask].square().sum(), batch)
    is_real = mask.repeat_interleave(4, dim=1)
    assert (to_input[~is_real] == 0).all()
    assert (to_input[is_real] != 0).all()


def test_running_statistics_do_not_count_the_padding(rng: np.random.Generator) -> None:
    features = clips(rng)
    states = []
    for filling in (0.0, 1e5, float("nan")):
        network = small_network()
        network(*padded(features, filling=filling))
        states.append({name: value for name, value in network.state_dict().items() if "running" in name})
    torch.testing.assert_close(states[1], states[0])
    torch.testing.assert_close(states[2], states[0])
    longer = small_network()  # and more of it changes nothing either
    batch, mask = padded(features, filling=0.0)
    longer(nn.functional.pad(batch, (0, 0, 0, 40)), nn.functional.pad(mask, (0, 10)))
    torch.testing.assert_close({name: longer.state_dict()[name] for name in states[0]}, states[0])


def test_the_network_sees_normalised_features(rng: np.random.Generator) -> None:
    network = small_network().eval()
    features = torch.from_numpy(rng.normal(size=(1, 8, 8))).float()
    before = network(features).logits
    with torch.no_grad():
        network.mean += 3.0
    torch.testing.assert_close(network(features + 3.0).logits, before, atol=1e-5, rtol=0)
    with torch.no_grad():
        network.deviation *= 2.0
    torch.testing.assert_close(network(2 * (features + 3.0) - network.mean).logits, before, atol=1e-5, rtol=0)


def test_every_pooling_setting_reaches_the_pooling_function() -> None:
    def pool(**settings: Any) -> Any:
        return Network(dataclasses.replace(SMALL, pooling=PoolingConfig(**settings)), ["cat", "dog"]).pool

    power = pool(name="power", initial=0.5, penalty=0.25, constraint="softplus", shared=True)
    assert power.parameter_values().tolist() == pytest.approx([0.5, 0.5])
    assert power.penalty().item() == pytest.approx(0.25 * (0.25 + 0.25))  # over the two classes
    assert (power.constraint, power.raw.shape) == ("softplus", (1,))
    attention = pool(name="attention", axis="class")
    assert (attention.axis, attention.n_features) == ("class", 10)  # both directions of 5 units
    assert pool(name="cap", n_frames=100).max_alpha == pytest.approx(np.log(99))
    hierarchical = pool(name="hierarchical", inner="attention", groups=(5, 4))
    assert (hierarchical.groups, hierarchical.inner.n_features) == ((5, 4), 10)


# --- worked numbers ---


def n_weights(network: nn.Module) -> int:
    """Trainable numbers."""
    return sum(parameter.numel() for parameter in network.parameters())


def paper_network(name: str, n_classes: int, *, pooling: PoolingConfig, rnn_layers: int = 2) -> Network:
    """A network of the paper with another pooling function."""
    config = read_config(PAPER / f"{name}.toml")
    config = dataclasses.replace(
        config, pooling=pooling, model=dataclasses.replace(config.model, rnn_layers=rnn_layers)
    )
    return Network(config, [f"class {number}" for number in range(n_classes)])


def test_the_network_for_2017_has_the_published_number_of_weights() -> None:
    # Convolutions 1*25*32 + 32, 32*25*64 + 64, 64*25*128 + 128 = 257,024; scales and shifts 2 * (32 + 64 + 128) = 448;
    # a GRU layer of 2 * (3*100*1024 + 3*100*100 + 2*3*100) = 675,600; linear 200*17 + 17 = 3,417.
    linear = PoolingConfig(name="linear")
    assert n_weights(paper_network("dcase2017", 17, pooling=linear, rnn_layers=1)) == 936_489
    assert n_weights(paper_network("dcase2017", 17, pooling=linear)) == 1_117_689
    assert n_weights(paper_network("dcase2017", 17, pooling=PoolingConfig())) == 1_117_689 + 17
    assert n_weights(paper_network("dcase2017", 17, pooling=PoolingConfig(name="auto"))) == 1_117_689 + 17
    assert n_weights(paper_network("dcase2017", 17, pooling=PoolingConfig(name="attention"))) == 1_117_689 + 3_417


def test_the_network_for_2019_has_the_published_number_of_weights() -> None:
    assert n_weights(paper_network("dcase2019", 10, pooling=PoolingConfig(name="linear"))) == 1_109_850
    assert n_weights(paper_network("dcase2019", 10, pooling=PoolingConfig())) == 1_109_850 + 10
    # The reference has its attention head over classes: 256 * 10 + 10 more.
    attention = PoolingConfig(name="attention", axis="class")
    assert n_weights(paper_network("dcase2019", 10, pooling=attention)) == 1_112_420


def test_the_default_network_is_small() -> None:
    assert 0.38e6 < n_weights(Network(Config(), [f"class {number}" for number in range(10)])) < 0.42e6


@pytest.mark.parametrize(
    ("name", "n_classes", "shape", "expected"),
    [("dcase2017", 17, (1, 400, 64), (1, 100, 17)), ("dcase2019", 10, (1, 608, 128), (1, 152, 10))],
)
def test_output_frames(name: str, n_classes: int, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    network = paper_network(name, n_classes, pooling=PoolingConfig(name="linear")).eval()
    with torch.no_grad():
        output = network(torch.zeros(shape))
    assert output.logits.shape == expected
    assert output.hidden.shape == (*expected[:2], network.crnn.n_hidden)


def test_a_batch_of_the_recipes_holds_the_published_number_of_clips() -> None:
    for name, n_clips in (("dcase2017", 100), ("dcase2019", 24)):
        config = read_config(PAPER / f"{name}.toml")
        assert config.features.clip_frames is not None
        frames = config.training.batch_seconds * config.features.sample_rate / config.features.hop_samples
        assert round(frames) // config.features.clip_frames == n_clips


def test_first_weights_of_2017() -> None:
    torch.manual_seed(0)
    crnn = paper_network("dcase2017", 17, pooling=PoolingConfig(name="linear")).crnn
    kernel = crnn.get_parameter("blocks.1.conv.weight")
    bound = (6 / (32 * 25 + 64 * 25)) ** 0.5  # Xavier: sqrt(6 / (inputs + outputs)) of a 5 x 5 kernel, 32 to 64
    assert 0.99 * bound < kernel.abs().max() <= bound
    assert kernel.mean().abs() < 0.001  # uniform, so the mean of 51,200 has a deviation of 0.0002
    bound = (6 / (200 + 17)) ** 0.5
    assert 0.99 * bound < crnn.linear.weight.abs().max() <= bound
    _assert_orthogonal_and_unbiased(crnn)
    for block in (0, 1, 2):
        assert (crnn.get_parameter(f"blocks.{block}.norm.weight") == 1).all()
        assert (crnn.get_parameter(f"blocks.{block}.norm.bias") == 0).all()


def test_first_weights_of_2019() -> None:
    torch.manual_seed(0)
    crnn = paper_network("dcase2019", 10, pooling=PoolingConfig(name="linear")).crnn
    kernel = crnn.get_parameter("blocks.4.conv.weight")
    bound = 2**0.5 * (6 / (128 * 9 + 128 * 9)) ** 0.5  # with a gain of sqrt 2
    assert 0.99 * bound < kernel.abs().max() <= bound
    assert crnn.linear.weight.std().item() == pytest.approx(0.01, rel=0.1)
    gate = crnn.get_parameter("blocks.6.gate.weight")
    assert gate.std().item() == pytest.approx(0.01, rel=0.05)
    scales = torch.cat([crnn.get_parameter(f"blocks.{block}.norm.weight") for block in range(7)])
    assert scales.mean().item() == pytest.approx(1.0, abs=0.005)
    assert scales.std().item() == pytest.approx(0.02, rel=0.15)
    _assert_orthogonal_and_unbiased(crnn)
    eps = {module.eps for module in crnn.modules() if isinstance(module, nn.BatchNorm2d)}
    momenta = {module.momentum for module in crnn.modules() if isinstance(module, nn.BatchNorm2d)}
    assert (eps, momenta) == ({1e-3}, {0.1})


def _assert_orthogonal_and_unbiased(crnn: CRNN) -> None:
    """Every GRU matrix has orthonormal columns (or rows), and every bias but those of batch normalisation is 0."""
    assert crnn.recurrent is not None
    for name, values in crnn.recurrent.named_parameters():
        if "weight" in name:
            short = values if values.shape[0] <= values.shape[1] else values.T
            torch.testing.assert_close(short @ short.T, torch.eye(len(short)), atol=1e-4, rtol=0)
    for name, values in crnn.named_parameters():
        if "bias" in name:
            assert (values == 0).all(), name
