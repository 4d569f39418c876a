"""Which array belongs to which recording."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from earmark.embeddings import embeddings_of, find_embeddings, recording_name


def made(folder: Path, *names: str) -> Path:
    """A folder of empty files."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


# --- laws ---


@pytest.mark.parametrize("suffix", [".wav.npy", ".npy", ".wav.npz", ".npz"])
def test_every_way_of_naming_is_found_in_its_sub_folder(tmp_path: Path, suffix: str) -> None:
    made(tmp_path, f"site/a{suffix}", f"a{suffix}", f".hidden/a{suffix}")
    found, missing = embeddings_of(tmp_path, ["site/a.wav", "a.wav"])
    assert {name: file.relative_to(tmp_path).as_posix() for name, file in found.items()} == {
        "site/a.wav": f"site/a{suffix}", "a.wav": f"a{suffix}",
    }  # fmt: skip
    assert missing == {}


def test_both_spellings_of_an_umlaut_are_found(tmp_path: Path) -> None:
    made(tmp_path, unicodedata.normalize("NFD", "Bär.wav.npy"))
    assert list(embeddings_of(tmp_path, [unicodedata.normalize("NFC", "Bär.wav")])[0]) == ["Bär.wav"]


def test_dots_in_names_are_kept(tmp_path: Path) -> None:
    made(tmp_path, "a.1.wav.npy", "a.2.npy")
    found, missing = embeddings_of(tmp_path, ["a.1.wav", "a.2.wav", "a.3.wav"])
    assert (list(found), list(missing)) == (["a.1.wav", "a.2.wav"], ["a.3.wav"])


# --- worked numbers ---


def test_names_of_recordings() -> None:
    assert recording_name("site/a.wav.npy") == "site/a.wav"
    assert recording_name("a.FLAC.npz") == "a.FLAC"
    assert recording_name("a.npy") == "a.npy"
    assert recording_name("2024.05.01.npy") == "2024.05.01.npy"  # .01 is no ending of audio


# --- wrong input ---


def test_two_arrays_of_one_recording_are_refused(tmp_path: Path) -> None:
    made(tmp_path, "a.wav.npy", "a.npy")
    with pytest.raises(ValueError, match=r"a\.wav has two arrays, a\.wav\.npy and a\.npy - remove the wrong one"):
        embeddings_of(tmp_path, ["a.wav"])


def test_an_array_of_two_recordings_is_refused(tmp_path: Path) -> None:
    made(tmp_path, "a.npy")
    with pytest.raises(ValueError, match=r"a\.npy: may be of a\.wav or of a\.flac - give .* a\.wav\.npy and a\.flac"):
        embeddings_of(tmp_path, ["a.wav", "a.flac"])


@pytest.mark.parametrize(
    ("there", "hint"),
    [
        ("other/a.wav.npy", r" - there is 'other/a\.wav\.npy'; arrays lie in the same sub-folders as their recordings"),
        ("aa.wav.npy", r" - did you mean 'aa\.wav\.npy'\?"),
        ("quite-different.npy", ""),
    ],
)
def test_what_is_missing_is_told_with_what_there_is(tmp_path: Path, there: str, hint: str) -> None:
    made(tmp_path, there)
    missing = embeddings_of(tmp_path, ["a.wav"])[1]
    assert missing["a.wav"].startswith(f"a.wav: neither a.wav.npy nor a.npy in {tmp_path}")
    with pytest.raises(ValueError, match=f"{tmp_path}{hint}$"):
        raise ValueError(missing["a.wav"])


def test_paths_without_arrays_are_refused(tmp_path: Path) -> None:
    made(tmp_path, "a.wav")
    for path, message in (
        (tmp_path, "no array of embeddings in this folder - they end in .npy or .npz"),
        (tmp_path / "a.wav", "is no array of embeddings"),
        (tmp_path / "b.npy", "no such file or folder"),
    ):
        with pytest.raises(ValueError, match=message):
            find_embeddings(path)
