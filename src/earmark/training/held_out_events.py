"""Events in held-out clips whose strong labels are complete: how well they are found, and settings tuned on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from earmark.detection.decoding import decode
from earmark.detection.settings import Decoding
from earmark.detection.tuning import Tuned
from earmark.detection.tuning_events import tune_from_events
from earmark.events import Event
from earmark.metrics.encoding import event_tables
from earmark.metrics.event import count_events
from earmark.timeline import Timeline
from earmark.training.clips import ClipSet

# Fewer say more about themselves than about others: a class with fewer keeps what its tags tell.
_FEWEST_EVENTS = 10


@dataclass(frozen=True)
class HeldOutEvents:
    """What the network says about every frame of the clips that are wholly labelled, and what is there.

    Args:
        frame_probs: of each clip, (output frames, classes).
        reference: of each clip, all its events that have a length.
        timeline: of the output frames.

    Example:
        >>> seconds = Timeline(sample_rate=1, hop_samples=1)
        >>> found = HeldOutEvents({"a": np.array([[0.1], [0.9]])}, {"a": [Event(1, 2, "dog")]}, seconds)
        >>> event_f1(found, Decoding.fixed(["dog"]))
        {'dog': 1.0}
    """

    frame_probs: Mapping[str, NDArray[np.float64]]
    reference: Mapping[str, Sequence[Event]]
    timeline: Timeline

    def n_events(self, label: str) -> int:
        """Events of a class."""
        return sum(event.label == label for events in self.reference.values() for event in events)


def wholly_labelled(clips: ClipSet, indices: NDArray[np.intp]) -> list[int]:
    """Return those of the clips at `indices` of which every event is known, of every class that labels speak of.

    Classes that only the model has from which a run continues may be in them or not.

    Example:
        >>> from earmark.labels.weak import WeakClip
        >>> from earmark.training.clips import clip_set
        >>> from earmark.training.strong_labels import Complete, StrongLabels
        >>> rows = [WeakClip(name, frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for name in "ab"]
        >>> clips = clip_set(rows, ["dog"], holdout_fraction=0)
        >>> wholly_labelled(replace(clips, strong=(None, StrongLabels((), (Complete(),)))), np.array([0, 1]))
        [1]
    """
    if clips.strong is None:
        return []
    asked = [label for column, label in enumerate(clips.classes) if clips.known[:, column].any()]
    return [
        int(index)
        for index in indices
        if (labels := clips.strong[index]) is not None and all(labels.is_complete(label) for label in asked)
    ]


def event_f1(events: HeldOutEvents, decoding: Decoding) -> dict[str, float]:
    """Return the event-based F1 of every class that has an event, collars 200 ms and 20 % of the length."""
    found = {
        name: decode(probs, decoding=decoding, timeline=events.timeline) for name, probs in events.frame_probs.items()
    }
    reference, predicted, _ = event_tables(events.reference, found, classes=decoding.classes)
    counts = count_events(reference, predicted)
    return {
        label: float(counts.f1[column])
        for column, label in enumerate(decoding.classes)
        if counts.n_reference[column] > 0
    }


def tuned_on_events(events: HeldOutEvents, from_tags: Tuned) -> Tuned:
    """Return settings with everything tuned on events for the classes that have enough; the others keep theirs.

    Args:
        events: of the held-out clips.
        from_tags: thresholds chosen by tags, with which the search begins; those of clips stay.
    """
    by_events = tune_from_events(
        events.frame_probs, events.reference, start=from_tags.decoding, timeline=events.timeline
    ).decoding
    classes = from_tags.decoding.classes
    enough = {label for label in classes if events.n_events(label) >= _FEWEST_EVENTS}
    settings = tuple((by_events if label in enough else from_tags.decoding).of(label) for label in classes)
    untuned = tuple(label for label in from_tags.untuned if label not in enough)
    return replace(from_tags, decoding=Decoding("tuned", classes, settings), untuned=untuned)
