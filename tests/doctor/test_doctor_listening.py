from __future__ import annotations

from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
import soundfile
from doctor_cases import noise

from earmark.doctor import listening
from earmark.doctor.listening import listen, listen_to_all

RATE = 8000


def longest_run(values: list[bool]) -> int:
    """The oracle: all runs, one after the other."""
    return max((len(list(run)) for value, run in groupby(values) if value), default=0)


# Laws


def test_a_run_is_as_long_as_it_is_wherever_it_is_cut(rng: np.random.Generator) -> None:
    for _ in range(300):
        values = rng.random(rng.integers(1, 30)) < rng.choice([0.3, 0.8, 1.0])
        runs = listening._LongestRun()
        for piece in np.split(values, np.sort(rng.integers(0, len(values) + 1, size=2))):
            if len(piece):
                runs.add(piece)
        assert runs.longest == longest_run(values.tolist())


def test_only_three_in_a_row_are_clipped(rng: np.random.Generator) -> None:
    for _ in range(100):
        values = rng.random(20) < 0.6
        expected = sum(n for v, n in ((v, len(list(run))) for v, run in groupby(values.tolist())) if v and n >= 3)
        assert listening._in_runs(values) == expected


@pytest.mark.parametrize("block_seconds", [0.1, 0.7, 10.0])
def test_what_is_heard_does_not_depend_on_the_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_seconds: float
) -> None:
    samples = noise(1, seconds=5.0, rate=RATE)
    samples[14000:20000] = 0  # 0.75 s, over the end of the first block of 2 s
    soundfile.write(tmp_path / "a.wav", samples, RATE)
    usual = listen(tmp_path / "a.wav")
    assert usual.silent_seconds == pytest.approx(0.75, abs=2 / 200)
    monkeypatch.setattr(listening, "_BLOCK_SECONDS", block_seconds)
    other = listen(tmp_path / "a.wav")
    assert other.digest == usual.digest
    assert other.seconds == usual.seconds == 5.0
    assert other.mean == pytest.approx(usual.mean, abs=1e-9)
    assert other.silent_seconds == pytest.approx(usual.silent_seconds, abs=2 / 200)


def test_the_same_samples_have_one_digest_in_every_exact_format(tmp_path: Path) -> None:
    samples = np.round(noise(2) * 32768) / 32768
    for name, subtype in (
        ("a.wav", "PCM_16"), ("b.flac", "PCM_16"), ("c.aiff", "PCM_16"), ("d.wav", "PCM_24"), ("e.wav", "FLOAT"),
    ):  # fmt: skip
        soundfile.write(tmp_path / name, samples, RATE, subtype=subtype)
    soundfile.write(tmp_path / "f.wav", np.stack([samples, samples], axis=1), RATE)  # both channels alike
    other = samples.copy()
    other[100] += 1 / 32768  # in the last bit
    soundfile.write(tmp_path / "other.wav", other, RATE)
    sounds = listen_to_all({path.name: path for path in sorted(tmp_path.iterdir())}, workers=2)
    assert len({sound.digest for name, sound in sounds.items() if name != "other.wav"}) == 1
    assert sounds["other.wav"].digest != sounds["a.wav"].digest


def test_every_recording_is_told_once(tmp_path: Path) -> None:
    for i in range(5):
        soundfile.write(tmp_path / f"{i}.wav", noise(i), RATE)
    told: list[tuple[int, int]] = []
    paths = {path.name: path for path in tmp_path.iterdir()}
    listen_to_all(paths, workers=3, on_file=lambda done, total: told.append((done, total)))
    assert told == [(n, 5) for n in range(1, 6)]


# Worked numbers


def test_figures_of_a_small_sound(tmp_path: Path) -> None:
    # 8 samples: 4 at full scale in a row, mean (4 * 1 + 4 * -0.5) / 8 = 0.25
    soundfile.write(tmp_path / "a.wav", [1.0, 1.0, 1.0, 1.0, -0.5, -0.5, -0.5, -0.5], RATE, subtype="FLOAT")
    sound = listen(tmp_path / "a.wav")
    assert (sound.seconds, sound.sample_rate, sound.n_channels) == (0.001, RATE, 1)
    assert (sound.peak, sound.mean, sound.clipped_share, sound.silent_seconds) == (1.0, 0.25, 0.5, 0.0)


def test_channels_that_cancel_each_other_are_silent(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.stack([noise(3), -noise(3)], axis=1), RATE, subtype="FLOAT")
    assert listen(tmp_path / "a.wav").is_silent


def test_each_channel_is_looked_at_by_itself(tmp_path: Path) -> None:
    loud = np.where(np.arange(1600) < 400, 1.0, 0.01).astype(np.float32)
    channels = [noise(3), loud, np.full(1600, 0.25, np.float32), np.zeros(1600, np.float32)]
    soundfile.write(tmp_path / "a.wav", np.stack(channels, axis=1), RATE, subtype="FLOAT")
    sound = listen(tmp_path / "a.wav")
    assert sound.peak < 0.5  # of the average
    assert (sound.clipped_share, sound.dead_channels) == (0.25, (3, 4))
    soundfile.write(tmp_path / "b.wav", noise(3), RATE)
    assert listen(tmp_path / "b.wav").dead_channels == ()


def test_samples_of_one_value_are_silent_whatever_it_is(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.full(1600, 0.25), RATE)
    sound = listen(tmp_path / "a.wav")
    assert (sound.is_silent, sound.peak, sound.swing) == (True, 0.25, 0.0)


# Wrong input


@pytest.mark.parametrize(
    ("content", "code", "problem"),
    [
        (b"", "audio-empty", "is empty"),
        (b"\0" * 999, "audio-unreadable", "holds only zeros"),
        (b"version https://git-lfs.github.com/spec/v1\n", "audio-unreadable", "is a Git LFS pointer"),
    ],
)
def test_what_is_no_sound(tmp_path: Path, content: bytes, code: str, problem: str) -> None:
    (tmp_path / "a.wav").write_bytes(content)
    sound = listen(tmp_path / "a.wav")
    assert sound.problem_code == code
    assert sound.problem.startswith(problem)
