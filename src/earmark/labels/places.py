"""In which line of a table something stands, for messages about what was read from it long before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from earmark.labels.cells import clean_filename
from earmark.labels.table import Row, Table, read_table

_EVENT_COLUMNS = ("filename", "onset", "offset", "event_label", "score")


@dataclass(frozen=True)
class Places:
    """Where the rows of each file stand.

    Args:
        name: of the table, or of whatever the labels were read from.
        table: None when they were not read from a table.
        rows: of each file.
    """

    name: str
    table: Table | None
    rows: Mapping[str, list[Row]]

    def of_file(self, filename: str) -> str:
        """Table and line in which a file stands first; the table alone where there are no lines."""
        rows = self.rows.get(filename, [])
        return self.name if self.table is None or not rows else self.table.where(rows[0])

    def columns(self, filename: str) -> dict[str, str]:
        """What else the rows of a file say, in columns of their own; one in which they disagree is left out."""
        rows = self.rows.get(filename, [])
        if self.table is None or not rows:
            return {}
        others = [name for name in self.table.columns if name not in _EVENT_COLUMNS]
        cells = {name: {self.table.cell(row, name) for row in rows} for name in others}
        return {name: next(iter(found)) for name, found in cells.items() if len(found) == 1}


def places(path: Path | str) -> Places:
    r"""Return where the rows of each file stand in a label file that has been read without a complaint.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "strong.tsv")
        ...     _ = file.write_text("filename\tonset\toffset\tevent_label\na.wav\t0\t1\tDog\na.wav\t2\t3\tDog\n")
        ...     found = places(file)
        >>> found.of_file("a.wav").rpartition("/")[2]
        'strong.tsv:2'
    """
    name = Path(path).as_posix()
    try:
        table = read_table(path)
    except ValueError:  # another format, without columns
        return Places(name, None, {})
    rows: dict[str, list[Row]] = {}
    for row, filename in zip(table.rows, table.column("filename"), strict=True):
        if filename:
            rows.setdefault(clean_filename(filename), []).append(row)
    return Places(name, table, rows)
