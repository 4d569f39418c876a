"""Five short recordings, their label file, their features, and a store of them that counts what it reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile
import torch
from numpy.typing import NDArray
from oracles.training_cases import RATE, SMALL, lively_audio, weak_clip

from earmark.config import Config
from earmark.labels.weak import WeakClip
from earmark.models.features import LogMel
from earmark.training.feature_store import FeatureStore, feature_store

LENGTHS = (8000, 8001, 320, 1, 20000)  # samples


def write_recordings(folder: Path, rng: np.random.Generator) -> Path:
    """Write recordings 0.wav to 4.wav; returns their folder."""
    folder.mkdir()
    for number, length in enumerate(LENGTHS):
        soundfile.write(folder / f"{number}.wav", lively_audio(rng, length), RATE, subtype="FLOAT")
    return folder


def named(*names: str) -> list[WeakClip]:
    """Rows of a label file."""
    return [weak_clip(name, ["dog"], where=f"weak.tsv:{line}") for line, name in enumerate(names, start=2)]


ALL = named("0.wav", "1.wav", "2.wav", "3.wav", "4.wav")


def store_of(
    folder: Path, audio: Path, clips: Sequence[WeakClip] = ALL, config: Config = SMALL
) -> tuple[FeatureStore, int]:
    """The store, and how many clips had to be read for it."""
    calls: list[int] = []
    store = feature_store(folder, clips, audio, config, on_clip=calls.append)
    assert calls in ([], list(range(1, len(clips) + 1)))
    return store, len(calls)


def expected(audio: Path, name: str, *, first: int = 0, end: int | None = None) -> NDArray[np.float16]:
    """The features of a recording or a span of it."""
    samples = soundfile.read(audio / name, dtype="float32")[0][first:end]
    padded = np.pad(samples, (0, -len(samples) % 320))
    features: NDArray[np.float16] = LogMel(SMALL.features)(torch.from_numpy(padded)[None])[0].numpy().astype(np.float16)
    return features
