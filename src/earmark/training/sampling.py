"""Which clips make which batch. Everything is a function of a seeded generator, so a resumed run draws the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

# Batches of neighbours in length are cut from this many batches' worth of clips at a time: enough that hardly any
# padding is left, few enough that each batch still holds a random mixture.
_BATCHES_PER_BUCKETING = 16


def epoch_order(tags: NDArray[np.bool_], *, balance: str, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the clips of one epoch in order, as many as there are clips.

    With ``balance="classes"`` one stream per class walks over that class's clips for ever, and one more over the clips
    without any tag; every round takes one clip from each stream, the streams in a new order. So a class of 20 clips is
    seen as often as one of 20,000, and a clip with two tags stands in two streams.

    Args:
        tags: (clips, classes).
        balance: ``"classes"`` or ``"none"`` (every clip once).
        rng: source of randomness.

    Example:
        >>> tags = np.array([[True, False]] * 9 + [[False, True]])      # nine clips of one class, one of the other
        >>> order = epoch_order(tags, balance="classes", rng=np.random.default_rng(0))
        >>> int((order == 9).sum())
        5
    """
    n_clips = len(tags)
    if balance == "none":
        return rng.permutation(n_clips)
    members = [np.flatnonzero(column) for column in tags.T] + [np.flatnonzero(~tags.any(axis=1))]
    streams = [_endless(clips, rng) for clips in members if len(clips)]
    order: list[int] = []
    while len(order) < n_clips:
        order.extend(next(streams[i]) for i in rng.permutation(len(streams)))
    return np.array(order[:n_clips], dtype=np.intp)


def cut_batches(
    order: Sequence[int] | NDArray[np.intp],
    lengths: NDArray[np.int64],
    *,
    max_frames: int,
    max_together: int,
    rng: np.random.Generator | None,
) -> list[list[int]]:
    """Return batches of clips of similar length whose padded size is bounded.

    Args:
        order: clips as drawn.
        lengths: frames of every clip.
        max_frames: bound on clips times frames of the longest in a batch.
        max_together: a clip of more frames than this is alone in its batch.
        rng: puts the batches in random order; None keeps them sorted by length.

    Example:
        >>> lengths = np.array([10, 100, 11, 99, 500])
        >>> cut_batches([0, 1, 2, 3, 4], lengths, max_frames=200, max_together=300, rng=None)
        [[0, 2], [3, 1], [4]]
    """
    drawn = np.asarray(order, dtype=np.intp)
    typical = max(1, int(max_frames // max(1.0, float(lengths[drawn].mean()))))
    span = len(drawn) if rng is None else typical * _BATCHES_PER_BUCKETING
    batches: list[list[int]] = []
    for begin in range(0, len(drawn), span):
        part = drawn[begin : begin + span]
        batch: list[int] = []
        for clip in part[np.argsort(lengths[part], kind="stable")]:
            length = int(lengths[clip])
            if batch and ((len(batch) + 1) * length > max_frames or length > max_together):
                batches.append(batch)
                batch = []
            batch.append(int(clip))
        batches.append(batch)
    if rng is not None:
        batches = [batches[i] for i in rng.permutation(len(batches))]
    return batches


def _endless(clips: NDArray[np.intp], rng: np.random.Generator) -> Iterator[int]:
    """The clips in random order, again and again, each pass in a new one."""
    while True:
        yield from (int(clip) for clip in rng.permutation(clips))
