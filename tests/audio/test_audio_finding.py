from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from earmark.audio import find_audio, find_clip


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def found(folder: Path) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in find_audio([folder])]


# Laws


def test_folders_are_sorted_whatever_the_file_system_says(tmp_path: Path) -> None:
    names = ["b/2.wav", "b/1.wav", "a.wav", "b.wav", "B/1.wav", "a/z/1.flac", "a/b.ogg"]
    touch(tmp_path, *names)
    assert found(tmp_path) == sorted(names, key=lambda name: Path(name).parts)


def test_every_clip_that_is_found_is_found_by_its_name(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav", "sub/b.flac", unicodedata.normalize("NFD", "Käfer.wav"), "sub/é.ogg")
    for file in find_audio([tmp_path]):
        name = unicodedata.normalize("NFC", file.relative_to(tmp_path).as_posix())
        assert find_clip(tmp_path, name) == file


# Worked numbers


def test_only_audio_counts_in_folders(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav", "b.MP3", "c.M4a", "d.txt", "e.wav.txt", "._a.wav", ".hidden/f.wav", "sub/g.opus", "wav")
    assert found(tmp_path) == ["a.wav", "b.MP3", "c.M4a", "sub/g.opus"]


def test_a_file_that_is_named_is_taken_and_only_once(tmp_path: Path) -> None:
    touch(tmp_path, "b.wav", "a.wav", "odd.dat")
    files = find_audio([tmp_path / "odd.dat", tmp_path / "b.wav", tmp_path, tmp_path / "a.wav"])
    assert [file.name for file in files] == ["odd.dat", "b.wav", "a.wav"]


def test_links_are_followed_and_circles_end(tmp_path: Path) -> None:
    touch(tmp_path, "elsewhere/a.wav", "data/b.wav")
    (tmp_path / "data" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "data" / "circle").symlink_to(tmp_path / "data")
    assert found(tmp_path / "data") == ["b.wav", "link/a.wav"]


# Wrong input


def test_nothing_there(tmp_path: Path) -> None:
    touch(tmp_path, "notes.txt")
    with pytest.raises(ValueError, match="no audio in this folder - files must end in"):
        find_audio([tmp_path])
    with pytest.raises(ValueError, match="nowhere: no such file or folder"):
        find_audio([tmp_path / "nowhere"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.wav", r"a.wav: no such file in .* - there is 'a.flac'; is the extension in the labels right\?"),
        ("kitchn.wav", r"kitchn.wav: no such file in .* - did you mean 'kitchen.wav'\?"),
        (
            "deep.wav",
            "deep.wav: no such file in .* - there is 'sub/deep.wav'; labels name files relative to the folder",
        ),
        ("sub/nothing.wav", "names are relative to the audio folder; is it the right one"),
        ("[x.wav", "names are relative to the audio folder"),
    ],
)
def test_clips_that_are_not_there(tmp_path: Path, name: str, message: str) -> None:
    touch(tmp_path, "a.flac", "kitchen.wav", "sub/deep.wav")
    with pytest.raises(ValueError, match=message):
        find_clip(tmp_path, name)


def test_clips_in_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a.wav: no such file in .* - this folder does not exist"):
        find_clip(tmp_path / "nowhere", "a.wav")
