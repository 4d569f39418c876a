from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import audio_files
import numpy as np
import pytest
import soundfile as sf
from numpy.typing import NDArray

from earmark.audio import probe_audio, read_audio
from earmark.audio.opening import open_source
from earmark.audio.soundfile_source import SoundfileSource


def written(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).write_bytes(content)
    return folder / name


# Laws


@pytest.mark.parametrize("suffix", audio_files.FORMATS)
def test_the_core_needs_no_extra_for_these(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    file = audio_files.write(tmp_path / f"a{suffix}", audio_files.sound(1, 48000), 48000)
    with open_source(file) as source:
        assert isinstance(source, SoundfileSource)


def test_the_content_counts_and_not_the_suffix(tmp_path: Path) -> None:
    sf.write(tmp_path / "a.wav", audio_files.sound(1, 16000), 16000)
    (tmp_path / "a.wav").rename(tmp_path / "a.mp3")
    assert probe_audio(tmp_path / "a.mp3").duration_seconds == 1.0


# Worked numbers: there are none here. Wrong input


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


@pytest.mark.parametrize("has_av", [True, False])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"a.wav: is empty - was the recording or the copy interrupted\?"),
        (bytes(5000), "a.wav: holds only zeros - was the recording"),
        (LFS, "a.wav: is a Git LFS pointer, not the audio itself - run: git lfs pull"),
        (
            b"<!DOCTYPE html><html>Please log in</html>",
            "a.wav: is a web page, not audio - did the download need a login",
        ),
        (b"\n <html>Please log in</html>", "a.wav: is a web page"),
    ],
)
def test_what_often_stands_in_the_place_of_audio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str, has_av: bool
) -> None:
    if not has_av:
        monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(ValueError, match=message):
        read_audio(written(tmp_path, "a.wav", content), sample_rate=16000)


def test_without_the_extra_the_message_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    file = written(tmp_path, "a.m4a", b"\x00\x00\x00\x1cftypM4A " + bytes(100))
    with pytest.raises(ValueError, match=r'a.m4a: cannot be read as audio \(.*\) - .*pip install "earmark\[av\]"'):
        read_audio(file, sample_rate=16000)


def test_with_the_extra_both_reasons_are_given(tmp_path: Path) -> None:
    pytest.importorskip("av")
    with pytest.raises(ValueError, match=r"a.wav: cannot be read as audio \(libsndfile: Format not .*; FFmpeg: .*\)"):
        read_audio(written(tmp_path, "a.wav", b"some notes about birds"), sample_rate=16000)


def test_no_samples_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sf.write(tmp_path / "a.wav", audio_files.sound(0, 16000), 16000)
    with pytest.raises(ValueError, match=r"a.wav: .*its header states no length|holds no samples"):
        read_audio(tmp_path / "a.wav", sample_rate=16000)
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(ValueError, match=r"a.wav: .*its header states no length"):
        read_audio(tmp_path / "a.wav", sample_rate=16000)


def test_a_header_and_nothing_behind_it(tmp_path: Path) -> None:
    file = audio_files.write(tmp_path / "a.flac", audio_files.sound(1, 16000), 16000)
    file.write_bytes(file.read_bytes()[:300])
    with pytest.raises(ValueError, match=r"a\.flac: nothing could be decoded from 0 s on: flac decoder lost sync"):
        read_audio(file, sample_rate=16000)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a.wav: no such file - is the path relative to another folder\?"):
        probe_audio(tmp_path / "a.wav")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a folder, not an audio file"):
        read_audio(tmp_path, sample_rate=16000)


def test_what_the_system_refuses_is_an_error_about_the_file(tmp_path: Path) -> None:
    name = 300 * "a" + ".wav"  # 255 characters are the most
    for read in (probe_audio, lambda path: read_audio(path, sample_rate=16000)):
        with pytest.raises(ValueError, match=r"^[^:]*/aaa+\.wav: cannot be read \(File name too long\)$"):
            read(tmp_path / name)


def test_a_disk_that_fails_while_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(
        source: SoundfileSource, start: int, stop: int | None, on_channels: object
    ) -> Iterator[NDArray[np.float32]]:
        yield np.zeros(100, np.float32)
        raise OSError(5, "Input/output error")

    file = audio_files.write(tmp_path / "a.wav", audio_files.sound(1, 16000), 16000)
    monkeypatch.setattr(SoundfileSource, "chunks", fails)
    with pytest.raises(ValueError, match=r"^[^:]*/a\.wav: cannot be read \(Input/output error\)$"):
        read_audio(file, sample_rate=16000)
