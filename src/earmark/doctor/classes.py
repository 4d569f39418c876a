"""What the tags say, and what they can hardly mean."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from earmark.audio.finding import AUDIO_SUFFIXES
from earmark.checks import did_you_mean
from earmark.doctor.class_names import name_findings
from earmark.doctor.data_set import DataSet
from earmark.doctor.findings import ERROR, NOTE, Finding, some
from earmark.labels.contradictions import contradictions
from earmark.labels.spelling import similar_classes
from earmark.labels.weak import WeakClip, classes_of, classes_to_learn

# One of them may be held out; nothing can be learned from the other, and nothing said about it.
_FEW_CLIPS, _RATHER_FEW_CLIPS = 2, 9
_IMBALANCE = 50
_FEWEST_CLIPS = 20  # from which on nearly as many labels as clips are none
_DECIMAL = re.compile(r"[-+]?\d+[.]\d+")


def class_findings(data: DataSet) -> list[Finding]:
    """Return what is wrong with the tags of a data set."""
    try:
        classes_to_learn(data.clips, data.labels)
    except ValueError as error:
        if data.clips and any(data.events.values() if data.events is not None else ()):
            return []  # the classes are those of the events
        return [Finding("no-labels", data.labels, "", str(error).removeprefix(f"{data.labels}: "))]
    if is_a_label_per_clip(data):
        return [_label_per_clip(data)]  # whatever else could be said of these classes follows from it
    similar = similar_classes(data.clips)
    return [
        *_wrong_column(data),
        *name_findings(data),
        *_similar(data, similar),
        *_counts(data, misspelt={rare for rare, _ in similar}),
        *_per_split(data),
        *_unknown_known(data),
        *_contradicting(data),
    ]


def clips_per_class(clips: tuple[WeakClip, ...]) -> Counter[str]:
    """Return how many clips each class has.

    Example:
        >>> clips_per_class((WeakClip("a.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2"),))
        Counter({'dog': 1})
    """
    return Counter(label for clip in clips for label in clip.labels)


def _first(data: DataSet, label: str) -> WeakClip:
    """The first clip with a class."""
    return next(clip for clip in data.clips if label in clip.labels)


def is_a_label_per_clip(data: DataSet) -> bool:
    """Return whether there are nearly as many labels as clips, as a column of numbers or names of clips would give."""
    return len(data.clips) >= _FEWEST_CLIPS and len(classes_of(data.clips)) > len(data.clips) / 2


def _label_per_clip(data: DataSet) -> Finding:
    """What to say then."""
    columns = ", ".join(repr(column) for column in data.clips[0].columns)
    hint = f"do the classes stand in one of {columns}?" if columns else "is it the right file?"
    labels = [repr(label) for label in classes_of(data.clips)]
    found = f"{len(labels):,} different labels for {len(data.clips):,} clips, {some(labels)} - {hint}"
    return Finding("labels-in-wrong-column", data.labels, "", found)


def _wrong_column(data: DataSet) -> list[Finding]:
    """Labels that are something else: file names, times, the cell of another column."""
    counts = clips_per_class(data.clips)
    findings = []
    for clip in data.clips:
        for label in sorted(clip.labels):
            if PurePosixPath(label).suffix.casefold() in AUDIO_SUFFIXES:
                findings.append(_in_wrong_column(clip, f"the label {label!r} is the name of a recording"))
            elif _DECIMAL.fullmatch(label):
                findings.append(_in_wrong_column(clip, f"the label {label!r} is a number, a time perhaps"))
    return findings + _swapped_cells(data, counts)


def _swapped_cells(data: DataSet, counts: Counter[str]) -> list[Finding]:
    """Rows that have a class in another column, and in place of the class what that column has in other rows."""
    usual: dict[str, Counter[str]] = {}
    for clip in data.clips:
        for column, value in clip.columns.items():
            usual.setdefault(column, Counter())[value] += 1
    findings = []
    for clip in data.clips:
        for column, value in clip.columns.items():
            if len(clip.labels) != 1 or value in clip.labels or counts[value] < 3:
                continue
            (label,) = clip.labels
            if usual[column][label] >= 3 and counts[label] < usual[column][label]:
                findings.append(
                    _in_wrong_column(clip, f"the label is {label!r}, and the column {column!r} has the class {value!r}")
                )
    return findings


def _in_wrong_column(clip: WeakClip, found: str) -> Finding:
    """A finding about one row."""
    return Finding("labels-in-wrong-column", clip.where, clip.filename, found)


def _similar(data: DataSet, similar: Sequence[tuple[str, str]]) -> list[Finding]:
    """Classes that are probably one."""
    counts = clips_per_class(data.clips)
    return [
        Finding(
            "class-similar",
            clip.where,
            clip.filename,
            f"the class {rare!r} ({_clips(counts[rare])}) looks like {meant!r} ({_clips(counts[meant])})",
        )
        for rare, meant in similar
        for clip in data.clips
        if rare in clip.labels
    ]


def _counts(data: DataSet, *, misspelt: set[str]) -> list[Finding]:
    """Classes with hardly a clip, with every clip, and with far more than another."""
    counts = clips_per_class(data.clips)
    findings = []
    for label in classes_of(data.clips):
        first = _first(data, label)
        if counts[label] <= _RATHER_FEW_CLIPS and label not in misspelt:
            severity = "" if counts[label] <= _FEW_CLIPS else NOTE
            found = f"the class {label!r} has {_clips(counts[label])}, from here on"
            findings.append(Finding("class-few-clips", first.where, "", found, severity))
        if all(label in clip.labels or (clip.known is not None and label not in clip.known) for clip in data.clips):
            found = f"every clip has the class {label!r}, or nobody listened for it there"
            findings.append(Finding("class-in-every-clip", first.where, "", found))
    frequent = [(label, n) for label, n in counts.most_common() if label not in misspelt]
    (most, n_most), (least, n_least) = frequent[0], frequent[-1]
    if n_most >= _IMBALANCE * n_least:
        found = f"{most!r} has {_clips(n_most)}, {least!r} has {_clips(n_least)}"
        findings.append(Finding("class-imbalance", data.labels, "", found))
    return findings


def _per_split(data: DataSet) -> list[Finding]:
    """Classes that one of the splits does not have."""
    if data.splits is None:
        return []
    clips = list(zip(data.clips, data.splits, strict=True))
    findings = []
    splits = {
        split: frozenset().union(*(clip.labels for clip, side in clips if side == split)) for split in set(data.splits)
    }
    learned = Counter(data.splits).most_common(1)[0][0]  # the largest; of the others one is held out
    for split, there in sorted(splits.items()):
        missing = [label for label in classes_of(data.clips) if label not in there]
        only = [label for label in missing if sum(label in labels for labels in splits.values()) == 1]
        if split == learned and only:
            found = (
                f"no clip in {split!r} has {some([repr(label) for label in only], 5)}, which one of the smaller splits"
                " has: training stops when that one is held out"
            )
            findings.append(Finding("class-not-in-split", data.labels, "", found, ERROR))
            missing = [label for label in missing if label not in only]
        if missing and there:
            found = f"no clip in {split!r} has {some([repr(label) for label in missing], 5)}"
            findings.append(Finding("class-not-in-split", data.labels, "", found))
    return findings


def _unknown_known(data: DataSet) -> list[Finding]:
    """Classes that were listened for and that nothing has, where another one is probably meant."""
    of_events = {event.label for events in ({} if data.events is None else data.events).values() for event in events}
    classes = sorted({*classes_of(data.clips), *of_events})
    return [
        Finding(
            "known-unknown-class", clip.where, clip.filename, f"known_classes names {label!r}, no clip has it{hint}"
        )
        for clip in data.clips
        for label in sorted((frozenset() if clip.known is None else clip.known).difference(classes))
        if (hint := did_you_mean(label, classes))
    ]


def _contradicting(data: DataSet) -> list[Finding]:
    """Spans that have what the span around them has not."""
    return [
        Finding(
            "tags-contradict",
            inner.where,
            inner.filename,
            f"{label!r} is in this part, but not in the span around it ({outer.where})",
        )
        for inner, outer, label in contradictions(data.clips)
    ]


def _clips(number: int) -> str:
    """The number of clips."""
    return f"{number:,} clip{'s' * (number != 1)}"
