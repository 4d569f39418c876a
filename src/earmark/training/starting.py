"""How a run begins: its folder, and a network that is untrained or stands where the last checkpoint has it."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

import numpy as np
import torch

from earmark import config_file
from earmark.config import Config
from earmark.files import TEMPORARY_PREFIX, write_atomic
from earmark.models.crnn import Network
from earmark.training.checkpoint import Progress, load_checkpoint, restore_optimiser
from earmark.training.clips import ClipSet
from earmark.training.continuing import StartModel, continued_network, keep_start
from earmark.training.drawing import TrainingData
from earmark.training.feature_store import statistics
from earmark.training.loop import new_optimiser
from earmark.training.mean_teacher import has_teacher, new_teacher

_LAST = "last.safetensors"


def begin(out: Path, config: Config, clips: ClipSet, *, start: StartModel | None = None, resume: bool) -> None:
    """Make the run's folder and write its configuration, or refuse a folder that holds another run.

    What a resumed run must share with the one it goes on with is checked here as far as it can be before any sound is
    read: other labels would cost hours of reading, and the features the run has kept so far.

    Args:
        out: the run's folder, held for this process.
        config: all settings.
        clips: all that the label file lists, readable or not.
        start: the model it continues; a copy of it is kept in the folder.
        resume: go on with the run in `out`, if there is one.

    Raises:
        ValueError: there is a run already and `resume` is false, or it was begun with other settings or labels.

    Example:
        >>> import tempfile
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> rows = [WeakClip("a.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2")]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     begin(Path(folder), Config(), clip_set(rows, ["dog"], holdout_fraction=0), resume=False)
        ...     [path.name for path in Path(folder).iterdir()]
        ['config.toml']
    """
    stored = out / "config.toml"
    # Without a log nothing was learned yet: the run before found no readable audio, say, and the next try may have it.
    if not (out / "log.jsonl").exists():
        write_atomic(stored, config_file.to_toml(config))
        keep_start(out, start)
        return
    if not resume:
        raise ValueError(f"{out} already holds a run - add --resume to go on with it, or choose another --out")
    before = config_file.read_config(stored)
    if before != config:
        raise ValueError(
            f"{out} was begun with other settings ({_differences(before, config)}) - resume it without them,"
            " or choose another --out"
        )
    if (out / _LAST).exists():
        _refuse_other_labels(out / _LAST, clips)
    # A kill in the middle of a write leaves its temporary file behind, as large as the checkpoint it was to be.
    for folder in (out, out / "snapshots", out / "cache"):
        for leftover in folder.glob(f"{TEMPORARY_PREFIX}*.tmp"):
            leftover.unlink(missing_ok=True)


def new_network(data: TrainingData, config: Config) -> Network:
    """Return an untrained network for these clips: seeded weights, statistics of the training features.

    Example:
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> from earmark.training.feature_store import FeatureStore
        >>> rows = [WeakClip("a.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2")]
        >>> store = FeatureStore(np.full((50, 64), -7, np.float16), np.array([0, 50]), (0,), (), ())
        >>> network = new_network(TrainingData(clip_set(rows, ["dog"], holdout_fraction=0), store), Config())
        >>> network.mean[0].item(), network.classes
        (-7.0, ('dog',))
    """
    torch.manual_seed(config.training.seed)
    network = Network(config, data.clips.classes)
    mean, deviation = statistics(data.store, data.training)
    network.mean.copy_(mean)
    network.deviation.copy_(deviation)
    return network


def start_or_resume(
    out: Path,
    data: TrainingData,
    config: Config,
    device: torch.device,
    card: dict[str, object],
    *,
    start: StartModel | None = None,
    resume: bool,
) -> tuple[Network, torch.optim.Adam, Progress, Network | None]:
    """Return the network where it stands, untrained or as the last checkpoint in `out` has it, and its teacher, if any.

    Args:
        out: the run's folder; `begin` has checked it.
        data: the clips that could be read.
        config: all settings.
        device: where the network goes.
        card: of these clips, from `card_of`.
        start: the model it continues, whose weights and statistics an untrained network then has.
        resume: go on from the last checkpoint, if there is one.

    Raises:
        ValueError: the checkpoint was trained on other recordings.

    Example:
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> from earmark.training.feature_store import FeatureStore
        >>> rows = [WeakClip("a.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2")]
        >>> clips = clip_set(rows, ["dog"], holdout_fraction=0)
        >>> data = TrainingData(clips, FeatureStore(np.zeros((50, 64), np.float16), np.array([0, 50]), (0,), (), ()))
        >>> card, cpu = card_of(clips, data, Config()), torch.device("cpu")
        >>> start_or_resume(Path("no-run-yet"), data, Config(), cpu, card, resume=True)[2].step
        0
    """
    last = out / _LAST
    if not (resume and last.exists()):
        if start is None:
            network = new_network(data, config).to(device)
        else:
            network = continued_network(start, config, data.clips.classes).to(device)
        teacher = new_teacher(network) if has_teacher(config, data.clips) else None
        return network, new_optimiser(network, config), Progress(), teacher
    checkpoint = load_checkpoint(last)
    before = checkpoint.card
    mean, deviation = statistics(data.store, data.training)
    # On another machine the same recordings give the same features but for rounding.
    is_same = torch.allclose(mean, checkpoint.network.mean, atol=1e-2) and torch.allclose(
        deviation, checkpoint.network.deviation, atol=1e-2
    )
    if before != card or not (is_same or start is not None):  # whose statistics are those of other recordings
        raise ValueError(
            f"{last} was trained on other recordings ({before['readable_clips']} readable clips of {before['hours']} h,"
            f" now {card['readable_clips']} of {card['hours']} h, or with another mean spectrum) - put the old ones"
            " back, or choose another --out for the new ones"
        )
    network = checkpoint.student.to(device)
    optimiser = new_optimiser(network, config)
    restore_optimiser(optimiser, network, checkpoint.optimiser)
    teacher = None if checkpoint.teacher is None else checkpoint.teacher.to(device).requires_grad_(False).train()
    return network, optimiser, checkpoint.progress, teacher


def card_of(
    clips: ClipSet, data: TrainingData, config: Config, *, start: StartModel | None = None
) -> dict[str, object]:
    """Return what the model is trained on, in words and figures; it travels in all its files.

    Args:
        clips: all that the label file lists, readable or not.
        data: those that could be read.
        config: all settings.
        start: the model it continues, whose own card goes with it.

    Example:
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> from earmark.training.feature_store import FeatureStore
        >>> rows = [WeakClip(name, frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for name in "ab"]
        >>> clips = clip_set(rows, ["dog"], holdout_fraction=0)
        >>> store = FeatureStore(np.zeros((50, 64), np.float16), np.array([0, 50]), (1,), (("", "a", ""),), ())
        >>> card = card_of(clips, TrainingData(clips.only([1]), store), Config())
        >>> card["clips"], card["readable_clips"], card["clip_seconds"], card["training_clips_per_class"]
        (2, 1, 1.0, {'dog': 1})
    """
    seconds = data.store.lengths * config.features.timeline.hop_seconds
    training = data.clips.tags[data.training]
    return {
        "clips": len(clips.clips),
        "readable_clips": len(data.clips.clips),
        "labels_digest": _digest(clips),
        "hours": round(float(seconds.sum()) / 3600, 3),
        "clip_seconds": round(float(np.median(seconds)), 3),
        "training_clips_per_class": dict(zip(data.clips.classes, training.sum(axis=0).tolist(), strict=True)),
        **({} if start is None else {"started_from": start.about}),
    }


def _refuse_other_labels(last: Path, clips: ClipSet) -> None:
    """Raise ValueError when the labels or the split are not those the run began with."""
    before = load_checkpoint(last).card
    if before["labels_digest"] != _digest(clips):
        raise ValueError(
            f"{last} was trained on other labels or held-out clips ({before['clips']} clips, now {len(clips.clips)})"
            " - a run is resumed with its labels (--strong, --reviewed and --unlabelled too), the --split, --held-out"
            " and --group it began with; choose another --out for the new one"
        )


def _digest(clips: ClipSet) -> str:
    """Changes whenever the labels do, or which of the clips are held out."""
    rows = [
        (c.filename, sorted(c.labels), None if c.known is None else sorted(c.known), c.onset, c.offset)
        for c in clips.clips
    ]
    digest = hashlib.sha256(repr((rows, clips.held_out.tolist())).encode())
    for strong in () if clips.strong is None else clips.strong:
        if strong is not None:
            spans = [(s.onset, s.offset, None if s.classes is None else sorted(s.classes)) for s in strong.complete]
            digest.update(repr((strong.events, spans)).encode())
        digest.update(b"next clip")
    return digest.hexdigest()


def _differences(before: Config, now: Config) -> str:
    """Which settings differ, in words."""
    found = []
    for section in (entry.name for entry in dataclasses.fields(Config)):
        old, new = vars(getattr(before, section)), vars(getattr(now, section))
        found += [f"{section}.{key} was {old[key]!r}, now {new[key]!r}" for key in old if old[key] != new[key]]
    return "; ".join(found)
