"""Which files are audio, and which file on disk a label row means."""

from __future__ import annotations

import difflib
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

# What libsndfile reads, then what needs the [av] extra: compressed audio of phones, and the sound of videos.
AUDIO_SUFFIXES = frozenset(
    ".wav .flac .ogg .oga .opus .mp3 .aif .aiff .aifc .au .snd .caf .w64 .rf64"
    " .m4a .m4b .aac .ac3 .amr .wma .mka .mp4 .mov .mkv .webm .3gp".split()
)

_HINTS = 10  # missing names behind which a similar one is looked for


def find_audio(paths: Sequence[Path]) -> list[Path]:
    """Return the audio files that `paths` name: files as they are, folders searched at any depth and sorted.

    A file that is named is taken whatever its suffix; in folders only audio suffixes count, in any case. Hidden
    files and folders are skipped, links to folders are followed, and a file named twice comes once.

    Raises:
        ValueError: a path does not exist, or a folder holds no audio.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("b.WAV", "a.flac", "notes.txt", "._b.WAV"):
        ...         Path(folder, name).touch()
        ...     [file.name for file in find_audio([Path(folder)])]
        ['a.flac', 'b.WAV']
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise ValueError(f"{path.as_posix()}: no such file or folder - is the path relative to another folder?")
        if not path.is_dir():
            found.append(path)
            continue
        inside = _audio_in(path, set())
        if not inside:
            raise ValueError(
                f"{path.as_posix()}: no audio in this folder - files must end in .wav, .flac, .ogg,"
                " .opus, .mp3, .m4a or alike"
            )
        found += sorted(inside, key=lambda file: file.relative_to(path).parts)
    return list(dict.fromkeys(found))


def find_clip(folder: Path, filename: str) -> Path:
    """Return the file below `folder` that a label file calls `filename`.

    Label files spell names in NFC, while some systems store them in NFD: both are found.

    Raises:
        ValueError: there is no such file; with the nearest one that there is.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Path(folder, "a.flac").touch()
        ...     find_clip(Path(folder), "a.wav")
        Traceback (most recent call last):
        ...
        ValueError: a.wav: no such file in ... - there is 'a.flac'; is the extension in the labels right?
    """
    found, missing = find_clips(folder, [filename])
    if missing:
        raise ValueError(missing[filename])
    return found[filename]


def find_clips(folder: Path, filenames: Iterable[str]) -> tuple[dict[str, Path], dict[str, str]]:
    """Return the file of each name, and for each name without one the reason, as `find_clip` words it.

    Every folder is listed once, and a hint is looked for behind the first few missing names only: a wrong audio folder
    of a hundred thousand clips is told within seconds.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Path(folder, "a.wav").touch()
        ...     found, missing = find_clips(Path(folder), ["a.wav", "b.wav"])
        >>> found["a.wav"].name, list(missing)
        ('a.wav', ['b.wav'])
    """
    listings: dict[Path, dict[str, list[str]]] = {}  # of each folder: names in NFC -> as they are on disk
    found: dict[str, Path] = {}
    missing: dict[str, str] = {}
    for filename in dict.fromkeys(filenames):
        try:
            file = _look_up(folder, filename, listings)
            hint = _missing_hint(folder, filename, listings) if file is None and len(missing) < _HINTS else ""
        except OSError as error:  # a name too long for the system, a folder that may not be entered
            missing[filename] = f"{filename}: cannot be looked for in {folder.as_posix()} ({error.strerror})"
            continue
        if file is None:
            missing[filename] = f"{filename}: no such file in {folder.as_posix()}{hint}"
        else:
            found[filename] = file
    return found, missing


def _look_up(folder: Path, filename: str, listings: dict[Path, dict[str, list[str]]]) -> Path | None:
    """The file of this name, in the very spelling or in another one of the same letters."""
    direct = folder / filename
    if direct.is_file():
        return direct
    if Path(filename).is_absolute():
        folder, filename = Path(direct.anchor), direct.relative_to(direct.anchor).as_posix()
    return next((path for path in _spellings(folder, Path(filename).parts, listings) if path.is_file()), None)


def _spellings(folder: Path, parts: Sequence[str], listings: dict[Path, dict[str, list[str]]]) -> Iterator[Path]:
    """The paths below `folder` whose parts are these in NFC; on disk every part may be spelt in its own way."""
    if not parts:
        yield folder
        return
    if folder not in listings:
        listings[folder] = _listing(folder)
    same = [parts[0]] if parts[0] == ".." else listings[folder].get(unicodedata.normalize("NFC", parts[0]), [])
    for name in same:
        yield from _spellings(folder / name, parts[1:], listings)


def _listing(folder: Path) -> dict[str, list[str]]:
    """The names in a folder by their NFC spelling, sorted; none when there is no such folder."""
    names: dict[str, list[str]] = {}
    for name in sorted(os.listdir(folder)) if folder.is_dir() else []:
        names.setdefault(unicodedata.normalize("NFC", name), []).append(name)
    return names


def _audio_in(folder: Path, seen: set[str]) -> list[Path]:
    """Audio at any depth; `seen` holds the folders already visited, so that links in a circle come to an end."""
    real = os.path.realpath(folder)
    if real in seen:
        return []
    seen.add(real)
    files = []
    for entry in folder.iterdir():
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            files += _audio_in(entry, seen)
        elif entry.suffix.casefold() in AUDIO_SUFFIXES:
            files.append(entry)
    return files


def _missing_hint(folder: Path, filename: str, listings: dict[Path, dict[str, list[str]]]) -> str:
    """What the label file probably meant."""
    if not folder.is_dir():
        return " - this folder does not exist"
    direct = folder / filename
    near_by = next(_spellings(folder, Path(filename).parts[:-1], listings), direct.parent)
    names = [name for spellings in listings.get(near_by, {}).values() for name in spellings]
    same_stem = [name for name in names if Path(name).stem == direct.stem]
    if same_stem:
        return f" - there is {same_stem[0]!r}; is the extension in the labels right?"
    elsewhere = next((file for file in folder.rglob(direct.name)), None)
    if elsewhere is not None:
        there = elsewhere.relative_to(folder).as_posix()
        said = f" - there is {there!r}; labels name files relative to the folder"
        meant = elsewhere.as_posix().removesuffix(f"/{filename}")
        return said if meant == elsewhere.as_posix() else f"{said}; is {meant!r} meant to be the folder?"
    # A number is another recording, not a slip: 0120.wav is not meant by 0200.wav.
    letters = [name for name in names if _without_digits(name) != _without_digits(direct.name)]
    near = difflib.get_close_matches(direct.name, letters, n=1, cutoff=0.8)
    if near:
        return f" - did you mean {near[0]!r}?"
    if direct.suffix.casefold() not in AUDIO_SUFFIXES:
        return " - it has no ending as recordings have; a label track is named after its recording, a.wav.txt"
    return " - names are relative to the audio folder; is it the right one?"


def _without_digits(name: str) -> str:
    """The name with every digit alike."""
    return re.sub(r"\d", "0", name)
