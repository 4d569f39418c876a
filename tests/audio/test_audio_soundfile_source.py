from __future__ import annotations

import io
import threading
from pathlib import Path

import audio_files
import numpy as np
import pytest
import soundfile as sf

from earmark.audio import probe_audio, read_audio
from earmark.audio.soundfile_source import CHUNK_FRAMES, SoundfileSource


def made(folder: Path, name: str, *, seconds: float = 8.0, hertz: float = 440.0) -> Path:
    rate = 48000 if name.endswith(".opus") else 44100
    return audio_files.write(folder / name, audio_files.sound(seconds, rate, hertz=hertz), rate)


def loudest_hertz(samples: np.ndarray, rate: int) -> float:
    return float(np.abs(np.fft.rfft(samples)).argmax()) * rate / len(samples)


def noise_then_silence(folder: Path) -> Path:
    """30 s of noise at a high bit rate and 30 s of silence at a low one, without the tag that says how long it is."""
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, 30 * 44100)
    sf.write(folder / "a.mp3", np.concatenate([noise, np.zeros(30 * 44100)]), 44100, bitrate_mode="VARIABLE")
    return audio_files.remove_mp3_length(folder / "a.mp3")


# Laws


@pytest.mark.parametrize("suffix", audio_files.FORMATS)
def test_decoding_in_chunks_is_decoding_at_once(tmp_path: Path, suffix: str) -> None:
    file = made(tmp_path, f"a{suffix}")
    expected, _ = sf.read(file, dtype="float32")
    with SoundfileSource(file) as source:
        chunks = list(source.chunks(0, None))
        assert source.position == source.n_frames == len(expected)
        assert source.problem == ""
    # Not bit-identical for mp3: soundfile seeks between reads, which resets the decoder.
    assert np.abs(np.concatenate(chunks) - expected).max() < 1e-6
    assert max(len(chunk) for chunk in chunks) <= CHUNK_FRAMES


@pytest.mark.parametrize("suffix", [".ogg", ".opus", ".mp3", ".flac"])
def test_a_cut_off_file_gives_what_is_there_and_says_so(tmp_path: Path, suffix: str) -> None:
    file = made(tmp_path, f"a{suffix}")
    whole = read_audio(file, sample_rate=16000).samples
    audio = read_audio(audio_files.keep_half(file), sample_rate=16000)
    # Half of the bytes are about half of the time; the very end may ring.
    assert 2.5 < len(audio.samples) / 16000 < 5.5
    assert np.abs(audio.samples[:-3000] - whole[: len(audio.samples) - 3000]).max() < 1e-6
    assert f"{len(audio.samples) / 16000:.2f} " in audio.note
    assert audio.note.split(" could be decoded: ")[-1] or "end mark is missing" in audio.note


@pytest.mark.parametrize("suffix", [".wav", ".flac", ".ogg", ".opus", ".mp3"])
def test_bytes_behind_the_end_change_nothing(tmp_path: Path, rng: np.random.Generator, suffix: str) -> None:
    file = made(tmp_path, f"a{suffix}", seconds=3.0)
    expected = read_audio(file, sample_rate=16000)
    (tmp_path / "tags").write_bytes(rng.integers(0, 256, 50_000, dtype=np.uint8).tobytes())
    audio = read_audio(audio_files.append(file, tmp_path / "tags"), sample_rate=16000)
    assert np.array_equal(audio.samples, expected.samples)
    assert audio.note == ""


# Worked numbers


def test_an_mp3_that_does_not_say_how_long_it_is_is_read_to_its_end(tmp_path: Path) -> None:
    """libsndfile guesses a quarter of it from the first bit rate, and gives nothing behind that."""
    file = noise_then_silence(tmp_path)
    assert sf.info(file).duration < 20
    # mp3 comes in frames of 1152 samples, and the encoder adds at most two.
    assert probe_audio(file).duration_seconds == pytest.approx(60, abs=0.06)
    audio = read_audio(file, sample_rate=44100)
    assert len(audio.samples) / 44100 == pytest.approx(60, abs=0.06)
    assert np.abs(audio.samples[29 * 44100 : 30 * 44100]).mean() > 0.2
    assert np.abs(audio.samples[31 * 44100 : 59 * 44100]).max() < 1e-3
    assert audio.note == ""


def test_a_span_of_such_an_mp3_ends_the_decoding_early(tmp_path: Path) -> None:
    file = noise_then_silence(tmp_path)
    whole = read_audio(file, sample_rate=44100).samples
    n_threads = threading.active_count()
    span = read_audio(file, sample_rate=44100, onset=29.5, offset=30.5).samples
    assert np.array_equal(span, whole[int(29.5 * 44100) : int(30.5 * 44100)])
    assert threading.active_count() == n_threads


@pytest.mark.parametrize("n_bytes", [1000, 5321, 20077])
def test_an_mp3_that_begins_in_the_middle_of_a_frame(tmp_path: Path, n_bytes: int) -> None:
    file = made(tmp_path, "a.mp3")
    whole = read_audio(file, sample_rate=44100).samples
    file.write_bytes(file.read_bytes()[n_bytes:])
    cut = read_audio(file, sample_rate=44100).samples
    # The end is the same but for up to 1152 samples of the encoder's padding; the first frames lack what they refer to.
    ends = [np.abs(cut[-60000 - pad : len(cut) - pad] - whole[-60000:]).max() for pad in range(1200)]
    assert min(ends) < 1e-6


def test_a_disk_that_fails_under_the_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = audio_files.remove_mp3_length(made(tmp_path, "a.mp3", seconds=60.0))
    real_open = Path.open

    class Failing(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 200_000:
                raise OSError(5, "Input/output error")
            return super().read(size)

    def fails_late(path: Path, mode: str) -> io.BytesIO:
        with real_open(path, mode) as sound:
            return Failing(sound.read())

    monkeypatch.setattr(Path, "open", fails_late)
    audio = read_audio(file, sample_rate=16000)
    assert 5 < len(audio.samples) / 16000 < 40
    assert audio.note.endswith("s were decoded, but the file cannot be read any further (Input/output error)")


def test_a_seek_in_mp3_of_variable_bit_rate_is_exact(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, 20 * 44100)
    sf.write(tmp_path / "a.mp3", np.concatenate([np.zeros(20 * 44100), noise]), 44100, bitrate_mode="VARIABLE")
    whole = read_audio(tmp_path / "a.mp3", sample_rate=44100).samples
    span = read_audio(tmp_path / "a.mp3", sample_rate=44100, onset=30.0, offset=31.0).samples
    assert np.abs(span - whole[30 * 44100 : 31 * 44100]).max() < 1e-6


@pytest.mark.parametrize("suffix", [".flac", ".ogg", ".opus", ".mp3"])
def test_of_joined_files_the_first_is_read(tmp_path: Path, suffix: str) -> None:
    first, second = made(tmp_path, f"a{suffix}", seconds=6.0), made(tmp_path, f"b{suffix}", seconds=9.0, hertz=880.0)
    alone = read_audio(first, sample_rate=16000).samples
    joined = audio_files.append(first, second)
    audio = read_audio(joined, sample_rate=16000)
    assert np.array_equal(audio.samples[: len(alone) - 800], alone[:-800])
    assert len(audio.samples) / 16000 == pytest.approx(6, abs=0.01)
    assert audio.note.startswith("6.00 s were decoded, but another recording is joined on behind it")
    # libsndfile's own seek in joined flac gives the second recording here, without a word.
    span = read_audio(joined, sample_rate=16000, onset=5.0, offset=5.9).samples
    assert loudest_hertz(span, 16000) == pytest.approx(440, abs=3)


@pytest.mark.parametrize(
    ("suffix", "reason"),
    [
        (".flac", "flac decoder lost sync"),
        (".mp3", "the decoder failed, libsndfile error 29"),
    ],
)
def test_a_bad_sector_stops_flac_and_mp3_there(tmp_path: Path, suffix: str, reason: str) -> None:
    file = made(tmp_path, f"a{suffix}")
    whole = read_audio(file, sample_rate=44100).samples
    audio = read_audio(audio_files.spoil(file, at=0.5), sample_rate=44100)
    assert audio.note.startswith("only ")
    assert audio.note.endswith(f" of 8.00 s could be decoded: {reason}")
    # Whatever lies before the damage comes out, not only whole chunks of it.
    assert len(audio.samples) % CHUNK_FRAMES != 0
    assert np.array_equal(audio.samples[:-2304], whole[: len(audio.samples) - 2304])


@pytest.mark.parametrize("suffix", [".ogg", ".opus"])
def test_a_bad_sector_in_ogg_is_named(tmp_path: Path, suffix: str) -> None:
    audio = read_audio(audio_files.spoil(made(tmp_path, f"a{suffix}"), at=0.5), sample_rate=16000)
    assert "the file is damaged inside; sound is missing there, and what follows it may come too early" in audio.note


def test_flac_behind_a_bad_sector_can_be_read_as_a_span(tmp_path: Path) -> None:
    file = made(tmp_path, "a.flac")
    whole = read_audio(file, sample_rate=44100).samples
    span = read_audio(audio_files.spoil(file, at=0.3), sample_rate=44100, onset=6.0, offset=7.0)
    assert np.array_equal(span.samples, whole[6 * 44100 : 7 * 44100])
    assert span.note == ""


@pytest.mark.parametrize("n_bytes", [2**32 - 1, 2**31 - 1, 2**31 - 4096])
def test_a_wav_from_a_pipe_claims_nothing(tmp_path: Path, n_bytes: int) -> None:
    audio = read_audio(audio_files.set_wav_data_size(made(tmp_path, "a.wav"), n_bytes), sample_rate=44100)
    assert len(audio.samples) == 8 * 44100
    assert audio.note == ""


@pytest.mark.parametrize("suffix", [".wav", ".aiff"])
def test_a_header_that_says_more_than_there_is(tmp_path: Path, suffix: str) -> None:
    file = audio_files.keep_half(made(tmp_path, f"a{suffix}"))
    assert probe_audio(file).duration_seconds == pytest.approx(8, abs=1e-3)
    audio = read_audio(file, sample_rate=44100)
    assert len(audio.samples) == pytest.approx(4 * 44100, abs=50)
    assert audio.note.startswith("only 4.00 of 8.00 s could be decoded: the file ends at 4.00 s, before its header")


# Wrong input


@pytest.mark.parametrize(("name", "message"), [("a.wav", "its header states no"), ("a.raw", "raw samples do not")])
def test_what_libsndfile_cannot_use(tmp_path: Path, name: str, message: str) -> None:
    sf.write(tmp_path / "a.wav", np.zeros(0), 16000)
    (tmp_path / "a.raw").write_bytes(bytes(1000))
    with pytest.raises(ValueError, match=message):
        SoundfileSource(tmp_path / name)


def test_flac_of_unknown_length_is_left_to_others(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="its header states no length"):
        SoundfileSource(audio_files.remove_flac_length(made(tmp_path, "a.flac")))


def test_what_is_not_audio_is_refused_in_libsndfiles_words(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_text("not audio at all")
    with pytest.raises(ValueError, match="Format not recognised"):
        SoundfileSource(tmp_path / "a.wav")
