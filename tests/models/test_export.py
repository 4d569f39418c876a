"""The exported file: the same numbers as torch, whatever the length, and no model that must not be deployed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from numpy.typing import NDArray
from oracles.training_cases import (
    DEPLOYABLE_POOLINGS,
    RATE,
    SMALL,
    changed,
    exported,
    lively_audio,
    lively_network,
    pooling_config,
)

import earmark
from earmark.config import Config
from earmark.detection.model_file import open_model
from earmark.detection.settings import ClassDecoding, Decoding
from earmark.detection.tags import clip_probs
from earmark.models import export
from earmark.models.crnn import Network
from earmark.models.export import DeployedNetwork, export_onnx, output_timeline
from earmark.models.features import LogMel
from earmark.training.feature_store import clip_features


def in_torch(network: Network, audio: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Frame and clip probabilities of one clip, the way training and held-out figures come to them."""
    features = clip_features(audio, LogMel(network.config.features), network.config.model.time_reduction)
    with torch.no_grad():
        output = network(features[None])
        pooled = network.pool(output.logits, None, output.hidden)
    return torch.sigmoid(output.logits)[0].numpy(), pooled[0].numpy()


def session(path: Path) -> onnxruntime.InferenceSession:
    """The network in a model file."""
    return open_model(path)[0]


# --- laws ---


@pytest.mark.parametrize("pooling", DEPLOYABLE_POOLINGS, ids=lambda value: "-".join(map(str, value.values())))
def test_frames_and_tags_are_those_of_torch(pooling: dict[str, Any], tmp_path: Path, rng: np.random.Generator) -> None:
    network = lively_network(pooling_config(pooling))
    path = exported(tmp_path / "model.onnx", network)
    run, info = open_model(path)
    for n_samples in (1, 319, 320, 321, 12345, 5 * RATE):
        audio = lively_audio(rng, n_samples)
        frame_probs, scores = run.run(None, {"audio": audio[None]})
        expected_frames, expected_clip = in_torch(network, audio)
        assert frame_probs.shape == scores.shape == (1, -(-n_samples // 320), 3)
        np.testing.assert_allclose(frame_probs[0], expected_frames, atol=2e-5)
        tags = clip_probs(np.clip(frame_probs[0], 0, 1), scores[0], rule=info.tag_rule)
        np.testing.assert_allclose(tags, expected_clip, atol=2e-5)
    assert np.ptp(expected_frames) > 0.5  # the comparison was not one of equal numbers
    assert np.abs(expected_clip - expected_frames.mean(axis=0)).max() > 0.01 or pooling["name"] == "average"


@pytest.mark.parametrize(
    ("sections", "atol"),
    [
        ({"features": {"spectrum": "magnitude", "window": "hamming", "mel_scale": "htk", "max_hz": 3500.0}}, 2e-5),
        ({"features": {"framing": "centred"}}, 2e-5),
        ({"features": {"clip_frames": 100}}, 2e-5),
        ({"model": {"activation": "glu", "pool": "average", "rnn_layers": 2, "conv_bias": True}}, 2e-5),
        ({"model": {"activation": "context_gating", "conv_dropout": 0.5, "rnn_dropout": 0.5}}, 2e-5),
        ({"model": {"pool_time": (1, 1)}}, 2e-5),
        ({"model": {"rnn_layers": 0}}, 2e-5),
        ({"model": {"pool_time": (3, 2), "kernel_size": 5, "init": "baseline2019"}}, 2e-5),
    ],
    ids=str,
)
def test_every_kind_of_network_can_be_exported(
    sections: dict[str, dict[str, Any]], atol: float, tmp_path: Path, rng: np.random.Generator
) -> None:
    config = changed(SMALL, **sections)
    network = lively_network(config)
    run = session(exported(tmp_path / "model.onnx", network))
    network.config = changed(config, features={"clip_frames": None})  # detection never pads or cuts
    for n_samples in (1, 641, 9999):
        audio = lively_audio(rng, n_samples)
        found = run.run(["frame_probs"], {"audio": audio[None]})[0][0]
        np.testing.assert_allclose(found, in_torch(network, audio)[0], atol=atol)


def test_clips_of_a_batch_do_not_notice_each_other(tmp_path: Path, rng: np.random.Generator) -> None:
    run = session(exported(tmp_path / "model.onnx", lively_network()))
    batch = np.stack([lively_audio(rng, 5000) for _ in range(4)])
    together = run.run(None, {"audio": batch})
    for row, audio in enumerate(batch):
        alone = run.run(None, {"audio": audio[None]})
        for ours, theirs in zip(alone, together, strict=True):
            np.testing.assert_allclose(ours[0], theirs[row], atol=1e-5)


def test_what_is_returned_is_the_largest_difference(tmp_path: Path) -> None:
    network = lively_network()
    setting = Decoding.fixed(network.classes)
    difference = export_onnx(tmp_path / "m.onnx", network, decoding=setting, clip_seconds=2.0, card={})
    assert 0 <= difference < 1e-4


def test_the_file_says_everything_detection_needs(tmp_path: Path) -> None:
    network = lively_network(pooling_config({"name": "power", "initial": 0.5}))
    settings = tuple(ClassDecoding(threshold=t, low_threshold=0.1, median_seconds=0.3) for t in (0.2, 0.5, 0.9))
    decoding = Decoding("tuned", network.classes, settings)
    card = {"clips": 12, "hours": 0.5, "name": "Geräusche"}
    path = exported(
        tmp_path / "m.onnx", network, decoding=decoding, card=card, clip_seconds=2.5, piece_seconds=7.0,
        context_seconds=1.5,
    )  # fmt: skip
    _, info = open_model(path)
    assert info.classes == ("high", "low", "noise")
    assert (info.timeline.sample_rate, info.timeline.hop_samples) == (8000, 320)  # 160 samples, two frames in one
    assert info.decoding == decoding
    assert (info.pooling, info.pooling_parameter, info.pooling_values) == ("power", "n", (0.5, 0.5, 0.5))
    assert (info.clip_seconds, info.piece_seconds, info.context_seconds) == (2.5, 7.0, 1.5)
    assert (info.version, info.card) == (earmark.__version__, card)


def test_pooling_functions_without_a_parameter_say_so(tmp_path: Path) -> None:
    for name, rule in (("max", "max"), ("average", "softmax")):
        info = open_model(exported(tmp_path / "m.onnx", lively_network(pooling_config({"name": name}))))[1]
        assert (info.pooling_parameter, info.pooling_values, info.tag_rule) == (None, None, rule)


def test_the_file_is_valid_onnx_without_python_in_it(tmp_path: Path) -> None:
    model = onnx.load(exported(tmp_path / "m.onnx", lively_network()))
    onnx.checker.check_model(model, full_check=True)
    assert {node.domain for node in model.graph.node} <= {"", "ai.onnx"}
    assert [entry.name for entry in model.graph.input] == ["audio"]
    assert [entry.name for entry in model.graph.output] == ["frame_probs", "scores"]


# --- worked numbers ---


def test_output_frames() -> None:
    assert output_timeline(Config()).hop_seconds == 0.04  # 320 samples at 16 kHz, two in one
    deployed = DeployedNetwork(lively_network())
    assert [deployed(torch.zeros(1, n))[0].shape[1] for n in (1, 320, 321, 8000)] == [1, 1, 2, 25]


# --- wrong input ---


def test_a_graph_that_computes_something_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other, shorter = lively_network(seed=8), lively_network(changed(model={"pool_time": (2, 2)}))
    graphs = [export._onnx_bytes(DeployedNetwork(n)) for n in (other, shorter)]
    for graph, by in zip(graphs, (r"[\d.]+", "inf"), strict=True):
        monkeypatch.setattr(export, "_onnx_bytes", lambda deployed, graph=graph: graph)
        with pytest.raises(ValueError, match=rf"differs from torch by {by} \(at most 0[.]0+1 is rounding\)"):
            exported(tmp_path / "m.onnx", lively_network())
    assert list(tmp_path.iterdir()) == []


def test_metadata_is_plain_json(tmp_path: Path) -> None:
    model = onnx.load(exported(tmp_path / "m.onnx", lively_network()))
    (entry,) = model.metadata_props
    assert entry.key == "earmark"
    assert json.loads(entry.value)["classes"] == ["high", "low", "noise"]
