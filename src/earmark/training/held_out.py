"""What the network says about clips it never learned from: the figures that select the best epoch, and thresholds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray

from earmark.config import Config
from earmark.detection.settings import ClassDecoding, Decoding, from_durations
from earmark.detection.tags import has_tag
from earmark.detection.tuning import Tuned, tune_thresholds_from_tags
from earmark.models.crnn import Network
from earmark.training.batch import clip_name, collate
from earmark.training.clips import ClipSet
from earmark.training.feature_store import FeatureStore
from earmark.training.held_out_events import HeldOutEvents, event_f1, tuned_on_events, wholly_labelled
from earmark.training.losses import tag_loss
from earmark.training.sampling import batches_by_length
from earmark.training.supervised import batch_output, piece_and_context_frames


@dataclass(frozen=True)
class HeldOutFigures:
    """How well the held-out clips are tagged.

    Args:
        loss: mean cross-entropy over what is known.
        best_f1: of each class with known positives and negatives, at its own best threshold; optimistic, but fair
            between epochs.
        clip_probs: (clips, classes), in the order of the clips.
        events: frames and events of the clips that are wholly labelled; None when there is none.
        event_f1: of each class that has an event in them, decoded as the configuration says before any tuning.

    Example:
        >>> HeldOutFigures(loss=0.3, best_f1={"cat": 1.0, "dog": 0.5}, clip_probs=np.zeros((0, 2))).macro_f1
        0.75
    """

    loss: float
    best_f1: dict[str, float]
    clip_probs: NDArray[np.float64]
    events: HeldOutEvents | None = None
    event_f1: dict[str, float] = field(default_factory=dict)

    @property
    def macro_event_f1(self) -> float | None:
        """Mean of `event_f1` over its classes; None when there are none."""
        return float(np.mean(list(self.event_f1.values()))) if self.event_f1 else None

    @property
    def macro_f1(self) -> float | None:
        """Mean of `best_f1` over its classes; None when there are none, which is no reason to call a network bad."""
        return float(np.mean(list(self.best_f1.values()))) if self.best_f1 else None

    def selecting(self, select: str) -> float:
        """The figure that tells the epochs apart, larger is better: as `training.select` says.

        Whether there is an F1 depends on the held-out clips alone, so all epochs are compared by the same figure.

        Example:
            >>> HeldOutFigures(loss=0.3, best_f1={}, clip_probs=np.zeros((0, 2))).selecting("f1")     # there is none
            -0.3
        """
        f1 = {"f1": self.macro_f1, "events": self.macro_event_f1}.get(select)
        return -self.loss if f1 is None else f1


def held_out_figures(
    network: Network, clips: ClipSet, store: FeatureStore, indices: NDArray[np.intp], config: Config
) -> HeldOutFigures:
    """Return the figures on the clips at `indices`; the network is left in training mode.

    Example:
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> labels = (frozenset({"dog"}), frozenset())
        >>> rows = [WeakClip(f"{i}.wav", label, None, None, None, {}, "weak.tsv:2") for i, label in enumerate(labels)]
        >>> clips = clip_set(rows, ["dog"], holdout_fraction=0)     # one clip with a dog and one without
        >>> store = FeatureStore(np.zeros((100, 64), np.float16), np.array([0, 50, 100]), (0, 1), (), ())     # 1 s each
        >>> network = Network(Config(), ["dog"])
        >>> _ = network.crnn.linear.weight.data.zero_()     # untrained: it says 0.5 of everything
        >>> figures = held_out_figures(network, clips, store, np.array([0, 1]), Config())
        >>> round(figures.loss, 4), figures.clip_probs.round(4).tolist()     # -log 0.5
        (0.6931, [[0.5], [0.5]])
    """
    device = next(network.parameters()).device
    reduction = config.model.time_reduction
    log_y = np.zeros((len(indices), len(clips.classes)))
    log_not_y = np.zeros_like(log_y)
    row_of = {int(clip): row for row, clip in enumerate(indices)}
    wanted = set(wholly_labelled(clips, indices))
    frame_probs: dict[int, NDArray[np.float64]] = {}
    network.eval()
    with torch.no_grad():
        for batch_indices in batches_by_length(
            indices,
            store.lengths,
            max_frames=batch_frames(config),
            max_together=piece_and_context_frames(config)[0],
        ):
            batch = collate(clips, store, batch_indices, time_reduction=reduction).to(device)
            output = batch_output(network, batch, config)
            batch_log_y, batch_log_not_y = network.pool.log_probs(output.logits, output.mask, output.hidden)
            rows = [row_of[index] for index in batch_indices]
            log_y[rows] = batch_log_y.cpu().numpy()
            log_not_y[rows] = batch_log_not_y.cpu().numpy()
            for index, logits in zip(batch_indices, output.logits, strict=True):
                if index in wanted:
                    n_frames = int(store.lengths[index]) // reduction
                    frame_probs[index] = torch.sigmoid(logits[:n_frames]).double().cpu().numpy()
    network.train()
    lost = [clip_name(clips.clips[index]) for index, row in zip(indices, log_y, strict=True) if np.isnan(row).any()]
    if lost:
        raise ValueError(f"the network says NaN about the held-out clips {', '.join(lost[:10])} - are they damaged?")
    tags, known = clips.tags[indices], clips.known[indices]
    loss = tag_loss(
        torch.from_numpy(log_y),
        torch.from_numpy(log_not_y),
        torch.from_numpy(tags.astype(np.float64)),
        torch.from_numpy(known),
    )
    clip_probs = np.clip(np.exp(log_y), 0.0, 1.0)
    tuned = tune_thresholds_from_tags(clip_probs, tags, known, start=Decoding.fixed(clips.classes))
    if not wanted:
        return HeldOutFigures(loss.item(), tuned.f1, clip_probs)
    events = _events(clips, frame_probs, config)
    return HeldOutFigures(
        loss.item(), tuned.f1, clip_probs, events, event_f1(events, start_decoding(config, clips.classes))
    )


def _events(clips: ClipSet, frame_probs: dict[int, NDArray[np.float64]], config: Config) -> HeldOutEvents:
    """What the network says about some clips beside their events."""
    assert clips.strong is not None
    reference = {}
    for index in frame_probs:
        labels = clips.strong[index]
        assert labels is not None
        reference[clip_name(clips.clips[index])] = [event for event in labels.events if event.duration > 0]
    names = {index: clip_name(clips.clips[index]) for index in frame_probs}
    features = config.features.timeline
    return HeldOutEvents(
        {names[index]: probs for index, probs in frame_probs.items()},
        reference,
        features.coarser(config.model.time_reduction),
    )


def choose_decoding(
    config: Config,
    clips: ClipSet,
    indices: NDArray[np.intp],
    clip_probs: NDArray[np.float64],
    events: HeldOutEvents | None = None,
) -> Tuned:
    """Return the decoding settings the configuration asks for; those to be tuned are tuned on the held-out clips.

    From tags come the thresholds alone. Where held-out clips are wholly labelled, everything of a class with enough
    events in them is tuned by its events; the threshold of its tags stays that of the tags.

    Args:
        config: mode and starting values.
        clips: tags, and what of them is known.
        indices: the held-out clips.
        clip_probs: what the network says about them, (held-out clips, classes).
        events: what it says about the frames of those that are wholly labelled.

    Example:
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> labels = (frozenset({"dog"}), frozenset())
        >>> rows = [WeakClip(f"{i}.wav", label, None, None, None, {}, "weak.tsv:2") for i, label in enumerate(labels)]
        >>> clips = clip_set(rows, ["dog"], holdout_fraction=0)     # one clip with a dog and one without
        >>> from earmark.config import DecodingConfig
        >>> tuned = Config(decoding=DecodingConfig(mode="tuned"))
        >>> probs = np.array([[0.875], [0.625]])
        >>> choose_decoding(tuned, clips, np.array([0, 1]), probs).decoding.of("dog").threshold     # half way
        0.75
    """
    start = start_decoding(config, clips.classes)
    if config.decoding.mode != "tuned" or len(indices) == 0:
        return Tuned(start, {}, clips.classes if config.decoding.mode == "tuned" else ())
    from_tags = tune_thresholds_from_tags(clip_probs, clips.tags[indices], clips.known[indices], start=start)
    return from_tags if events is None else tuned_on_events(events, from_tags)


def start_decoding(config: Config, classes: tuple[str, ...]) -> Decoding:
    """Return the settings as they stand in the configuration, before any tuning.

    Example:
        >>> start_decoding(Config(), ("dog",)).of("dog").threshold
        0.5
    """
    chosen = config.decoding
    setting = ClassDecoding(
        threshold=chosen.threshold,
        low_threshold=chosen.low_threshold if chosen.low_threshold < chosen.threshold else None,
        median_seconds=chosen.median_seconds,
        max_gap_seconds=chosen.max_gap_seconds,
        min_event_seconds=chosen.min_event_seconds,
        clip_threshold=chosen.threshold,
    )
    if chosen.mean_seconds is None:
        return Decoding("fixed", classes, (setting,) * len(classes))
    if len(chosen.mean_seconds) != len(classes):
        raise ValueError(
            f"decoding.mean_seconds must have one entry per class, {len(classes)}"
            f" ({', '.join(sorted(classes))}), got {len(chosen.mean_seconds)}"
        )
    # Sorted, as the configuration says; the classes of a run that continues a model are in the order they came.
    durations = dict(zip(sorted(classes), chosen.mean_seconds, strict=True))
    windows = from_durations(classes, durations).settings
    settings = tuple(replace(setting, median_seconds=window.median_seconds) for window in windows)
    return Decoding("duration", classes, settings)


def tag_f1(
    clip_probs: NDArray[np.float64], clips: ClipSet, indices: NDArray[np.intp], decoding: Decoding
) -> dict[str, float]:
    """Return the F1 of the tags of the clips at `indices`, per class that is known to be in at least one of them.

    Example:
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> labels = (frozenset({"dog"}), frozenset())
        >>> rows = [WeakClip(f"{i}.wav", label, None, None, None, {}, "weak.tsv:2") for i, label in enumerate(labels)]
        >>> clips = clip_set(rows, ["dog"], holdout_fraction=0)     # one clip with a dog and one without
        >>> decoding = Decoding.fixed(["dog"])
        >>> tag_f1(np.array([[0.9], [0.6]]), clips, np.array([0, 1]), decoding)     # one of two is right: 2 / (2 + 1)
        {'dog': 0.6666666666666666}
    """
    found = has_tag(clip_probs, decoding=decoding)
    tags, known = clips.tags[indices], clips.known[indices]
    hits = (found & tags & known).sum(axis=0)
    both = ((found & known).sum(axis=0) + (tags & known).sum(axis=0)).astype(float)
    positives = (tags & known).sum(axis=0)
    return {label: float(2 * hits[c] / both[c]) for c, label in enumerate(clips.classes) if positives[c] > 0}


def batch_frames(config: Config) -> int:
    """Return the bound on feature frames, padding included, in one batch.

    Example:
        >>> batch_frames(Config())     # 160 s of 50 frames each
        8000
    """
    return max(1, round(config.training.batch_seconds * config.features.timeline.frames_per_second))
