"""A training run from label file to finished model: what `earmark train` does, as functions."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from earmark.config import Config
from earmark.files import in_use, write_atomic
from earmark.training.checking import prepared
from earmark.training.checking import training_data as training_data
from earmark.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from earmark.training.clips import KINDS, ClipSet
from earmark.training.continuing import StartModel, kept_decoding, start_of
from earmark.training.device import choose_device
from earmark.training.drawing import TrainingData
from earmark.training.held_out import choose_decoding, held_out_figures, tag_f1
from earmark.training.held_out_events import event_f1
from earmark.training.loop import train_network
from earmark.training.reading import read_features
from earmark.training.sources import Sources
from earmark.training.sources import Split as Split
from earmark.training.starting import begin, card_of, start_or_resume


@dataclass(frozen=True)
class Watch:
    """Whom to tell how far things are; the command line draws its progress bars from this.

    Example:
        >>> Watch(on_clip=lambda done, total: print(f"{done} of {total}")).on_clip(1, 2)
        1 of 2
    """

    on_clip: Callable[[int, int], None] = field(default=lambda done, total: None)  # features of clips
    on_row: Callable[[dict[str, Any]], None] = field(default=lambda row: None)  # rows of the log
    on_remark: Callable[[str], None] = field(default=lambda text: None)  # how the labels fit together


@dataclass(frozen=True)
class TrainingResult:
    """What a finished run left behind, besides its folder.

    Args:
        folder: the run's.
        metrics: what metrics.json says.
        failures: (where in the label file, filename, reason) of each clip that could not be read.
        notes: (where in the label file, filename, remark) of each clip that could be read only in part.
        untuned: classes whose threshold stayed as it was, because no held-out clip has them.
        remarks: on how tags, events and recordings without labels fit together.

    Example:
        >>> result = TrainingResult(Path("run"), {"epochs": 40}, failures=(), notes=(), untuned=("dog",))
        >>> result.metrics["epochs"], result.untuned
        (40, ('dog',))
    """

    folder: Path
    metrics: dict[str, Any]
    failures: tuple[tuple[str, str, str], ...]
    notes: tuple[tuple[str, str, str], ...]
    untuned: tuple[str, ...]
    remarks: tuple[str, ...] = ()


def train(
    labels: Path,
    *,
    audio: Path | None = None,
    embeddings: Path | None = None,
    start_from: Path | None = None,
    out: Path,
    config: Config,
    strong: Path | None = None,
    reviewed: Path | None = None,
    unlabelled: Path | None = None,
    split: Split | None = None,
    device: str = "auto",
    resume: bool = False,
    watch: Watch | None = None,
    cache: Path | None = None,
) -> TrainingResult:
    r"""Train a detector from tagged clips, and what else is known, and leave it in the folder `out`.

    Args:
        labels: weak-label file, or a folder with one sub-folder per class.
        audio: folder of the recordings. With `embeddings` only needed where nothing else tells the frame rate; their
            lengths are checked against it.
        embeddings: folder of arrays (frames, dims) to learn from instead of sound, one per recording and named after
            it: ``a.wav.npy``.
        start_from: a model to continue, the folder of a run or a .safetensors in it: its weights, statistics and
            classes, behind which those of the labels are added. `config` must have its features and network;
            `earmark.training.continuing.config_of` returns one that has.
        out: the run's folder.
        config: all settings.
        strong: strong labels of some of the recordings, or of others in the same folder.
        reviewed: where, and for which classes, they are complete; None means that their files are.
        unlabelled: folder of recordings of which nothing is known.
        split: how clips are held out.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"mps"``.
        resume: go on with the run in `out`, if there is one.
        watch: whom to tell how far things are.
        cache: a folder in which `feature_store` has left the features of these clips, which several runs may share:
            it is only read. None: they are computed into the run's own folder, and removed at the end.

    Raises:
        ValueError: for wrong labels or settings, when no clip at all can be read, or when the loss stops being finite.

    Example:
        >>> import tempfile
        >>> import soundfile
        >>> from earmark.config import ModelConfig, TrainingConfig
        >>> small = ModelConfig(channels=(1,), pool_time=(2,), pool_mel=(64,), rnn_units=1)
        >>> config = Config(model=small, training=TrainingConfig(epochs=1))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     labels, run = Path(folder, "weak.tsv"), Path(folder, "run")
        ...     _ = labels.write_text("filename\tevent_labels\na.wav\tdog\nb.wav\t\nc.wav\tdog\nd.wav\t\n")
        ...     for name in "abcd":
        ...         soundfile.write(Path(folder, f"{name}.wav"), np.zeros(16000), 16000)
        ...     result = train(labels, audio=Path(folder), out=run, config=config, device="cpu")
        ...     sorted(path.name for path in run.glob("*.safetensors"))
        ['best.safetensors', 'last.safetensors']
        >>> result.metrics["training_clips"], result.metrics["held_out_clips"]     # of four, 15 % and at least one
        (3, 1)
    """
    split, watch = Split() if split is None else split, Watch() if watch is None else watch
    chosen_device = choose_device(device)
    sources = Sources(labels, audio, strong, reviewed, unlabelled, embeddings, start_from)
    start = start_of(out, start_from, resume=resume)
    joined, config = prepared(sources, config, split, start)
    for remark in joined.remarks:
        watch.on_remark(remark)
    clips = joined.clips
    out.mkdir(parents=True, exist_ok=True)
    with in_use(out):
        result = _train(out, clips, sources, start, config, chosen_device, resume=resume, watch=watch, cache=cache)
    return replace(result, remarks=joined.remarks)


def _train(
    out: Path,
    clips: ClipSet,
    sources: Sources,
    start: StartModel | None,
    config: Config,
    device: torch.device,
    *,
    resume: bool,
    watch: Watch,
    cache: Path | None,
) -> TrainingResult:
    """The run, once its arguments are checked and its folder is ours."""
    begin(out, config, clips, start=start, resume=resume)
    store = read_features(
        out / "cache" if cache is None else cache,
        clips.clips,
        sources,
        config,
        on_clip=lambda done: watch.on_clip(done, len(clips.clips)),
        read_only=cache is not None,
    )
    data = training_data(clips, store)
    card = card_of(clips, data, config, start=start)

    network, optimiser, progress, teacher = start_or_resume(out, data, config, device, card, start=start, resume=resume)
    progress = train_network(
        network,
        optimiser,
        data,
        config,
        folder=out,
        progress=progress,
        card=card,
        on_row=watch.on_row,
        teacher=teacher,
        old=None if start is None else start.frozen(device),
    )
    metrics, untuned = _finish(out, data, config, device, progress, start)
    if cache is None:
        shutil.rmtree(out / "cache")
    return TrainingResult(out, metrics, store.failures, store.notes, untuned)


def _finish(
    out: Path,
    data: TrainingData,
    config: Config,
    device: torch.device,
    progress: Progress,
    start: StartModel | None,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Decoding settings for the best epoch, stored in its model file, and metrics.json."""
    best = out / "best.safetensors"
    checkpoint = load_checkpoint(best)
    network = checkpoint.network.to(device)
    metrics: dict[str, Any] = {
        "classes": list(network.classes),
        "epochs": progress.epoch,
        "steps": progress.step,
        "best_epoch": progress.best_epoch,
        "training_clips": len(data.training),
        "held_out_clips": len(data.held_out),
        "unreadable_clips": len(data.store.failures),
    }
    metrics["kinds"] = {kind: int((data.clips.kinds[data.training] == kind).sum()) for kind in KINDS}
    clip_probs, events = np.zeros((0, len(network.classes))), None
    if len(data.held_out):
        figures = held_out_figures(network, data.clips, data.store, data.held_out, config)
        clip_probs, events = figures.clip_probs, figures.events
        metrics |= {"held_out_loss": figures.loss, "held_out_macro_f1": figures.macro_f1}
        metrics["held_out_best_f1"] = figures.best_f1
    tuned = choose_decoding(config, data.clips, data.held_out, clip_probs, events)
    tagged = frozenset(np.array(data.clips.classes)[data.clips.tags.any(axis=0)].tolist())
    chosen = kept_decoding(tuned.decoding, start, tagged)
    metrics["held_out_f1"] = tag_f1(clip_probs, data.clips, data.held_out, chosen)
    if events is not None:
        metrics["held_out_event_f1"] = event_f1(events, chosen)
    values, parameter = network.pool.parameter_values(), network.pool.parameter_name
    metrics["pooling_parameter"] = parameter
    if values is not None and parameter is not None:
        metrics[parameter] = dict(zip(network.classes, values.tolist(), strict=True))
    decoding = chosen.to_dict()
    save_checkpoint(
        best,
        checkpoint.student,
        optimiser=None,
        progress=checkpoint.progress,
        decoding=decoding,
        card=checkpoint.card,
        teacher=checkpoint.teacher,
    )
    write_atomic(out / "metrics.json", json.dumps(metrics, indent=2) + "\n")
    return metrics, tuple(label for label in tuned.untuned if start is None or label in tagged)
