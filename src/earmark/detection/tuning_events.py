"""All settings of decoding chosen on held-out recordings with strong labels, by the F1 of the events themselves.

A coordinate search, class by class: try every value of one setting while the others stay, keep the best, go on with
the next setting, and round again until a whole round changes nothing. It begins once with the settings given and once
with each median window, because without a filter the best threshold is another one. (On simulated recordings that gave
others of their kind 0.02 more F1 for four times the time. Still more beginnings gained on the recordings searched and
lost on the others.) The values are the lists below. Only a higher F1 is better, so of equal values the first in its
list is taken, and the lists begin with the mildest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earmark.detection.decoding import checked_probs, event_frames, median_frames, n_frames_within
from earmark.detection.settings import ClassDecoding, Decoding
from earmark.detection.tuning import Tuned
from earmark.events import Event
from earmark.metrics.collars import DCASE_COLLARS, Collars
from earmark.metrics.encoding import event_tables
from earmark.metrics.event import count_events
from earmark.metrics.event_table import EventTable, one_form
from earmark.timeline import Timeline

THRESHOLDS = (0.5, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65, 0.3, 0.7, 0.25, 0.75, 0.2, 0.8, 0.15, 0.85, 0.1, 0.9, 0.05, 0.95)
LOW_FRACTIONS = (1.0, 0.8, 0.6, 0.4, 0.2)  # low threshold as a part of the threshold
SEARCH_ORDER = ("threshold", "median_seconds", "low_threshold", "max_gap_seconds", "min_event_seconds")
LENGTHS_SECONDS = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6)  # of the median window, the closed gap and the shortest event


def tune_from_events(
    frame_probs: Mapping[str, ArrayLike],
    reference: Mapping[str, Sequence[Event]],
    *,
    start: Decoding,
    timeline: Timeline,
    durations_seconds: Mapping[str, float] | None = None,
    collars: Collars = DCASE_COLLARS,
) -> Tuned:
    """Choose every class's settings so that the event-based F1 of that class is as high as the search can make it.

    Clip thresholds are left as they are: tags tell them, see `tune_thresholds_from_tags`.

    Args:
        frame_probs: recording -> (frames, classes), 0 to 1.
        reference: the same recordings -> all their events; an empty list where there are none.
        start: the classes, and the settings that the search begins with.
        timeline: the grid of the frames.
        durations_seconds: recording -> its length, as in `decode`; None means that all end with their last frame.
        collars: how near a found event must be.

    Returns:
        the settings. Classes that have no event in the reference are left as in `start`.

    Raises:
        ValueError: when the recordings are not the same everywhere, or as in `decode`.

    Example:
        >>> probs = np.array([0.1, 0.4, 0.1, 0.4, 0.4, 0.1, 0.3, 0.1])[:, None]        # 1 s per frame
        >>> tuned = tune_from_events({"a.wav": probs}, {"a.wav": [Event(1, 2, "dog"), Event(3, 5, "dog")]},
        ...                          start=Decoding.fixed(["dog"]), timeline=Timeline(sample_rate=10, hop_samples=10))
        >>> tuned.decoding.of("dog").threshold, tuned.f1
        (0.4, {'dog': 1.0})
    """
    truth = _reference_table(reference, frame_probs, start.classes)
    probs = {
        one_form(name): checked_probs(f"frame_probs[{name!r}]", values, classes=start.classes)
        for name, values in frame_probs.items()
    }
    ends = _ends(durations_seconds, truth.files)
    lengths = [n_frames_within(ends.get(name), len(probs[name]), timeline=timeline) for name in truth.files]
    tape = Tape.of(lengths, [ends.get(name, np.inf) for name in truth.files], start=start, timeline=timeline)
    all_frames = np.concatenate([probs[name][:n] for name, n in zip(truth.files, lengths, strict=True)])

    settings, f1 = list(start.settings), {}
    for index, label in enumerate(start.classes):
        of_class = truth.rows(truth.class_index == index)
        if len(of_class) > 0:
            column = all_frames[:, index].astype(np.float64)  # (frames of all recordings,)
            settings[index], f1[label] = _tune_class(column, of_class, tape, start=settings[index], collars=collars)
    untuned = tuple(label for label in start.classes if label not in f1)
    return Tuned(Decoding("tuned", start.classes, tuple(settings)), f1, untuned)


def _tune_class(
    column: NDArray[np.float64], truth: EventTable, tape: Tape, *, start: ClassDecoding, collars: Collars
) -> tuple[ClassDecoding, float]:
    """The coordinate search for one class: the best settings and their F1."""
    padded, class_index = column[tape.source], int(truth.class_index[0])

    def f1(setting: ClassDecoding) -> float:
        found = tape.found(padded, setting, truth, class_index=class_index)
        return float(count_events(truth, found, collars=collars).f1[class_index])

    thresholds = (*THRESHOLDS, *_deciles(column[tape.is_inside(truth)]))
    reached: dict[ClassDecoding, float] = {}  # everything that was tried
    for first in (start, *_variants(start, "median_seconds", thresholds)):
        _climb(first, f1, reached, thresholds)
    best = max(reached, key=lambda setting: reached[setting])  # the first of equals
    return best, reached[best]


def _climb(
    best: ClassDecoding,
    f1: Callable[[ClassDecoding], float],
    reached: dict[ClassDecoding, float],
    thresholds: Sequence[float],
) -> None:
    """Change one setting at a time as long as that helps, and note in `reached` what everything tried was worth."""
    reached[best] = f1(best)
    while True:
        before = best
        for name in SEARCH_ORDER:
            for setting in _variants(best, name, thresholds):
                if setting not in reached:
                    reached[setting] = f1(setting)
                if reached[setting] > reached[best]:
                    best = setting
        if best == before:
            return


def _variants(base: ClassDecoding, name: str, thresholds: Sequence[float]) -> list[ClassDecoding]:
    """The settings that differ from `base` in one of them; a low threshold keeps its distance to the threshold."""
    if name == "threshold":
        # Rounded, or 0.8 * 0.45 / 0.45 would be a new fraction every time.
        fraction = round(base.lower / base.threshold, 6) if base.threshold > 0 else 1.0
        return [_with_thresholds(base, threshold, fraction) for threshold in thresholds]
    if name == "low_threshold":
        return [_with_thresholds(base, base.threshold, fraction) for fraction in LOW_FRACTIONS]
    return [replace(base, **{name: seconds}) for seconds in LENGTHS_SECONDS]


def _with_thresholds(base: ClassDecoding, threshold: float, low_fraction: float) -> ClassDecoding:
    """The same with other thresholds."""
    return replace(base, threshold=threshold, low_threshold=None if low_fraction == 1 else low_fraction * threshold)


def _deciles(probs: NDArray[np.float64]) -> list[float]:
    """Nine thresholds that a tenth, two tenths ... of the probabilities do not pass; none without probabilities."""
    return np.quantile(probs, np.arange(1, 10) / 10).tolist() if len(probs) > 0 else []


@dataclass(frozen=True)
class Tape:
    """All recordings laid end to end, so that one pass of `event_frames` decodes them all.

    Before and after each recording stand repetitions of its edges: as many as the longest median window needs, and
    enough to keep the longest closed gap from reaching the next recording.

    Args:
        source: (places,), which frame stands at each place.
        is_between: (places,), where it is only a repetition.
        firsts: (recordings,), the place of the first frame of each.
        lengths: (recordings,), in frames.
        margin: repetitions on either side.
        ends_seconds: (recordings,), where each ends; infinite where it ends with its last frame.
        timeline: the grid of the frames.

    Example:
        >>> seconds = Timeline(sample_rate=1, hop_samples=1)     # 1 s per frame, so the longest window is of 3 frames
        >>> tape = Tape.of([3, 2], [np.inf, np.inf], start=Decoding.fixed(["dog"]), timeline=seconds)
        >>> tape.source.tolist()
        [0, 0, 0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
        >>> tape.firsts.tolist(), tape.margin
        ([2, 9], 2)
    """

    source: NDArray[np.intp]
    is_between: NDArray[np.bool_]
    firsts: NDArray[np.intp]
    lengths: tuple[int, ...]
    margin: int
    ends_seconds: NDArray[np.float64]
    timeline: Timeline

    @classmethod
    def of(cls, lengths: Sequence[int], ends_seconds: Sequence[float], *, start: Decoding, timeline: Timeline) -> Tape:
        """Lay out recordings of so many frames.

        Example:
            >>> seconds = Timeline(sample_rate=1, hop_samples=1)
            >>> tape = Tape.of([1, 2], [1.0, 1.5], start=Decoding.fixed(["dog"]), timeline=seconds)
            >>> tape.is_between.astype(int).tolist()     # two repetitions on either side of both
            [1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1]
        """
        longest = max(LENGTHS_SECONDS)
        window = max(median_frames(max(longest, one.median_seconds), timeline=timeline) for one in start.settings)
        gap = max(timeline.frame(max(longest, one.max_gap_seconds)) for one in start.settings)
        margin = max(window, gap) // 2 + 1
        frames = [np.arange(-margin, n + margin) if n > 0 else np.arange(0) for n in lengths]
        starts = np.cumsum([0, *lengths])
        source = [first + np.clip(own, 0, n - 1) for own, n, first in zip(frames, lengths, starts[:-1], strict=True)]
        is_between = [(own < 0) | (own >= n) for own, n in zip(frames, lengths, strict=True)]
        firsts = np.cumsum([0, *(len(own) for own in frames)])[:-1] + margin
        return cls(
            np.concatenate(source),
            np.concatenate(is_between),
            firsts,
            tuple(lengths),
            margin,
            np.array(ends_seconds),
            timeline,
        )

    def found(
        self, padded: NDArray[np.float64], setting: ClassDecoding, truth: EventTable, *, class_index: int
    ) -> EventTable:
        """Decode the probabilities of one class, (places,), to a table of the recordings and classes of `truth`.

        Example:
            >>> seconds, zero = Timeline(sample_rate=1, hop_samples=1), np.array([0])
            >>> tape = Tape.of([1, 2], [1.0, 1.5], start=Decoding.fixed(["dog"]), timeline=seconds)
            >>> truth = EventTable(("a.wav", "b.wav"), ("dog",), zero, zero, np.array([0.0]), np.array([1.0]))
            >>> table = tape.found(np.array([0.1, 0.2, 0.9])[tape.source], ClassDecoding(), truth, class_index=0)
            >>> table.file_index, table.onset_seconds, table.offset_seconds     # the last frame of b.wav
            (array([1]), array([1.]), array([1.5]))
        """
        unused = self.margin - median_frames(setting.median_seconds, timeline=self.timeline) // 2
        places = slice(self.margin, len(padded) - self.margin)
        firsts, ends = event_frames(
            padded[unused : len(padded) - unused],
            settings=setting,
            timeline=self.timeline,
            is_between=self.is_between[places],
        )
        firsts, ends = firsts + self.margin, ends + self.margin
        recording = np.searchsorted(self.firsts, firsts, side="right") - 1
        onsets, offsets = (
            (place - self.firsts[recording]) * self.timeline.hop_samples / self.timeline.sample_rate
            for place in (firsts, ends)
        )
        return EventTable(
            truth.files,
            truth.classes,
            recording,
            np.full(len(recording), class_index),
            onsets,
            np.minimum(offsets, self.ends_seconds[recording]),
        )

    def is_inside(self, truth: EventTable) -> NDArray[np.bool_]:
        """Which frames lie in an event of the table: (frames of all recordings,).

        Example:
            >>> seconds, zero = Timeline(sample_rate=1, hop_samples=1), np.array([0])
            >>> tape = Tape.of([3, 2], [3.0, 2.0], start=Decoding.fixed(["dog"]), timeline=seconds)
            >>> truth = EventTable(("a.wav", "b.wav"), ("dog",), zero + 1, zero, np.array([1.0]), np.array([9.0]))
            >>> tape.is_inside(truth)     # from 1 s to the end of b.wav, which has 2 of the 5 frames
            array([False, False, False, False,  True])
        """
        is_inside = np.zeros(len(self.source), dtype=bool)
        for recording, onset, offset in zip(truth.file_index, truth.onset_seconds, truth.offset_seconds, strict=True):
            # A mark may reach beyond the recording, and must not reach into the next one.
            first, end = (min(self.timeline.frame(seconds), self.lengths[recording]) for seconds in (onset, offset))
            is_inside[self.firsts[recording] + first : self.firsts[recording] + end] = True
        return is_inside[~self.is_between]


def _reference_table(
    reference: Mapping[str, Sequence[Event]], frame_probs: Mapping[str, ArrayLike], classes: Sequence[str]
) -> EventTable:
    """The reference as a table, once it is sure that both speak of the same recordings."""
    table, _, left_out = event_tables(reference, {name: [] for name in frame_probs}, classes=classes)
    for name in left_out.ignored_files:
        raise ValueError(
            f"reference must name every recording of frame_probs, {name!r} is missing - a recording "
            "without events has an empty list"
        )
    missing = set(table.files) - {one_form(name) for name in frame_probs}
    if missing:
        raise ValueError(f"frame_probs must have every recording of the reference, {min(missing)!r} is missing")
    if len(table.files) == 0:
        raise ValueError("reference must name at least one recording, got none - is the held-out set empty?")
    return table


def _ends(durations_seconds: Mapping[str, float] | None, files: Sequence[str]) -> dict[str, float]:
    """Recording -> its length; empty when no lengths are given."""
    if durations_seconds is None:
        return {}
    ends = {one_form(name): seconds for name, seconds in durations_seconds.items()}
    missing = set(files) - set(ends)
    if missing:
        raise ValueError(f"durations_seconds must name every recording, {min(missing)!r} is missing")
    return ends
