"""The features of all clips, computed once for all runs of a comparison."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np

from earmark.comparing.parts import HELD_OUT, LEARN, NAMES, TEST, Parts, parts_table
from earmark.comparing.worker import LEARN_TABLE, TEST_TABLE
from earmark.config import Config
from earmark.files import write_atomic
from earmark.training.feature_store import FeatureStore, located
from earmark.training.reading import read_features
from earmark.training.sources import Sources


def shared_features(
    out: Path, parts: Parts, sources: Sources, config: Config, *, on_clip: Callable[[int, int], None]
) -> tuple[Parts, tuple[str, ...], float]:
    """Return the clips that could be read, what could not and why, and the median seconds of those to learn from.

    The features stand in ``out/cache`` then, the clips in ``learn.tsv`` and ``test.tsv``. Clips that cannot be read are
    left out before any run begins, so that all runs have the same. Embeddings are read for that alone: each run copies
    them for itself.

    Args:
        out: folder of the comparison.
        parts: all clips.
        sources: where the recordings or the embeddings are.
        config: of all runs.
        on_clip: told how many clips are done, of how many.

    Raises:
        ValueError: too little can be read; or not the same clips as when the comparison began.
    """
    failures: list[str] = []
    n_clips = len(parts.clips.clips)
    while True:
        done, broken = 0, []
        stores = {}
        for cache, of in (("learn", (LEARN, HELD_OUT)), ("test", (TEST,))):
            chosen = np.flatnonzero(np.isin(parts.part, of))
            clips = [parts.clips.clips[index] for index in chosen]
            said = functools.partial(_further, on_clip, done, n_clips)
            stores[cache] = read_features(out / "cache" / cache, clips, sources, config, on_clip=said)
            done += len(clips)
            kept = set(stores[cache].kept)
            broken += [int(index) for place, index in enumerate(chosen) if place not in kept]
            failures += [located(*failure) for failure in stores[cache].failures]
        if not broken:
            break
        parts = _without(parts, broken, failures)
    _write_tables(out, parts)
    return parts, tuple(failures), _typical_seconds(stores["learn"], config)


def _further(on_clip: Callable[[int, int], None], done: int, n_clips: int, more: int) -> None:
    """Tell how many clips are done, when some had been done before."""
    on_clip(done + more, n_clips)


def _without(parts: Parts, broken: list[int], failures: list[str]) -> Parts:
    """The clips that could be read, if they are still enough."""
    left = parts.only(np.setdiff1d(np.arange(len(parts.part)), broken))
    for part in (LEARN, HELD_OUT, TEST):
        if not (left.part == part).any():
            raise ValueError(f"none of the {NAMES[part]} clips could be read (the first: {failures[0]})")
    learned = left.of(LEARN)
    there = (learned.tags & learned.known).any(axis=0)
    if not there.all():
        label = learned.classes[int(np.argmin(there))]
        raise ValueError(f"no clip to learn from that could be read has the class {label!r} (the first: {failures[0]})")
    return left


def _typical_seconds(store: FeatureStore, config: Config) -> float:
    """The median length of the clips to learn from."""
    return float(np.median(store.lengths)) * config.features.timeline.hop_seconds


def _write_tables(out: Path, parts: Parts) -> None:
    """The clips as label files, for the runs and for readers."""
    for name, of in ((LEARN_TABLE, (LEARN, HELD_OUT)), (TEST_TABLE, (TEST,))):
        table, path = parts_table(parts, of=of), out / name
        if path.exists() and path.read_text(encoding="utf-8") != table:
            raise ValueError(
                f"{path}: the clips that can be read are not those the comparison began with - put the recordings back"
                " as they were, or choose another --out"
            )
        write_atomic(path, table)
