"""Label files in, broken rows and all: each is a finding, and the others are read."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from earmark.doctor.findings import Finding
from earmark.events import Event
from earmark.labels.formats.choosing import Labels, read_events_file
from earmark.labels.formats.folder import label_files, name_in
from earmark.labels.recordings import true_names
from earmark.labels.reviewed import Reviewed, read_reviewed
from earmark.labels.weak import WeakClip, read_weak

Content = TypeVar("Content")

# The file is read again for every broken row: ten seconds' worth of rows. Where half of them are broken it is one
# mistake about the whole file, and its reader says which.
_MOST_ROWS_READ = 2_000_000

# Names one by one against all recordings take a microsecond each.
_MOST_COMPARED = 5_000_000

_LINE_END = re.compile(rb"\r\n|\r|\n")


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
    most = min(_MOST_ROWS_READ // len(lines), (len(lines) - 1) // 2)
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


def _without_place(error: ValueError, path: str) -> str:
    """The first line of a message, without the file's name at its beginning."""
    return str(error).splitlines()[0].removeprefix(f"{path}: ").removeprefix(f"{path}:")


def read_events(
    path: Path, name: str, recordings: Collection[str]
) -> tuple[dict[str, list[Event]], dict[str, str], list[Finding]]:
    """Return the events of each recording as `read_strong` does, the file that names it, and what is wrong with files.

    Of a folder, a file that its reader refuses is left out, as a row is.

    Args:
        path: the file or folder to read.
        name: what it is called in the places.
        recordings: for formats that name recordings in part; a name that means none of them stays as it is.
    """
    parts, findings = [], []
    for file in label_files(path) if path.is_dir() else [path]:
        read = partial(read_events_file, name=name_in(path, file)) if path.is_dir() else read_events_file
        called = name + file.as_posix().removeprefix(path.as_posix())
        try:
            labels, broken = read_mended(partial(_as_called, read, called=called), file)
        except ValueError as error:
            if not path.is_dir():
                raise
            findings.append(Finding("labels-broken", called, "", _without_place(error, called)))
            continue
        parts.append(labels)
        findings += broken
    events, places, twice = _joined(parts, recordings)
    return events, places, findings + twice


def _as_called(read: Callable[[Path], Labels], path: Path, *, called: str) -> Labels:
    """The labels of a file, in their places the file called by another name: they may come from a copy of it."""
    labels = read(path)
    events = {
        recording: [replace(event, where=_renamed(event.where, path, called)) for event in of_file]
        for recording, of_file in labels.events.items()
    }
    return Labels(events, dict.fromkeys(events, called), labels.in_full)


def _joined(
    parts: Sequence[Labels], recordings: Collection[str]
) -> tuple[dict[str, list[Event]], dict[str, str], list[Finding]]:
    """The events of several files under the names of their recordings, where they stand, and what stands twice."""
    in_part = {name: place for part in parts for name, place in part.places.items() if name not in part.in_full}
    names = _true_names(in_part, recordings)
    events: dict[str, list[Event]] = {}
    places: dict[str, str] = {}
    findings = []
    for part in parts:
        for written, of_file in part.events.items():
            recording = names.get(written, written)
            if recording in events:
                found = f"has labels in {places[recording]} already; here it is called {written!r}"
                findings.append(Finding("labels-twice", part.places[written], recording, found))
                continue
            events[recording], places[recording] = of_file, part.places[written]
    return events, places, findings


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


def _line_number(error: ValueError, path: Path) -> int | None:
    """The line of `path` that a message begins with."""
    found = re.match(rf"{re.escape(path.as_posix())}:(\d+): ", str(error))
    return None if found is None else int(found[1])
