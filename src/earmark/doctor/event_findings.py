"""Strong labels by themselves, and beside the tags of the same recordings."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earmark.checks import did_you_mean
from earmark.doctor.data_set import DataSet
from earmark.doctor.findings import Finding
from earmark.events import Event
from earmark.labels.weak import WeakClip, classes_of

# Of people who write down from when to when they listened; training takes the same.
_LISTENED_SECONDS = 0.05

# Label files round to milliseconds: what touches does not overlap.
_ROUNDING_SECONDS = 0.0015


@dataclass(frozen=True)
class ClassTimes:
    """How long the events of a class are, in seconds, and how much of the annotated sound they cover."""

    n_events: int
    median: float
    low: float
    high: float
    coverage: float


def event_findings(data: DataSet) -> list[Finding]:
    """Return what is wrong with strong labels, their times against the recordings left aside."""
    if data.events is None:
        return []
    classes = classes_of(data.clips)
    findings = []
    for name, events in data.events.items():
        findings += _of_one_file(name, events)
    return findings + _unknown_classes(data, classes) + _unknown_stretches(data, classes) + _against_tags(data, classes)


def class_times(data: DataSet) -> dict[str, ClassTimes]:
    """Return lengths and coverage of every class that has events; 5 % of the events are shorter than `low`."""
    if data.events is None:
        return {}
    durations: dict[str, list[float]] = defaultdict(list)
    covered: dict[str, float] = defaultdict(float)
    for events in data.events.values():
        of_class: dict[str, list[Event]] = defaultdict(list)
        for event in events:
            of_class[event.label].append(event)
        for label, in_file in of_class.items():
            durations[label] += [event.duration for event in in_file]
            covered[label] += _union_seconds(in_file)
    heard = data.heard
    annotated = sum(heard[name].seconds for name in data.events if name in heard)
    times = {}
    for label, seconds in sorted(durations.items()):
        low, median, high = (float(value) for value in np.quantile(seconds, (0.05, 0.5, 0.95)))
        times[label] = ClassTimes(len(seconds), median, low, high, covered[label] / annotated if annotated else 0.0)
    return times


def _union_seconds(events: Sequence[Event]) -> float:
    """How long at least one of the events goes on."""
    total, end = 0.0, 0.0
    for event in sorted(events, key=lambda event: event.onset):
        total += max(0.0, event.offset - max(event.onset, end))
        end = max(end, event.offset)
    return total


def _of_one_file(name: str, events: Sequence[Event]) -> list[Finding]:
    """Events without a length, twice, or over another one of their class."""
    findings = []
    longest: dict[str, Event] = {}  # of each class: the event that ends last so far
    for event in sorted(events, key=lambda event: (event.onset, event.offset)):
        if event.duration == 0:
            findings.append(
                Finding(
                    "event-zero-length",
                    event.where,
                    name,
                    f"{event.label!r} ends where it begins, at {event.onset:g} s",
                )
            )
            continue
        before = longest.get(event.label)
        if before is None or event.offset > before.offset:
            longest[event.label] = event
        if before is None or event.onset >= before.offset - _ROUNDING_SECONDS:
            continue
        if (event.onset, event.offset) == (before.onset, before.offset):
            findings.append(Finding("event-twice", event.where, name, f"the same event as in {before.where}"))
        else:
            found = (
                f"{event.label!r} from {event.onset:g} to {event.offset:g} s lies over that from {before.onset:g} to"
                f" {before.offset:g} s ({before.where})"
            )
            findings.append(Finding("event-overlap", event.where, name, found))
    return findings


def _unknown_classes(data: DataSet, classes: Sequence[str]) -> list[Finding]:
    """Classes that have events and no tags: one finding each, at the first event."""
    first: dict[str, tuple[str, str]] = {}
    counts: dict[str, int] = defaultdict(int)
    for name, events in ({} if data.events is None else data.events).items():
        for event in events:
            if event.label not in classes:
                first.setdefault(event.label, (event.where, name))
                counts[event.label] += 1
    return [
        Finding(
            "event-unknown-class",
            where,
            name,
            f"{counts[label]:,} event{'s' * (counts[label] != 1)} of {label!r}, which no clip is tagged with"
            f"{did_you_mean(label, classes)}",
        )
        for label, (where, name) in first.items()
    ]


def _unknown_stretches(data: DataSet, classes: Sequence[str]) -> list[Finding]:
    """Classes that were reviewed and that nothing has."""
    of_events = {event.label for events in ({} if data.events is None else data.events).values() for event in events}
    known = sorted({*classes, *of_events})
    return [
        Finding(
            "reviewed-unknown-class",
            row.where,
            row.filename,
            f"reviewed for {label!r}, which no clip and no event has{did_you_mean(label, known)}",
        )
        for row in (() if data.reviewed is None else data.reviewed)
        for label in sorted((frozenset() if row.classes is None else row.classes).difference(known))
    ]


def _against_tags(data: DataSet, classes: Sequence[str]) -> list[Finding]:
    """Events without the tag, and tags without an event."""
    clips: dict[str, list[WeakClip]] = defaultdict(list)
    for clip in data.clips:
        clips[clip.filename].append(clip)
    findings = []
    for name, events in ({} if data.events is None else data.events).items():
        told = set()
        for event in events:
            # Of several spans of a file, those that most of the event lies in.
            around = [clip for clip in clips[name] if 2 * _common_seconds(clip, event) > event.duration]
            lacks = [clip for clip in around if event.label not in clip.labels and _is_known(clip, event.label)]
            if lacks and event.label in classes and event.label not in told:
                told.add(event.label)
                found = f"an event of {event.label!r}, which its tags do not have ({lacks[0].where})"
                findings.append(Finding("event-without-tag", event.where, name, found))
        findings += _tags_without_events(data, clips[name], events)
    return findings


def _tags_without_events(data: DataSet, clips: Sequence[WeakClip], events: Sequence[Event]) -> list[Finding]:
    """Tags of one recording that none of its events shows, although all of them are marked."""
    return [
        Finding("tag-without-event", clip.where, clip.filename, f"tagged with {label!r}, but has no event of it")
        for clip in clips
        for label in sorted(clip.labels)
        if _is_complete(data, clip, label)
        and not any(event.label == label and (_holds_all(clip) or _common_seconds(clip, event)) for event in events)
    ]


def _holds_all(clip: WeakClip) -> bool:
    """Whether a clip is a whole file."""
    return clip.onset is None or clip.offset is None


def _common_seconds(clip: WeakClip, event: Event) -> float:
    """How much of an event lies in a clip."""
    begin, end = (0.0, math.inf) if clip.onset is None or clip.offset is None else (clip.onset, clip.offset)
    return max(0.0, min(end, event.offset) - max(begin, event.onset))


def _is_complete(data: DataSet, clip: WeakClip, label: str) -> bool:
    """Whether every event of a class in a clip is marked."""
    if data.reviewed is None:
        return True
    if clip.filename not in data.heard:
        return False
    reached, end = (0.0, data.heard[clip.filename].seconds) if _holds_all(clip) else (clip.onset, clip.offset)
    assert reached is not None
    assert end is not None
    rows = [
        row for row in data.reviewed if row.filename == clip.filename and (row.classes is None or label in row.classes)
    ]
    for row in sorted(rows, key=lambda row: 0.0 if row.onset is None else row.onset):
        if (0.0 if row.onset is None else row.onset) <= reached + _LISTENED_SECONDS:
            reached = max(reached, math.inf if row.offset is None else row.offset)
    return reached >= end - _LISTENED_SECONDS


def _is_known(clip: WeakClip, label: str) -> bool:
    """Whether somebody listened for a class."""
    return clip.known is None or label in clip.known
