"""One evaluation: events against events at three levels, and everything one must know to read the figures."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from earmark.checks import choice
from earmark.events import Event
from earmark.metrics.accuracies import SegmentCounts
from earmark.metrics.by_file import (
    CountsByFile,
    clip_counts_by_file,
    event_counts_by_file,
    segment_counts_by_file,
)
from earmark.metrics.clip import count_clips, tags_from_events
from earmark.metrics.collars import DCASE_COLLARS, Collars
from earmark.metrics.counts import COMPATIBLE, Counts
from earmark.metrics.encoding import LeftOut, encode_events, encode_tags
from earmark.metrics.event import count_events
from earmark.metrics.event_table import EventTable, TagTable, one_form
from earmark.metrics.inputs import AnyEvents, AnyTags, events_by_file, tags_by_file
from earmark.metrics.repeats import Repeats, count_repeats
from earmark.metrics.segment import count_segments


@dataclass(frozen=True)
class Evaluation:
    """The figures of one evaluation and how they came about.

    Args:
        event: event-based counts.
        segment: segment-based counts.
        clip: clip-level counts.
        collars: what made two events the same.
        zero_length: ``"drop"`` or ``"keep"``: what became of events that end where they begin.
        n_files: files of the reference.
        n_clips: clips of the reference tags.
        left_out: events that do not count.
        left_out_tags: tags that do not count.
        repeats: among the events that count, those that come twice or overlap: of the reference, of the predictions.
        has_reference_tags: whether they were given; otherwise they are derived from the events that count.
        has_predicted_tags: the same of the predictions.
        has_durations: whether they were given; otherwise a file ends with its last event.
        last_offsets_seconds: where the last event ends in all of the reference, and in all predictions that count; 0
            where there is none.
        near_miss: an ignored predicted file, and the reference file without predictions from which its name differs
            in case or extension alone; None when there is none.
        near_miss_tags: the same of the tags.
        events: the tables that were counted, reference and predictions.
        tags: the same of the tags.
        durations: file name -> its length in seconds, where given.
    """

    event: Counts
    segment: SegmentCounts
    clip: Counts
    collars: Collars
    zero_length: str
    n_files: int
    n_clips: int
    left_out: LeftOut
    left_out_tags: LeftOut
    repeats: tuple[Repeats, Repeats]
    has_reference_tags: bool
    has_predicted_tags: bool
    has_durations: bool
    last_offsets_seconds: tuple[float, float]
    near_miss: tuple[str, str] | None
    near_miss_tags: tuple[str, str] | None
    events: tuple[EventTable, EventTable]
    tags: tuple[TagTable, TagTable]
    durations: Mapping[str, float] | None

    @property
    def by_file(self) -> tuple[CountsByFile, CountsByFile, CountsByFile]:
        """Event, segment and clip counts of every file: what intervals are made of."""
        return (
            event_counts_by_file(*self.events, collars=self.collars, compatible=self.compatible),
            segment_counts_by_file(
                *self.events,
                segment_seconds=self.segment.segment_seconds,
                durations=self.durations,
                compatible=self.compatible,
            ),
            clip_counts_by_file(*self.tags, compatible=self.compatible),
        )

    @property
    def levels(self) -> tuple[Counts, Counts, Counts]:
        """Event, segment and clip."""
        return self.event, self.segment, self.clip

    @property
    def compatible(self) -> str | None:
        """The tool whose own figures these are; None for our policy."""
        return self.event.compatible


def evaluate(
    reference: AnyEvents,
    predicted: AnyEvents,
    *,
    reference_tags: AnyTags | None = None,
    predicted_tags: AnyTags | None = None,
    durations: Mapping[str, float] | None = None,
    classes: Sequence[str] | None = None,
    collars: Collars = DCASE_COLLARS,
    segment_seconds: float = 1.0,
    zero_length: str | None = None,
    compatible: str | None = None,
) -> Evaluation:
    """Compare predicted events with reference events, event by event, segment by segment and clip by clip.

    Args:
        reference: file name -> its events; a file without events has an empty list. Or the path of a table, columns or
            a data frame: see `events_by_file`.
        predicted: file name -> its events; files that the reference does not have are ignored and reported.
        reference_tags: file name -> the classes in it, or in another form: see `tags_by_file`; None derives them from
            the reference events that count.
        predicted_tags: file name -> the classes found in it; None derives them from the predicted events that count.
        durations: file name -> its length in seconds; None: a file ends with its last event.
        classes: the classes in the wanted order; None takes all that occur, sorted.
        collars: what makes two events the same.
        segment_seconds: length of a segment.
        zero_length: ``"drop"`` or ``"keep"``; None is ``"drop"``, and ``"keep"`` when compatible with sed_eval.
        compatible: ``"sed_eval"`` gives that tool's own figures, without a tolerance of the collars.

    Raises:
        ValueError: no reference file, no predicted file among the reference files, a label not in `classes`, impossible
            times, or an unknown option.

    Example:
        >>> result = evaluate({"a.wav": [Event(1.0, 2.0, "dog")]}, {"a.wav": [Event(1.1, 2.9, "dog")]})
        >>> result.event.macro.f1, result.segment.macro.recall, result.clip.macro.f1
        (0.0, 1.0, 1.0)
    """
    if compatible is not None:
        choice("compatible", compatible, COMPATIBLE)
        collars = replace(collars, tolerance_seconds=0.0)
    if zero_length is None:
        zero_length = "drop" if compatible is None else "keep"
    reference, predicted = events_by_file("reference", reference), events_by_file("predicted", predicted)
    if reference_tags is not None:
        reference_tags = tags_by_file("reference_tags", reference_tags)
    if predicted_tags is not None:
        predicted_tags = tags_by_file("predicted_tags", predicted_tags)
    if classes is None:
        classes = all_labels([reference, predicted], [reference_tags, predicted_tags])
    true_events, found_events, left_out = encode_events(reference, predicted, classes=classes, zero_length=zero_length)
    _check_shared_files(reference, predicted.keys(), left_out, "predicted")
    if reference_tags is None and predicted_tags is None:
        n_ignored = sum(
            map(len, _tags({name: predicted[name] for name in left_out.ignored_files}, zero_length).values())
        )
        tags = (
            true_events.tags(),
            found_events.tags(),
            LeftOut(left_out.ignored_files, n_ignored, left_out.n_unpredicted_files),
        )
    else:
        tags = encode_tags(
            _tags(reference, zero_length) if reference_tags is None else reference_tags,
            _tags(predicted, zero_length) if predicted_tags is None else predicted_tags,
            classes=classes,
        )
    tagged = (reference if reference_tags is None else reference_tags).keys()
    tagged_predicted = (predicted if predicted_tags is None else predicted_tags).keys()
    _check_shared_files(tagged, tagged_predicted, tags[2], "predicted" if predicted_tags is None else "predicted_tags")
    return Evaluation(
        event=count_events(true_events, found_events, collars=collars, compatible=compatible),
        segment=count_segments(
            true_events, found_events, segment_seconds=segment_seconds, durations=durations, compatible=compatible
        ),
        clip=count_clips(tags[0], tags[1], compatible=compatible),
        collars=collars,
        zero_length=zero_length,
        n_files=len(true_events.files),
        n_clips=len(tags[0].files),
        left_out=left_out,
        left_out_tags=tags[2],
        repeats=(count_repeats(true_events), count_repeats(found_events)),
        has_reference_tags=reference_tags is not None,
        has_predicted_tags=predicted_tags is not None,
        has_durations=durations is not None,
        last_offsets_seconds=(
            float(true_events.offset_seconds.max(initial=0)),
            float(found_events.offset_seconds.max(initial=0)),
        ),
        near_miss=_near_miss(left_out.ignored_files, reference, predicted),
        near_miss_tags=_near_miss(tags[2].ignored_files, tagged, tagged_predicted),
        events=(true_events, found_events),
        tags=(tags[0], tags[1]),
        durations=durations,
    )


def all_labels(
    events: Sequence[Mapping[str, Sequence[Event]]], tags: Sequence[Mapping[str, AbstractSet[str]] | None]
) -> list[str]:
    """Return every class that is named anywhere, so that all levels and all systems speak of the same ones.

    Example:
        >>> all_labels([{"a.wav": [Event(0.0, 1.0, "dog")]}], [None, {"a.wav": {"cat"}}])
        ['cat', 'dog']
    """
    labels = {event.label for side in events for found in side.values() for event in found}
    for by_file in tags:
        if by_file is not None:
            labels.update(*by_file.values())
    return sorted({one_form(label) for label in labels})


def _tags(events: Mapping[str, Sequence[Event]], zero_length: str) -> dict[str, frozenset[str]]:
    """Tags from the events that count."""
    if zero_length == "keep":
        return tags_from_events(events)
    return tags_from_events(
        {
            name: [event for event in found if round(event.onset * 1e9) < round(event.offset * 1e9)]
            for name, found in events.items()
        }
    )


def _near_miss(ignored: Sequence[str], reference: Iterable[str], predicted: Iterable[str]) -> tuple[str, str] | None:
    """The first ignored file that the reference has in another case or with another extension, and its name there.

    A reference file that has predictions of its own is not meant by another name.
    """
    if not ignored:
        return None
    found = {one_form(name) for name in predicted}
    missed = {_without_extension(name): name for name in reference if one_form(name) not in found}
    meant = ((name, missed.get(_without_extension(name))) for name in ignored)
    return next(((name, there) for name, there in meant if there is not None), None)


def _without_extension(name: str) -> str:
    """The name in small letters without .wav or the like; an extension begins with a letter, "take 1.5" has none."""
    return re.sub(r"\.[a-z][a-z0-9]*$", "", one_form(name).casefold())


def _check_shared_files(reference: Iterable[str], predicted: Collection[str], left_out: LeftOut, name: str) -> None:
    """Raise ValueError when there is nothing to compare."""
    first = next(iter(reference), None)
    if first is None:
        raise ValueError("reference must have at least one file, got none - is the table empty?")
    if predicted and len(left_out.ignored_files) == len(predicted):
        raise ValueError(
            f"{name} must have files of the reference, got {len(predicted)} others, such as "
            f"{left_out.ignored_files[0]!r}; the reference has {first!r} - another folder or extension?"
        )
