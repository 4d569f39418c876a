"""Label files in, broken rows and all: each is a finding, and the others are read."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from earmark.doctor.findings import Finding
from earmark.events import Event
from earmark.labels.cells import clean_filename
from earmark.labels.formats.choosing import read_events_file
from earmark.labels.formats.folder import read_events_folder
from earmark.labels.recordings import true_names
from earmark.labels.reviewed import Reviewed, read_reviewed
from earmark.labels.table import read_table
from earmark.labels.weak import WeakClip, read_weak

Content = TypeVar("Content")

# So many broken rows are one mistake about the whole file, and its reader says which.
_MOST_BROKEN_ROWS = 50

# Names one by one against all recordings take a microsecond each.
_MOST_COMPARED = 5_000_000

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


def read_placed(path: Path, name: str, recordings: Collection[str]) -> dict[str, list[PlacedEvent]]:
    """Return strong labels as `read_strong` does, each event with the place where it stands.

    Args:
        path: the file or folder to read.
        name: what it is called in the places.
        recordings: for formats that name recordings in part; a name that means none of them stays as it is.
    """
    labels = read_events_folder(path) if path.is_dir() else read_events_file(path)
    lines = {} if path.is_dir() else _event_lines(path)
    in_part = {written: place for written, place in labels.places.items() if written not in labels.in_full}
    names = _true_names(in_part, recordings)
    placed: dict[str, list[PlacedEvent]] = {}
    for written, events in labels.events.items():
        numbers = lines.get(written, [])
        # Formats that are no tables of rows have no row numbers; then the file has to do.
        file = labels.places.get(written, name).replace(path.as_posix(), name, 1)
        wheres = [f"{file}:{number}" for number in numbers] if len(numbers) == len(events) else [file] * len(events)
        placed.setdefault(names.get(written, written), []).extend(zip(events, wheres, strict=True))
    return placed


def _true_names(written: Mapping[str, str], recordings: Collection[str]) -> dict[str, str]:
    """The recording that each name means, for those that mean one."""
    try:
        return true_names(written, recordings)
    except ValueError:
        if len(written) * len(recordings) > _MOST_COMPARED:
            raise
    names: dict[str, str] = {}
    for name, place in written.items():
        with contextlib.suppress(ValueError):
            names |= true_names({name: place}, recordings)
    return names


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
