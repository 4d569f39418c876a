"""A look before the night: what a run would be like, and nothing left behind."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from oracles.training_cases import RATE, changed, lively_audio, write_tones

from earmark.config import Config
from earmark.models.crnn import Network
from earmark.models.features import LogMel
from earmark.training import checkpoint, loop, measuring
from earmark.training import dry_run as module
from earmark.training.batch import Batch
from earmark.training.dry_run import DryRun, dry_run
from earmark.training.log import read_log
from earmark.training.run import train
from earmark.training.sources import Sources, Split

QUICK = changed(training={"epochs": 1, "batch_seconds": 4.0})


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of tones with their tags."""
    folder = tmp_path_factory.mktemp("tones")
    write_tones(folder)
    return folder


def steps_of(run: Path) -> list[dict[str, Any]]:
    """The steps in the log of a run."""
    return [row for row in read_log(run / "log.jsonl") if row["kind"] == "step"]


def copied(tones: Path, folder: Path) -> Path:
    """The recordings where a test may change them."""
    shutil.copytree(tones, folder)
    return folder


def looked(folder: Path, config: Config = QUICK, **options: Any) -> DryRun:
    """A look at the recordings in a folder."""
    options = {"on_file": lambda done, total: None, **options}
    return dry_run(Sources(folder / "weak.tsv", folder), config=config, device="cpu", **options)


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
    # Balance makes the true number of steps a little different in every epoch; that of the first is exact.
    assert found.steps_per_epoch == sum(row["epoch"] == 1 for row in steps_of(tmp_path / "run"))
    assert found.steps_per_epoch == pytest.approx(result.metrics["steps"] / 3, rel=0.5)
    seconds = [soundfile.info(file).duration for file in tones.glob("*.wav")]
    assert found.hours == pytest.approx(sum(seconds) / 3600)
    weights = Network(config, found.classes).parameters()
    assert found.weights == sum(parameter.numel() for parameter in weights)


def test_a_step_takes_time_and_memory(tones: Path) -> None:
    found = looked(tones)
    assert 0 < found.seconds_per_step < 60
    assert found.memory_bytes is not None
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


def test_spans_and_what_nobody_listened_for_are_told_apart(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "day.wav", np.zeros(8000 * 6), 8000)
    (tmp_path / "weak.tsv").write_text(
        "filename\tonset\toffset\tevent_labels\tknown_classes\n"
        "day.wav\t0\t1\tlow\t\n"
        "day.wav\t1\t2.5\thigh\thigh\n"
        "day.wav\t3\t4\t\thigh\n"
        "day.wav\t4\t5\t\t\n"
        "day.wav\t5\t6\t\tbird\n"
    )
    config = changed(QUICK, training={"holdout_fraction": 0.0, "batch_seconds": 100.0, "balance": "none"})
    found = looked(tmp_path, config)
    assert dict(zip(found.first_batch.filenames, found.first_batch_tags, strict=True)) == {
        "day.wav 0-1 s": "low",
        "day.wav 1-2.5 s": "high (low unknown)",
        "day.wav 3-4 s": "no high (low unknown)",
        "day.wav 4-5 s": "",
        "day.wav 5-6 s": "(high, low unknown)",
    }


def test_the_picture_is_the_first_batch_of_the_run(
    tones: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = changed(QUICK, augment={"time_shift_seconds": 0.1})
    found = looked(tones, config).first_batch
    drawn: list[Batch] = []
    draw = loop.drawn_batch

    def noted(*arguments: Any) -> Batch:
        drawn.append(draw(*arguments))
        return drawn[-1]

    monkeypatch.setattr(loop, "drawn_batch", noted)
    train(tones / "weak.tsv", audio=tones, out=tmp_path / "run", config=config, device="cpu")
    assert found.filenames == drawn[0].filenames
    torch.testing.assert_close(found.features, drawn[0].features)


def test_the_largest_batch_and_the_longest_clip_are_timed(
    tones: Path, tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    # They decide about memory. No other clips are read but those of the first batch and some held-out ones.
    folder = copied(tones, tmp_path / "data")
    soundfile.write(folder / "long.wav", lively_audio(rng, 30 * RATE), RATE, subtype="FLOAT")
    with (folder / "weak.tsv").open("a") as file:
        file.write("long.wav\thigh\ttrain\ta\n")
    timed: list[int] = []
    read: list[int] = []
    terms, store = measuring.loss_terms, module.read_features

    def noted(network: Network, batch: Any, config: Config, **models: Any) -> Any:
        timed.append(batch.features.shape[0] * batch.features.shape[1])
        return terms(network, batch, config, **models)

    def noted_store(folder: Path, clips: Any, *others: Any, **named: Any) -> Any:
        read.append(len(clips))
        return store(folder, clips, *others, **named)

    monkeypatch.setattr(measuring, "loss_terms", noted)
    monkeypatch.setattr(module, "read_features", noted_store)
    config = changed(QUICK, training={"piece_seconds": 10.0})
    found = looked(folder, config, split=Split("split", "test"))
    assert found.longest_seconds == 30.0
    *usual, last = timed
    assert last == 30 * RATE // 160
    result = train(folder / "weak.tsv", audio=folder, out=tmp_path / "run", config=config, split=Split("split", "test"))
    assert result.failures == ()
    assert len(usual) == 4
    assert max(usual) > 0.75 * 4.0 * RATE / 160  # batches of 4 s
    assert read[0] < 16


def test_the_time_is_that_of_the_run(tones: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A clock that the work moves on, because a busy machine may take any time: 5 s for a second of sound that is read,
    # 1 s for 10 frames through the network, three times as much when it learns from them, 30 s for a checkpoint.
    clock = 0.0
    forward, read, write = Network.forward, LogMel.forward, checkpoint.write_atomic

    def network_forward(network: Network, features: torch.Tensor, mask: torch.Tensor | None = None) -> Any:
        nonlocal clock
        clock += features.shape[0] * features.shape[1] * (0.3 if network.training else 0.1)
        return forward(network, features, mask)

    def log_mel_forward(log_mel: LogMel, audio: torch.Tensor) -> torch.Tensor:
        nonlocal clock
        clock += 5 * audio.shape[1] / RATE
        return read(log_mel, audio)

    def written(path: Path, content: Any) -> None:
        nonlocal clock
        clock += 30.0
        write(path, content)

    monkeypatch.setattr(Network, "forward", network_forward)
    monkeypatch.setattr(LogMel, "forward", log_mel_forward)
    monkeypatch.setattr(checkpoint, "write_atomic", written)
    monkeypatch.setattr(time, "perf_counter", lambda: clock)
    folder = copied(tones, tmp_path / "data")
    minute = np.concatenate([soundfile.read(file)[0] for file in sorted(folder.glob("*.wav"))])
    soundfile.write(folder / "long.wav", minute, RATE)  # beside the clips of a second
    with (folder / "weak.tsv").open("a") as file:
        file.write("long.wav\thigh\ttrain\ta\n")
    config = changed(training={"epochs": 3, "batch_seconds": 6.0, "piece_seconds": 3.0, "checkpoint_seconds": 1e9})
    found, began = looked(folder, config), clock
    train(folder / "weak.tsv", audio=folder, out=tmp_path / "run", config=config, device="cpu")
    assert 0.95 < found.seconds / (clock - began) < 1.05, (found.seconds, clock - began)
    parts = found.reading_seconds + 3 * found.epoch_seconds + found.held_out_seconds
    assert found.seconds == pytest.approx(parts)
    assert min(found.reading_seconds, found.epoch_seconds, found.held_out_seconds) > 0


def test_spans_are_looked_at_as_spans(tones: Path, tmp_path: Path) -> None:
    folder = copied(tones, tmp_path / "data")
    night = np.concatenate([soundfile.read(file)[0] for file in sorted(folder.glob("*.wav"))])
    soundfile.write(folder / "night.wav", night, RATE)
    end = len(night) / RATE
    spans = [(0.0, 1.0), (2.5, 3.5), (5.0, 7.25), (8.0, 9.0), (end - 1, end), (end - 1, 9000.0), (end + 5, end + 6)]
    rows = [f"night.wav\t{onset}\t{offset}\t{('high', 'low')[i % 2]}" for i, (onset, offset) in enumerate(spans)]
    rows += ["000.wav\t\t\thigh", "001.wav\t\t\tlow"]
    (folder / "weak.tsv").write_text("\n".join(["filename\tonset\toffset\tevent_labels", *rows]) + "\n")
    found = looked(folder, changed(QUICK, training={"holdout_fraction": 0.1}))
    whole_files = sum(soundfile.info(folder / f"00{i}.wav").duration for i in (0, 1))
    assert found.hours * 3600 == pytest.approx(1 + 1 + 2.25 + 1 + 1 + 1 + whole_files, abs=1e-3)
    assert [(Path(where).name, remark) for where, _, remark in found.notes] == [
        ("weak.tsv:7", f"offset 9000 s is after the end of the file at {end:.2f} s - is it in milliseconds?")
    ]
    ((where, name, reason),) = found.unreadable
    assert (Path(where).name, name) == ("weak.tsv:8", "night.wav")
    assert reason.startswith(f"{folder.as_posix()}/night.wav: onset {end + 5:g} s is after the end of the file at")


def test_what_is_used_only_in_part_is_noted(tones: Path, tmp_path: Path) -> None:
    folder = copied(tones, tmp_path / "data")
    soundfile.write(folder / "000.wav", np.zeros(8), RATE)
    found = looked(folder, changed(QUICK, features={"clip_frames": 90}))  # 1.8 s
    assert found.notes[0][1:] == ("000.wav", "lasts only 0.001 s")
    longer = [file.name for file in sorted(folder.glob("*.wav")) if soundfile.info(file).duration > 1.8 + 256 / RATE]
    assert [name for _, name, _ in found.notes[1:]] == longer
    assert found.notes[1][2].startswith("only the first 1.80 of ")


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


def test_training_clips_whose_headers_are_better_than_their_sound(tones: Path, tmp_path: Path) -> None:
    folder = copied(tones, tmp_path / "data")
    for file in folder.glob("*.wav"):
        samples, rate = soundfile.read(file)
        file.unlink()
        soundfile.write(file, samples, rate, format="FLAC")
        file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(ValueError, match=r"none of the \d+ clips could be read; the first: .*weak.tsv:\d+: .* decoded"):
        looked(folder)


def test_a_wrong_split(tones: Path) -> None:
    with pytest.raises(ValueError, match="--group names a column 'patient' that is not there"):
        looked(tones, split=Split(group_column="patient"))
