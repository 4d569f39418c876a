"""Audio files for the tests: sound ones of every format, and the ways in which real ones are broken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile as sf
from numpy.typing import NDArray

# Suffix, and whether decoding gives back the very samples, up to the rounding to 16 bits.
FORMATS = {".wav": True, ".flac": True, ".aiff": True, ".ogg": False, ".opus": False, ".mp3": False}


def sound(seconds: float, rate: int, *, hertz: float = 440.0) -> NDArray[np.float32]:
    """A tone that swells and fades, so that every second of it is different, over a little noise: (samples,)."""
    time = np.arange(round(seconds * rate)) / rate
    noise = np.random.default_rng(7).standard_normal(len(time)) * 0.02
    return (np.sin(2 * np.pi * hertz * time) * (0.3 + 0.2 * np.sin(time)) + noise).astype(np.float32)


def write(file: Path, samples: NDArray[np.float32], rate: int) -> Path:
    """Write (samples,) or (samples, channels) in the format of the suffix."""
    if file.suffix == ".opus":
        sf.write(file, samples, rate, format="OGG", subtype="OPUS")
    else:
        sf.write(file, samples, rate)
    return file


def keep_half(file: Path) -> Path:
    """Cut the file off in the middle, as an interrupted copy does."""
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    return file


def append(file: Path, other: Path) -> Path:
    """Join another file on behind, as `cat a b > c` does."""
    file.write_bytes(file.read_bytes() + other.read_bytes())
    return file


def spoil(file: Path, *, at: float, n_bytes: int = 6000) -> Path:
    """Overwrite bytes with zeros, at a fraction of the file, as a bad sector does."""
    data = bytearray(file.read_bytes())
    start = int(at * len(data))
    data[start : start + n_bytes] = bytes(n_bytes)
    file.write_bytes(data)
    return file


def remove_mp3_length(file: Path) -> Path:
    """Remove the first frame, which holds the tag with the length; streams and cut files do not have it."""
    data = file.read_bytes()
    tag = max(data.find(b"Xing", 0, 2000), data.find(b"Info", 0, 2000))
    assert tag > 0
    first = data.index(b"\xff", max(0, tag - 40))
    second = data.index(data[first : first + 2], tag)
    file.write_bytes(data[second:])
    return file


def damage(file: Path, rng: np.random.Generator) -> Path:
    """Cut, drop, insert or overwrite bytes at random."""
    data = bytearray(file.read_bytes())
    place, length = int(rng.integers(len(data))), int(rng.integers(1, 3000))
    kind = rng.choice(["cut", "drop", "insert", "overwrite", "header"])
    noise = rng.integers(0, 256, length, dtype=np.uint8).tobytes()
    if kind == "cut":
        del data[place:]
    elif kind == "drop":
        del data[place : place + length]
    elif kind == "insert":
        data[place:place] = noise
    elif kind == "overwrite":
        data[place : place + length] = noise
    else:
        data[int(rng.integers(min(100, len(data))))] = int(rng.integers(256))
    file.write_bytes(data)
    return file


def remove_flac_length(file: Path) -> Path:
    """Set the 36 bits with the number of samples to zero, as an encoder that writes to a pipe leaves them."""
    data = bytearray(file.read_bytes())
    data[21] &= 0xF0
    data[22:26] = bytes(4)
    file.write_bytes(data)
    return file


def set_wav_data_size(file: Path, n_bytes: int) -> Path:
    """Let the header claim another size of the samples."""
    data = bytearray(file.read_bytes())
    size = data.index(b"data") + 4
    data[size : size + 4] = n_bytes.to_bytes(4, "little")
    file.write_bytes(data)
    return file
