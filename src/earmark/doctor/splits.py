"""What stands on both sides of a split, and what no split can part."""

from __future__ import annotations

from collections import Counter

from earmark.doctor.classes import clips_per_class
from earmark.doctor.data_set import DataSet
from earmark.doctor.findings import Finding


def split_findings(data: DataSet) -> list[Finding]:
    """Return what is wrong with splits and groups; copies of a sound are told with the sound."""
    return [*_cut_files(data), *_cut_groups(data), *_group_per_file(data), *_group_per_class(data)]


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
