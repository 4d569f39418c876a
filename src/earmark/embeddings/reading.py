"""One array of embeddings: opened without reading it, checked while it is read, and never unpickled."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

_NAMES = ("embeddings", "features")  # of the array that counts, in an .npz with several
_BLOCK_VALUES = 2**22  # read at a time; 16 MB as float32


def array_shape(path: Path) -> tuple[int, int]:
    """Return (frames, dims) of the array in a file, from its header alone.

    Raises:
        ValueError: when there is no such array, or one that cannot be embeddings.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(Path(folder, "a.wav.npy"), np.zeros((20, 768), np.float32))
        ...     array_shape(Path(folder, "a.wav.npy"))
        (20, 768)
    """
    shape, dtype = _header(path)
    return _checked(path, shape, dtype)


def array_dtype(path: Path) -> np.dtype[Any]:
    """Return the type of the numbers in a file, from its header alone.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.save(Path(folder, "a.wav.npy"), np.zeros((20, 768), np.float16))
        ...     array_dtype(Path(folder, "a.wav.npy"))
        dtype('float16')
    """
    return _header(path)[1]


def open_array(path: Path) -> NDArray[Any]:
    """Return the array in a file, (frames, dims); an .npy is mapped into memory and read where it is looked at.

    Raises:
        ValueError: as `array_shape`.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     np.savez(Path(folder, "a.npz"), embeddings=np.ones((2, 3)), times=np.arange(2))
        ...     open_array(Path(folder, "a.npz")).sum()     # the array called embeddings
        np.float64(6.0)
    """
    array_shape(path)
    try:
        if path.suffix.casefold() == ".npz":
            with zipfile.ZipFile(path) as archive:
                name = _member(archive).removesuffix(".npy")
            with np.load(path, allow_pickle=False) as arrays:
                array: NDArray[Any] = arrays[name]
            return array
        return np.lib.format.open_memmap(path, mode="r")
    except _UNREADABLE as error:
        raise ValueError(f"{path.as_posix()}: {_reason(error)}") from error


def frame_blocks(array: NDArray[Any], *, where: str) -> Iterator[NDArray[np.float32]]:
    """Yield consecutive frames of an array as float32, (frames, dims) each, none of which is NaN or infinite.

    Args:
        array: (frames, dims), of any numbers.
        where: begins the messages; the file, as a rule.

    Raises:
        ValueError: when a value is NaN, infinite, or beyond float32's range, with its frame and dim.

    Example:
        >>> [block.shape for block in frame_blocks(np.zeros((3, 2)), where="a.npy")]
        [(3, 2)]
        >>> list(frame_blocks(np.array([[0.0], [np.nan]]), where="a.npy"))
        Traceback (most recent call last):
        ...
        ValueError: a.npy: frame 1 has nan in dim 0 - every value must be a finite number; did the network that made ...
    """
    n_frames = max(1, _BLOCK_VALUES // max(1, array.shape[1]))
    for begin in range(0, len(array), n_frames):
        with np.errstate(over="ignore"):  # said below, with its place
            block = np.asarray(array[begin : begin + n_frames]).astype(np.float32)
        is_wrong = ~np.isfinite(block)
        if is_wrong.any():
            frame, dim = (int(place) for place in np.argwhere(is_wrong)[0])
            value = float(array[begin + frame, dim])
            hint = "did the network that made them overflow, or was there no sound?"
            if np.isfinite(value):
                hint = "float32, in which the network computes, ends at 3.4e+38"
            raise ValueError(
                f"{where}: frame {begin + frame} has {value:g} in dim {dim} - every value must be a finite number;"
                f" {hint}"
            )
        yield block


_UNREADABLE = (ValueError, OSError, zipfile.BadZipFile, EOFError, KeyError)


def _header(path: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of the array in a file."""
    try:
        if path.suffix.casefold() == ".npz":
            with zipfile.ZipFile(path) as archive, archive.open(_member(archive)) as file:
                return _read_header(file)
        with path.open("rb") as file:
            return _read_header(file)
    except _UNREADABLE as error:
        raise ValueError(f"{path.as_posix()}: {_reason(error)}") from error


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of the array in an open .npy."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    return shape, dtype


def _member(archive: zipfile.ZipFile) -> str:
    """The array of an .npz that counts: the only one, or the one with the right name."""
    members = [name for name in archive.namelist() if name.endswith(".npy")]
    if len(members) == 1:
        return members[0]
    named = [name for name in members if name.removesuffix(".npy") in _NAMES]
    if len(named) != 1:
        there = ", ".join(name.removesuffix(".npy") for name in members)
        raise ValueError(
            f"must hold one array, or one of several called {' or '.join(_NAMES)}, got {there if members else 'none'}"
        )
    return named[0]


def _reason(error: Exception) -> str:
    """Why a file could not be opened, in words."""
    if isinstance(error, OSError) and error.strerror is not None:
        return error.strerror
    if isinstance(error, ValueError) and str(error).startswith("must hold"):
        return str(error)
    return f"is no readable array of NumPy ({error}) - .npy is written by numpy.save; is it damaged or another format?"


def _checked(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, int]:
    """The shape, if embeddings can have it."""
    where, axes = path.as_posix(), str(tuple(shape))
    if dtype.hasobject:
        raise ValueError(
            f"{where}: holds Python objects, which only unpickling brings back, and a pickle may run any program:"
            " it is never done - save one array of numbers per recording, numpy.save(file, array.astype('float32'))"
        )
    if dtype.kind not in "fiu":
        raise ValueError(f"{where}: must hold real numbers, got type {dtype} - save them as float32")
    if len(shape) != 2:
        hints = {
            1: "one vector for a whole recording has no moments; save one per frame",
            3: "is the first axis a batch? Save array[0]",
        }
        hint = hints.get(len(shape), "flatten all axes behind the first: array.reshape(len(array), -1)")
        raise ValueError(f"{where}: must have shape (frames, dims), got {axes} - {hint}")
    if shape[1] == 0:
        raise ValueError(f"{where}: must have at least one number per frame, got shape {axes}")
    if shape[0] == 0:
        raise ValueError(f"{where}: is empty, shape {axes} - was the recording shorter than the network's window?")
    return int(shape[0]), int(shape[1])
