"""Thresholds chosen on held-out clips of which only the tags are known.

With clip labels the thresholds are all that can be chosen: each class gets the one that makes its tags best, for its
clips and its frames alike. With strong labels see tuning_events.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earmark.detection.decoding import checked_probs
from earmark.detection.settings import ClassDecoding, Decoding
from earmark.detection.tags import has_tag


@dataclass(frozen=True)
class Tuned:
    """What tuning found.

    Args:
        decoding: the settings, with mode "tuned".
        f1: the F1 that each tuned class reaches with them on the held-out data; a figure to watch, not to report.
        untuned: the classes of which the data says too little; they keep the settings they had.

    Example:
        >>> tuned = Tuned(Decoding.fixed(["cat", "dog"]), f1={"dog": 0.8}, untuned=("cat",))     # no clip had a cat
        >>> tuned.decoding.of("cat").threshold
        0.5
    """

    decoding: Decoding
    f1: dict[str, float]
    untuned: tuple[str, ...]


@dataclass(frozen=True)
class _Thresholds:
    """All that differ in what they decide for one class's clips, each with its counts; all of shape (candidates,)."""

    values: NDArray[np.float64]
    margins: NDArray[np.float64]  # from the lowest accepted to the highest rejected probability
    n_predicted: NDArray[np.intp]
    n_hits: NDArray[np.intp]

    def best(self, f1: NDArray[np.float64]) -> int:
        """The highest F1; of equals the widest margin, which is the safest on new clips; then the nearest to 0.5."""
        return int(np.lexsort((-np.abs(self.values - 0.5), self.margins, f1))[-1])


def tune_thresholds_from_tags(
    clip_probs: ArrayLike,
    tags: ArrayLike,
    known: ArrayLike,
    *,
    start: Decoding,
    micro_ascent: bool = False,
    seed: int = 0,
) -> Tuned:
    r"""Choose every class's threshold so that its own clip-level F1 is the highest possible.

    .. math:: F_1 = 2 TP / (n_\mathrm{predicted} + n_\mathrm{positive})

    Exact: the candidates are the midpoints between neighbouring probabilities that occur (with 0 and 1 at the ends), so
    every different decision is tried. The threshold is set for clips and for frames; windows and lengths stay as in
    `start`, and a low threshold keeps its ratio to the threshold. Choosing each class's best gives the best macro F1.

    Args:
        clip_probs: (clips, classes), 0 to 1.
        tags: (clips, classes) bool: does the clip contain the class?
        known: (clips, classes) bool: does someone know? Where false, neither counts.
        start: the classes, and the settings to keep.
        micro_ascent: go on from there and change one class's threshold at a time as long as that makes the F1 of all
            classes' pooled counts higher. A class may then end with a threshold above all its probabilities.
        seed: order in which `micro_ascent` visits the classes.

    Returns:
        the settings. Classes without a known positive or without a known negative clip are left as in `start`.

    Raises:
        ValueError: when shapes disagree or a value is not a probability.

    Example:
        >>> probs, tags = [[0.9], [0.7], [0.3], [0.2]], [[True], [True], [False], [False]]
        >>> tuned = tune_thresholds_from_tags(probs, tags, [[True]] * 4, start=Decoding.fixed(["dog"]))
        >>> tuned.decoding.of("dog").clip_threshold, tuned.f1           # half way between 0.3 and 0.7
        (0.5, {'dog': 1.0})
    """
    probs = checked_probs("clip_probs", clip_probs, classes=start.classes, row="clip").astype(np.float64)
    is_known = _of_same_shape("known", known, probs)
    is_positive = _of_same_shape("tags", tags, probs) & is_known
    n_positive = is_positive.sum(axis=0)  # (classes,)
    can_tune = (n_positive > 0) & (n_positive < is_known.sum(axis=0))

    candidates = {
        index: _thresholds(probs[is_known[:, index], index], is_positive[is_known[:, index], index])
        for index in np.flatnonzero(can_tune).tolist()
    }
    chosen = {
        index: one.best(2 * one.n_hits / (one.n_predicted + n_positive[index])) for index, one in candidates.items()
    }
    if micro_ascent:
        kept = (has_tag(probs, decoding=start) & is_known)[:, ~can_tune]
        chosen = _ascend(
            candidates,
            chosen,
            kept_predicted=int(kept.sum()),
            kept_hits=int((kept & is_positive[:, ~can_tune]).sum()),
            n_positive=int(n_positive.sum()),
            rng=np.random.default_rng(seed),
        )

    settings, f1 = list(start.settings), {}
    for index, choice in chosen.items():
        one = candidates[index]
        value = float(one.values[choice])
        settings[index] = _with_threshold(settings[index], value)
        f1[start.classes[index]] = float(2 * one.n_hits[choice] / (one.n_predicted[choice] + n_positive[index]))
    untuned = tuple(label for label in start.classes if label not in f1)
    return Tuned(Decoding("tuned", start.classes, tuple(settings)), f1, untuned)


def _thresholds(probs: NDArray[np.float64], is_positive: NDArray[np.bool_]) -> _Thresholds:
    """The candidates of one class, from "no clip" to "every clip": (clips,), (clips,) -> (candidates,)."""
    order = np.argsort(-probs, kind="stable")
    falling = probs[order]
    # Clips of equal probability are accepted together.
    last_of_equals = np.flatnonzero(np.append(falling[1:] < falling[:-1], True))
    accepted = np.append(1.0, falling[last_of_equals])  # the lowest accepted probability; 1 when none is
    rejected = np.append(falling[last_of_equals], 0.0)  # the highest rejected one; 0 when none is
    middle = rejected + (accepted - rejected) / 2
    # Between two neighbouring floating point numbers there is no middle: take the accepted one, since >= accepts.
    values = np.where(middle > rejected, middle, accepted)
    n_hits = np.append(0, np.cumsum(is_positive[order])[last_of_equals])
    # A threshold of at most 1 cannot reject a probability of 1, so "no clip" may be impossible.
    possible = slice(1, None) if falling[0] == 1 else slice(None)
    return _Thresholds(
        values[possible], (accepted - rejected)[possible], np.append(0, last_of_equals + 1)[possible], n_hits[possible]
    )


def _ascend(
    candidates: dict[int, _Thresholds],
    chosen: dict[int, int],
    *,
    kept_predicted: int,
    kept_hits: int,
    n_positive: int,
    rng: np.random.Generator,
) -> dict[int, int]:
    """Coordinate ascent on micro F1 until no single class can make it higher."""
    chosen = dict(chosen)
    n_predicted = kept_predicted + sum(int(one.n_predicted[chosen[index]]) for index, one in candidates.items())
    n_hits = kept_hits + sum(int(one.n_hits[chosen[index]]) for index, one in candidates.items())
    has_changed = True
    while has_changed:
        has_changed = False
        for index in rng.permutation(sorted(candidates)).tolist():
            one, now = candidates[index], chosen[index]
            predicted = n_predicted + one.n_predicted - one.n_predicted[now]  # (candidates,), all classes together
            hits = n_hits + one.n_hits - one.n_hits[now]
            f1 = 2 * hits / (predicted + n_positive)
            new = one.best(f1)
            if f1[new] > f1[now]:
                chosen[index], n_predicted, n_hits = new, int(predicted[new]), int(hits[new])
                has_changed = True
    return chosen


def _with_threshold(setting: ClassDecoding, value: float) -> ClassDecoding:
    """Another threshold for frames and clips, with as much hysteresis as before."""
    low = setting.low_threshold
    if low is not None:
        # At a threshold of 0 every frame is part of an event, and there is nothing below it.
        low = value * (low / setting.threshold) if value > 0 and setting.threshold > 0 else None
    return replace(setting, threshold=value, low_threshold=low, clip_threshold=value)


def _of_same_shape(name: str, values: ArrayLike, probs: NDArray[np.float64]) -> NDArray[np.bool_]:
    """A bool array with one value per probability."""
    array = np.asarray(values)
    if array.shape != probs.shape:
        raise ValueError(f"{name} must have the shape of clip_probs {probs.shape}, got {array.shape}")
    if array.dtype != np.bool_:
        raise ValueError(f"{name} must be of type bool, got {array.dtype} - are these probabilities or text?")
    return array
