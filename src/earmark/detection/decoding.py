"""Frame probabilities become events: one way, for tuning, evaluation, detection and everything after.

Per class and in this order: median filter, hysteresis threshold, close gaps, drop short events.

A probability that equals a threshold passes it (``>=``), in frames as in clips: a clip has a tag when its probability
is at least the threshold, and with ``>`` a threshold of 1 would ignore the frames a network is entirely sure of.

The median of an odd number of frames is at least a threshold exactly when more than half of them are. So the filter
is never carried out on the probabilities: each step below works on yes and no, in time that does not depend on the
window (`majority`).

What bounds the look-ahead: a frame is decided half a median window after it; whether an event is over, one frame more
than the longest closed gap after its last frame; the shortest length is known by then. Nothing depends on a whole
recording, so a stream needs only the half windows, the open run and the last event (`lookahead_seconds`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earmark.checks import number, shape
from earmark.detection.settings import ClassDecoding, Decoding
from earmark.events import Event
from earmark.timeline import Timeline


def decode(
    frame_probs: ArrayLike, *, decoding: Decoding, timeline: Timeline, duration_seconds: float | None = None
) -> list[Event]:
    """Find the events in the frame probabilities of one recording.

    The median filter repeats the first and the last frame at the edges. Frame i covers the seconds
    [i, i + 1] * hop_seconds. An event's score is the mean of the unfiltered probabilities of all its frames.

    Args:
        frame_probs: (frames, classes), 0 to 1.
        decoding: settings per class.
        timeline: the grid of the frames: after all pooling in the network, not that of the features.
        duration_seconds: length of the recording; frames behind it are left out, and no event ends after it.
            None means that the recording ends with the last frame.

    Returns:
        events sorted by onset, offset and label.

    Raises:
        ValueError: when a value is not a probability, or the number of classes is not that of the settings.

    Example:
        >>> probs = [[0.1], [0.75], [0.85], [0.2]]
        >>> decode(probs, decoding=Decoding.fixed(["dog"]), timeline=Timeline(sample_rate=10, hop_samples=1))
        [Event(onset=0.1, offset=0.3, label='dog', score=0.8)]
    """
    probs = checked_probs("frame_probs", frame_probs, classes=decoding.classes)
    probs = probs[: n_frames_within(duration_seconds, len(probs), timeline=timeline)]
    if len(probs) == 0:
        return []
    events = []
    highest = probs.max(axis=0)
    for index, (label, setting) in enumerate(zip(decoding.classes, decoding.settings, strict=True)):
        if highest[index] < setting.threshold:
            continue  # a median is never above the highest value
        # In float64, or a threshold between two neighbouring float32 values would be rounded onto one of them.
        column = probs[:, index].astype(np.float64)  # (frames,)
        padded = np.pad(column, median_frames(setting.median_seconds, timeline=timeline) // 2, mode="edge")
        firsts, ends = event_frames(padded, settings=setting, timeline=timeline)
        for first, end, score in zip(firsts.tolist(), ends.tolist(), _means(column, firsts, ends), strict=True):
            offset = offset_seconds(end, duration_seconds, timeline=timeline)
            events.append(Event(timeline.seconds(first), offset, label, score))
    return sorted(events, key=lambda event: (event.onset, event.offset, event.label))


def median_frames(median_seconds: float, *, timeline: Timeline) -> int:
    """The odd number of frames nearest to a window's length; a length half way between two takes the longer.

    Example:
        >>> recipe_2019 = Timeline(sample_rate=22050, hop_samples=4 * 365)       # 15.10 frames per second
        >>> median_frames(0.984 / 3, timeline=recipe_2019)                       # 4.95 frames
        5
    """
    number("median_seconds", median_seconds, at_least=0, hint="is it in seconds?")
    # In whole samples: 0.6 s / 0.1 s is 5.999999999999999 in floating point, and would take 5 frames, not 7.
    return 2 * (round(median_seconds * timeline.sample_rate) // (2 * timeline.hop_samples)) + 1


def lookahead_seconds(settings: ClassDecoding, *, timeline: Timeline) -> float:
    """How long after the last frame of an event it is certain that the event is over and stays as it is.

    Half the median window, the longest closed gap, and one frame. With a low threshold the clock starts at the last
    frame that reaches it, even when the run this frame is in never reaches the threshold: until such a run has
    ended, it may still join the event before it.

    Example:
        >>> settings = ClassDecoding(median_seconds=0.5, max_gap_seconds=0.3)
        >>> lookahead_seconds(settings, timeline=Timeline(sample_rate=100, hop_samples=10))    # 2 + 3 + 1 frames
        0.6
    """
    half_window = median_frames(settings.median_seconds, timeline=timeline) // 2
    return timeline.seconds(half_window + timeline.frame(settings.max_gap_seconds) + 1)


def event_frames(
    padded: NDArray[np.float64],
    *,
    settings: ClassDecoding,
    timeline: Timeline,
    is_between: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Carry out all four steps for one class, in frames.

    Args:
        padded: (half_window + frames + half_window,), the probabilities and half a median window on either side.
        settings: how to decode this class.
        timeline: the grid of the frames.
        is_between: (frames,), true where there is no recording, for recordings laid end to end; None means nowhere.

    Returns:
        the first frame of every event, and the frame after its last.

    Example:
        >>> probs, grid = np.array([0.9, 0.1, 0.9, 0.1, 0.1, 0.9]), Timeline(sample_rate=10, hop_samples=1)
        >>> event_frames(probs, settings=ClassDecoding(max_gap_seconds=0.1), timeline=grid)     # frames 0 to 2, and 5
        (array([0, 5]), array([3, 6]))
    """
    window = median_frames(settings.median_seconds, timeline=timeline)
    reached = majority(padded >= settings.lower, window=window)  # (frames,)
    if is_between is not None:
        reached &= ~is_between
    # Where the answer changes from no to yes an event begins, where it changes back one has ended.
    firsts, ends = np.flatnonzero(np.diff(reached, prepend=False, append=False)).reshape(-1, 2).T
    if settings.lower < settings.threshold:
        certain = np.flatnonzero(majority(padded >= settings.threshold, window=window))
        holds_one = np.searchsorted(certain, ends) > np.searchsorted(certain, firsts)
        firsts, ends = firsts[holds_one], ends[holds_one]
    if len(firsts) > 0:
        is_pause = firsts[1:] - ends[:-1] > timeline.frame(settings.max_gap_seconds)
        firsts, ends = firsts[np.append(True, is_pause)], ends[np.append(is_pause, True)]
    is_long = ends - firsts >= timeline.n_frames(round(settings.min_event_seconds * timeline.sample_rate))
    return firsts[is_long], ends[is_long]


def majority(is_active: NDArray[np.bool_], *, window: int) -> NDArray[np.bool_]:
    """Whether more than half of the frames in a window are active: (frames + window - 1,) -> (frames,), window odd.

    Example:
        >>> majority(np.array([True, False, True, False, False]), window=3).tolist()
        [True, False, False]
    """
    if window == 1:
        return is_active
    active_so_far = np.cumsum(is_active, dtype=np.int32)
    in_window = active_so_far[window - 1 :].copy()
    in_window[1:] -= active_so_far[:-window]
    return in_window > window // 2


def n_frames_within(duration_seconds: float | None, n_frames: int, *, timeline: Timeline) -> int:
    """How many of the frames begin before the end of a recording: none may be of what a batch was padded with.

    Example:
        >>> n_frames_within(1.0, 16, timeline=Timeline(sample_rate=10, hop_samples=1))
        10
    """
    if duration_seconds is None:
        return n_frames
    number("duration_seconds", duration_seconds, at_least=0, hint="is it in seconds?")
    return min(n_frames, timeline.n_frames(round(duration_seconds * timeline.sample_rate)))


def offset_seconds(end_frame: int, duration_seconds: float | None, *, timeline: Timeline) -> float:
    """Where something ends whose last frame is the one before `end_frame`: never after the recording itself.

    Example:
        >>> offset_seconds(10, 0.96, timeline=Timeline(sample_rate=10, hop_samples=1))
        0.96
    """
    end = timeline.seconds(end_frame)
    return end if duration_seconds is None else min(end, duration_seconds)


def checked_probs(
    name: str, probs: ArrayLike, *, classes: Sequence[str] | None = None, row: str = "frame"
) -> NDArray[Any]:
    """Return probabilities (frames or clips, classes) as an array if all are from 0 to 1, otherwise raise ValueError.

    Example:
        >>> checked_probs("frame_probs", [[0.1, 0.2], [0.3, 4.0]], classes=["cat", "dog"])
        Traceback (most recent call last):
        ...
        ValueError: frame_probs must be from 0 to 1, got 4.0 in frame 1, class 'dog' - are these logits?
    """
    values = np.asarray(probs)
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers from 0 to 1, got type {values.dtype} - is it text, or has it None?")
    shape(name, values.shape, f"({row}s, classes)", hint="one recording at a time, without a batch axis")
    if classes is not None and values.shape[1] != len(classes):
        raise ValueError(
            f"{name} must have one column for each of the {len(classes)} classes ({', '.join(classes)}), "
            f"got shape {values.shape} - are the axes swapped, or is it another model's?"
        )
    # NaN makes both comparisons false, so it is caught as well.
    if values.size > 0 and not (values.min() >= 0 and values.max() <= 1):
        index, column = np.argwhere(~((values >= 0) & (values <= 1)))[0]
        value = float(values[index, column])
        label = f"number {column}" if classes is None else repr(classes[column])
        hint = "are these logits?" if np.isfinite(value) else "did the training or the input go wrong?"
        raise ValueError(f"{name} must be from 0 to 1, got {value} in {row} {index}, class {label} - {hint}")
    return values


def _means(column: NDArray[np.float64], firsts: NDArray[np.intp], ends: NDArray[np.intp]) -> list[float]:
    """The mean of every event's frames, added one after the other: a stream that does so gets the same bits."""
    lengths = ends - firsts
    owner = np.repeat(np.arange(len(firsts)), lengths)
    frame_of_event = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    sums = np.bincount(owner, weights=column[firsts[owner] + frame_of_event], minlength=len(firsts))
    return (sums / lengths).tolist()
