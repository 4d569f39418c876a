"""The features of a run's clips: computed from their recordings, or read from embeddings that stand for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from earmark.config import Config
from earmark.labels.weak import WeakClip
from earmark.training.embedding_store import embedding_store
from earmark.training.feature_store import FeatureStore, feature_store
from earmark.training.sources import Sources


def read_features(
    folder: Path,
    clips: Sequence[WeakClip],
    sources: Sources,
    config: Config,
    *,
    on_clip: Callable[[int], None],
    read_only: bool = False,
) -> FeatureStore:
    """Return the features of `clips`.

    Args:
        folder: where the store lies.
        clips: what to read.
        sources: where the recordings or the embeddings are.
        config: settings, complete (`earmark.training.embeddings.settled`).
        on_clip: called with the number of clips done so far.
        read_only: whether the store in `folder` is another's, as `feature_store` has it; only for recordings.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> from earmark.config import for_embeddings
        >>> clips = [WeakClip("a.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2")]
        >>> config = for_embeddings(Config(), frames_per_second=2.0, n_dims=3)
        >>> with tempfile.TemporaryDirectory() as name:
        ...     np.save(Path(name, "a.wav.npy"), np.ones((20, 3)))
        ...     sources = Sources(Path("weak.tsv"), embeddings=Path(name))
        ...     read_features(Path(name, "cache"), clips, sources, config, on_clip=lambda done: None).lengths
        array([20])
    """
    if sources.embeddings is not None:
        if read_only:
            raise ValueError(f"cache must be None for embeddings, got {folder} - each run copies them for itself")
        return embedding_store(folder, clips, sources.embeddings, config, on_clip=on_clip)
    assert sources.audio is not None, "one of the two is given"
    return feature_store(folder, clips, sources.audio, config, on_clip=on_clip, read_only=read_only)
