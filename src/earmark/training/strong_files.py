"""The strong labels of whole files: events and reviewed stretches, checked against the length of the recordings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from earmark.audio import find_clips, probe_audio
from earmark.labels.places import Places, places
from earmark.labels.reviewed import Reviewed, read_reviewed
from earmark.labels.strong import read_strong
from earmark.training.sources import Sources
from earmark.training.strong_labels import TOLERANCE_SECONDS, Complete, StrongLabels

# An event that ends this many times later than its recording was hardly meant in seconds.
_ABSURD = 20.0


@dataclass(frozen=True)
class StrongFiles:
    """Strong labels of whole files.

    Args:
        labels: filename -> what is known of its moments.
        places: where the rows of the strong labels stand.
        reviewed: the rows of the reviewed table; none when every file is complete.
        remarks: what was changed.
    """

    labels: Mapping[str, StrongLabels]
    places: Places
    reviewed: tuple[Reviewed, ...]
    remarks: tuple[str, ...]

    @property
    def classes(self) -> frozenset[str]:
        """Every class that has an event."""
        return frozenset(event.label for labels in self.labels.values() for event in labels.events)

    def place(self, filename: str) -> str:
        """The file and line in which a recording stands first, in the strong labels or else in the reviewed table."""
        if filename in self.places.rows:
            return self.places.of_file(filename)
        of_file = self.labels[filename].events if filename in self.labels else ()
        if of_file:
            return of_file[0].where
        return next((row.where for row in self.reviewed if row.filename == filename), self.places.name)


def read_strong_files(sources: Sources) -> StrongFiles:
    """Return the strong labels of a run, none when it has none, with what lies behind a recording's end cut off.

    Args:
        sources: the files.

    Raises:
        ValueError: with file and row: an event or a reviewed stretch begins behind the end of its recording, times that
            cannot be seconds, or strong labels none of whose recordings is there.
    """
    if sources.strong is None:
        return StrongFiles({}, Places("", None, {}), (), ())
    rows = places(sources.strong)
    # Other formats name recordings in ways of their own. A table's names stand as they are, and its rows are checked
    # here, where a message can say which.
    is_table = rows.table is not None and {"filename", "onset", "offset", "event_label"} <= set(rows.table.columns)
    events = read_strong(sources.strong, audio=None if is_table else sources.audio)
    reviewed = () if sources.reviewed is None else tuple(read_reviewed(sources.reviewed))
    names = list(dict.fromkeys([*events, *(row.filename for row in reviewed)]))
    # Embeddings may come without their recordings; then nobody can say where a recording ends.
    files, missing = ({}, {}) if sources.audio is None else find_clips(sources.audio, names)
    if not names:
        raise ValueError(f"{rows.name}: lists no recordings - only its first line is there, was it cut off?")
    if not files and missing:
        raise ValueError(
            f"{rows.of_file(names[0])}: none of the {len(names)} recordings with strong labels is there; the first:"
            f" {missing[names[0]]}"
        )
    ends = {name: _duration(file) for name, file in files.items()}
    cut: list[str] = []
    labels = {}
    for name in names:
        kept, end = [], ends.get(name, math.inf)
        for event in events.get(name, []):
            what = "the event"
            offset = _cut(event.onset, event.offset, end, name, where=event.where, what=what, remarks=cut)
            kept.append(replace(event, offset=offset))
        labels[name] = StrongLabels(tuple(kept), () if sources.reviewed is not None else (Complete(),))
    for row in reviewed:
        complete = _complete(row, ends.get(row.filename, math.inf), cut)
        before = labels[row.filename]
        labels[row.filename] = replace(before, complete=(*before.complete, complete))
    return StrongFiles(labels, rows, reviewed, counted(cut, "end behind their recordings and were cut there"))


def _duration(file: Path) -> float:
    """Seconds of a recording; infinite for one that cannot be read, which is told when its features are made."""
    try:
        return probe_audio(file).duration_seconds
    except ValueError:
        return math.inf


def _cut(onset: float, offset: float, end: float, name: str, *, where: str, what: str, remarks: list[str]) -> float:
    """The end of something that may reach behind the end of its recording."""
    if offset <= end:
        return offset
    if onset >= end or offset > _ABSURD * end:
        hint = "is it the right recording?"
        if offset > 3 * end and offset / 1000 <= end + 1:
            hint = f"are the times in milliseconds? {offset:g} ms are written {offset / 1000:g}"
        raise ValueError(
            f"{where}: {what} from {onset:g} to {offset:g} s lies behind the end of {name}, which lasts {end:g} s"
            f" - {hint}"
        )
    if offset > end + TOLERANCE_SECONDS:
        remarks.append(f"{where}: {what} from {onset:g} to {offset:g} s of {name}, which lasts {end:g} s")
    return end


def _complete(row: Reviewed, end: float, remarks: list[str]) -> Complete:
    """A reviewed stretch inside its recording; what reaches the end is meant to."""
    if row.onset is None or row.offset is None:
        return Complete(classes=row.classes)
    what = "the reviewed stretch"
    offset = _cut(row.onset, row.offset, end, row.filename, where=row.where, what=what, remarks=remarks)
    return Complete(row.onset, math.inf if offset >= end - TOLERANCE_SECONDS else offset, row.classes)


def counted(remarks: Sequence[str], what: str) -> tuple[str, ...]:
    """Return one remark with the first three of many, or none.

    Example:
        >>> counted(["a", "b", "c", "d"], "letters")
        ('4 letters: a; b; c, and 1 more',)
    """
    if not remarks:
        return ()
    more = f", and {len(remarks) - 3} more" if len(remarks) > 3 else ""
    return (f"{len(remarks)} {what}: {'; '.join(remarks[:3])}{more}",)
