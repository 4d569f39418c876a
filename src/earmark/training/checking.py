"""What must hold before hours are spent: settings that fit the classes, and clips that could be read on both sides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from earmark.config import Config
from earmark.models.crnn import Network
from earmark.models.features import LogMel
from earmark.training.clips import ClipSet
from earmark.training.continuing import StartModel, refuse_other_settings
from earmark.training.drawing import TrainingData
from earmark.training.embeddings import on_frames, settled
from earmark.training.feature_store import FeatureStore, located
from earmark.training.held_out import choose_decoding
from earmark.training.held_out_events import wholly_labelled
from earmark.training.joining import Joined, join
from earmark.training.mixing import check_quotas
from earmark.training.sources import Sources, Split


def prepared(sources: Sources, config: Config, split: Split, start: StartModel | None) -> tuple[Joined, Config]:
    """Return the clips of a run and its complete settings, checked against each other before anything is read.

    Args:
        sources: labels, recordings or embeddings.
        config: of the run, without what embeddings tell.
        split: how clips are held out.
        start: the model it continues, if it does.

    Raises:
        ValueError: for wrong labels, or settings that fit neither them nor the model.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     labels = Path(folder, "weak.tsv")
        ...     _ = labels.write_text("filename\\tevent_labels\\na.wav\\tdog\\nb.wav\\t\\nc.wav\\tdog\\n")
        ...     joined, config = prepared(Sources(labels, Path(folder)), Config(), Split(), None)
        >>> joined.clips.classes, config == Config()
        (('dog',), True)
    """
    joined = join(sources, config, split, model_classes=() if start is None else start.classes)
    config, _ = settled(config, joined.clips.clips, sources)
    if start is not None:
        refuse_other_settings(config, start)
    joined = replace(joined, clips=on_frames(joined.clips, config))
    check_settings(config, joined.clips)
    return joined, config


def training_data(clips: ClipSet, store: FeatureStore) -> TrainingData:
    """Return the clips that could be read, beside their features.

    Raises:
        ValueError: when one side, training or held out, has nothing left or a class has no training clip.

    Example:
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> rows = [WeakClip(name, frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for name in "ab"]
        >>> clips = clip_set(rows, ["dog"], holdout_fraction=0)
        >>> reason = ("weak.tsv:2", "a", "a: is empty")
        >>> store = FeatureStore(np.zeros((50, 64), np.float16), np.array([0, 50]), (1,), (reason,), ())
        >>> training_data(clips, store).clips.clips[0].filename     # the one that could be read
        'b'
    """
    readable = clips.only(store.kept)
    for is_side, side in ((clips.held_out, "held-out"), (~clips.held_out, "training")):
        if is_side.any() and not is_side[list(store.kept)].any():
            raise ValueError(
                f"none of the {side} clips could be read ({_first_failure(clips, is_side, store)})"
                " - are they in another folder than the rest?"
            )
    missing = _missing_classes(readable, clips)
    if missing:
        lost = clips.tags[:, clips.classes.index(missing[0])] & ~clips.held_out
        raise ValueError(
            f"no training clip that could be read has the class {missing[0]!r} ({len(missing)} of"
            f" {len(clips.classes)} classes are missing; {_first_failure(clips, lost, store)})"
            " - mend its recordings, or add others"
        )
    return TrainingData(readable, store)


def _missing_classes(clips: ClipSet, listed: ClipSet) -> list[str]:
    """The classes that no training clip has, of those that the labels have; a model may bring others."""
    is_lost = np.asarray(listed.tags.any(axis=0) & ~clips.tags[~clips.held_out].any(axis=0))
    return [label for label, lost in zip(clips.classes, is_lost, strict=True) if lost]


def _first_failure(clips: ClipSet, chosen: NDArray[np.bool_], store: FeatureStore) -> str:
    """Why the first of the chosen clips could not be read."""
    places = {clip.where for clip, is_chosen in zip(clips.clips, chosen, strict=True) if is_chosen}
    return "the first: " + next(located(*failure) for failure in store.failures if failure[0] in places)


def check_settings(config: Config, clips: ClipSet) -> None:
    """Raise ValueError now for settings that do not fit the classes, rather than after hours of features.

    Example:
        >>> from earmark.config import PoolingConfig
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> rows = [WeakClip("a.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2")]
        >>> clips = clip_set(rows, ["dog"], holdout_fraction=0)
        >>> check_settings(Config(), clips)
        >>> check_settings(Config(pooling=PoolingConfig("powr")), clips)
        Traceback (most recent call last):
        ...
        ValueError: pooling must be one of ..., got 'powr' - did you mean 'power'?
    """
    missing = _missing_classes(clips, clips)
    if missing:
        raise ValueError(
            f"no training clip has the class {missing[0]!r} ({len(missing)} of {len(clips.classes)} classes are"
            " missing) - all its clips are held out; add some, or hold out less"
        )
    check_quotas(clips.kinds[~clips.held_out], config)
    if config.training.select == "events" and not wholly_labelled(clips, np.flatnonzero(clips.held_out)):
        raise ValueError(
            "training.select is 'events', but no held-out clip has strong labels for all classes - hold some out that"
            " have (--split), or select by 'f1'"
        )
    if config.training.schedule == "plateau" and not clips.held_out.any():
        raise ValueError(
            "training.schedule 'plateau' halves the learning rate when the held-out loss does not fall, but no clip is"
            " held out - hold some out, or take another schedule"
        )
    Network(config, clips.classes)
    if not config.features.is_embeddings:
        LogMel(config.features)
    choose_decoding(config, clips, np.zeros(0, dtype=np.intp), np.zeros((0, len(clips.classes))))
