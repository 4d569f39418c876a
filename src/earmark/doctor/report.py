"""An examination as text for people and as JSON for programs."""

from __future__ import annotations

import shlex
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from earmark.config import Config
from earmark.doctor.classes import clips_per_class
from earmark.doctor.data_set import DataSet
from earmark.doctor.event_findings import ClassTimes, class_times
from earmark.doctor.examination import Examination
from earmark.doctor.findings import ERROR, KINDS, NOTE, SEVERITIES, WARNING, Finding, some
from earmark.labels.weak import classes_of

_SHOWN = 5  # of the findings of one kind; and --json has them all
_SHOWN_CLASSES = 60
_ENOUGH_TO_COMPARE, _FAR_MORE_OFTEN = 10, 2.0


def as_text(examination: Examination, *, next_command: str) -> str:
    """Return the page: what there is, what is wrong with it, what to do.

    Args:
        examination: what was found.
        next_command: what to type when the data are well.
    """
    parts = [
        _overview(examination.data),
        _class_table(examination),
        *_kinds(examination.data, examination.findings),
    ]
    return "\n\n".join([part for part in parts if part] + [_last_words(examination, next_command)]) + "\n"


def as_json(examination: Examination) -> dict[str, Any]:
    """Return everything, for `json.dumps`."""
    data, counts = examination.data, Counter(finding.severity for finding in examination.findings)
    heard = list(data.heard.values())
    return {
        "healthy": examination.is_healthy,
        "errors": counts[ERROR],
        "warnings": counts[WARNING],
        "notes": counts[NOTE],
        "findings": [
            {
                "code": finding.code,
                "severity": finding.severity,
                "where": finding.where,
                "file": finding.file,
                "found": finding.found,
                "advice": finding.advice,
            }
            for finding in examination.findings
        ],
        "clips": len(data.clips),
        "recordings": len(heard),
        "seconds": sum(sound.seconds for sound in heard),
        "sample_rates": _counted(sound.sample_rate for sound in heard),
        "channels": _counted(sound.n_channels for sound in heard),
        "splits": {} if data.splits is None else _counted(data.splits),
        "groups": None if data.groups is None else len(set(data.groups)),
        "classes": _classes_json(examination),
    }


def _classes_json(examination: Examination) -> dict[str, dict[str, Any]]:
    """Per class: clips, clips per split, and what its events are like."""
    data, times = examination.data, _times(examination)
    counts, per_split = clips_per_class(data.clips), _per_split(data)
    classes: dict[str, dict[str, Any]] = {}
    for label in sorted({*counts, *times}):
        entry: dict[str, Any] = {"clips": counts[label]}
        if per_split:
            entry["clips_per_split"] = {split: of_split[label] for split, of_split in per_split.items()}
        if label in times:
            found = times[label]
            entry |= {
                "events": found.n_events,
                "median_seconds": found.median,
                "p5_seconds": found.low,
                "p95_seconds": found.high,
                "coverage": found.coverage,
            }
        classes[label] = entry
    return classes


def _times(examination: Examination) -> dict[str, ClassTimes]:
    """How long the events of each class are; nothing when their times are in another unit."""
    strong = examination.data.strong
    is_unsure = any(f.code == "times-in-other-unit" and f.where.startswith(f"{strong}:") for f in examination.findings)
    return {} if is_unsure else class_times(examination.data)


def _overview(data: DataSet) -> str:
    """What there is, in a few lines."""
    heard = list(data.heard.values())
    n_clips, n_classes = len(data.clips), len(classes_of(data.clips))
    lines = [
        f"labels        {data.labels}: {n_clips:,} clip{'s' * (n_clips != 1)}, {n_classes:,}"
        f" class{'es' * (n_classes != 1)}"
    ]
    n_empty = sum(not clip.labels for clip in data.clips)
    if n_empty:
        lines[0] += f", {n_empty:,} clip{'s' * (n_empty != 1)} with none of them"
    if data.events is not None:
        n_events = sum(map(len, data.events.values()))
        lines.append(f"events        {data.strong}: {n_events:,} in {len(data.events):,} recordings")
    if not heard:
        return "\n".join([*lines, f"audio         {data.audio.as_posix()}: nothing in it could be heard"])
    seconds = np.array([sound.seconds for sound in heard])
    lines.append(f"audio         {data.audio.as_posix()}: {len(heard):,} recordings, {_hours(float(seconds.sum()))}")
    low, median, high = np.quantile(seconds, (0.05, 0.5, 0.95))
    same = f"{median:.2f} s each" if seconds.max() - seconds.min() < 0.01 else ""
    lines.append(f"length        {same if same else f'{median:.2f} s, 90 % from {low:.2f} to {high:.2f} s'}")
    rates = _listed(_counted(sound.sample_rate for sound in heard), "Hz")
    channels = _listed(_counted(sound.n_channels for sound in heard), "channels").replace("1 channels", "mono")
    lines.append(f"sound         {rates}; {channels}")
    if data.splits is not None:
        lines.append(f"splits        {_listed(_counted(data.splits), '')}")
    if data.groups is not None:
        lines.append(
            f"groups        {len(set(data.groups)):,}, the largest of {max(Counter(data.groups).values()):,} clips"
        )
    return "\n".join(lines)


def _class_table(examination: Examination) -> str:
    """Clips per class and split, and the lengths of the events; columns as wide as they have to be."""
    data, times = examination.data, _times(examination)
    counts, per_split = clips_per_class(data.clips), _per_split(data)
    rows = [["class", "clips", *(split if split else "(none)" for split in per_split)]]
    rows[0] += ["events", "median s", "5-95 % s", "coverage"] if times else []
    labels = sorted({*counts, *times})
    for label in labels[:_SHOWN_CLASSES]:
        row = [label, f"{counts[label]:,}", *(f"{of_split[label]:,}" for of_split in per_split.values())]
        rows.append(row + (_times_cells(times.get(label)) if times else []))
    if len(labels) == 0:
        return ""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
    more = (
        [f"and {len(labels) - _SHOWN_CLASSES} more classes: --json lists all"] if len(labels) > _SHOWN_CLASSES else []
    )
    return "\n".join([*lines, *more])


def _times_cells(found: ClassTimes | None) -> list[str]:
    """The events of a class, as cells."""
    if found is None:
        return ["0", "-", "-", "-"]
    lengths = f"{found.low:.2f}-{found.high:.2f}"
    return [f"{found.n_events:,}", f"{found.median:.2f}", lengths, f"{100 * found.coverage:.1f} %"]


def _kinds(data: DataSet, findings: Sequence[Finding]) -> list[str]:
    """One block per kind of finding, in the order the findings have."""
    blocks: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        blocks.setdefault((finding.severity, finding.code), []).append(finding)
    texts = []
    for (severity, code), found in blocks.items():
        number = f" ({len(found):,})" if len(found) > 1 else ""
        lines = [f"{severity}  {code}{number}"]
        # The one that is too many takes no more room than the line that says so.
        shown = found if len(found) <= _SHOWN + 1 else found[:_SHOWN]
        for finding in shown:
            # On disk an accented letter may be two characters; the name has one.
            is_named = not finding.file or unicodedata.normalize("NFC", finding.where).endswith(finding.file)
            name = "" if is_named else f"{finding.file}: "
            lines.append(f"  {finding.where}: {name}{finding.found.splitlines()[0]}")
        if len(shown) < len(found):
            lines.append(f"  and {len(found) - len(shown):,} more: --json lists all")
        lines += _of_which_classes(data, found)
        texts.append("\n".join([*lines, f"  -> {KINDS[code].advice}"]))
    return texts


def _of_which_classes(data: DataSet, findings: Sequence[Finding]) -> list[str]:
    """The classes most of whose clips have the same thing wrong: a network could learn it in place of the class."""
    files = {finding.file for finding in findings}
    if len(files) < _ENOUGH_TO_COMPARE or not findings[0].code.startswith("audio-"):
        return []
    having = clips_per_class(tuple(clip for clip in data.clips if clip.filename in files))
    counts = clips_per_class(data.clips)
    share_of_all = sum(having.values()) / max(1, sum(counts.values()))
    shares = sorted(((n / counts[label], label) for label, n in having.items() if n >= 5), reverse=True)
    often = [
        f"{label} ({having[label]:,} of {counts[label]:,})"
        for share, label in shares
        if share > _FAR_MORE_OFTEN * share_of_all
    ]
    return [f"  most often in {some(often)}"] if often else []


def _last_words(examination: Examination, train: str) -> str:
    """How it stands, and what to do next."""
    counts = Counter(finding.severity for finding in examination.findings)
    total = ", ".join(f"{counts[severity]:,} {severity}{'s' * (counts[severity] != 1)}" for severity in SEVERITIES)
    if counts[ERROR]:
        return f"{total}."
    if counts[WARNING]:
        return f"{total}; none of them stops training.\nnext: {train}"
    data, config = examination.data, Config()
    kept = f"keep about {100 * config.training.holdout_fraction:g} % of them for its figures"
    if data.splits is not None:
        kept = "keep those of one split for its figures"
    lines = [
        f"nothing is wrong with these data{f' ({total})' if examination.findings else ''}.",
        f"training will hear them as mono at {config.features.sample_rate} Hz, learn"
        f" {len(classes_of(data.clips)):,} classes from {len(data.clips):,} clips, and {kept}.",
    ]
    columns = sorted(data.clips[0].columns) if data.splits is None and data.groups is None else []
    if columns:
        lines.append(
            f"there are also the columns {', '.join(columns)}: if one says what belongs together (patient, site,"
            " recorder) or what is for testing, name it with --group or --split, here and in training."
        )
    return "\n".join([*lines, f"next: {train}"])


def _per_split(data: DataSet) -> dict[str, Counter[str]]:
    """Clips per class in each split; empty without splits."""
    if data.splits is None:
        return {}
    clips = list(zip(data.clips, data.splits, strict=True))
    return {
        split: clips_per_class(tuple(clip for clip, side in clips if side == split))
        for split in sorted(set(data.splits))
    }


def _counted(values: Any) -> dict[str, int]:
    """How often each value comes, most frequent first."""
    return {str(value): n for value, n in Counter(values).most_common()}


def _listed(counts: Mapping[str, int], unit: str) -> str:
    """``16000 Hz: 490, 8000 Hz: 10``; a single one without its number."""
    if len(counts) == 1:
        return f"{next(iter(counts))} {unit}".strip()
    return ", ".join(f"{value} {unit}".strip() + f": {n:,}" for value, n in counts.items())


def _hours(seconds: float) -> str:
    """A length as a person says it."""
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.2f} h"


def training_command(data: DataSet, *, group: str | None, split: str | None, reviewed: str | None = None) -> str:
    """Return what to type next.

    Args:
        data: what was examined.
        group: the column that says what belongs together, if one was named.
        split: the column that says which split a clip is in, if one was named; the smallest one is held out.
        reviewed: the table that says where strong labels are complete, if one was named.
    """
    words = ["earmark", "train", data.labels, "--audio", data.audio.as_posix()]
    words += ["--strong", data.strong] if data.strong else []
    words += [] if reviewed is None else ["--reviewed", reviewed]
    if group is not None and all(group in clip.columns for clip in data.clips):
        words += ["--group", group]
    if split is not None and data.splits is not None:
        words += ["--split", split, "--held-out", Counter(data.splits).most_common()[-1][0]]
    return " ".join(shlex.quote(word) for word in [*words, "--out", "run"])
