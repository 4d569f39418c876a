from __future__ import annotations

from pathlib import Path

import audio_files
import numpy as np
import pytest
from numpy.typing import NDArray

from earmark.audio import blocks, probe_audio, read_audio
from earmark.audio.av_source import AvSource

av = pytest.importorskip("av")


def encode(
    file: Path,
    samples: NDArray[np.float32],
    *,
    codec: str = "aac",
    rate: int = 44100,
    options: dict[str, str] | None = None,
) -> Path:
    """Write (channels, samples) with PyAV, in the container of the suffix; without noise substitution, so that
    decoding the same frames twice gives the same samples."""
    layout = {1: "mono", 2: "stereo"}[len(samples)]
    with av.open(str(file), "w", options=options) as container:
        stream = container.add_stream(codec, rate=rate, layout=layout)
        if codec == "aac":
            stream.options = {"aac_pns": "0"}
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples), format="fltp", layout=layout)
        frame.sample_rate, frame.pts = rate, 0
        resampler = av.AudioResampler(
            format=stream.codec_context.format.name,
            layout=layout,
            rate=rate,
            frame_size=stream.codec_context.frame_size,
        )
        for part in [*resampler.resample(frame), *resampler.resample(None)]:
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))
    return file


def tone(seconds: float, *, rate: int = 44100) -> NDArray[np.float32]:
    """(1, samples)"""
    return audio_files.sound(seconds, rate)[None]


# Laws


@pytest.mark.parametrize("name", ["a.m4a", "a.mp4", "a.mkv"])
def test_a_span_is_what_stands_there_in_the_whole_file(tmp_path: Path, rng: np.random.Generator, name: str) -> None:
    # So long that mkv has a second cluster to seek to, with times in whole milliseconds.
    file = encode(tmp_path / name, tone(12))
    whole = read_audio(file, sample_rate=44100).samples
    for onset, offset in [(0.0, 0.5), (11.0, 12.0), *np.sort(rng.uniform(0, 12, (5, 2))).tolist()]:
        span = read_audio(file, sample_rate=44100, onset=onset, offset=offset)
        begin, end = round(onset * 44100), round(offset * 44100)
        assert span.samples.shape == (end - begin,)
        assert np.abs(span.samples - whole[begin:end]).max() < 1e-6
        assert span.note == ""


@pytest.mark.parametrize("name", ["a.m4a", "a.aac", "a.mkv"])
def test_blocks_together_are_the_file(tmp_path: Path, name: str) -> None:
    file = encode(tmp_path / name, tone(4))
    parts = [block.samples for block in blocks(file, sample_rate=16000, block_seconds=0.3)]
    assert np.array_equal(np.concatenate(parts), read_audio(file, sample_rate=16000).samples)


# Worked numbers


def test_m4a_holds_what_was_encoded_at_the_moment_it_was(tmp_path: Path) -> None:
    original = tone(8)
    audio = read_audio(encode(tmp_path / "a.m4a", original), sample_rate=44100)
    assert audio.note == ""
    # AAC comes in frames of 1024 samples, so a last frame may hang over.
    assert 0 <= len(audio.samples) - original.shape[1] < 1024
    kept = audio.samples[: original.shape[1]]
    assert np.corrcoef(kept, original[0])[0, 1] > 0.99
    # One sample later it would fit worse: the encoder's delay is gone.
    assert np.corrcoef(kept[1:], original[0, :-1])[0, 1] < np.corrcoef(kept, original[0])[0, 1]


def test_probing(tmp_path: Path) -> None:
    file = encode(tmp_path / "a.m4a", np.concatenate([tone(3), tone(3)]))
    info = probe_audio(file)
    assert (info.sample_rate, info.n_channels) == (44100, 2)
    assert info.duration_seconds == pytest.approx(3, abs=1024 / 44100)
    # Bare aac says nothing about its length, so it is decoded; the encoder's 1024 samples of delay are part of it.
    assert probe_audio(encode(tmp_path / "a.aac", tone(3))).duration_seconds == pytest.approx(3, abs=3 * 1024 / 44100)


def test_channels_are_averaged(tmp_path: Path) -> None:
    original = tone(3)
    audio = read_audio(encode(tmp_path / "a.m4a", np.concatenate([original, 0 * original])), sample_rate=44100)
    fit = np.dot(audio.samples[: original.shape[1]], original[0]) / np.dot(original[0], original[0])
    assert fit == pytest.approx(0.5, abs=0.01)


def test_flac_of_unknown_length(tmp_path: Path) -> None:
    file = audio_files.write(tmp_path / "a.flac", tone(5)[0], 44100)
    expected = read_audio(file, sample_rate=16000).samples
    audio_files.remove_flac_length(file)
    assert np.array_equal(read_audio(file, sample_rate=16000).samples, expected)
    assert probe_audio(file).duration_seconds == 5.0
    span = read_audio(file, sample_rate=16000, onset=3.0, offset=4.0).samples
    assert np.abs(span - expected[3 * 16000 : 4 * 16000]).max() < 1e-6


def test_a_wav_whose_recorder_lost_its_power(tmp_path: Path) -> None:
    file = audio_files.write(tmp_path / "a.wav", tone(5)[0], 44100)
    expected = read_audio(file, sample_rate=16000).samples
    audio = read_audio(audio_files.set_wav_data_size(file, 0), sample_rate=16000)
    assert np.array_equal(audio.samples, expected)


def test_of_joined_wav_files_the_first_is_read(tmp_path: Path) -> None:
    file = audio_files.write(tmp_path / "a.wav", tone(2)[0], 44100)
    expected = read_audio(file, sample_rate=16000).samples
    audio = read_audio(audio_files.append(file, file), sample_rate=16000)
    assert np.array_equal(audio.samples, expected)
    assert audio.note.startswith("2.00 s were decoded, but another recording is joined on behind it")


def test_a_cut_off_track_is_used_as_far_as_it_goes(tmp_path: Path) -> None:
    file = encode(tmp_path / "a.mkv", tone(8))
    whole = read_audio(file, sample_rate=16000).samples
    audio = read_audio(audio_files.keep_half(file), sample_rate=16000)
    assert 2 < len(audio.samples) / 16000 < 6
    assert np.abs(audio.samples[:-2000] - whole[: len(audio.samples) - 2000]).max() < 1e-6


def test_a_track_that_ends_before_its_index_says(tmp_path: Path) -> None:
    """An index at the front, and half of the sound: an interrupted download."""
    file = encode(tmp_path / "a.m4a", tone(8), options={"movflags": "faststart"})
    whole = read_audio(file, sample_rate=16000).samples
    audio_files.keep_half(file)
    audio = read_audio(file, sample_rate=16000)
    assert np.abs(audio.samples[:-2000] - whole[: len(audio.samples) - 2000]).max() < 1e-6
    assert audio.note.startswith(f"only {len(audio.samples) / 16000:.2f} of 8.00 s could be decoded: ")
    with pytest.raises(ValueError, match=r"nothing could be decoded from 7 s on: nothing follows a seek to 6.5. s"):
        read_audio(file, sample_rate=16000, onset=7.0)


def test_a_seek_that_lands_too_late_is_not_taken_for_the_right_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_seek = AvSource._after_seek
    monkeypatch.setattr(AvSource, "_after_seek", lambda source, seconds: real_seek(source, seconds + 1.0))
    with pytest.raises(ValueError, match="nothing could be decoded from 5 s on: its index is damaged"):
        read_audio(encode(tmp_path / "a.m4a", tone(8)), sample_rate=16000, onset=5.0, offset=6.0)


def test_channels_are_shown_before_they_are_averaged(tmp_path: Path) -> None:
    file = encode(tmp_path / "a.m4a", np.concatenate([tone(1), 0 * tone(1)]))
    shown: list[NDArray[np.float32]] = []
    for _ in blocks(file, sample_rate=44100, block_seconds=1, on_channels=lambda decoded: shown.append(decoded.copy())):
        pass
    left, right = np.concatenate(shown).T
    np.testing.assert_allclose((left + right) / 2, read_audio(file, sample_rate=44100).samples, atol=1e-6)
    assert np.abs(left).max() > 0.1
    assert np.abs(right).max() < 1e-3


# Wrong input


def test_an_m4a_without_its_index(tmp_path: Path) -> None:
    """The index stands at the end, so an interrupted recording has none."""
    file = audio_files.keep_half(encode(tmp_path / "a.m4a", tone(3)))
    with pytest.raises(ValueError, match=r"a.m4a: cannot be read as audio \(libsndfile: .*; FFmpeg: Invalid data"):
        read_audio(file, sample_rate=16000)


def test_a_span_behind_the_end(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a.m4a: onset 20 s is after the end of the file at 3.00 s"):
        read_audio(encode(tmp_path / "a.m4a", tone(3)), sample_rate=16000, onset=20.0)


def test_a_video_without_sound(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "a.mp4"), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width = stream.height = 32
        stream.pix_fmt = "yuv420p"
        for _ in range(3):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")))
        container.mux(stream.encode(None))
    with pytest.raises(ValueError, match="there is no sound in it"):
        AvSource(tmp_path / "a.mp4")
