"""Reviewed stretches: where, and for which classes, strong labels are complete."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from earmark.labels.cells import clean_filename, span, split_labels
from earmark.labels.table import check_columns, read_table


@dataclass(frozen=True)
class Reviewed:
    """A stretch of a file in which every event of some classes is marked.

    Args:
        filename: as in the strong labels.
        onset: in seconds; None for the beginning of the file.
        offset: in seconds; None for its end.
        classes: that were listened for; None for all.
        where: file and line, for messages.
    """

    filename: str
    onset: float | None
    offset: float | None
    classes: frozenset[str] | None
    where: str


def read_reviewed(path: Path | str) -> list[Reviewed]:
    r"""Read where strong labels are complete, from the column filename and perhaps onset, offset and classes.

    Onset and offset are seconds, both empty for the whole file; classes are separated by commas, empty for all.

    Raises:
        ValueError: naming file, line number and line, whatever is wrong with them.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "reviewed.tsv")
        ...     _ = file.write_text("filename\tonset\toffset\tclasses\na.wav\t0\t5\tdog\nb.wav\t\t\t\n")
        ...     first, second = read_reviewed(file)
        >>> first.offset, sorted(first.classes), second.offset, second.classes
        (5.0, ['dog'], None, None)
    """
    example = "filename\tonset\toffset\tclasses\na.wav\t0\t30\tDog,Cat"
    table = read_table(path, list_columns=("classes",), example=example)
    check_columns(table, required=("filename",), optional=("onset", "offset", "classes"), example=example)
    reviewed = []
    for row in table.rows:
        try:
            onset, offset = table.cell(row, "onset"), table.cell(row, "offset")
            begin, end = span(onset, offset) if onset or offset else (None, None)
            if begin is not None and begin == end:
                raise ValueError(f"the span from {onset} to {offset} s is empty - leave both empty for the whole file")
            classes = split_labels(table.cell(row, "classes"))
            filename = clean_filename(table.cell(row, "filename"))
        except ValueError as reason:
            raise table.error(row, reason) from None
        reviewed.append(Reviewed(filename, begin, end, classes if classes else None, table.where(row)))
    return reviewed
