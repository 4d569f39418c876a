"""What a step of training sees: the clips there are, which of them make its batch, and how that batch is changed.

Every random number is a function of the seed and of the epoch or step it is drawn for. So there is no random state to
save: a run that is killed and resumed draws what it would have drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from earmark.config import Config
from earmark.models.crnn import Network
from earmark.training.augment import augment
from earmark.training.batch import Batch, clip_name, collate
from earmark.training.clips import ClipSet
from earmark.training.feature_store import FeatureStore
from earmark.training.held_out import batch_frames
from earmark.training.mixing import check_quotas, labelled_order, quota_batches, with_unlabelled
from earmark.training.sampling import mixed_batches
from earmark.training.supervised import piece_and_context_frames


@dataclass(frozen=True)
class TrainingData:
    """What there is to learn from: clips, their features in the same order, and which are for what.

    Example:
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> rows = [WeakClip(name, frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for name in "abcd"]
        >>> clips = clip_set(rows, ["dog"], holdout_fraction=0.25)
        >>> store = FeatureStore(np.zeros((200, 64), np.float16), np.arange(0, 201, 50), (0, 1, 2, 3), (), ())
        >>> data = TrainingData(clips, store)
        >>> len(data.training), len(data.held_out)
        (3, 1)
    """

    clips: ClipSet
    store: FeatureStore

    @property
    def training(self) -> NDArray[np.intp]:
        """Indices of the clips to learn from."""
        return np.flatnonzero(~self.clips.held_out)

    @property
    def held_out(self) -> NDArray[np.intp]:
        """Indices of the clips that select the best epoch."""
        return np.flatnonzero(self.clips.held_out)


def epoch_plan(data: TrainingData, config: Config, epoch: int) -> list[list[int]]:
    """Return the batches of an epoch, as lists of clips; the same for the same seed and epoch.

    Example:
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> rows = [WeakClip(name, frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for name in "abcd"]
        >>> clips = clip_set(rows, ["dog"], holdout_fraction=0.25)
        >>> store = FeatureStore(np.zeros((200, 64), np.float16), np.arange(0, 201, 50), (0, 1, 2, 3), (), ())
        >>> plan = epoch_plan(TrainingData(clips, store), Config(), epoch=1)     # 160 s hold them all
        >>> len(plan), sorted(plan[0]) == TrainingData(clips, store).training.tolist()
        (1, True)
    """
    rng = np.random.default_rng([config.training.seed, 1, epoch])
    return planned_batches(data.clips, data.store.lengths, config, rng)


def planned_batches(
    clips: ClipSet, lengths: NDArray[np.int64], config: Config, rng: np.random.Generator
) -> list[list[int]]:
    """Return the batches of an epoch over the training clips among these; `lengths` are the frames of all.

    Example:
        >>> from earmark.config import TrainingConfig
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> rows = [WeakClip(name, frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for name in "abcd"]
        >>> clips, lengths = clip_set(rows, ["dog"], holdout_fraction=0), np.array([50, 50, 50, 50])     # of 1 s
        >>> config = Config(training=TrainingConfig(batch_seconds=2.0))
        >>> plan = planned_batches(clips, lengths, config, np.random.default_rng(0))
        >>> [len(batch) for batch in plan], sorted(plan[0] + plan[1])
        ([2, 2], [0, 1, 2, 3])
    """
    training, balance = np.flatnonzero(~clips.held_out), config.training.balance
    tags, kinds = clips.tags[training], clips.kinds[training]
    max_frames, max_together = batch_frames(config), piece_and_context_frames(config)[0]
    if config.quotas.are_given:
        check_quotas(kinds, config)
        _refuse_long(clips, training, lengths, max_together)
        return [training[b].tolist() for b in quota_batches(tags, kinds, config.quotas, balance=balance, rng=rng)]
    is_labelled = kinds != "unlabelled"
    labelled, unlabelled = training[is_labelled], training[~is_labelled]
    order = labelled[labelled_order(tags[is_labelled], kinds[is_labelled], balance=balance, rng=rng)]
    room = max_frames // 2 if len(unlabelled) else max_frames
    batches = mixed_batches(order, lengths, max_frames=room, max_together=max_together)
    if len(unlabelled) == 0:
        return batches
    return with_unlabelled(batches, unlabelled, lengths, max_frames=max_frames, max_together=max_together, rng=rng)


def drawn_batch(network: Network, data: TrainingData, indices: list[int], config: Config, step: int) -> Batch:
    """Return the batch of a step, augmented, on the network's device; also seeds torch for the step's dropout.

    Example:
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> rows = [WeakClip(name, frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for name in "abcd"]
        >>> clips = clip_set(rows, ["dog"], holdout_fraction=0.25)
        >>> store = FeatureStore(np.zeros((200, 64), np.float16), np.arange(0, 201, 50), (0, 1, 2, 3), (), ())
        >>> batch = drawn_batch(Network(Config(), ["dog"]), TrainingData(clips, store), [0, 2], Config(), step=1)
        >>> batch.filenames, batch.features.shape
        (('a', 'c'), torch.Size([2, 50, 64]))
    """
    rng = np.random.default_rng([config.training.seed, 2, step])
    torch.manual_seed(int(rng.integers(2**62)))
    reduction = config.model.time_reduction
    grid = config.features.timeline
    batch = collate(data.clips, data.store, indices, time_reduction=reduction, timeline=grid)
    fill, spectrum = network.mean.cpu(), config.features.spectrum
    batch = augment(
        batch, config.augment, fill=fill, timeline=grid, rng=rng, spectrum=spectrum, time_reduction=reduction
    )
    return batch.to(network.mean.device)


def _refuse_long(clips: ClipSet, training: NDArray[np.intp], lengths: NDArray[np.int64], max_together: int) -> None:
    """Raise ValueError when a clip is too long for a batch of others, which quotas would put it into."""
    longest = training[lengths[training].argmax()]
    if lengths[longest] > max_together:
        raise ValueError(
            f"{clip_name(clips.clips[longest])}: is longer than training.piece_seconds or batch_seconds, so it would"
            " pass alone, and quotas cannot be kept - cut it, raise these two, or set all quotas to 0"
        )
