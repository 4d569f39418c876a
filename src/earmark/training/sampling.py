"""Which clips make which batch. Everything is a function of a seeded generator, so a resumed run draws the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

# A batch looks this far for clips that fit; farther would cost more time than it saves padding.
_LOOK_AHEAD_CLIPS = 1001
_LONGEST_OF_CLIPS = 8
_MOST_PADDING = 0.6  # of a batch; less would leave batches of short clips alone and of long clips alone


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


def mixed_batches(
    order: Sequence[int] | NDArray[np.intp], lengths: NDArray[np.int64], *, max_frames: int, max_together: int
) -> list[list[int]]:
    """Return batches in the order of drawing, so that each holds all classes, at most 60 % of it padding.

    A batch begins with the longest of the next few clips, because shorter ones can join it but it could not join
    many of them. Then it takes what fits, in order: clips that would make it too large, or more than 60 % padding, wait
    for a later batch.

    Args:
        order: clips as drawn.
        lengths: frames of every clip.
        max_frames: bound on clips times frames of the longest in a batch.
        max_together: a clip of more frames than this is alone in its batch.

    Example:
        >>> mixed_batches([0, 1, 2, 3], np.array([60, 100, 10, 70]), max_frames=300, max_together=300)
        [[1, 0, 2], [3]]
    """
    frames: list[int] = lengths.tolist()  # plain numbers: reading one out of an array takes ten times as long
    drawn = iter(np.asarray(order, dtype=np.intp).tolist())
    batches: list[list[int]] = []
    # The first clip of a batch and those it may look at; what a long epoch holds behind them is not touched, or
    # planning would take the square of its length.
    waiting = list(islice(drawn, 1 + _LOOK_AHEAD_CLIPS))
    while waiting:
        first = max(range(min(len(waiting), _LONGEST_OF_CLIPS)), key=lambda place: frames[waiting[place]])
        batch = [waiting.pop(first)]
        longest = real = frames[batch[0]]
        left: list[int] = []
        for place, clip in enumerate(waiting):
            if (len(batch) + 1) * longest > max_frames or longest > max_together:
                left += waiting[place:]
                break
            length = frames[clip]
            padded = (len(batch) + 1) * max(longest, length)
            if length <= max_together and padded * (1 - _MOST_PADDING) <= real + length and padded <= max_frames:
                batch.append(clip)
                longest, real = max(longest, length), real + length
            else:
                left.append(clip)
        batches.append(batch)
        waiting = left + list(islice(drawn, 1 + _LOOK_AHEAD_CLIPS - len(left)))
    return batches


def batches_by_length(
    clips: Sequence[int] | NDArray[np.intp], lengths: NDArray[np.int64], *, max_frames: int, max_together: int
) -> list[list[int]]:
    """Return batches with as little padding as can be, the shortest clips first: for clips that are only looked at.

    Args:
        clips, lengths, max_frames, max_together: as for `mixed_batches`.

    Example:
        >>> batches_by_length([0, 1, 2, 3], np.array([60, 100, 10, 70]), max_frames=200, max_together=300)
        [[2, 0], [3, 1]]
    """
    chosen = np.asarray(clips, dtype=np.intp)
    batches: list[list[int]] = []
    for clip in chosen[np.argsort(lengths[chosen], kind="stable")]:
        length = int(lengths[clip])
        if batches and (len(batches[-1]) + 1) * length <= max_frames and length <= max_together:
            batches[-1].append(int(clip))
        else:
            batches.append([int(clip)])
    return batches


def _endless(clips: NDArray[np.intp], rng: np.random.Generator) -> Iterator[int]:
    """The clips in random order, again and again, each pass in a new one."""
    while True:
        yield from (int(clip) for clip in rng.permutation(clips))
