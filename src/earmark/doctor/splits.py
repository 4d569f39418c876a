"""What stands on both sides of a split, and what no split can part."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

from earmark.doctor.classes import clips_per_class, is_a_label_per_clip
from earmark.doctor.data_set import DataSet
from earmark.doctor.findings import Finding
from earmark.labels.spelling import similar_classes


def split_findings(data: DataSet) -> list[Finding]:
    """Return what is wrong with splits and groups; copies of a sound are told with the sound."""
    found = [_cut_files(data), _cut_groups(data), _group_per_file(data), _group_per_class(data), _not_held_out(data)]
    found += [_odd_splits(data)]
    return [finding for part in found for finding in part]


def _odd_splits(data: DataSet) -> list[Finding]:
    """Splits that are probably one, and clips that are in none."""
    findings = []
    in_split = list(zip(data.clips, data.splits, strict=True)) if data.splits is not None else []
    named = [replace(clip, labels=frozenset({split})) for clip, split in in_split if split]
    for rare, meant in similar_classes(named):
        clip = next(clip for clip in named if rare in clip.labels)
        found = f"the split {rare!r} looks like {meant!r}"
        findings.append(Finding("split-similar", clip.where, clip.filename, found))
    found = "its split is empty, or its rows disagree about it"
    findings += [Finding("split-empty", clip.where, clip.filename, found) for clip, split in in_split if not split]
    return findings


def _cut_files(data: DataSet) -> list[Finding]:
    """Files with spans in two splits."""
    first: dict[str, tuple[str, str]] = {}
    findings = []
    for clip, split in zip(data.clips, data.splits, strict=True) if data.splits is not None else ():
        other, where = first.setdefault(clip.filename, (split, clip.where))
        if other != split:
            found = f"this span is in {split!r}, another one in {other!r} ({where})"
            findings.append(Finding("file-cut-by-split", clip.where, clip.filename, found))
    return findings


def _cut_groups(data: DataSet) -> list[Finding]:
    """Groups with clips in two splits: one finding each, at its first clip on the second side."""
    if data.splits is None or data.groups is None:
        return []
    splits: dict[str, Counter[str]] = {}
    second: dict[str, int] = {}
    for i, (group, split) in enumerate(zip(data.groups, data.splits, strict=True)):
        if group:
            sides = splits.setdefault(group, Counter())
            sides[split] += 1
            if len(sides) > 1:
                second.setdefault(group, i)
    findings = []
    for group, i in second.items():
        sides_said = ", ".join(f"{n:,} in {split!r}" for split, n in splits[group].items())
        clip = data.clips[i]
        found = f"the group {group!r} has clips in {len(splits[group])} splits: {sides_said}"
        findings.append(Finding("group-cut-by-split", clip.where, clip.filename, found))
    return findings


def _group_per_file(data: DataSet) -> list[Finding]:
    """Clips without a group, and files with spans in two groups."""
    findings = []
    first: dict[str, tuple[str, str]] = {}
    for clip, group in zip(data.clips, data.groups, strict=True) if data.groups is not None else ():
        if not group:
            findings.append(Finding("group-empty", clip.where, clip.filename, "its group is empty"))
            continue
        other, where = first.setdefault(clip.filename, (group, clip.where))
        if other != group:
            found = f"this span is in the group {group!r}, another one in {other!r} ({where})"
            findings.append(Finding("source-in-two-groups", clip.where, clip.filename, found))
    return findings


def _group_per_class(data: DataSet) -> list[Finding]:
    """Classes of three clips or more, all of them in one group."""
    if data.groups is None or len(set(data.groups)) < 2:
        return []
    groups: dict[str, set[str]] = {}
    first: dict[str, str] = {}
    for clip, group in zip(data.clips, data.groups, strict=True):
        for label in clip.labels:
            groups.setdefault(label, set()).add(group)
            first.setdefault(label, clip.where)
    counts = clips_per_class(data.clips)
    return [
        Finding("class-in-one-group", first[label], "", f"all {counts[label]:,} clips of {label!r} are in {group!r}")
        for label in sorted(groups)
        for group in sorted(groups[label])
        if len(groups[label]) == 1 and counts[label] > 2
    ]


def _not_held_out(data: DataSet) -> list[Finding]:
    """Data of which training can hold nothing out."""
    if data.splits is not None:
        found = f"every clip is in {data.splits[0]!r}" if len(set(data.splits)) == 1 else ""
    else:
        what = "recording" if data.groups is None else "group"
        clips = _clips_per_unit(data)
        totals = sum(clips.values(), Counter())
        found = ""
        if len(clips) == 1:
            found = f"all there is belongs to one {what}, {next(iter(clips))!r}"
        elif not is_a_label_per_clip(data) and all(
            any(n == totals[label] for label, n in of_unit.items()) for of_unit in clips.values()
        ):
            found = f"each {what} has the only clips of a class"
    return [Finding("nothing-to-hold-out", data.labels, "", found)] if data.clips and found else []


def _clips_per_unit(data: DataSet) -> dict[str, Counter[str]]:
    """How many clips of each class the recordings have, or the groups, which training holds out as a whole."""
    clips: dict[str, Counter[str]] = defaultdict(Counter)
    for i, clip in enumerate(data.clips):
        clips[clip.filename if data.groups is None else data.groups[i]].update(clip.labels)
    tagged = {clip.filename for clip in data.clips}
    for name, events in ({} if data.events is None else data.events).items():
        if name not in tagged:  # a clip whose tags are its events
            clips[name].update({event.label for event in events})
    return clips
