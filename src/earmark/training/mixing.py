"""Which kinds of clips make which batch: tagged ones, strongly labelled ones, and those without labels."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from earmark.config import Config, QuotaConfig
from earmark.training.sampling import epoch_order

# Strongly labelled clips are drawn up to so many times as often as tagged ones, until they are this part of all.
_MOST_TIMES, _STRONG_PART = 4, 0.25
_LOOK_AHEAD_CLIPS = 20  # unlabelled ones that wait because they do not fit


def labelled_order(
    tags: NDArray[np.bool_], kinds: NDArray[np.str_], *, balance: str, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the labelled clips of an epoch in order, as many as there are, with the strong ones spread evenly.

    Where few are strong they come again and again: a quarter of what is drawn, but none more than four times as often
    as it would. Inside each kind classes are balanced as `epoch_order` says.

    Args:
        tags: (labelled clips, classes).
        kinds: ``"weak"`` or ``"strong"``, (labelled clips,).
        balance: as for `epoch_order`.
        rng: source of randomness.

    Example:
        >>> kinds = np.array(["weak"] * 18 + ["strong"] * 2)
        >>> order = labelled_order(np.ones((20, 1), bool), kinds, balance="none", rng=np.random.default_rng(0))
        >>> np.flatnonzero(order >= 18).tolist()     # every fourth clip is one of the two strong ones
        [3, 7, 11, 15, 19]
    """
    strong, weak = np.flatnonzero(kinds == "strong"), np.flatnonzero(kinds == "weak")
    if len(strong) == 0 or len(weak) == 0:
        return epoch_order(tags, balance=balance, rng=rng)
    n_clips, part = len(kinds), len(strong) / len(kinds)
    n_strong = max(len(strong), round(min(_STRONG_PART, _MOST_TIMES * part) * n_clips))
    is_strong = np.diff(np.arange(n_clips + 1) * n_strong // n_clips) > 0
    order = np.zeros(n_clips, dtype=np.intp)
    order[~is_strong] = _drawn(weak, n_clips - n_strong, tags, balance, rng)
    order[is_strong] = _drawn(strong, n_strong, tags, balance, rng)
    return order


def with_unlabelled(
    batches: list[list[int]],
    unlabelled: NDArray[np.intp],
    lengths: NDArray[np.int64],
    *,
    max_frames: int,
    max_together: int,
    rng: np.random.Generator,
) -> list[list[int]]:
    """Return the batches with as many unlabelled clips in each as it has labelled ones, as far as they fit.

    Args:
        batches: labelled clips, with room.
        unlabelled: clips to draw from, for ever, each pass in a new order.
        lengths: frames of every clip.
        max_frames: bound on clips times frames of the longest in a batch.
        max_together: a clip of more frames than this stays alone.
        rng: source of randomness.

    Example:
        >>> lengths, rng = np.full(6, 10), np.random.default_rng(0)
        >>> others = np.array([3, 4, 5])
        >>> filled = with_unlabelled([[0, 1], [2]], others, lengths, max_frames=40, max_together=40, rng=rng)
        >>> [len(batch) for batch in filled], sorted(filled[0][2:] + filled[1][1:])
        ([4, 2], [3, 4, 5])
    """
    stream, waiting = _endless(unlabelled, rng), deque[int]()
    filled = []
    for batch in batches:
        longest, new = int(lengths[batch].max()), list(batch)
        for _ in range(min(len(unlabelled), _LOOK_AHEAD_CLIPS + len(batch)) if longest <= max_together else 0):
            if len(new) == 2 * len(batch):
                break
            clip = waiting.popleft() if len(waiting) > _LOOK_AHEAD_CLIPS else next(stream)
            frames = max(longest, int(lengths[clip]))
            if frames <= max_together and (len(new) + 1) * frames <= max_frames:
                new.append(clip)
                longest = frames
            else:
                waiting.append(clip)
        filled.append(new)
    return filled


def quota_batches(
    tags: NDArray[np.bool_],
    kinds: NDArray[np.str_],
    quotas: QuotaConfig,
    *,
    balance: str,
    rng: np.random.Generator,
) -> list[list[int]]:
    """Return the batches of an epoch with so many clips of each kind; it ends with the kind that is used up first.

    Args:
        tags: (clips, classes).
        kinds: of the clips, (clips,).
        quotas: clips of each kind in a batch.
        balance: of classes among the labelled clips, as for `epoch_order`.
        rng: source of randomness.

    Example:
        >>> kinds = np.array(["weak"] * 5 + ["unlabelled"] * 9)
        >>> quotas, rng = QuotaConfig(weak=2, unlabelled=3), np.random.default_rng(0)
        >>> batches = quota_batches(np.ones((14, 1), bool), kinds, quotas, balance="none", rng=rng)
        >>> [np.sum(np.array(batch) < 5).item() for batch in batches], len(batches[0])     # 5 // 2 batches
        ([2, 2], 5)
    """
    parts = []
    for kind, quota in vars(quotas).items():
        if quota > 0:
            members = np.flatnonzero(kinds == kind)
            of_kind = "none" if kind == "unlabelled" else balance
            order = _drawn(members, len(members), tags, of_kind, rng)
            parts.append(order[: len(order) // quota * quota].reshape(-1, quota))
    n_batches = min(len(part) for part in parts)
    return np.concatenate([part[:n_batches] for part in parts], axis=1).tolist()


def check_quotas(kinds: NDArray[np.str_], config: Config) -> None:
    """Raise ValueError when the training clips cannot fill the quotas, or some kind of them would never be drawn.

    Example:
        >>> check_quotas(np.array(["weak"] * 9), Config(quotas=QuotaConfig(weak=6, unlabelled=12)))
        Traceback (most recent call last):
        ...
        ValueError: quotas.unlabelled is 12, but there are only 0 unlabelled clips to learn from - is --unlabelled ...
    """
    if not config.quotas.are_given:
        return
    for kind, quota in vars(config.quotas).items():
        n_clips = int((kinds == kind).sum())
        option = "the label file complete" if kind == "weak" else f"--{kind} missing"
        if quota > n_clips:
            raise ValueError(
                f"quotas.{kind} is {quota}, but there are only {n_clips} {kind} clips to learn from - is {option}?"
            )
        if quota == 0 and n_clips > 0:
            raise ValueError(
                f"quotas.{kind} is 0, so the {n_clips} {kind} clips would never be learned from - set it, or all quotas"
                " to 0 for an automatic mix"
            )


def _drawn(
    members: NDArray[np.intp], n_clips: int, tags: NDArray[np.bool_], balance: str, rng: np.random.Generator
) -> NDArray[np.intp]:
    """So many of the members in order, pass after pass."""
    passes = [members[epoch_order(tags[members], balance=balance, rng=rng)] for _ in range(-(-n_clips // len(members)))]
    return np.concatenate(passes)[:n_clips]


def _endless(clips: NDArray[np.intp], rng: np.random.Generator) -> Iterator[int]:
    """The clips in random order, again and again, each pass in a new one."""
    while True:
        yield from rng.permutation(clips).tolist()
