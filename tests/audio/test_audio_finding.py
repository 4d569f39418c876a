from __future__ import annotations

import unicodedata
from itertools import product
from pathlib import Path
from typing import Literal

import pytest

from earmark.audio import find_audio, find_clip, find_clips


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


def test_every_part_of_a_path_may_be_spelt_in_its_own_way(tmp_path: Path) -> None:
    # Class folders copied from a Mac: each part may be in NFC or NFD, whatever the label file says.
    both: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")
    for forms in product(both, repeat=3):
        parts = [
            unicodedata.normalize(form, name) for form, name in zip(forms, ("Vögel", "Zürich", "ä.wav"), strict=True)
        ]
        folder = tmp_path / "-".join(forms)
        touch(folder, "/".join(parts))
        for form in both:
            assert find_clip(folder, unicodedata.normalize(form, "Vögel/Zürich/ä.wav")) == folder.joinpath(*parts)


def test_both_spellings_of_a_folder_are_searched(tmp_path: Path) -> None:
    composed, decomposed = unicodedata.normalize("NFC", "Käfer"), unicodedata.normalize("NFD", "Käfer")
    touch(tmp_path, f"{composed}/a.wav", f"{composed}/both.wav", f"{decomposed}/b.wav", f"{decomposed}/both.wav")
    assert find_clip(tmp_path, f"{composed}/a.wav").parent.name == composed
    assert find_clip(tmp_path, f"{composed}/b.wav").parent.name == decomposed
    for folder in (composed, decomposed):  # of two equal ones, that with the very spelling
        assert find_clip(tmp_path, f"{folder}/both.wav").parent.name == folder


def test_names_that_lead_elsewhere(tmp_path: Path) -> None:
    touch(tmp_path, "audio/a.wav", unicodedata.normalize("NFD", "other/ä.wav"))
    other = tmp_path / "other" / unicodedata.normalize("NFD", "ä.wav")
    for name in ("../other/ä.wav", (tmp_path / "other/ä.wav").as_posix()):
        assert find_clip(tmp_path / "audio", name).resolve() == other.resolve()


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
            "deep.wav: no such file in .* - there is 'sub/deep.wav'; labels name files relative to the folder;"
            r" is '.*/sub' meant to be the folder\?$",
        ),
        ("sub/a/deep.wav", "there is 'sub/deep.wav'; labels name files relative to the folder$"),
        ("rec-0200.wav", r"no such file in \S* - names are relative to the audio folder; is it the right one\?"),
        ("rec-120.wav", r"did you mean 'rec-0120.wav'\?"),
        ("Label Track", "it has no ending as recordings have; a label track is named after its recording, a.wav.txt"),
        ("sub/nothing.wav", "names are relative to the audio folder; is it the right one"),
        ("[x.wav", "names are relative to the audio folder"),
    ],
)
def test_clips_that_are_not_there(tmp_path: Path, name: str, message: str) -> None:
    touch(tmp_path, "a.flac", "kitchen.wav", "sub/deep.wav", "rec-0120.wav")
    with pytest.raises(ValueError, match=message):
        find_clip(tmp_path, name)


def test_a_hint_comes_from_a_folder_in_another_spelling(tmp_path: Path) -> None:
    touch(tmp_path, unicodedata.normalize("NFD", "Vögel/a.flac"))
    with pytest.raises(ValueError, match=r"^Vögel/a.wav: no such file in .* - there is 'a.flac'; is the extension"):
        find_clip(tmp_path, unicodedata.normalize("NFC", "Vögel/a.wav"))


def test_what_the_system_refuses_costs_one_name_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path, "a.wav", "closed/b.wav")
    real = Path.is_file

    def refused(path: Path) -> bool:
        if path.parent.name == "closed":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(Path, "is_file", refused)
    long = 300 * "x" + ".wav"
    names, missing = find_clips(tmp_path, [long, "closed/b.wav", "a.wav"])
    assert names == {"a.wav": tmp_path / "a.wav"}
    assert missing == {
        long: f"{long}: cannot be looked for in {tmp_path.as_posix()} (File name too long)",
        "closed/b.wav": f"closed/b.wav: cannot be looked for in {tmp_path.as_posix()} (Permission denied)",
    }


def test_clips_in_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"a.wav: no such file in .* - this folder does not exist"):
        find_clip(tmp_path / "nowhere", "a.wav")
