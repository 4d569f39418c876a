"""Which format a file of strong labels is in, by its content first and its ending second; and its reader.

One more format is one more file beside this one, its case here, and its ending in `LABEL_SUFFIXES`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from earmark.events import Event
from earmark.labels.formats import audacity, events_json, jams, label_studio, rttm
from earmark.labels.formats.events_table import read_events_table
from earmark.labels.formats.other_tables import layout_of, read_other_table
from earmark.labels.formats.raven import is_raven, read_raven
from earmark.labels.text import read_lines

# earmark's own tables.
TABLE = "a table"

# What counts as a label file in a folder.
LABEL_SUFFIXES = frozenset({".tsv", ".csv", ".txt", ".jams", ".json", ".jsonl", ".rttm"})

# Columns of the tables that Label Studio exports, in which regions are JSON inside cells.
_LABEL_STUDIO_CSV = {"annotator", "id", "audio"}

_HEAD_BYTES = 65536

# Formats that other programs of annotators write, and what to do instead.
_NOT_READ = {
    ".textgrid": "a Praat TextGrid is not read - write its intervals into a table",
    ".eaf": "an ELAN file is not read - export it in ELAN as tab-delimited text, and name its columns",
    ".vtt": "subtitles are not read - export the labels from Audacity as text (.txt)",
    ".srt": "subtitles are not read - export the labels from Audacity as text (.txt)",
    ".aup3": "an Audacity project is not read - export its labels: File, Export Other, Export Labels",
    ".svl": "a Sonic Visualiser layer is not read - export it there as CSV, and name its columns",
}


class Labels(NamedTuple):
    """What label files say."""

    events: dict[str, list[Event]]  # of each recording, as it is called there
    places: dict[str, str]  # the file that names it, for messages
    in_full: set[str]  # recordings whose name is known to be relative to the folder of the audio


def read_events_file(path: Path, *, name: str | None = None, class_column: str | None = None) -> Labels:
    r"""Return what the right reader makes of one file of strong labels.

    Args:
        path: the file.
        name: the recording, for formats that do not name it; None: what `path` is named after.
        class_column: the column with the class, in tables.

    Raises:
        ValueError: the file is in no format that is read here, or as its reader says.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "a.wav.txt")
        ...     _ = file.write_text("0.5\t1.25\tdog\n")
        ...     read_events_file(file).events
        {'a.wav': [Event(onset=0.5, offset=1.25, label='dog', score=None)]}
    """
    line = _first_line(path)
    layout = None if line is None else layout_of(line)
    in_full: set[str] = set()
    if layout is not None:
        events = read_other_table(path, layout, name=name, class_column=class_column)
    elif line is not None and is_raven(line):
        events = read_raven(path, name=name, class_column=class_column)
    elif (kind := _kind(path, line)) == TABLE:
        events = read_events_table(path, name=name, class_column=class_column)
        in_full = set(events) - {name}  # that one may be only the name of the file
    elif class_column is not None:
        raise ValueError(
            f"{path.as_posix()}: class_column {class_column!r} names a column, but {kind} has none - leave it out"
        )
    else:
        events = _read_kind(path, kind, name)
    return Labels(events, dict.fromkeys(events, path.as_posix()), in_full)


def _read_kind(path: Path, kind: str, name: str | None) -> dict[str, list[Event]]:
    """Read a format that has no columns."""
    match kind:
        case audacity.KIND:
            return audacity.read_audacity(path, name=name)
        case rttm.KIND:
            return rttm.read_rttm(path, name=name)
        case jams.KIND:
            return jams.read_jams(path, name=name)
        case events_json.KIND:
            is_lines = path.suffix.casefold() == ".jsonl"
            return events_json.read_events_jsonl(path) if is_lines else events_json.read_events_json(path)
        case _:
            return label_studio.read_label_studio(path)


def _kind(path: Path, line: str | None) -> str:
    """What the file is, by its first line, seeing that it is no table of another program."""
    suffix = path.suffix.casefold()
    if suffix in _NOT_READ:
        advice = f"{_NOT_READ[suffix]} (the columns of a table are filename, onset, offset, event_label)"
        raise ValueError(f"{path.as_posix()}: {advice}")
    if suffix in (".jams", ".rttm"):
        return jams.KIND if suffix == ".jams" else rttm.KIND
    if line is None:
        return audacity.KIND if suffix == ".txt" else TABLE
    if suffix in (".json", ".jsonl") or line.lstrip().startswith(("{", "[")):
        # JAMS is the one of the two that says what file it is about, and has namespaces.
        text = "\n".join(read_lines(path))
        if suffix == ".jsonl" or ('"events"' in text and '"filename"' in text):
            return events_json.KIND
        return jams.KIND if '"file_metadata"' in text or '"namespace"' in text else label_studio.KIND
    return _kind_of_lines(path, line)


def _kind_of_lines(path: Path, line: str) -> str:
    """What a file is that is neither empty nor JSON."""
    cells, words = line.split("\t"), line.split()
    if len(cells) in (2, 3) and _is_number(cells[0]) and _is_number(cells[1]):
        return audacity.KIND
    if words[0] in rttm.TYPES or words[0].startswith(";;"):
        return rttm.KIND
    if _LABEL_STUDIO_CSV <= {cell.strip(' "') for cell in line.split(",")}:
        raise ValueError(f"{path.as_posix()}:1: a CSV of Label Studio is not read - export JSON or JSON-MIN there")
    if path.suffix.casefold() != ".txt":
        return TABLE
    if any(len(part) > 1 and _is_number(part[0]) and _is_number(part[1]) for part in (words, re.split("[,;]", line))):
        return audacity.KIND  # without its tabs, as its reader says
    if any(separator in line for separator in "\t,;"):
        return TABLE
    raise ValueError(
        f"{path.as_posix()}:1: no file of labels: the first line is neither that of an Audacity label track (begin, end"
        " and label, with tabs between them), nor the columns of a Raven table, nor RTTM (SPEAKER ...), nor the columns"
        f" filename, onset, offset, event_label - is it a note? keep it elsewhere\n    {line[:200]}"
    )


def _first_line(path: Path) -> str | None:
    """The first line that is not blank; None when there is none, or when it is no text (the readers say why)."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return None
    if b"\0" in head:
        read_lines(path)  # says what it is instead
    text = head.decode("utf-8-sig", errors="replace")
    return next((line for line in text.replace("\r", "\n").split("\n") if line.strip()), None)


def _is_number(text: str) -> bool:
    """Whether this is a time, be it written in another way than earmark reads."""
    stripped = text.strip().replace(",", ".").replace(":", "")
    try:
        float(stripped)
    except ValueError:
        return False
    return True
