"""Small decodings for the tests: settings of one class, probabilities written out, and both at random."""

from __future__ import annotations

import numpy as np

from earmark.detection.decoding import decode
from earmark.detection.settings import ClassDecoding, Decoding
from earmark.timeline import Timeline

GRID = Timeline(sample_rate=1000, hop_samples=100)  # 0.1 s per frame


def one_class(**settings: float | None) -> Decoding:
    """Settings of one class, "dog"."""
    return Decoding.from_dict({"mode": "tuned", "classes": ["dog"], "settings": [settings]})


def column(*probs: float) -> np.ndarray:
    """(frames,) -> (frames, 1)"""
    return np.array(probs)[:, None]


def spans(
    probs: np.ndarray, decoding: Decoding, *, timeline: Timeline = GRID, duration_seconds: float | None = None
) -> list[tuple[float, float]]:
    """Onsets and offsets alone."""
    events = decode(probs, decoding=decoding, timeline=timeline, duration_seconds=duration_seconds)
    return [(event.onset, event.offset) for event in events]


def random_settings(rng: np.random.Generator) -> ClassDecoding:
    """Settings in whole milliseconds and thresholds on the values that `random_probs` has, so that equality happens."""
    threshold = int(rng.integers(0, 11))
    return ClassDecoding(
        threshold=threshold / 10,
        low_threshold=None if rng.random() < 0.4 else int(rng.integers(0, threshold + 1)) / 10,
        median_seconds=some_milliseconds(rng, 1200) / 1000,
        max_gap_seconds=some_milliseconds(rng, 600) / 1000,
        min_event_seconds=some_milliseconds(rng, 600) / 1000,
    )


def some_milliseconds(rng: np.random.Generator, below: int) -> int:
    """Zero every other time."""
    return 0 if rng.random() < 0.5 else int(rng.integers(0, below))


def random_probs(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Tenths, in float32 or float64, jumping about or wandering slowly."""
    tenths = rng.integers(0, 11, size=shape)
    if rng.random() < 0.5:
        tenths = np.abs(rng.integers(-2, 3, size=shape).cumsum(axis=0)) % 11
    return (tenths / 10).astype(np.float32 if rng.random() < 0.5 else np.float64)
