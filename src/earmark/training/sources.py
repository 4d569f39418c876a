"""What a run learns from: recordings, or embeddings that another network made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from earmark.config import Config
from earmark.labels.weak import WeakClip
from earmark.training.embedding_store import embedding_store
from earmark.training.embeddings import EmbeddingSource
from earmark.training.feature_store import FeatureStore, feature_store


def sound_source(audio: Path | None, embeddings: Path | None, config: Config) -> Path | EmbeddingSource:
    """Return what the arguments of a run name: the folder of the recordings, or where the embeddings lie.

    Raises:
        ValueError: when neither is given, or the configuration is one of embeddings and none are given.

    Example:
        >>> sound_source(Path("audio"), None, Config()).name
        'audio'
    """
    if embeddings is not None:
        return EmbeddingSource(embeddings, audio)
    if config.features.is_embeddings:
        raise ValueError(
            f"features.frames_per_second = {config.features.frames_per_second:g} says that this run learns from"
            " embeddings, and none are given - name their folder (--features DIR), or leave the setting out"
        )
    if audio is None:
        raise ValueError("audio must name the folder of the recordings, got None - or give embeddings to learn from")
    return audio


def read_features(
    folder: Path,
    clips: Sequence[WeakClip],
    source: Path | EmbeddingSource,
    config: Config,
    *,
    on_clip: Callable[[int], None],
) -> FeatureStore:
    """Return the features of `clips`, computed from their recordings or read from their arrays.

    Args:
        folder: where the store lies.
        clips: what to read.
        source: from `sound_source`.
        config: settings, complete.
        on_clip: called with the number of clips done so far.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> from earmark.config import for_embeddings
        >>> clips = [WeakClip("a.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2")]
        >>> config = for_embeddings(Config(), frames_per_second=2.0, n_dims=3)
        >>> with tempfile.TemporaryDirectory() as name:
        ...     np.save(Path(name, "a.wav.npy"), np.ones((20, 3)))
        ...     source = EmbeddingSource(Path(name))
        ...     read_features(Path(name, "cache"), clips, source, config, on_clip=lambda done: None).lengths
        array([20])
    """
    if isinstance(source, EmbeddingSource):
        return embedding_store(folder, clips, source.arrays, config, on_clip=on_clip)
    return feature_store(folder, clips, source, config, on_clip=on_clip)
