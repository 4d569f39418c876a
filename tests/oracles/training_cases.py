"""Small networks, clips, data sets and runs, for the tests of models, training and detection."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import torch
from numpy.typing import ArrayLike, NDArray

from earmark.config import Config, FeatureConfig, ModelConfig, PoolingConfig, TrainingConfig
from earmark.detection.settings import ClassDecoding, Decoding
from earmark.labels.weak import WeakClip
from earmark.models.crnn import Network
from earmark.models.export import export_onnx
from earmark.training.clips import ClipSet
from earmark.training.feature_store import FeatureStore

RATE = 8000

# 20 ms feature frames and 40 ms output frames at 8 kHz; a step takes milliseconds.
SMALL = Config(
    features=FeatureConfig(sample_rate=RATE, n_mels=16, window_samples=256, hop_samples=160),
    model=ModelConfig(channels=(4, 6), pool_time=(2, 1), pool_mel=(2, 4), rnn_units=6),
    training=TrainingConfig(epochs=3, batch_seconds=10.0, holdout_fraction=0.25, learning_rate=5e-3),
)

# Every pooling function that can be deployed, with the options it needs.
DEPLOYABLE_POOLINGS: tuple[dict[str, Any], ...] = (
    {"name": "max"},
    {"name": "average"},
    {"name": "linear"},
    {"name": "exponential"},
    {"name": "attention", "axis": "time"},
    {"name": "attention", "axis": "class"},
    {"name": "auto", "initial": 2.5},
    {"name": "cap", "n_frames": 50, "initial": 2.5},
    {"name": "rap", "penalty": 0.01, "initial": 2.5},
    {"name": "power", "initial": 2.5},
)


def changed(config: Config = SMALL, **sections: dict[str, Any]) -> Config:
    """The configuration with some settings of some sections changed."""
    new = {name: dataclasses.replace(getattr(config, name), **values) for name, values in sections.items()}
    return dataclasses.replace(config, **new)


def lively_network(
    config: Config = SMALL, classes: tuple[str, ...] = ("high", "low", "noise"), seed: int = 7
) -> Network:
    """A network whose probabilities range from near 0 to near 1, with statistics that are not the initial ones."""
    torch.manual_seed(seed)
    network = Network(config, classes)
    with torch.no_grad():
        network.mean.uniform_(-8.0, -6.0)
        network.deviation.uniform_(1.0, 2.0)
        for name, values in [*network.named_parameters(), *network.named_buffers()]:
            if name.endswith("running_mean"):
                values.uniform_(-0.5, 0.5)
            elif name.endswith("running_var"):
                values.uniform_(0.5, 2.0)
            elif "gru.bias_ih" in name:
                values[len(values) // 3 : 2 * len(values) // 3] = -3.0  # forget within a second, as after training
        network.crnn.linear.weight *= 8.0
    return network.eval()


def lively_audio(rng: np.random.Generator, n_samples: int) -> NDArray[np.float32]:
    """Noise whose loudness and colour change twice a second."""
    white = rng.normal(size=n_samples)
    parts = np.arange(n_samples) // (RATE // 2)
    loudness = 10.0 ** rng.uniform(-4, -1, parts[-1] + 1)
    colour = rng.uniform(-0.9, 0.9, parts[-1] + 1)
    samples = loudness[parts] * (white + colour[parts] * np.roll(white, 1))
    return samples.astype(np.float32)


def exported(path: Path, network: Network, **settings: Any) -> Path:
    """The network as a model file; thresholds of 0.5 and clips of 2 s unless told otherwise."""
    setting = ClassDecoding(threshold=0.5, median_seconds=0.2, max_gap_seconds=0.1, min_event_seconds=0.1)
    decoding = Decoding("fixed", network.classes, (setting,) * len(network.classes))
    export_onnx(path, network, **{"decoding": decoding, "clip_seconds": 2.0, "card": {"clips": 7}, **settings})
    return path


def weak_clip(filename: str, labels: Sequence[str] = (), **fields: Any) -> WeakClip:
    """One row of a label file."""
    values: dict[str, Any] = {"known": None, "onset": None, "offset": None, "columns": {}, "where": "weak.tsv:2"}
    return WeakClip(filename, frozenset(labels), **{**values, **fields})


def clips_in_memory(
    features: Sequence[ArrayLike], tags: ArrayLike, *, known: ArrayLike | None = None, n_held_out: int = 0
) -> tuple[ClipSet, FeatureStore]:
    """Clips and their features, (frames, mels) each; the last `n_held_out` are held out."""
    arrays = [np.asarray(clip, np.float16) for clip in features]
    marks = np.asarray(tags, bool)
    names = tuple(f"{number}.wav" for number in range(len(arrays)))
    clips = ClipSet(
        tuple(f"class {number}" for number in range(marks.shape[1])),
        tuple(weak_clip(name) for name in names),
        marks,
        np.ones_like(marks) if known is None else np.asarray(known, bool),
        names,
        np.arange(len(arrays)) >= len(arrays) - n_held_out,
    )
    starts = np.cumsum([0, *map(len, arrays)])
    return clips, FeatureStore(np.concatenate(arrays), starts, tuple(range(len(arrays))), (), ())


def write_tones(
    folder: Path, *, n_clips: int = 24, seed: int = 5, seconds: tuple[float, float] = (1.0, 2.0)
) -> dict[str, list[tuple[str, float, float]]]:
    """Write clips with a high tone, a low one, both or none, and their weak labels; return the true events.

    ``weak.tsv`` also has the columns split (train, test) and site (a to d).
    """
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    rows, truth = ["filename\tevent_labels\tsplit\tsite"], {}
    for number in range(n_clips):
        n_samples = round(rng.uniform(*seconds) * RATE)
        samples = 0.01 * rng.normal(size=n_samples)
        events = []
        for bit, (label, hz) in enumerate((("high", 2500.0), ("low", 600.0))):
            if number >> bit & 1:
                length = round(rng.uniform(0.3, 0.5) * RATE)
                first = int(rng.integers(n_samples - length))
                tone = np.sin(2 * np.pi * hz * rng.uniform(0.9, 1.1) * np.arange(length) / RATE)
                samples[first : first + length] += 0.1 * tone
                events.append((label, first / RATE, (first + length) / RATE))
        name = f"{number:03d}.wav"
        soundfile.write(folder / name, samples.astype(np.float32), RATE, subtype="PCM_16")
        labels = ",".join(label for label, _, _ in events)
        # Every fifth block of four clips is the test set, so both sides have every combination of the tones.
        rows.append(f"{name}\t{labels}\t{'test' if number // 4 % 5 == 4 else 'train'}\t{'abcd'[number // 8 % 4]}")
        truth[name] = events
    (folder / "weak.tsv").write_text("\n".join(rows) + "\n")
    return truth


def pooling_config(settings: dict[str, Any]) -> Config:
    """The small configuration with another pooling function."""
    return dataclasses.replace(SMALL, pooling=PoolingConfig(**settings))
