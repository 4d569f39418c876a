"""What a model file says about itself, and how each file that is none is told apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from oracles.training_cases import exported, lively_network

from earmark.detection.model_file import ModelInfo, open_model, session_options
from earmark.detection.settings import ClassDecoding, Decoding
from earmark.timeline import Timeline

INFO = ModelInfo(
    classes=("cat", "Geräusch", 'say "ah"'),
    timeline=Timeline(22050, 1460),
    decoding=Decoding(
        "tuned",
        ("cat", "Geräusch", 'say "ah"'),
        (ClassDecoding(threshold=0.1 + 0.2), ClassDecoding(low_threshold=0.1), ClassDecoding(clip_threshold=1.0)),
    ),
    pooling="power",
    pooling_parameter="n",
    pooling_values=(1 / 3, 0.0, 2.0),
    piece_seconds=60.0,
    context_seconds=4.0,
    clip_seconds=10.0,
    version="0.1.0",
    card={"clips": 3, "training_clips_per_class": {"cat": 1}},
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported model."""
    return exported(tmp_path_factory.mktemp("models") / "model.onnx", lively_network())


def with_metadata(model: Path, path: Path, metadata: dict[str, str]) -> Path:
    """A copy of a model that says something else about itself."""
    changed = onnx.load(model)
    onnx.helper.set_model_props(changed, metadata)
    onnx.save(changed, path)
    return path


def values_of(model: Path) -> dict[str, Any]:
    """What a model says about itself, as stored."""
    values: dict[str, Any] = json.loads(onnx.load(model).metadata_props[0].value)
    return values


# --- laws ---


@pytest.mark.parametrize("pooling_values", [None, (1 / 3, 0.0, 2.0)])
def test_a_round_trip_through_json(pooling_values: tuple[float, ...] | None) -> None:
    values = {**vars(INFO), "pooling_values": pooling_values}
    info = ModelInfo(**values)
    assert ModelInfo.from_dict(json.loads(json.dumps(info.to_dict()))) == info


def test_opening_tells_what_was_exported(model: Path) -> None:
    session, info = open_model(model)
    assert info == open_model(str(model))[1]
    assert info.classes == ("high", "low", "noise")
    assert session.get_providers() == ["CPUExecutionProvider"]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_threads_are_as_many_as_asked_for_and_sleep_while_they_wait(n_threads: int) -> None:
    options = session_options(n_threads)
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (n_threads, 1)
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"


# --- worked numbers ---


def test_the_rule_for_tags() -> None:
    assert INFO.tag_rule == "softmax"
    assert ModelInfo(**{**vars(INFO), "pooling": "max"}).tag_rule == "max"


# --- wrong input ---


def test_files_that_are_no_models(tmp_path: Path, model: Path) -> None:
    def refused(path: Path, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            open_model(path)

    refused(tmp_path / "none.onnx", "none.onnx: there is no such model file - train one with earmark train, then")
    refused(tmp_path, "is a folder - if it is a run, make a model of it with: earmark export")
    (tmp_path / "best.safetensors").write_bytes(b"")
    refused(tmp_path / "best.safetensors", r"is a model for training - make one for detection with: earmark export RUN")
    for name, content in (
        ("empty.onnx", b""),
        ("text.onnx", b"filename\tevent_labels\n" * 100),
        ("cut.onnx", model.read_bytes()[:-1000]),
    ):
        (tmp_path / name).write_bytes(content)
        refused(tmp_path / name, rf"{name}: is no readable ONNX file \(.*\) - is it damaged or cut short\?")


def test_a_model_of_somebody_else(tmp_path: Path, model: Path) -> None:
    foreign = with_metadata(model, tmp_path / "foreign.onnx", {"author": "someone"})
    with pytest.raises(ValueError, match=r"foreign.onnx: is an ONNX file, but not one that earmark export wrote"):
        open_model(foreign)


def test_a_model_from_a_later_version(tmp_path: Path, model: Path) -> None:
    # Whatever else a later format says, the version is told, not the first key that is missing.
    newer = with_metadata(model, tmp_path / "new.onnx", {"earmark": '{"format": 99, "version": "7.0"}'})
    with pytest.raises(ValueError, match=r"new.onnx: was exported by earmark 7.0, which is newer than this one"):
        open_model(newer)


@pytest.mark.parametrize("damage", ["not json", "[]", "{}", '{"format": 1}', '{"format": "one"}'])
def test_a_model_whose_words_are_damaged(damage: str, tmp_path: Path, model: Path) -> None:
    damaged = with_metadata(model, tmp_path / "damaged.onnx", {"earmark": damage})
    with pytest.raises(ValueError, match=r"damaged.onnx: what the file says about itself cannot be read"):
        open_model(damaged)


def test_decoding_settings_that_are_out_of_range(tmp_path: Path, model: Path) -> None:
    values = values_of(model)
    values["decoding"]["settings"][1]["threshold"] = 1.5
    damaged = with_metadata(model, tmp_path / "damaged.onnx", {"earmark": json.dumps(values)})
    with pytest.raises(ValueError, match=r"settings of 'low': threshold must be at least 0 and at most 1, got 1.5"):
        open_model(damaged)


def test_the_network_gives_probabilities(model: Path, rng: np.random.Generator) -> None:
    session, _ = open_model(model)
    audio = rng.normal(size=(1, 8000)).astype(np.float32)
    frame_probs = session.run(["frame_probs"], {"audio": audio})[0]
    assert frame_probs.dtype == np.float32
    assert ((frame_probs >= 0) & (frame_probs <= 1 + 1e-6)).all()
