"""A run on disk: all of it, always whole, and never somebody else's file."""

from __future__ import annotations

import errno
import json
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch
from oracles.training_cases import SMALL, changed, clips_in_memory, lively_network

from earmark.config import Config
from earmark.detection.settings import Decoding
from earmark.files import write_atomic
from earmark.models.crnn import Network
from earmark.training.batch import Batch, collate
from earmark.training.checkpoint import Progress, load_checkpoint, restore_optimiser, save_checkpoint
from earmark.training.loop import new_optimiser
from earmark.training.terms import loss_terms

PROGRESS = Progress(step=12, epoch=3, step_in_epoch=2, best_figure=1 / 3, best_epoch=2)


def batch(seed: int = 0) -> Batch:
    """A little to learn from."""
    rng = np.random.default_rng(seed)
    features = [rng.normal(-7.0, 1.5, (length, 16)) for length in (20, 30)]
    clips, store = clips_in_memory(features, [[1, 0, 0], [0, 1, 1]])
    return collate(clips, store, [0, 1], time_reduction=2)


def trained(n_steps: int, config: Config = SMALL) -> tuple[Network, torch.optim.Adam]:
    """A network and its optimiser after some steps."""
    network = lively_network(config).train()
    optimiser = new_optimiser(network, config)
    for seed in range(n_steps):
        learn(network, optimiser, seed, config)
    return network, optimiser


def learn(network: Network, optimiser: torch.optim.Adam, seed: int, config: Config = SMALL) -> None:
    """One step."""
    optimiser.zero_grad()
    torch.stack(list(loss_terms(network, batch(seed), config).values())).sum().backward()
    optimiser.step()


def saved(path: Path, network: Network, optimiser: torch.optim.Adam | None = None, **fields: Any) -> Path:
    """The network in a file."""
    save_checkpoint(path, network, optimiser=optimiser, **{"progress": PROGRESS, **fields})
    return path


def bits(network: Network) -> dict[str, bytes]:
    """Every number of a network, exactly."""
    return {name: value.numpy().tobytes() for name, value in network.state_dict().items()}


# --- laws ---


@pytest.mark.parametrize("pooling", ["power", "attention", "linear"])
def test_a_network_comes_back_bit_for_bit(pooling: str, tmp_path: Path) -> None:
    network, optimiser = trained(2, changed(pooling={"name": pooling}))
    decoding = Decoding.fixed(network.classes, threshold=0.3).to_dict()
    card = {"clips": 3, "name": "Geräusche", "training_clips_per_class": {"high": 1}}
    found = load_checkpoint(saved(tmp_path / "a.safetensors", network, optimiser, decoding=decoding, card=card))
    assert bits(found.network) == bits(network)
    assert found.network.classes == network.classes
    assert found.network.config == network.config
    assert found.network.training
    assert (found.progress, found.decoding, found.card) == (PROGRESS, decoding, card)
    assert "mean" in bits(network)  # the statistics of the features among them


def test_the_same_state_makes_the_same_bytes(tmp_path: Path) -> None:
    network, optimiser = trained(2)
    first, second = (saved(tmp_path / f"{name}.safetensors", network, optimiser).read_bytes() for name in "ab")
    assert first == second
    found = load_checkpoint(tmp_path / "a.safetensors")
    again = new_optimiser(found.network, SMALL)
    restore_optimiser(again, found.network, found.optimiser)
    assert saved(tmp_path / "c.safetensors", found.network, again).read_bytes() == first


@pytest.mark.parametrize("n_before", [0, 1, 3])
@pytest.mark.parametrize("pooling", ["power", "max"])
def test_training_goes_on_as_if_it_had_never_stopped(n_before: int, pooling: str, tmp_path: Path) -> None:
    config = changed(pooling={"name": pooling})
    network, optimiser = trained(n_before, config)
    saved(tmp_path / "a.safetensors", network, optimiser)
    for seed in range(10, 14):
        learn(network, optimiser, seed, config)

    found = load_checkpoint(tmp_path / "a.safetensors")
    again = new_optimiser(found.network, config)
    restore_optimiser(again, found.network, found.optimiser)
    for parameter in found.network.parameters():  # in memory as before, or Adam might round another way
        assert again.state[parameter]["exp_avg"].stride() == parameter.stride()
    for seed in range(10, 14):
        learn(found.network, again, seed, config)
    assert bits(found.network) == bits(network)
    ours, theirs = again.state_dict()["state"], optimiser.state_dict()["state"]
    for key in theirs:
        for name, value in theirs[key].items():
            assert torch.equal(ours[key][name], value), name


def test_before_the_first_figure_there_is_no_best(tmp_path: Path) -> None:
    found = load_checkpoint(saved(tmp_path / "a.safetensors", lively_network(), progress=Progress()))
    assert found.progress == Progress()
    assert found.progress.best_figure == float("-inf")
    assert (found.decoding, found.card, found.optimiser) == (None, {}, {})


def test_the_file_holds_tensors_and_json_and_no_pickle(tmp_path: Path) -> None:
    network, optimiser = trained(1)
    content = saved(tmp_path / "a.safetensors", network, optimiser).read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    about = json.loads(header["__metadata__"]["earmark"])
    assert set(about) == {"format", "version", "classes", "config", "progress", "decoding", "card"}
    assert b"\x80\x04" not in content[: 8 + int.from_bytes(content[:8], "little")]
    with safetensors.safe_open(tmp_path / "a.safetensors", framework="pt") as file:
        assert {name.partition("/")[0] for name in file.keys()} == {"network", "optimiser"}


# --- laws: a full disk ---


@contextmanager
def disk_with(n_bytes: int) -> Iterator[None]:
    """Every file that grows beyond `n_bytes` fails as on a full disk, after the part that still fits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
def test_a_full_disk_leaves_the_checkpoint_before_it_intact(share: float, tmp_path: Path) -> None:
    network, optimiser = trained(1)
    path = saved(tmp_path / "last.safetensors", network, optimiser)
    before = path.read_bytes()
    learn(network, optimiser, 5)
    with disk_with(int(share * len(before))), pytest.raises(OSError, match="File too large"):
        saved(path, network, optimiser)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    saved(path, network, optimiser)  # and with room again it goes on
    assert path.read_bytes() != before
    assert load_checkpoint(path).progress == PROGRESS


@pytest.mark.parametrize("failing", ["os.fsync", "pathlib.Path.replace", "pathlib.Path.write_bytes"])
def test_whichever_call_says_that_the_disk_is_full(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, optimiser = trained(1)
    path = saved(tmp_path / "last.safetensors", network, optimiser)
    before = path.read_bytes()

    def full(*arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(failing, full)
        with pytest.raises(OSError, match="No space left on device"):
            saved(path, network, optimiser, progress=Progress(step=99))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_new_content_is_on_disk_before_it_takes_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # After a power cut a file may have its new name but not its content, unless it was synchronised before.
    events: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def noted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*arguments: Any) -> Any:
            is_folder = name == "fsync" and os.path.isdir(f"/proc/self/fd/{arguments[0]}")
            events.append("fsync folder" if is_folder else name)
            return call(*arguments)

        return wrapper

    monkeypatch.setattr(os, "fsync", noted("fsync", fsync))
    monkeypatch.setattr(Path, "replace", noted("replace", replace))
    write_atomic(tmp_path / "a.txt", "content")
    assert events == ["fsync", "replace", "fsync folder"]


# --- wrong input ---


def test_files_that_are_no_checkpoints(tmp_path: Path) -> None:
    def refused(name: str, content: bytes | None, message: str) -> None:
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=message):
            load_checkpoint(tmp_path / name)

    whole = saved(tmp_path / "good.safetensors", lively_network()).read_bytes()
    refused("none.safetensors", None, r"none.safetensors: there is no such model file")
    damaged = r"is no readable safetensors file \(.*\) - is it damaged\?"
    refused("empty.safetensors", b"", rf"empty.safetensors: {damaged}")
    refused("text.safetensors", b"filename\tevent_labels\n" * 99, damaged)
    for n_bytes in (4, 100, len(whole) // 2, len(whole) - 1):
        refused("cut.safetensors", whole[:n_bytes], rf"cut.safetensors: {damaged}")
    refused("longer.safetensors", whole + b"\0", damaged)
    (tmp_path / "folder.safetensors").mkdir()
    refused("folder.safetensors", None, r"folder.safetensors: is no readable safetensors file")
    foreign = safetensors.torch.save({"weight": torch.zeros(3)})
    refused("foreign.safetensors", foreign, r"is a safetensors file, but not one of earmark's models")
    foreign = safetensors.torch.save({"weight": torch.zeros(3)}, metadata={"format": "pt"})
    refused("other.safetensors", foreign, r"is a safetensors file, but not one of earmark's models")


def test_a_checkpoint_from_a_later_version(tmp_path: Path) -> None:
    about = {"format": 99, "version": "7.0"}  # and who knows what else
    safetensors.torch.save_file({}, tmp_path / "new.safetensors", metadata={"earmark": json.dumps(about)})
    with pytest.raises(ValueError, match=r"new.safetensors: was written by earmark 7.0, which is newer than this one"):
        load_checkpoint(tmp_path / "new.safetensors")


@pytest.mark.parametrize("words", ["not json", "[]", "{}", '{"format": "one"}'])
def test_a_checkpoint_whose_words_are_damaged(words: str, tmp_path: Path) -> None:
    safetensors.torch.save_file({}, tmp_path / "bad.safetensors", metadata={"earmark": words})
    with pytest.raises(ValueError, match=r"bad.safetensors: what the file says about itself cannot be read"):
        load_checkpoint(tmp_path / "bad.safetensors")


def test_weights_that_do_not_fit_the_configuration(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.safetensors", lively_network())
    with safetensors.safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    tensors = safetensors.torch.load_file(path)
    del tensors["network/mean"]
    safetensors.torch.save_file(tensors, path, metadata=metadata)
    with pytest.raises(ValueError, match=r"a.safetensors: its weights do not fit its own configuration .*mean"):
        load_checkpoint(path)


def test_a_configuration_with_an_unknown_key(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.safetensors", lively_network())
    with safetensors.safe_open(path, framework="pt") as file:
        about = json.loads(file.metadata()["earmark"])
    about["config"] = about["config"].replace("rnn_units", "rnn_unitz")
    safetensors.torch.save_file(safetensors.torch.load_file(path), path, metadata={"earmark": json.dumps(about)})
    with pytest.raises(
        ValueError, match=r"a.safetensors \[model\]: unknown key 'rnn_unitz' - did you mean 'rnn_units'"
    ):
        load_checkpoint(path)
