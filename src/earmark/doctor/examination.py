"""The whole examination: read the labels, find the recordings, hear each of them once, compare."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from earmark.audio import find_audio
from earmark.checks import did_you_mean
from earmark.doctor.classes import class_findings
from earmark.doctor.data_set import DataSet
from earmark.doctor.event_findings import event_findings
from earmark.doctor.findings import KINDS, NOTE, SEVERITIES, Finding
from earmark.doctor.listening import listen_to_all
from earmark.doctor.naming import find_recordings
from earmark.doctor.sound_findings import sound_findings
from earmark.doctor.splits import split_findings
from earmark.doctor.tables import read_clips, read_events, read_mended, read_stretches
from earmark.doctor.times import time_findings
from earmark.events import Event
from earmark.labels import read_groups
from earmark.labels.reviewed import Reviewed
from earmark.labels.weak import WeakClip


@dataclass(frozen=True)
class Examination:
    """What was examined, and what was found: the worst first, then in the order of the rows."""

    data: DataSet
    findings: tuple[Finding, ...]

    @property
    def is_healthy(self) -> bool:
        """Whether there is nothing to do."""
        return all(finding.severity == NOTE for finding in self.findings)


def examine(
    labels: Path | str,
    *,
    audio: Path | str,
    strong: Path | str | None = None,
    reviewed: Path | str | None = None,
    split: str | None = None,
    group: str | None = None,
    workers: int = 1,
    on_file: Callable[[int, int], None] = lambda done, total: None,
) -> Examination:
    r"""Return what is wrong with a data set.

    Args:
        labels: weak labels, as `read_weak` takes them.
        audio: the folder of the recordings.
        strong: strong labels, as `read_strong` takes them.
        reviewed: where they are complete, as `read_reviewed` takes it; None means that their files are.
        split: the column of the weak labels that says which split a clip is in.
        group: a column of the weak labels, or a table for `read_groups`: what belongs together.
        workers: threads.
        on_file: told (recordings heard, recordings in all) after each.

    Raises:
        ValueError: the labels cannot be read at all, a column is not there, or there is no audio.

    Example:
        >>> import numpy, soundfile, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     soundfile.write(f"{folder}/a.wav", numpy.zeros(8000), 16000)
        ...     _ = Path(folder, "weak.tsv").write_text("filename\tevent_labels\na.wav\tDog\nb.wav\t\n")
        ...     found = examine(f"{folder}/weak.tsv", audio=folder).findings
        >>> [(finding.severity, finding.code) for finding in found]
        [('error', 'label-without-audio'), ('warning', 'audio-silent'), ('warning', 'class-few-clips')]
    """
    name, folder = Path(labels).as_posix(), Path(audio)
    clips, findings = read_mended(partial(read_clips, name=name), Path(labels))
    splits = None if split is None else tuple(_column(clips, split, "--split"))
    groups = None if group is None else tuple(_groups(clips, group))
    on_disk = find_audio([folder])
    events: dict[str, list[Event]] | None = None
    strong_places: dict[str, str] = {}
    if strong is not None:
        recordings = [unicodedata.normalize("NFC", path.relative_to(folder).as_posix()) for path in on_disk]
        events, strong_places, broken = read_events(Path(strong), Path(strong).as_posix(), recordings)
        findings += broken
    stretches: list[Reviewed] | None = None
    if reviewed is not None:
        if strong is None:
            raise ValueError("--reviewed needs --strong: it says where the strong labels are complete")
        stretches, broken = read_mended(partial(read_stretches, name=Path(reviewed).as_posix()), Path(reviewed))
        findings += broken
    # Of files in several class folders `read_weak` keeps one.
    is_folder_of_labels = Path(labels).is_dir()
    empty = DataSet(
        name, tuple(clips), folder, {}, {}, events, "" if strong is None else Path(strong).as_posix(),
        strong_places, None if stretches is None else tuple(stretches), splits, groups,
    )  # fmt: skip
    places = empty.places
    only_strong = frozenset(places) - {clip.filename for clip in clips}
    paths, misnamed = find_recordings(folder, on_disk, places, labels=name, strong=only_strong)
    findings += [found for found in misnamed if not (is_folder_of_labels and found.code == "audio-without-labels")]
    sounds = listen_to_all(paths, workers=workers, on_file=on_file)
    data = replace(empty, paths=paths, sounds=sounds)
    for theme in (sound_findings, class_findings, split_findings, event_findings, time_findings):
        findings += theme(data)
    return Examination(data, tuple(_in_order(findings)))


def _column(clips: Sequence[WeakClip], column: str, option: str) -> list[str]:
    """The cells of a column of the label file, one per clip."""
    columns = sorted(frozenset().union(*(clip.columns for clip in clips)))
    if column not in columns:
        there = f"columns: {', '.join(columns)}" if columns else "it has none besides the labels"
        raise ValueError(f"{option} {column}: the labels have no such column ({there}){did_you_mean(column, columns)}")
    # A clip of several rows that disagree has none.
    return [clip.columns.get(column, "") for clip in clips]


def _groups(clips: Sequence[WeakClip], group: str) -> list[str]:
    """The group of each clip, from a column or from a table."""
    is_column = any(group in clip.columns for clip in clips)
    if is_column or not Path(group).is_file():
        return _column(clips, group, "--group")
    groups = read_groups(group)
    return [groups.get(clip.filename, "") for clip in clips]


def _in_order(findings: Sequence[Finding]) -> list[Finding]:
    """The worst first; then kind by kind, each in the order of the rows."""
    kinds = list(KINDS)

    def place(finding: Finding) -> tuple[int, int, str, int, str]:
        file, _, row = finding.where.rpartition(":")
        in_row = (file, int(row)) if row.isdecimal() else (finding.where, 0)
        return SEVERITIES.index(finding.severity), kinds.index(finding.code), *in_row, finding.file

    return sorted(findings, key=place)
