"""From scores to events: as tags allow, by change, with tails, and with settings chosen on held-out events.

From tags alone a recording has events only of the classes its own tags name, and a class's threshold for tags is the
one that tags the held-out patients best. Frames are decoded as lung_sounds.toml says.

A network that learned from tags marks what tells most about a breath, its beginning, and stops when the sound fades:
on held-out patients it finds onsets nearly as well as one that learned from events, but ends a quarter of a second too
early. So a tail may be added to every event, up to the next one of its class. How long is nothing that tags tell.

By change, an event begins where the next second is more probable than the last one by most, and ends where it is less
probable by most: what counts is where the sound changes, not the level the probabilities stand at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from earmark.detection.decoding import decode
from earmark.detection.settings import ClassDecoding, Decoding
from earmark.detection.tags import has_tag
from earmark.events import Event
from earmark.metrics import evaluate
from earmark.timeline import Timeline

Tails = Mapping[str, float]  # class -> seconds
NO_TAILS: Tails = {}
# Breathing out follows breathing in and is the quieter half. Chosen on the events of held-out patients.
TAILS: Tails = {"crackles": 0.3, "normal": 0.3}
# About a breath, and the best of 0.24 to 1.2 s on the events of held-out patients; how probable an event must be on
# average matters little (0.2 to 0.5 were tried).
CHANGE_SECONDS, CHANGE_THRESHOLD, CHANGE_MIN_SECONDS = 1.04, 0.3, 0.3
TAILS_SECONDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
LOW_FRACTIONS = (1.0, 0.7, 0.4)


@dataclass(frozen=True)
class Scores:
    """What a network says about recordings.

    Args:
        frames: file name -> (frames, classes), 0 to 1.
        clips: file name -> (classes,), 0 to 1.
    """

    frames: dict[str, NDArray[np.float32]]
    clips: dict[str, NDArray[np.float32]]

    def only(self, names: Iterable[str]) -> Scores:
        """Of these recordings, in their order."""
        listed = list(names)
        return Scores({name: self.frames[name] for name in listed}, {name: self.clips[name] for name in listed})


def tags_of(scores: Scores, decoding: Decoding) -> dict[str, set[str]]:
    """The classes of every recording whose clip probability reaches the threshold."""
    found = has_tag(np.stack(list(scores.clips.values())), decoding=decoding)
    return {
        name: {label for label, is_there in zip(decoding.classes, row, strict=True) if is_there}
        for name, row in zip(scores.clips, found, strict=True)
    }


def decoded(
    scores: Scores,
    decoding: Decoding,
    timeline: Timeline,
    durations: Mapping[str, float],
    tags: Mapping[str, Collection[str]],
    tails: Tails = NO_TAILS,
) -> dict[str, list[Event]]:
    """Events of every recording, of the classes alone that its tags name, each with its tail."""
    found = {}
    for name, probs in scores.frames.items():
        events = decode(probs, decoding=decoding, timeline=timeline, duration_seconds=durations[name])
        found[name] = with_tails([event for event in events if event.label in tags[name]], tails, durations[name])
    return found


def decoded_by_change(
    scores: Scores,
    decoding: Decoding,
    timeline: Timeline,
    durations: Mapping[str, float],
    tags: Mapping[str, Collection[str]],
) -> dict[str, list[Event]]:
    """The same as `decoded`, with boundaries where the probabilities change most."""
    hop = timeline.hop_seconds
    reach, shortest = round(CHANGE_SECONDS / hop), round(CHANGE_MIN_SECONDS / hop)
    found: dict[str, list[Event]] = {}
    for name, probs in scores.frames.items():
        found[name] = []
        for label, column in zip(decoding.classes, probs.T.astype(np.float64), strict=True):
            if label in tags[name]:
                for first, end in spans_by_change(column, reach, CHANGE_THRESHOLD):
                    if end - first >= shortest and first * hop < durations[name]:
                        found[name].append(Event(first * hop, min(end * hop, durations[name]), label))
    return found


def spans_by_change(probs: NDArray[np.float64], reach: int, threshold: float) -> list[tuple[int, int]]:
    """Return (first frame, frame behind the last) of each event of one class in a recording.

    Between two frames the change is the mean of the next `reach` frames minus that of the last ones; before the first
    and behind the last frame everything stays as it is there. An event reaches from a rise that is the largest within
    `reach` to the next such fall, or to the next rise; its mean probability is at least `threshold`.

    Example:
        >>> spans_by_change(np.array([0.1, 0.1, 0.9, 0.8, 0.9, 0.1, 0.1, 0.1]), reach=2, threshold=0.5)
        [(2, 5)]
    """
    sums = np.concatenate([[0.0], np.cumsum(np.pad(probs, reach, mode="edge"))])
    n = len(probs)
    change = (sums[2 * reach :] - 2 * sums[reach : n + reach + 1] + sums[: n + 1]) / reach  # (boundaries,)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(change, reach, mode="edge"), 2 * reach + 1)
    rises = np.flatnonzero((change > 0) & (change == around.max(axis=1)))
    falls = np.flatnonzero((change < 0) & (change == around.min(axis=1)))
    is_open = bool(probs[:reach].mean() >= threshold)  # it began before the recording
    marks = sorted([*((int(at), True) for at in rises), *((int(at), False) for at in falls), (n, False)])
    spans, begin = [], 0 if is_open else None
    for at, is_rise in marks:
        if begin is not None and at > begin and probs[begin:at].mean() >= threshold:
            spans.append((begin, at))
        begin = at if is_rise else None
    return spans


def with_tails(events: Sequence[Event], tails: Tails, end_seconds: float) -> list[Event]:
    """Return the events with later ends, though never behind the next of the class or the recording.

    Example:
        >>> longer = with_tails([Event(0.0, 1.0, "dog"), Event(1.25, 2.0, "dog")], {"dog": 0.5}, 2.25)
        >>> [event.offset for event in longer]
        [1.25, 2.25]
    """
    longer = []
    for label in sorted({event.label for event in events}):
        of_class = sorted((event for event in events if event.label == label), key=lambda event: event.onset)
        limits = [following.onset for _, following in pairwise(of_class)] + [end_seconds]
        for event, limit in zip(of_class, limits, strict=True):
            end = min(event.offset + tails.get(label, 0.0), limit)
            longer.append(replace(event, offset=max(event.offset, end)))
    return sorted(longer, key=lambda event: (event.onset, event.offset, event.label))


def tuned_on_events(
    scores: Scores,
    start: Decoding,
    timeline: Timeline,
    durations: Mapping[str, float],
    truth: Mapping[str, Sequence[Event]],
) -> tuple[Decoding, Tails]:
    """Return per class the thresholds and the tail with the best event F1 on held-out recordings with events."""
    tags = tags_of(scores, start)
    best: dict[str, tuple[float, ClassDecoding, float]] = {}
    for threshold in THRESHOLDS:
        for fraction in LOW_FRACTIONS:
            low = None if fraction == 1 else threshold * fraction
            settings = tuple(replace(one, threshold=threshold, low_threshold=low) for one in start.settings)
            plain = decoded(scores, Decoding("tuned", start.classes, settings), timeline, durations, tags)
            for seconds in TAILS_SECONDS:
                tails = dict.fromkeys(start.classes, seconds)
                found = {name: with_tails(events, tails, durations[name]) for name, events in plain.items()}
                counts = evaluate(truth, found, durations=durations, classes=start.classes).event
                for label, setting, f1 in zip(start.classes, settings, counts.f1.tolist(), strict=True):
                    if label not in best or f1 > best[label][0]:
                        best[label] = (f1, setting, seconds)
    chosen = tuple(best[label][1] for label in start.classes)
    return Decoding("tuned", start.classes, chosen), {label: best[label][2] for label in start.classes}
