"""What must not become a model file, and what stays as it was whether it became one or not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from oracles.training_cases import changed, exported, lively_network, pooling_config
from torch import Tensor

from earmark.config import Config
from earmark.detection.settings import Decoding
from earmark.models.crnn import Network
from earmark.pooling.attention import Attention
from earmark.pooling.base import Pool


class AsSharpAsTheLoudest(Pool):
    """Weighs a frame by its probability, and the more so the louder the loudest frame of the clip."""

    name: ClassVar[str] = "as_sharp_as_the_loudest"

    def frame_scores(self, log_y: Tensor, head_scores: Tensor | None) -> Tensor:
        """Return log y_i times the loudest probability."""
        return log_y * log_y.amax(dim=1, keepdim=True).exp()


class CentredAttention(Attention):
    """Attention whose head sees every frame beside the clip's mean."""

    name: ClassVar[str] = "centred_attention"

    def head(self, features: Tensor | None) -> Tensor:
        """Return V (h_i - mean of h) + b."""
        assert features is not None
        return super().head(features - features.mean(dim=1, keepdim=True))


# --- laws ---


@pytest.mark.parametrize("train", [False, True])
def test_the_callers_network_stays_as_it_is(train: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = lively_network(changed(model={"conv_dropout": 0.5, "rnn_dropout": 0.5})).train(train)
    network.crnn.blocks[0].eval()  # frozen by hand, whatever the rest does
    modes = [module.training for module in network.modules()]
    tensors = [*network.parameters(), *network.buffers()]
    before = [tensor.clone() for tensor in tensors]
    moved: list[torch.nn.Module] = []

    def noting(module: torch.nn.Module, change: Any, recurse: bool = True) -> torch.nn.Module:
        moved.append(module)
        return original(module, change, recurse)

    original = torch.nn.Module._apply  # what .cpu(), .cuda() and .to() go through
    monkeypatch.setattr(torch.nn.Module, "_apply", noting)
    exported(tmp_path / "m.onnx", network)
    assert moved, "the copy was moved to where it is exported"
    assert not any(module is mine for module in moved for mine in network.modules())
    assert [module.training for module in network.modules()] == modes
    assert all(now is then for now, then in zip([*network.parameters(), *network.buffers()], tensors, strict=True))
    torch.testing.assert_close(tensors, before, atol=0, rtol=0)


def test_weights_that_are_not_numbers_are_refused_and_an_older_file_stays(tmp_path: Path) -> None:
    path = exported(tmp_path / "m.onnx", lively_network())
    before = path.read_bytes()
    network = lively_network()
    with torch.no_grad():
        network.crnn.linear.weight[0, 0] = torch.nan
    with pytest.raises(ValueError, match=r"differs from torch by nan .* so it was not written"):
        exported(path, network)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# --- wrong input ---


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (changed(features={"dynamic_range_db": 80.0}), "dynamic_range_db makes every frame depend on the loudest"),
        (
            pooling_config({"name": "hierarchical", "inner": "linear", "groups": (5, 5)}),
            "hierarchical pooling weighs a frame by its place .* train with its inner function to export",
        ),
        (
            changed(features={"framing": "centred", "window_samples": 1024}, model={"pool_time": (2, 1)}),
            r"'centred' mirrors 512 samples at both ends, .* of one output frame \(320 samples\) holds",
        ),
    ],
)
def test_models_that_must_not_be_deployed(config: Config, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        exported(tmp_path / "m.onnx", lively_network(config))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("classes", [("low", "high", "noise"), ("high", "low"), ("high", "low", "hum")])
def test_a_decoding_for_other_classes_is_refused(classes: tuple[str, ...], tmp_path: Path) -> None:
    message = (
        rf"decoding must be for the network's classes \('high', 'low', 'noise'\), .* got {re.escape(str(classes))}"
    )
    with pytest.raises(ValueError, match=message):
        exported(tmp_path / "m.onnx", lively_network(), decoding=Decoding.fixed(classes))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"piece_seconds": 0}, r"piece_seconds must be at least 0.04, got 0 - 60 is usual"),
        ({"piece_seconds": 0.039}, r"piece_seconds must be at least 0.04, got 0.039"),
        ({"context_seconds": -5}, r"context_seconds must be at least 0, got -5 - 4 is usual"),
        ({"clip_seconds": -1}, r"clip_seconds must be above 0, got -1 - the length of the training clips"),
        ({"clip_seconds": 0}, r"clip_seconds must be above 0, got 0"),
        ({"clip_seconds": float("nan")}, r"clip_seconds must be above 0, got nan"),
    ],
)
def test_lengths_that_detection_cannot_use_are_refused(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        exported(tmp_path / "m.onnx", lively_network(), **settings)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [AsSharpAsTheLoudest, CentredAttention])
def test_a_pooling_function_that_looks_at_other_frames_is_refused(kind: type[Pool], tmp_path: Path) -> None:
    network = lively_network()
    network.pool = kind(3, n_features=network.crnn.n_hidden) if issubclass(kind, Attention) else kind(3)
    with pytest.raises(
        ValueError, match=rf"{kind.name} pooling weighs a frame by the frames around it, .* cut - only functions whose"
    ):
        exported(tmp_path / "m.onnx", network)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "pooling", [{"name": "max"}, {"name": "attention"}, {"name": "power", "initial": 50.0}], ids=str
)
def test_pooling_functions_that_look_at_one_frame_are_not(pooling: dict[str, Any], tmp_path: Path) -> None:
    network = lively_network(pooling_config(pooling))
    assert isinstance(network, Network)
    assert exported(tmp_path / "m.onnx", network).is_file()
