from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import cast

import audio_files
import numpy as np
import pytest
import soundfile as sf
from numpy.typing import NDArray

from earmark.audio import AudioInfo, blocks, probe_audio, read_audio
from earmark.audio.soundfile_source import SoundfileSource

RATES = [8000, 16000, 22050, 44100, 48000]


def largest_difference(one: NDArray[np.floating], other: NDArray[np.floating]) -> float:
    return float(np.abs(one - other).max())


def made(folder: Path, suffix: str, *, seconds: float = 3.0, rate: int = 44100, name: str = "a") -> Path:
    file_rate = 48000 if suffix == ".opus" else rate
    return audio_files.write(folder / f"{name}{suffix}", audio_files.sound(seconds, file_rate), file_rate)


# Laws


@pytest.mark.parametrize("suffix", audio_files.FORMATS)
@pytest.mark.parametrize("block_seconds", [0.01, 0.37, 1.0, 1.5, 100.0])
def test_blocks_together_are_the_file(tmp_path: Path, suffix: str, block_seconds: float) -> None:
    file = made(tmp_path, suffix)
    whole = read_audio(file, sample_rate=16000)
    parts = list(blocks(file, sample_rate=16000, block_seconds=block_seconds))
    assert np.array_equal(np.concatenate([part.samples for part in parts]), whole.samples)
    assert {len(part.samples) for part in parts[:-1]} <= {round(block_seconds * 16000)}
    assert 0 < len(parts[-1].samples) <= round(block_seconds * 16000)


@pytest.mark.parametrize("suffix", audio_files.FORMATS)
@pytest.mark.parametrize("sample_rate", [16000, 44100, 44101])
def test_a_span_is_what_stands_there_in_the_whole_file(
    tmp_path: Path, rng: np.random.Generator, suffix: str, sample_rate: int
) -> None:
    file = made(tmp_path, suffix)
    whole = read_audio(file, sample_rate=sample_rate).samples
    for onset, offset in [(0.0, 0.5), (0.1, 0.1001), (2.5, 3.0), *np.sort(rng.uniform(0, 3, (5, 2))).tolist()]:
        span = read_audio(file, sample_rate=sample_rate, onset=onset, offset=offset)
        begin, end = round(onset * sample_rate), round(offset * sample_rate)
        assert span.samples.shape == (end - begin,)
        assert largest_difference(span.samples, whole[begin:end]) < 1e-6
        assert span.note == ""


@pytest.mark.parametrize("source_rate", RATES)
@pytest.mark.parametrize("sample_rate", RATES)
def test_a_tone_stays_the_same_tone_at_any_rate(tmp_path: Path, source_rate: int, sample_rate: int) -> None:
    """The physics of resampling: sin(2 pi 440 t) sampled at one rate is sin(2 pi 440 t) sampled at the other."""
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(source_rate) / source_rate)
    sf.write(tmp_path / "tone.wav", tone, source_rate, subtype="FLOAT")
    samples = read_audio(tmp_path / "tone.wav", sample_rate=sample_rate).samples
    assert samples.dtype == np.float32
    assert samples.shape == (sample_rate,)
    middle = slice(sample_rate // 10, -sample_rate // 10)
    expected = 0.5 * np.sin(2 * np.pi * 440 * np.arange(sample_rate) / sample_rate)
    assert largest_difference(samples[middle], expected[middle]) < 2e-5


def test_what_the_new_rate_cannot_hold_is_removed(tmp_path: Path) -> None:
    """7 kHz does not exist at 8 kHz; without a filter it would come back as a tone of 1 kHz."""
    sf.write(tmp_path / "tone.wav", np.sin(2 * np.pi * 7000 * np.arange(44100) / 44100), 44100)
    samples = read_audio(tmp_path / "tone.wav", sample_rate=8000).samples
    assert np.abs(samples[800:-800]).max() < 1e-4


@pytest.mark.parametrize("n_channels", [1, 2, 3, 8])
def test_channels_are_averaged(tmp_path: Path, rng: np.random.Generator, n_channels: int) -> None:
    samples = rng.uniform(-1, 1, size=(5000, n_channels)).astype(np.float32)
    sf.write(tmp_path / "a.wav", samples, 16000, subtype="FLOAT")
    read = read_audio(tmp_path / "a.wav", sample_rate=16000).samples
    assert largest_difference(read, samples.astype(np.float64).mean(axis=1)) < 1e-6


@pytest.mark.parametrize("suffix", audio_files.FORMATS)
def test_the_header_and_the_samples_agree_on_the_length(tmp_path: Path, suffix: str) -> None:
    file = made(tmp_path, suffix, seconds=2.345)
    info = probe_audio(file)
    rate = 48000 if suffix == ".opus" else 44100
    assert (info.sample_rate, info.n_channels) == (rate, 1)
    assert info.duration_seconds == pytest.approx(2.345, abs=1 / rate)
    assert len(read_audio(file, sample_rate=rate).samples) == round(info.duration_seconds * rate)


@pytest.mark.parametrize("suffix", audio_files.FORMATS)
def test_whatever_the_bytes_there_is_audio_or_a_reason(tmp_path: Path, rng: np.random.Generator, suffix: str) -> None:
    sound = made(tmp_path, suffix, seconds=2.0).read_bytes()
    n_read, reasons = 0, []
    for _ in range(12):
        (tmp_path / f"b{suffix}").write_bytes(sound)
        file = audio_files.damage(tmp_path / f"b{suffix}", rng)
        try:
            audio = read_audio(file, sample_rate=16000)
            parts = list(blocks(file, sample_rate=16000, block_seconds=0.3))
        except ValueError as error:
            reasons.append(str(error))
            continue
        n_read += 1
        assert np.array_equal(np.concatenate([part.samples for part in parts]), audio.samples)
        assert parts[-1].note == audio.note
    assert n_read > 0
    assert all(f"b{suffix}: " in reason for reason in reasons)


@pytest.mark.parametrize("suffix", [".wav", ".ogg"])
def test_blocks_of_a_span_together_are_the_span(tmp_path: Path, suffix: str) -> None:
    file = made(tmp_path, suffix)
    for onset, offset in [(0.7, 2.31), (1.0, None), (2.5, 9.0)]:
        span = read_audio(file, sample_rate=16000, onset=onset, offset=offset)
        parts = list(blocks(file, sample_rate=16000, block_seconds=0.3, onset=onset, offset=offset))
        assert np.array_equal(np.concatenate([part.samples for part in parts]), span.samples)
        assert [part.note for part in parts[:-1]] == [""] * (len(parts) - 1)
        assert parts[-1].note == span.note
        assert len(parts) > 1


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Ten minutes are 38 MB as float32 at 16 kHz, and 106 MB at 44.1 kHz; block by block it takes neither."""
    minute = audio_files.sound(60, 44100)
    with sf.SoundFile(tmp_path / "long.wav", "w", 44100, 1, "PCM_16") as file:
        for _ in range(10):
            file.write(minute)
    tracemalloc.start()
    n_samples = sum(len(block.samples) for block in blocks(tmp_path / "long.wav", sample_rate=16000, block_seconds=10))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n_samples == 10 * 60 * 16000
    assert peak_bytes < 5e6


# Worked numbers


@pytest.mark.parametrize(
    ("subtype", "step"),
    [("PCM_U8", 2**-7), ("PCM_16", 2**-15), ("PCM_24", 2**-23), ("PCM_32", 2**-31), ("FLOAT", 0.0), ("DOUBLE", 0.0)],
)
def test_sample_formats(tmp_path: Path, rng: np.random.Generator, subtype: str, step: float) -> None:
    samples = rng.uniform(-0.9, 0.9, size=1000)
    sf.write(tmp_path / "a.wav", samples, 16000, subtype=subtype)
    # A step of the format, and a step of float32.
    read = read_audio(tmp_path / "a.wav", sample_rate=16000).samples
    assert largest_difference(read, samples) <= step + 2**-24


def test_float_samples_beyond_one_are_kept(tmp_path: Path) -> None:
    sf.write(tmp_path / "a.wav", np.array([0.5, 3.0, -40.0]), 16000, subtype="FLOAT")
    assert read_audio(tmp_path / "a.wav", sample_rate=16000).samples.tolist() == [0.5, 3.0, -40.0]


def test_lengths_round_to_whole_samples(tmp_path: Path) -> None:
    # 1000 samples at 44.1 kHz are 1000 * 16000 / 44100 = 362.8 samples at 16 kHz.
    sf.write(tmp_path / "a.wav", np.zeros(1000), 44100)
    assert read_audio(tmp_path / "a.wav", sample_rate=16000).samples.shape == (363,)
    # A single sample at 44.1 kHz is 0.36 of a sample at 16 kHz: nothing is left of it.
    sf.write(tmp_path / "b.wav", np.zeros(1), 44100)
    assert probe_audio(tmp_path / "b.wav") == AudioInfo(1 / 44100, 44100, 1)


def test_the_note_of_a_block_stands_on_the_last(tmp_path: Path) -> None:
    # Half of 2 s is 1 s, so blocks of 0.25 s: three full ones, and the last, full or not, with the note.
    file = audio_files.keep_half(made(tmp_path, ".wav", seconds=2.0, rate=16000))
    parts = list(blocks(file, sample_rate=16000, block_seconds=0.25))
    assert [part.note == "" for part in parts] == [True] * 3 + [False]
    assert parts[-1].note.startswith("only 1.00 of 2.00 s could be decoded: the file ends at 1.00 s, before its header")


def test_a_span_beyond_the_end(tmp_path: Path) -> None:
    file = made(tmp_path, ".wav", seconds=2.0, rate=16000)
    span = read_audio(file, sample_rate=16000, onset=1.5, offset=4.0)
    assert span.samples.shape == (8000,)
    assert span.note == "offset 4 s is after the end of the file at 2.00 s, so only 0.50 of 2.50 s are used"
    in_milliseconds = read_audio(file, sample_rate=16000, onset=0.0, offset=4000.0)
    assert in_milliseconds.note == "offset 4000 s is after the end of the file at 2.00 s - is it in milliseconds?"
    # Up to a tenth of a second the end of the span is hardly a mistake.
    little = read_audio(file, sample_rate=16000, onset=1.5, offset=2.09)
    assert little.note == "only 0.50 of 0.59 s could be decoded: the file ends at 2.00 s"
    # A label rounded to milliseconds is no reason for a note.
    assert read_audio(file, sample_rate=16000, onset=1.5, offset=2.001).note == ""
    assert read_audio(file, sample_rate=16000, onset=1.5).note == ""


def test_a_whole_span_of_a_damaged_file_needs_no_note(tmp_path: Path) -> None:
    file = audio_files.keep_half(made(tmp_path, ".flac", seconds=8.0))
    assert read_audio(file, sample_rate=16000, onset=1.0, offset=2.0).note == ""
    assert read_audio(file, sample_rate=16000, onset=1.0, offset=7.0).note.endswith("flac decoder lost sync")


# Wrong input


def test_samples_that_are_not_numbers(tmp_path: Path) -> None:
    for value in (np.nan, np.inf):
        samples = np.zeros((32000, 2))
        # The second channel of the sample at 1.25 s.
        samples[20000, 1] = value
        sf.write(tmp_path / "a.wav", samples, 16000, subtype="FLOAT")
        with pytest.raises(ValueError, match=r"a.wav: the sample at 1.250 s is not a finite number"):
            read_audio(tmp_path / "a.wav", sample_rate=8000)
        with pytest.raises(ValueError, match=r"a.wav: the sample at 1.250 s is not a finite number"):
            read_audio(tmp_path / "a.wav", sample_rate=8000, onset=1.1)
        assert read_audio(tmp_path / "a.wav", sample_rate=8000, onset=0.1, offset=0.5).samples.shape == (3200,)


def test_a_span_behind_the_end(tmp_path: Path) -> None:
    file = made(tmp_path, ".wav", seconds=2.0, rate=16000)
    for onset in (2.0, 2.1, 700.0):
        with pytest.raises(ValueError, match=rf"a.wav: onset {onset:g} s is after the end of the file at 2.00 s"):
            read_audio(file, sample_rate=16000, onset=onset, offset=onset + 1)


def test_far_behind_the_end_nothing_is_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """libsndfile refuses to seek there, and a day might be decoded to say the same."""
    file = made(tmp_path, ".wav", seconds=2.0, rate=16000)
    monkeypatch.setattr(SoundfileSource, "chunks", None)
    with pytest.raises(ValueError, match=r"a.wav: onset 700 s is after the end of the file at 2.00 s"):
        read_audio(file, sample_rate=16000, onset=700.0)


def test_a_span_in_the_missing_half(tmp_path: Path) -> None:
    file = audio_files.keep_half(made(tmp_path, ".wav", seconds=2.0, rate=16000))
    with pytest.raises(ValueError, match=r"nothing could be decoded from 1.5 s on, although the header says 2.00 s"):
        read_audio(file, sample_rate=16000, onset=1.5)


@pytest.mark.parametrize(
    ("onset", "offset", "message"),
    [
        (-1.0, None, "onset must be at least 0, got -1.0"),
        (float("nan"), None, "onset must be at least 0, got nan"),
        (2.0, 1.0, r"offset must be above 2, got 1.0 - .*swapped"),
        (1.0, 1.0, "offset must be above 1, got 1.0"),
    ],
)
def test_spans_that_are_none(tmp_path: Path, onset: float, offset: float | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_audio(made(tmp_path, ".wav"), sample_rate=16000, onset=onset, offset=offset)
    with pytest.raises(ValueError, match=message):
        blocks(made(tmp_path, ".wav"), sample_rate=16000, block_seconds=1.0, onset=onset, offset=offset)


def test_a_header_with_an_absurd_rate(tmp_path: Path) -> None:
    sf.write(tmp_path / "a.wav", np.zeros(1000), 10)
    with pytest.raises(ValueError, match=r"a.wav: its sample rate is 10 Hz, too low for 16000 Hz - is the"):
        read_audio(tmp_path / "a.wav", sample_rate=16000)
    assert read_audio(tmp_path / "a.wav", sample_rate=1000).samples.shape == (100_000,)


def test_rates_and_block_lengths_that_are_none(tmp_path: Path) -> None:
    file = made(tmp_path, ".wav")
    for rate in (0, -8000):
        with pytest.raises(ValueError, match=f"sample_rate must be above 0, got {rate}"):
            read_audio(file, sample_rate=rate)
        with pytest.raises(ValueError, match=f"sample_rate must be above 0, got {rate}"):
            blocks(file, sample_rate=rate, block_seconds=1.0)
    with pytest.raises(ValueError, match=r"sample_rate must be a whole number, got 16000\.5"):
        read_audio(file, sample_rate=cast(int, 16000.5))
    with pytest.raises(ValueError, match="block_seconds must be above 0, got 0"):
        blocks(file, sample_rate=16000, block_seconds=0.0)
    with pytest.raises(ValueError, match="block_seconds must hold at least one sample, got 1e-06"):
        blocks(file, sample_rate=16000, block_seconds=1e-6)
