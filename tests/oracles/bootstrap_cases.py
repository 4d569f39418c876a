"""Made-up clips that share a recording, and systems of known skill on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from earmark.metrics.by_file import CountsByFile

CLASSES = ("cat", "dog", "owl")
Tags = NDArray[np.bool_]  # (clips, classes)


def made_up_tags(rng: np.random.Generator, n_clips: int) -> Tags:
    """What is in the clips."""
    return rng.random((n_clips, len(CLASSES))) < [0.5, 0.3, 0.4]


def recordings(n_recordings: int, n_clips_each: int) -> dict[str, str]:
    """File name -> its recording, the clips of one beside each other."""
    return {str(number): str(number // n_clips_each) for number in range(n_recordings * n_clips_each)}


def ease(rng: np.random.Generator, n_recordings: int, n_clips_each: int, *, spread: float) -> NDArray[np.float64]:
    """How much easier than others each clip's recording is: (clips, 1)."""
    return np.repeat(spread * rng.standard_normal((n_recordings, 1)), n_clips_each, axis=0)


def scored(rng: np.random.Generator, truth: Tags, skill: NDArray[np.float64] | float) -> CountsByFile:
    """A system that is right about each class with probability `skill`: (clips, 1), or one for all."""
    is_right = rng.random(truth.shape) < np.clip(skill, 0.02, 0.98)
    found = truth == is_right
    hits, wrong, missed = (part.astype(np.int64) for part in (truth & found, found & ~truth, truth & ~found))
    files = tuple(str(number) for number in range(len(truth)))
    substitutions = np.minimum(wrong.sum(axis=1), missed.sum(axis=1))
    return CountsByFile("clip", files, CLASSES, hits, wrong, missed, substitutions, np.zeros_like(substitutions))


def random_counts(
    rng: np.random.Generator, level: str, *, n_files: int = 30, n_classes: int = 4, compatible: str | None = None
) -> CountsByFile:
    """Small counts, with a class that is rare and one that nobody has, so that resamples lack some."""
    hits, wrong, missed = rng.integers(0, 3, (3, n_files, n_classes))
    for part in (hits, wrong, missed):
        part[3:, -2] = 0
        part[:, -1] = 0
    substitutions = np.minimum(wrong.sum(axis=1), missed.sum(axis=1)) // 2
    n_segments = rng.integers(6, 20, n_files) if level == "segment" else np.zeros(n_files, dtype=np.int64)
    return CountsByFile(
        level,
        tuple(f"{number}.wav" for number in range(n_files)),
        tuple(f"class {number}" for number in range(n_classes)),
        hits,
        wrong,
        missed,
        substitutions,
        n_segments,
        compatible,
    )


def another_system(rng: np.random.Generator, counts: CountsByFile) -> CountsByFile:
    """Other predictions for the same reference."""
    n_true = counts.true_positives + counts.false_negatives
    hits = rng.integers(0, n_true + 1)
    wrong = rng.permutation(counts.false_positives, axis=0)
    missed = n_true - hits
    return CountsByFile(
        counts.level,
        counts.files,
        counts.classes,
        hits,
        wrong,
        missed,
        np.minimum(wrong.sum(axis=1), missed.sum(axis=1)) // 2,
        counts.n_segments,
        counts.compatible,
    )
