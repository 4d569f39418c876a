"""Tags, events, reviewed stretches and recordings without labels become one set of clips, with what is known of each.

Where a recording stands in the label file, its tags are believed, and its events say when. A recording that stands in
the strong labels alone gets its tags from its events. A class that only the strong labels have was not listened for
when the others were tagged, unless their row says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from earmark import checks
from earmark.config import Config
from earmark.events import Event
from earmark.labels.spelling import similar_classes
from earmark.labels.weak import WeakClip, classes_of, classes_to_learn, read_weak
from earmark.training.added_classes import in_words, joined_classes, only_what_labels_say
from earmark.training.clips import ClipSet, clip_set, with_unlabelled
from earmark.training.sources import Sources, Split
from earmark.training.strong_files import StrongFiles, counted, read_strong_files
from earmark.training.strong_labels import StrongLabels
from earmark.training.unlabelled import unlabelled_clips


@dataclass(frozen=True)
class Joined:
    """All clips of a run, and what is worth a remark about how their labels fit together."""

    clips: ClipSet
    remarks: tuple[str, ...]


def join(sources: Sources, config: Config, split: Split, *, model_classes: Sequence[str] = ()) -> Joined:
    r"""Return the clips of a run, with what is held out.

    Args:
        sources: labels.
        config: what is held out, and how alike classes may be named.
        split: how clips are held out.
        model_classes: those of the model the run continues from; the labels' own come behind them.

    Raises:
        ValueError: naming file and row, for labels that are wrong or contradict each other.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     labels = Path(folder, "weak.tsv")
        ...     _ = labels.write_text("filename\tevent_labels\tsplit\na.wav\tdog\ttrain\nb.wav\t\ttest\n")
        ...     clips = join(Sources(labels, Path(folder)), Config(), Split("split", "test")).clips
        >>> clips.classes, clips.held_out.tolist(), clips.kinds.tolist()
        (('dog',), [False, True], ['weak', 'weak'])
    """
    tagged = read_weak(sources.labels)
    strong = read_strong_files(sources)
    tag_classes = frozenset(classes_of(tagged))
    classes = tuple(sorted(tag_classes | strong.classes))
    if not classes or not tagged:
        classes = classes_to_learn(tagged, sources.labels)  # says what is wrong
    _refuse_unknown_classes(strong, (*classes, *model_classes))
    rows, labels, untimed = _tagged_rows(tagged, strong, tag_classes)
    in_table = {clip.filename for clip in tagged}
    for filename, of_file in strong.labels.items():
        if filename not in in_table:
            rows.append(_row_of_events(filename, of_file, classes, strong))
            labels.append(of_file)
    clips = clip_set(
        rows,
        classes
        if not model_classes
        else joined_classes(model_classes, classes, rows, allow_similar=config.training.allow_similar_classes),
        holdout_fraction=config.training.holdout_fraction,
        split_column=split.column,
        held_out_value=split.held_out_value,
        group_column=split.group_column,
        seed=config.training.seed,
    )
    if sources.strong is not None:
        clips = replace(clips, strong=tuple(labels))
    others, left_out = unlabelled_clips(sources, rows, config.training.unlabelled_seconds)
    alike = [
        f"the classes {first!r} and {second!r} look alike, and only the strong labels have one of them - are they one?"
        for first, second in similar_classes(rows)
        if not {first, second} <= tag_classes
    ]
    remarks = [*alike, *strong.remarks, *counted(untimed, "tags have no event though all events are marked"), *left_out]
    if model_classes:
        clips = only_what_labels_say(clips, classes)
        remarks.insert(0, in_words(model_classes, classes))
    method = config.training.method
    if method == "supervised" and others:
        raise ValueError(
            f"--unlabelled {sources.unlabelled}: training.method 'supervised' learns nothing from it - leave it out, or"
            " set the method to 'auto'"
        )
    if method == "mean_teacher" and not others:
        remarks.append(
            "training.method is 'mean_teacher', but nothing is unlabelled: it learns from labelled clips alone"
        )
    return Joined(with_unlabelled(clips, others) if others else clips, tuple(remarks))


def _tagged_rows(
    tagged: Sequence[WeakClip], strong: StrongFiles, tag_classes: frozenset[str]
) -> tuple[list[WeakClip], list[StrongLabels | None], list[str]]:
    """The clips of the label file with their moments, and the tags that no event explains."""
    rows: list[WeakClip] = []
    labels: list[StrongLabels | None] = []
    untimed: list[str] = []
    new_classes = strong.classes - tag_classes
    for clip in tagged:
        listened = tag_classes if clip.known is None else clip.known
        of_clip = strong.labels.get(clip.filename)
        if of_clip is not None and clip.onset is not None and clip.offset is not None:
            of_clip = of_clip.within(clip.onset, clip.offset)
        if of_clip is None:
            # Nobody listened for a class that only the strong labels have.
            rows.append(replace(clip, known=tag_classes) if new_classes and clip.known is None else clip)
            labels.append(None)
            continue
        _refuse_denied(clip, of_clip, listened, strong)
        heard = {event.label for event in of_clip.events}
        complete = {label for label in tag_classes | new_classes if of_clip.is_complete(label)}
        untimed += [f"{clip.where}: {label!r} in {clip.filename}" for label in sorted(clip.labels & complete - heard)]
        tags = clip.labels | (heard - listened)
        known = listened | heard | complete
        everything = known >= tag_classes | new_classes
        rows.append(replace(clip, labels=tags, known=None if everything else known))
        labels.append(of_clip)
    return rows, labels, untimed


def _refuse_denied(clip: WeakClip, of_clip: StrongLabels, listened: frozenset[str], strong: StrongFiles) -> None:
    """Raise ValueError when an event lies in a clip whose tags say that its class is not there."""
    for event in of_clip.events:
        if event.label in listened and event.label not in clip.labels:
            begin = 0.0 if clip.onset is None else clip.onset
            whole = _event_of_file(strong, clip.filename, event.label, begin + event.onset)
            if clip.onset is not None and event.duration < 0.5 * whole.duration:
                continue  # most of it lies outside the tagged span; who tagged it may not have heard this end of it
            raise ValueError(
                f"{clip.where}: says that {event.label!r} is not in {clip.filename}, but {whole.where} marks it from"
                f" {whole.onset:g} to {whole.offset:g} s"
                " - add the tag, or take the event away (known_classes says for which classes a clip was tagged)"
            )


def _event_of_file(strong: StrongFiles, filename: str, label: str, moment: float) -> Event:
    """The event of a file that lies at a moment."""
    return next(
        event
        for event in strong.labels[filename].events
        if event.label == label and event.onset <= moment + 1e-9 and moment <= event.offset + 1e-9
    )


def _row_of_events(filename: str, of_file: StrongLabels, classes: Sequence[str], strong: StrongFiles) -> WeakClip:
    """The clip of a recording that stands in the strong labels alone, with the tags that follow from its events."""
    heard = frozenset(event.label for event in of_file.events)
    known = heard | {label for label in classes if of_file.is_complete(label)}
    is_all = known >= set(classes)
    columns = strong.places.columns(filename)
    return WeakClip(filename, heard, None if is_all else known, None, None, columns, strong.place(filename))


def _refuse_unknown_classes(strong: StrongFiles, classes: Sequence[str]) -> None:
    """Raise ValueError for a reviewed class that no tag and no event has."""
    for row in strong.reviewed:
        for label in sorted((row.classes if row.classes is not None else frozenset()) - set(classes)):
            hint = checks.did_you_mean(label, classes)
            raise ValueError(
                f"{row.where}: says where {label!r} is complete, but no clip and no event has this class{hint}"
            )
