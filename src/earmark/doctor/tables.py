"""Label files in, broken rows and all: each is a finding, and the others are read."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from earmark.doctor.findings import Finding
from earmark.events import Event
from earmark.labels.cells import clean_filename
from earmark.labels.reviewed import Reviewed, read_reviewed
from earmark.labels.strong import read_strong
from earmark.labels.table import read_table
from earmark.labels.weak import WeakClip, read_weak

Content = TypeVar("Content")

# So many broken rows are one mistake about the whole file, and its reader says which.
_MOST_BROKEN_ROWS = 50

_LINE_END = re.compile(rb"\r\n|\r|\n")

# An event and the file and row where it stands.
PlacedEvent = tuple[Event, str]


def read_mended(read: Callable[[Path], Content], path: Path) -> tuple[Content, list[Finding]]:
    r"""Return what `read` makes of a file, and the rows that had to be left out for it.

    A reader stops at the first row it refuses and names it. That row is made blank in a copy, so that the others keep
    their numbers, and the copy is read again.

    Args:
        read: one of the readers of `earmark.labels`.
        path: the file.

    Raises:
        ValueError: what `read` says, when it is not about a row, or when most rows are broken.

    Example:
        >>> from earmark.labels import read_weak
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "weak.tsv")
        ...     _ = file.write_text("filename\tevent_labels\na.wav\tDog,,Cat\nb.wav\tDog\nc.wav\t\nd.wav\tCat\n")
        ...     clips, broken = read_mended(read_weak, file)
        >>> [clip.filename for clip in clips], broken[0].found
        (['b.wav', 'c.wav', 'd.wav'], 'a label is empty - is there a comma too many?')
    """
    try:
        return read(path), []
    except ValueError as error:
        first = error
    if not path.is_file() or _line_number(first, path) is None:
        raise first
    lines = _LINE_END.split(path.read_bytes())
    most = min(_MOST_BROKEN_ROWS, (len(lines) - 1) // 2)
    findings: list[Finding] = []
    reason = first
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        while len(findings) < most:
            number = _line_number(reason, path if reason is first else copy)
            if number is None or number == 1 or number > len(lines) or not lines[number - 1].strip():
                raise first
            words = str(reason).splitlines()[0].partition(": ")[2].replace(copy.as_posix(), path.as_posix())
            findings.append(Finding("row-broken", f"{path.as_posix()}:{number}", "", words))
            lines[number - 1] = b""
            copy.write_bytes(b"\n".join(lines))
            try:
                return read(copy), findings
            except ValueError as error:
                reason = error
    raise first


def read_clips(path: Path, name: str) -> list[WeakClip]:
    """Return weak labels as `read_weak` does, in their places the file called by another name.

    Args:
        path: the file or folder to read.
        name: what it is called in the places.
    """
    return [replace(clip, where=_renamed(clip.where, path, name)) for clip in read_weak(path)]


def read_stretches(path: Path, name: str) -> list[Reviewed]:
    """The same for `read_reviewed`."""
    return [replace(row, where=_renamed(row.where, path, name)) for row in read_reviewed(path)]


def _renamed(where: str, path: Path, name: str) -> str:
    """A place in `path` as one in the file that it is a copy of."""
    told = f"{path.as_posix()}:"
    return f"{name}:{where.removeprefix(told)}" if where.startswith(told) else where


def read_placed(path: Path, name: str) -> dict[str, list[PlacedEvent]]:
    """Return strong labels as `read_strong` does, each event with the place where it stands.

    Args:
        path: the file to read.
        name: what it is called in the places.
    """
    events = read_strong(path)
    lines = _event_lines(path)
    placed = {}
    for filename, of_file in events.items():
        numbers = lines.get(filename, [])
        # Formats that are no tables of rows have no row numbers; then the file has to do.
        wheres = [f"{name}:{number}" for number in numbers] if len(numbers) == len(of_file) else [name] * len(of_file)
        placed[filename] = list(zip(of_file, wheres, strict=True))
    return placed


def _event_lines(path: Path) -> dict[str, list[int]]:
    """In which lines the events of each file stand."""
    lines: dict[str, list[int]] = {}
    try:
        table = read_table(path)
        for row, name, onset in zip(table.rows, table.column("filename"), table.column("onset"), strict=True):
            if onset:
                lines.setdefault(clean_filename(name), []).append(row.line_number)
    except ValueError:
        return {}
    return lines


def _line_number(error: ValueError, path: Path) -> int | None:
    """The line of `path` that a message begins with."""
    found = re.match(rf"{re.escape(path.as_posix())}:(\d+): ", str(error))
    return None if found is None else int(found[1])
