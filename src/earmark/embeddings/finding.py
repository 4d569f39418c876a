"""Which array belongs to which recording: the one with its name."""

from __future__ import annotations

import difflib
import os
import unicodedata
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from earmark.audio import AUDIO_SUFFIXES

EMBEDDING_SUFFIXES = (".npy", ".npz")
_HINTS = 10  # missing names behind which a similar one is looked for


def embeddings_of(folder: Path, filenames: Iterable[str]) -> tuple[dict[str, Path], dict[str, str]]:
    """Return the array of every recording below `folder`, and why there is none for the others.

    The array of ``site/a.wav`` is ``site/a.wav.npy`` or ``site/a.npy``, or the same with ``.npz``.

    Args:
        folder: of the arrays.
        filenames: as the label file has them.

    Raises:
        ValueError: when a recording has two arrays: which of them is meant?

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Path(folder, "a.wav.npy").touch()
        ...     found, missing = embeddings_of(Path(folder), ["a.wav", "b.wav"])
        >>> found["a.wav"].name, list(missing)
        ('a.wav.npy', ['b.wav'])
    """
    files = _listing(folder)
    found: dict[str, Path] = {}
    missing: dict[str, str] = {}
    owner: dict[Path, str] = {}
    for filename in dict.fromkeys(filenames):
        candidates = [files[name] for name in _candidates(filename) if name in files]
        if len(candidates) > 1:
            first, second = (file.relative_to(folder).as_posix() for file in candidates[:2])
            raise ValueError(
                f"{folder.as_posix()}: {filename} has two arrays, {first} and {second} - remove the wrong one"
            )
        if not candidates:
            hint = _hint(filename, files) if len(missing) < _HINTS else ""
            missing[filename] = (
                f"{filename}: neither {' nor '.join(_candidates(filename)[::2])} in {folder.as_posix()}{hint}"
            )
            continue
        other = owner.setdefault(candidates[0], filename)
        if other != filename:
            raise ValueError(
                f"{candidates[0].as_posix()}: may be of {other} or of {filename} - give each array the whole name of"
                f" its recording, {PurePosixPath(other).name}.npy and {PurePosixPath(filename).name}.npy"
            )
        found[filename] = candidates[0]
    return found, missing


def find_embeddings(path: Path) -> list[Path]:
    """Return the arrays that `path` names: a file as it is, a folder searched at any depth and sorted.

    Raises:
        ValueError: the path does not exist, is no array, or the folder holds none.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("b.wav.npy", "a.npz", "features.json"):
        ...         Path(folder, name).touch()
        ...     [file.name for file in find_embeddings(Path(folder))]
        ['a.npz', 'b.wav.npy']
    """
    if not path.exists():
        raise ValueError(f"{path.as_posix()}: no such file or folder - is the path relative to another folder?")
    if path.is_dir():
        inside = _listing(path)
        if not inside:
            raise ValueError(f"{path.as_posix()}: no array of embeddings in this folder - they end in .npy or .npz")
        return [inside[name] for name in sorted(inside, key=lambda name: PurePosixPath(name).parts)]
    if path.suffix.casefold() not in EMBEDDING_SUFFIXES:
        raise ValueError(f"{path.as_posix()}: is no array of embeddings - they end in .npy or .npz")
    return [path]


def recording_name(name: str) -> str:
    """Return the name of the recording an array was made of, as far as the array's own name tells it.

    Example:
        >>> recording_name("site/a.wav.npy"), recording_name("site/a.npy")     # a.wav? a.flac? nobody knows
        ('site/a.wav', 'site/a.npy')
    """
    recording = PurePosixPath(name).with_suffix("")
    return recording.as_posix() if recording.suffix.casefold() in AUDIO_SUFFIXES else name


def _candidates(filename: str) -> list[str]:
    """The names an array of this recording may have."""
    name = unicodedata.normalize("NFC", PurePosixPath(filename).as_posix())
    if PurePosixPath(name).suffix.casefold() in EMBEDDING_SUFFIXES:
        return [name]
    bare = PurePosixPath(name).with_suffix("").as_posix()
    stems = [name] if bare == name else [name, bare]
    return [f"{stem}{suffix}" for stem in stems for suffix in EMBEDDING_SUFFIXES]


def _listing(folder: Path) -> dict[str, Path]:
    """Every array below a folder by its relative name in NFC; hidden files and folders are skipped."""
    files = {}
    for inside, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if Path(name).suffix.casefold() in EMBEDDING_SUFFIXES and not name.startswith("."):
                path = Path(inside, name)
                files[unicodedata.normalize("NFC", path.relative_to(folder).as_posix())] = path
    return files


def _hint(filename: str, files: dict[str, Path]) -> str:
    """What the label file, or whoever wrote the arrays, probably meant."""
    wanted = {PurePosixPath(name).name for name in _candidates(filename)}
    elsewhere = next((name for name in files if PurePosixPath(name).name in wanted), None)
    if elsewhere is not None:
        return f" - there is {elsewhere!r}; arrays lie in the same sub-folders as their recordings"
    near = difflib.get_close_matches(_candidates(filename)[0], files, n=1, cutoff=0.8)
    return f" - did you mean {near[0]!r}?" if near else ""
