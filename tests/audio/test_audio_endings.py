from __future__ import annotations

import os
from pathlib import Path

import audio_files
import numpy as np
import pytest
import soundfile as sf

from earmark.audio.endings import frames_in_header, is_joined_flac, sound_begins, states_its_length, why_it_ends


def flac(folder: Path, name: str = "a.flac") -> Path:
    return audio_files.write(folder / name, audio_files.sound(0.5, 16000), 16000)


def ogg_page(flags: int, *, n_bytes: int = 300, serial: int = 1) -> bytes:
    """A page as the specification has it: header of 27 bytes, lengths of the segments, segments. No checksum."""
    lengths = [255] * (n_bytes // 255) + [n_bytes % 255]
    header = b"OggS" + bytes([0, flags]) + bytes(8) + serial.to_bytes(4, "little") + bytes(8) + bytes([len(lengths)])
    return header + bytes(lengths) + b"\x55" * n_bytes


BEGIN, LATER, END = ogg_page(2), ogg_page(0), ogg_page(4)

# Laws


@pytest.mark.parametrize("suffix", [".flac", ".ogg", ".opus", ".mp3"])
def test_a_sound_file_has_nothing_wrong_at_its_end(tmp_path: Path, rng: np.random.Generator, suffix: str) -> None:
    for seconds in (0.05, 1.0, 7.0):
        samples = rng.uniform(-1, 1, (round(seconds * 48000), 2)).astype(np.float32)
        file = audio_files.write(tmp_path / f"a{suffix}", samples, 48000)
        assert why_it_ends(file, {".opus": "OGG"}.get(suffix, suffix[1:].upper())) == ""


@pytest.mark.parametrize("gap", [0, 1, 2**20 - 60, 2**20 - 45, 2**20 - 43, 2**20 - 40, 2**20 + 5])
def test_a_second_flac_is_found_wherever_it_begins(tmp_path: Path, gap: int) -> None:
    """Also where its beginning straddles two reads of the search."""
    start = b"fLaC\x00\x00\x00\x22" + bytes(34)
    (tmp_path / "a.flac").write_bytes(start + bytes(gap) + start)
    assert is_joined_flac(tmp_path / "a.flac")
    (tmp_path / "b.flac").write_bytes(start + bytes(gap) + b"fLaC")
    assert not is_joined_flac(tmp_path / "b.flac")


# Worked numbers


@pytest.mark.parametrize(
    ("log", "frames"),
    [
        ("data : 1764000 (should be 881978)", 882022),  # 441000 * 1764000 / 881978, rounded
        ("RIFF : 1764036 (should be 882014)", 441000),
        ("  SSND : 1764000 (should be 882000)", 882000),
        ("data : 2147483647 (should be 882000)", 441000),
        ("data : 4294967295 (should be 882000)", 441000),
        ("data : 2147479552 (should be 882000)", 441000),
        ("data : 100 (should be 0)", 441000),
        ("", 441000),
    ],
)
def test_what_the_header_claims(log: str, frames: int) -> None:
    assert frames_in_header(441000, f"File : a.wav\n{log}\nEnd") == frames


def test_a_file_that_grew_is_searched_again(tmp_path: Path) -> None:
    file = flac(tmp_path)
    assert not is_joined_flac(file)
    audio_files.append(file, flac(tmp_path, "b.flac"))
    assert is_joined_flac(file)


def test_a_file_that_changed_in_place_is_searched_again(tmp_path: Path) -> None:
    start = b"fLaC\x00\x00\x00\x22" + bytes(34)
    (tmp_path / "a.flac").write_bytes(start + start)
    os.utime(tmp_path / "a.flac", ns=(1, 1))
    assert is_joined_flac(tmp_path / "a.flac")
    (tmp_path / "a.flac").write_bytes(start + bytes(len(start)))
    os.utime(tmp_path / "a.flac", ns=(2, 2))
    assert not is_joined_flac(tmp_path / "a.flac")


@pytest.mark.parametrize(
    ("pages", "reason"),
    [
        ([BEGIN, LATER, LATER, END], ""),
        ([ogg_page(6)], ""),
        ([BEGIN, ogg_page(2, serial=2), LATER, END], ""),  # two tracks side by side
        ([BEGIN, LATER, END, b"TAG and other bytes"], ""),
        ([BEGIN, LATER, LATER], "end mark is missing"),
        ([BEGIN, LATER, END[:-10]], "end mark is missing"),
        ([BEGIN, LATER, END[:20]], "end mark is missing"),
        ([BEGIN, LATER, END, BEGIN, LATER, END], "another recording is joined on"),
        ([BEGIN, LATER, LATER[:100], LATER, END], "damaged inside"),
        ([BEGIN, LATER, bytes(500), END], "damaged inside"),
    ],
)
def test_ogg_pages(tmp_path: Path, pages: list[bytes], reason: str) -> None:
    (tmp_path / "a.ogg").write_bytes(b"".join(pages))
    found = why_it_ends(tmp_path / "a.ogg", "OGG")
    assert reason in found
    assert bool(found) == bool(reason)


def test_mp3_tags(tmp_path: Path) -> None:
    file = tmp_path / "a.mp3"
    sf.write(file, audio_files.sound(2, 44100), 44100)
    assert states_its_length(file)
    with_tag = file.read_bytes()
    # An ID3 tag of 3000 bytes in front: 3000 = 23 * 128 + 56, four bytes of seven bits each.
    file.write_bytes(b"ID3\x03\x00\x00" + bytes([0, 0, 23, 56]) + bytes(3000) + with_tag)
    assert states_its_length(file)
    assert why_it_ends(file, "MP3") == ""
    audio_files.append(file, file)
    assert "another recording is joined on" in why_it_ends(file, "MP3")
    file.write_bytes(with_tag)
    assert not states_its_length(audio_files.remove_mp3_length(file))
    assert why_it_ends(file, "MP3") == ""


@pytest.mark.parametrize(
    ("before", "begins"),
    [
        (b"", 0),
        (b"\x12\x34\xff\xe2\x90\x00", 6),  # looks like MPEG 2.5
        (b"\x12\x34\xff\xfb\x98\x00", 6),  # looks like another sample rate
        (bytes.fromhex("fffa90c0") + bytes(413), 0),  # the same with a checksum, as the frame with the tag often has
    ],
)
def test_the_first_frame_of_an_mp3(tmp_path: Path, before: bytes, begins: int) -> None:
    frame = bytes.fromhex("fffb90c0") + bytes(413)
    (tmp_path / "a.mp3").write_bytes(before + 5 * frame)
    assert sound_begins(tmp_path / "a.mp3", "MP3") == begins


def test_a_tag_without_a_length_states_none(tmp_path: Path) -> None:
    file = tmp_path / "a.mp3"
    sf.write(file, audio_files.sound(2, 44100), 44100)
    data = bytearray(file.read_bytes())
    tag = max(data.find(b"Xing", 0, 2000), data.find(b"Info", 0, 2000))
    data[tag + 7] &= ~1  # the flag for the number of frames
    file.write_bytes(data)
    assert not states_its_length(file)


def test_wav_behind_wav(tmp_path: Path) -> None:
    file = audio_files.write(tmp_path / "a.wav", audio_files.sound(0.1, 16000), 16000)
    assert why_it_ends(file, "wav") == ""
    assert "another recording is joined on" in why_it_ends(audio_files.append(file, file), "wav")


# Wrong input


@pytest.mark.parametrize("content", [b"", b"\xff", b"ID3", b"OggS\x00", b"fLaC", bytes(100)])
@pytest.mark.parametrize("container", ["FLAC", "MP3", "OGG", "wav", "AIFF"])
def test_files_of_a_few_bytes_break_nothing(tmp_path: Path, content: bytes, container: str) -> None:
    (tmp_path / "a").write_bytes(content)
    assert why_it_ends(tmp_path / "a", container) in ("", why_it_ends(tmp_path / "a", "OGG"))
