"""Made-up embeddings: every class is a direction that noise is added to, with tags and the true moments."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from earmark.events import Event
from earmark.writers import weak_to_tsv

N_DIMS = 24
RATE = 2.0  # frames of 0.5 s


@dataclass(frozen=True)
class MadeUp:
    """A folder of arrays and their tags, and when which class is truly there."""

    folder: Path
    labels: Path
    events: dict[str, list[Event]]


def write_embeddings(
    folder: Path,
    classes: tuple[str, ...],
    *,
    n_clips: int,
    seed: int,
    rate: float = RATE,
    n_dims: int = N_DIMS,
    tagged: tuple[str, ...] | None = None,
    suffix: str = ".wav.npy",
    dtype: str = "float32",
) -> MadeUp:
    """Write clips of 8 to 20 s; a class is its own direction, the same for every seed, for 1.5 to 4 s.

    `tagged` are the classes that the tags know; the others sound as well, and nobody says so.
    """
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    events: dict[str, list[Event]] = {}
    tags: dict[str, set[str]] = {}
    for number in range(n_clips):
        n_frames = int(rng.integers(round(8 * rate), round(20 * rate) + 1))
        clip = rng.normal(size=(n_frames, n_dims))
        name = f"{number:03d}.wav"
        events[name] = []
        for label in classes:
            if rng.random() < 0.4:
                length = int(rng.integers(round(1.5 * rate), round(4 * rate) + 1))
                first = int(rng.integers(n_frames - length + 1))
                clip[first : first + length] += 6.0 * direction(label, n_dims)
                events[name].append(Event(first / rate, (first + length) / rate, label))
        tags[name] = {event.label for event in events[name]} & set(classes if tagged is None else tagged)
        save(folder / name.replace(".wav", suffix), (3.0 + 10.0 * clip).astype(dtype))
    (folder / "features.json").write_text(json.dumps({"frames_per_second": rate}))
    labels = folder.parent / f"{folder.name}.tsv"
    labels.write_text(weak_to_tsv(tags))
    return MadeUp(folder, labels, events)


def direction(label: str, n_dims: int) -> NDArray[np.float64]:
    """Where a class points, a vector of length 1."""
    vector = np.random.default_rng(list(label.encode())).normal(size=n_dims)
    return vector / np.linalg.norm(vector)


def save(path: Path, array: NDArray[np.generic]) -> None:
    """As .npy or as .npz, after the ending."""
    if path.suffix == ".npz":
        np.savez_compressed(path, embeddings=array)
    else:
        np.save(path, array)
