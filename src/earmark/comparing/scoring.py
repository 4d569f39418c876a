"""What a trained network says about clips it never learned from, kept on disk so that it can be measured again."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from earmark.config import Config
from earmark.files import write_atomic
from earmark.models.crnn import Network
from earmark.training.batch import collate
from earmark.training.clips import ClipSet
from earmark.training.feature_store import FeatureStore
from earmark.training.held_out import batch_frames
from earmark.training.sampling import batches_by_length
from earmark.training.supervised import batch_output, piece_and_context_frames


@dataclass(frozen=True, eq=False)
class ClipScores:
    """What a network says about some clips.

    Args:
        log_y: (clips, classes) logarithm of each clip's probability.
        log_not_y: (clips, classes) of one minus it.
        frames: of every clip (frames, classes), probabilities; None when only tags are asked for.

    Example:
        >>> half = np.log([[0.5]])
        >>> ClipScores(half, half, None).clip_probs
        array([[0.5]])
    """

    log_y: NDArray[np.float64]
    log_not_y: NDArray[np.float64]
    frames: list[NDArray[np.float32]] | None

    @property
    def clip_probs(self) -> NDArray[np.float64]:
        """Probability of every class in every clip, (clips, classes)."""
        return np.clip(np.exp(self.log_y), 0.0, 1.0)


def score_clips(
    network: Network,
    clips: ClipSet,
    store: FeatureStore,
    indices: NDArray[np.intp],
    config: Config,
    *,
    with_frames: bool,
) -> ClipScores:
    """Return what the network says about the clips at `indices`, in their order; it is left in evaluation mode.

    Example:
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> clips = clip_set([WeakClip("a", frozenset(), None, None, None, {}, "")], ["dog"], holdout_fraction=0)
        >>> store = FeatureStore(np.zeros((50, 64), np.float16), np.array([0, 50]), (0,), (), ())     # 1 s
        >>> network = Network(Config(), ["dog"])
        >>> _ = network.crnn.linear.weight.data.zero_()     # untrained: it says 0.5 of everything
        >>> scores = score_clips(network, clips, store, np.array([0]), Config(), with_frames=True)
        >>> scores.clip_probs.round(4).tolist(), scores.frames[0].shape
        ([[0.5]], (25, 1))
    """
    device, reduction = next(network.parameters()).device, config.model.time_reduction
    shape = (len(indices), len(clips.classes))
    log_y, log_not_y = np.zeros(shape), np.zeros(shape)
    frames = [np.zeros((0, shape[1]), np.float32)] * len(indices)
    row_of = {int(clip): row for row, clip in enumerate(indices)}
    network.eval()
    with torch.no_grad():
        for chosen in batches_by_length(
            indices, store.lengths, max_frames=batch_frames(config), max_together=piece_and_context_frames(config)[0]
        ):
            batch = collate(clips, store, chosen, time_reduction=reduction).to(device)
            output = batch_output(network, batch, config)
            logs = network.pool.log_probs(output.logits, output.mask, output.hidden)
            rows = [row_of[index] for index in chosen]
            log_y[rows], log_not_y[rows] = (values.double().cpu().numpy() for values in logs)
            if with_frames:
                probs = output.logits.float().sigmoid().cpu().numpy()
                for row, index, of_clip in zip(rows, chosen, probs, strict=True):
                    frames[row] = of_clip[: int(store.lengths[index]) // reduction]
    if np.isnan(log_y).any() or np.isnan(log_not_y).any():
        raise ValueError("the network says NaN about a clip it never learned from - did its training go wrong?")
    return ClipScores(log_y, log_not_y, frames if with_frames else None)


def write_scores(path: Path, scores: dict[str, ClipScores]) -> None:
    """Write the scores of some parts of the clips, completely or not at all.

    Example:
        >>> import tempfile
        >>> half = np.log([[0.5]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_scores(Path(folder, "scores.npz"), {"test": ClipScores(half, half, None)})
        ...     read_scores(Path(folder, "scores.npz"))["test"].clip_probs
        array([[0.5]])
    """
    arrays: dict[str, Any] = {}
    for part, of_part in scores.items():
        arrays |= {f"{part}/log_y": of_part.log_y, f"{part}/log_not_y": of_part.log_not_y}
        if of_part.frames is not None:
            lengths = [len(frames) for frames in of_part.frames]
            arrays[f"{part}/frames"] = np.concatenate(
                [np.zeros((0, of_part.log_y.shape[1]), np.float32), *of_part.frames]
            )
            arrays[f"{part}/lengths"] = np.array(lengths, dtype=np.int64)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_atomic(path, buffer.getvalue())


def read_scores(path: Path) -> dict[str, ClipScores]:
    """Return what `write_scores` wrote."""
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    found = {}
    for part in dict.fromkeys(name.partition("/")[0] for name in arrays):
        frames = None
        if f"{part}/frames" in arrays:
            frames = np.split(arrays[f"{part}/frames"], np.cumsum(arrays[f"{part}/lengths"])[:-1])
        found[part] = ClipScores(arrays[f"{part}/log_y"], arrays[f"{part}/log_not_y"], frames)
    return found
