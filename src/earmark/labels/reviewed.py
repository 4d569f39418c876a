"""Where strong labels are complete, and for which classes: outside of it nothing is negative."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from earmark.labels.cells import clean_filename, join_labels, span, split_labels
from earmark.labels.table import Row, Table, check_columns, read_table

_EXAMPLE = "filename\tonset\toffset\tclasses\na.wav\t\t\t\nb.wav\t0\t60\tdog,cat"


@dataclass(frozen=True)
class Reviewed:
    """A stretch of a recording in which every event of some classes, or of all, is marked.

    Args:
        filename: relative to the folder of the audio, NFC, with forward slashes.
        onset: where the stretch begins, in seconds; None for the whole file.
        offset: where it ends, in seconds; None for the whole file.
        classes: those whose events are all marked; None when that holds for every class.
        where: file and line, for messages; the first line where several were united.
    """

    filename: str
    onset: float | None
    offset: float | None
    classes: frozenset[str] | None
    where: str


def read_reviewed(path: Path | str) -> list[Reviewed]:
    r"""Read where strong labels are complete, from the columns filename, onset, offset and classes.

    Empty onset and offset mean the whole file, empty classes mean all of them. Rows of one file and the same classes
    that overlap or touch are united, and a row that says nothing beyond another one is left out. The order is that of
    the files' first rows, then of time.

    Raises:
        ValueError: naming file, line number and line: a span without length, or one that is complete for all classes in
            one row and for some in another; also for a table without rows, and for one of events or tags.

    Example:
        >>> import tempfile
        >>> rows = "filename\tonset\toffset\tclasses\na.wav\t0\t60\tdog\na.wav\t50\t90\tdog\nb.wav\t\t\t\n"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "reviewed.tsv")
        ...     _ = file.write_text(rows)
        ...     for part in read_reviewed(file):
        ...         print(part.filename, part.onset, part.offset, part.classes)
        a.wav 0.0 90.0 frozenset({'dog'})
        b.wav None None None
    """
    table = read_table(path, list_columns=("classes",), example=_EXAMPLE)
    labels = next((name for name in ("event_label", "event_labels", "label") if name in table.columns), None)
    if labels is not None:
        raise ValueError(
            f"{table.path}:1: the column {labels!r} says what was heard, but here stands where everything was listened"
            f" to (filename, onset, offset, classes) - are two tables swapped?"
        )
    check_columns(table, required=("filename",), optional=("onset", "offset", "classes"), example=_EXAMPLE)
    if not table.rows:
        raise ValueError(f"{table.path}: no row, so nothing is reviewed - leave the table out, or name the files")
    of_file: dict[str, list[tuple[Reviewed, Row]]] = {}
    for row in table.rows:
        try:
            part = _reviewed(table, row)
        except ValueError as reason:
            raise table.error(row, reason) from None
        of_file.setdefault(part.filename, []).append((part, row))
    for parts in of_file.values():
        _refuse_contradiction(table, parts)
    return [part for parts in of_file.values() for part in _united([part for part, _ in parts])]


def _reviewed(table: Table, row: Row) -> Reviewed:
    """What one row says."""
    onset, offset = table.cell(row, "onset"), table.cell(row, "offset")
    times = span(onset, offset) if onset or offset else (None, None)
    if times[0] is not None and times[0] == times[1]:
        raise ValueError(f"the span from {onset} to {offset} s is empty - leave both empty for the whole file")
    classes = split_labels(table.cell(row, "classes"))
    filename = clean_filename(table.cell(row, "filename"))
    return Reviewed(filename, times[0], times[1], classes if classes else None, table.where(row))


def _refuse_contradiction(table: Table, parts: Sequence[tuple[Reviewed, Row]]) -> None:
    """Raise ValueError where one span is complete for all classes in one row and for some only in another."""
    seen: dict[tuple[float | None, float | None], Reviewed] = {}
    for part, row in parts:
        other = seen.setdefault((part.onset, part.offset), part)
        if (other.classes is None) != (part.classes is None):
            some = part.classes if other.classes is None else other.classes
            listed = join_labels(some) if some is not None else ""
            raise table.error(
                row,
                f"the same span is complete for all classes in one row and for {listed} only in another, see"
                f" {other.where} - empty classes mean all; which is right?",
            )


def _united(parts: Sequence[Reviewed]) -> list[Reviewed]:
    """The parts of one file, those of the same classes united, without those that others cover."""
    of_classes: dict[frozenset[str] | None, list[Reviewed]] = {}
    for part in sorted(parts, key=_ends):
        same = of_classes.setdefault(part.classes, [])
        if same and _ends(part)[0] <= _ends(same[-1])[1]:
            if _ends(part)[1] > _ends(same[-1])[1]:
                same[-1] = replace(same[-1], offset=part.offset)
        else:
            same.append(part)
    united = [part for same in of_classes.values() for part in same]
    kept = [part for part in united if not any(_covers(other, part) for other in united)]
    return sorted(kept, key=lambda part: (_ends(part), sorted(part.classes if part.classes is not None else ())))


def _covers(outer: Reviewed, inner: Reviewed) -> bool:
    """Whether `outer` says all that `inner` does, and more."""
    has_classes = outer.classes is None or (inner.classes is not None and inner.classes <= outer.classes)
    begin, end = _ends(outer)
    return outer is not inner and has_classes and begin <= _ends(inner)[0] and _ends(inner)[1] <= end


def _ends(part: Reviewed) -> tuple[float, float]:
    """Where a part begins and ends, in seconds; a whole file is longer than any span."""
    return -1.0 if part.onset is None else part.onset, math.inf if part.offset is None else part.offset
