"""Names of classes that can hardly be names: numbers, splits, words for nothing, two classes in one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from earmark.doctor.data_set import DataSet
from earmark.doctor.findings import WARNING, Finding, some
from earmark.labels.weak import classes_of

_NUMBER = re.compile(r"[-+]?\d+([.]\d*)?")
# "train" alone may be one.
_SPLITS = frozenset("train training dev val valid validation test testing eval evaluation".split())
# What programs write into empty cells.
_NOTHING = frozenset({"nan", "none", "null", "nil", "na", "n/a", "<na>", "-", "?"})
# How people write two labels in one cell, beside commas (and ; and |, which are refused).
_BETWEEN = re.compile(r"\s*[/+&]\s*|\s+and\s+")


def name_findings(data: DataSet) -> list[Finding]:
    """Return what is wrong with the names of the classes by themselves."""
    classes = classes_of(data.clips)
    return [*_of_another_column(data, classes), *_nothing(data, classes), *_put_together(data, classes)]


def _of_another_column(data: DataSet, classes: Sequence[str]) -> list[Finding]:
    """All classes are numbers, or all are splits: one finding."""
    what = ""
    if all(_NUMBER.fullmatch(label) for label in classes):
        what = "are numbers: write names instead of codes, and the class or nothing instead of 1 and 0"
    elif len(classes) > 1 and all(label.casefold() in _SPLITS for label in classes):
        what = "are names of splits"
    if not what:
        return []
    columns = list(data.clips[0].columns)
    hint = f" - do the classes stand in one of {', '.join(map(repr, columns))}?" if columns else ""
    found = f"all classes ({some([repr(label) for label in classes])}) {what}{hint}"
    return [Finding("labels-in-wrong-column", data.labels, "", found, WARNING)]


def _nothing(data: DataSet, classes: Sequence[str]) -> list[Finding]:
    """Classes that a program wrote for an empty cell."""
    return [
        _at_first(data, "class-means-nothing", label, f"the class {label!r} looks like an empty cell")
        for label in classes
        if label.casefold() in _NOTHING
    ]


def _put_together(data: DataSet, classes: Sequence[str]) -> list[Finding]:
    """Classes whose names are those of several others."""
    findings = []
    for label in classes:
        parts = _BETWEEN.split(label)
        if len(parts) > 1 and all(part in classes for part in parts):
            found = f"the class {label!r} is made of {' and '.join(map(repr, parts))}, which are classes as well"
            findings.append(_at_first(data, "class-put-together", label, found))
    return findings


def _at_first(data: DataSet, code: str, label: str, found: str) -> Finding:
    """A finding about a class, at its first clip."""
    clip = next(clip for clip in data.clips if label in clip.labels)
    n_clips = sum(label in clip.labels for clip in data.clips)
    return Finding(code, clip.where, "", f"{found} ({n_clips:,} clip{'s' * (n_clips != 1)})")
