"""A look before the night: what a run would be like, and nothing left behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from oracles.training_cases import RATE, changed, lively_audio, write_tones

from earmark.config import Config
from earmark.models.crnn import Network
from earmark.training import dry_run as module
from earmark.training.dry_run import DryRun, dry_run
from earmark.training.run import Split, train

QUICK = changed(training={"epochs": 1, "batch_seconds": 4.0})


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of tones with their tags."""
    folder = tmp_path_factory.mktemp("tones")
    write_tones(folder)
    return folder


def looked(folder: Path, config: Config = QUICK, **options: Any) -> DryRun:
    """A look at the recordings in a folder."""
    options = {"on_file": lambda done, total: None, **options}
    return dry_run(folder / "weak.tsv", audio=folder, config=config, device="cpu", **options)


# --- laws ---


def test_it_leaves_nothing_behind(tones: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = sorted(tones.rglob("*"))
    looked(tones)
    assert sorted(tones.rglob("*")) == before
    assert [path for path in tmp_path.iterdir() if not path.name.startswith("torchinductor")] == []  # torch's own


def test_it_says_what_the_run_will_have(tones: Path, tmp_path: Path) -> None:
    config = changed(QUICK, training={"epochs": 3})
    found = looked(tones, config)
    result = train(tones / "weak.tsv", audio=tones, out=tmp_path / "run", config=config, device="cpu")
    assert found.classes == tuple(result.metrics["classes"])
    assert found.clips == result.metrics["training_clips"] + result.metrics["held_out_clips"]
    # Padding and balance make the true number of steps a little different in every epoch.
    assert found.steps_per_epoch == pytest.approx(result.metrics["steps"] / 3, rel=0.5)
    seconds = [soundfile.info(file).duration for file in tones.glob("*.wav")]
    assert found.hours == pytest.approx(sum(seconds) / 3600)
    weights = Network(config, found.classes).parameters()
    assert found.weights == sum(parameter.numel() for parameter in weights)


def test_a_step_takes_time_and_memory(tones: Path) -> None:
    found = looked(tones)
    assert 0 < found.seconds_per_step < 60
    assert 10e6 < found.memory_bytes < 1e12


def test_the_first_batch_is_a_batch_of_training_clips(tones: Path) -> None:
    found = looked(tones, split=Split("split", "test"))
    batch = found.first_batch
    assert len(batch.filenames) == len(batch.features) == len(found.first_batch_tags) > 0
    rows = dict(line.split("\t")[:2] for line in (tones / "weak.tsv").read_text().splitlines()[1:])
    held_out = {line.split("\t")[0] for line in (tones / "weak.tsv").read_text().splitlines() if "\ttest\t" in line}
    assert not held_out & set(batch.filenames)
    for name, tags, row in zip(batch.filenames, found.first_batch_tags, batch.tags, strict=True):
        assert tags == ", ".join(rows[name].split(",")) == rows[name].replace(",", ", ")
        assert row.tolist() == [float("high" in tags), float("low" in tags)]


def test_the_longest_clip_is_among_those_that_are_timed(
    tones: Path, tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It decides about memory, and by chance it would not be drawn among the few clips that are read.
    for file in tones.iterdir():
        (tmp_path / file.name).symlink_to(file)
    soundfile.write(tmp_path / "long.wav", lively_audio(rng, 30 * RATE), RATE, subtype="FLOAT")
    rows = (tones / "weak.tsv").read_text()
    (tmp_path / "weak.tsv").unlink()
    (tmp_path / "weak.tsv").write_text(rows + "long.wav\thigh\ttrain\ta\n")
    timed: list[int] = []
    terms = module.weak_loss_terms

    def noted(network: Network, batch: Any, config: Config) -> Any:
        timed.append(batch.features.shape[1])
        return terms(network, batch, config)

    monkeypatch.setattr(module, "weak_loss_terms", noted)
    looked(tmp_path, changed(QUICK, training={"piece_seconds": 10.0}), split=Split("split", "test"))
    assert max(timed) == 30 * RATE // 160


def test_progress_is_told_for_every_file(tones: Path) -> None:
    calls: list[tuple[int, int]] = []
    looked(tones, on_file=lambda done, total: calls.append((done, total)))
    assert calls == [(done, 24) for done in range(1, 25)]


def test_nothing_is_trained_but_a_copy(tones: Path) -> None:
    state = torch.random.get_rng_state()
    first, again = looked(tones).first_batch, looked(tones).first_batch
    torch.testing.assert_close(first.features, again.features)
    torch.random.set_rng_state(state)


# --- wrong input ---


def test_recordings_that_cannot_be_opened_are_all_named(tones: Path, tmp_path: Path) -> None:
    for file in tones.iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "001.wav").unlink()
    (tmp_path / "010.wav").unlink()
    (tmp_path / "010.wav").write_bytes(b"not audio")
    found = looked(tmp_path)
    assert [(Path(where).name, name) for where, name, _ in found.unreadable] == [
        ("weak.tsv:3", "001.wav"), ("weak.tsv:12", "010.wav")
    ]  # fmt: skip
    assert found.clips == 24


def test_no_recording_that_can_be_opened(tones: Path, tmp_path: Path) -> None:
    (tmp_path / "weak.tsv").write_text((tones / "weak.tsv").read_text())
    with pytest.raises(ValueError, match=r"no training clip could be read; the first: .*weak.tsv:2: 000.wav: no"):
        looked(tmp_path)


def test_a_wrong_split(tones: Path) -> None:
    with pytest.raises(ValueError, match="--group names a column 'patient' that is not there"):
        looked(tones, split=Split(group_column="patient"))
