"""Files out: one function per format. What is written here, `earmark.labels` reads back unchanged.

One more format is one more function, its name in `FORMATS`, and its case in `write_events`.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from earmark.checks import choice, number
from earmark.event_files.as_json import events_to_json, events_to_jsonl
from earmark.event_files.as_label_studio import events_to_label_studio
from earmark.event_files.as_rttm import events_to_rttm
from earmark.events import Event
from earmark.files import write_atomic
from earmark.labels.cells import clean_filename, clean_label, join_labels

# The formats of `write_events`.
FORMATS = ("tsv", "csv", "json", "jsonl", "audacity", "rttm", "labelstudio")

Value = TypeVar("Value")


def write_events(path: Path | str, events: Sequence[Event], *, filename: str, format: str) -> Path:
    """Write the events of one recording, and return the file: `path` with the suffix of the format behind it.

    Args:
        path: without the suffix, for instance ``out/a.wav`` for ``out/a.wav.tsv``.
        events: of this recording.
        filename: what the recording is called inside the file, where the format names it.
        format: one of `FORMATS`. The suffix is that name, but .txt for ``audacity`` and .labelstudio.json.

    Raises:
        ValueError: an unknown format, or events that it cannot hold.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = write_events(f"{folder}/a.wav", [Event(0.5, 1.25, "dog")], filename="a.wav", format="audacity")
        ...     file.name, file.read_text()
        ('a.wav.txt', '0.500000\\t1.250000\\tdog\\n')
    """
    match choice("format", format, FORMATS):
        case "audacity":
            suffix, text = ".txt", events_to_audacity(events)
        case "csv":
            suffix, text = ".csv", events_to_csv({filename: events}, with_scores=True)
        case "json":
            suffix, text = ".json", events_to_json(filename, events)
        case "jsonl":
            suffix, text = ".jsonl", events_to_jsonl(filename, events)
        case "rttm":
            suffix, text = ".rttm", events_to_rttm(filename, events)
        case "labelstudio":
            suffix, text = ".labelstudio.json", events_to_label_studio(filename, events)
        case _:
            suffix, text = ".tsv", events_to_tsv({filename: events}, with_scores=True)
    target = Path(f"{path}{suffix}")
    write_atomic(target, text)
    return target


def events_to_tsv(events: Mapping[str, Sequence[Event]], *, with_scores: bool | None = None) -> str:
    r"""Return strong labels: filename, onset, offset (seconds), event_label, and score.

    A file without events gets a row of its own with nothing behind the name, so that it is not lost. Times have three
    decimals where that is exact, otherwise as many as it takes to read back the very same number: the end of a frame
    must not move into its neighbour. Scores have six decimals.

    Args:
        events: of each file.
        with_scores: whether there is a column score; None: when an event has one.

    Raises:
        ValueError: an event whose times are not finite or whose label a table cannot hold.

    Example:
        >>> print(events_to_tsv({"a.wav": [Event(0.5, 1 / 3 + 1, "dog")], "b.wav": []}), end="")
        filename	onset	offset	event_label
        a.wav	0.500	1.3333333333333333	dog
        b.wav
    """
    return _tsv(_rows(events, with_scores))


def events_to_csv(events: Mapping[str, Sequence[Event]], *, with_scores: bool | None = None) -> str:
    """Return strong labels as `events_to_tsv` does, with commas between the cells and quotes where one has a comma.

    Raises:
        ValueError: an event whose times are not finite or whose label a table cannot hold.

    Example:
        >>> print(events_to_csv({"a.wav": [Event(0.5, 1.25, "Air horn, truck horn")]}), end="")
        filename,onset,offset,event_label
        a.wav,0.500,1.250,"Air horn, truck horn"
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(_rows(events, with_scores))
    return text.getvalue()


def _rows(events: Mapping[str, Sequence[Event]], with_scores: bool | None) -> list[tuple[str, ...]]:
    """The cells of a table of events, header first."""
    if with_scores is None:
        with_scores = any(event.score is not None for in_file in events.values() for event in in_file)
    header = ("filename", "onset", "offset", "event_label", "score")
    rows: list[tuple[str, ...]] = [header]
    for name, in_file in _clean_names(events).items():
        rows += [(name, *_times(event), clean_label(event.label), _score(event)) for event in in_file]
        if not in_file:
            rows.append((name, "", "", "", ""))
    return rows if with_scores else [row[:4] for row in rows]


def events_to_audacity(events: Sequence[Event]) -> str:
    r"""Return an Audacity label track of one recording: onset, offset, label, in seconds with six decimals.

    Raises:
        ValueError: an event whose times are not finite or whose label a table cannot hold.

    Example:
        >>> events_to_audacity([Event(0.5, 1.25, "dog")])
        '0.500000\t1.250000\tdog\n'
    """
    for event in events:
        _times(event)
    return _tsv([(f"{event.onset:.6f}", f"{event.offset:.6f}", clean_label(event.label)) for event in events])


def weak_to_tsv(tags: Mapping[str, Iterable[str]]) -> str:
    r"""Return weak labels: filename and event_labels, sorted, separated by commas, quoted where a name has a comma.

    Raises:
        ValueError: a file name or label that a table cannot hold.

    Example:
        >>> print(weak_to_tsv({"a.wav": {"Car", "Air horn, truck horn"}}), end="")
        filename	event_labels
        a.wav	"Air horn, truck horn",Car
    """
    rows = [
        (name, join_labels(frozenset(clean_label(label) for label in labels)))
        for name, labels in _clean_names(tags).items()
    ]
    return _tsv([("filename", "event_labels"), *rows])


def _clean_names(by_file: Mapping[str, Value]) -> dict[str, Value]:
    """The mapping with file names as they will be read back."""
    clean = {clean_filename(name): value for name, value in by_file.items()}
    if len(clean) < len(by_file):
        names = sorted(by_file, key=clean_filename)
        twin = next(pair for pair in pairwise(names) if len(set(map(clean_filename, pair))) == 1)
        raise ValueError(f"file names must differ, got {twin[0]!r} and {twin[1]!r}, which are one name in a table")
    return clean


def _times(event: Event) -> tuple[str, str]:
    """Onset and offset as text that reads back as the same numbers."""
    if not (math.isfinite(event.onset) and math.isfinite(event.offset) and 0 <= event.onset <= event.offset):
        raise ValueError(f"an event must begin at 0 s or later and not end before it begins, got {event}")
    onset, offset = (
        f"{time:.3f}" if float(f"{time:.3f}") == time else repr(float(time)) for time in (event.onset, event.offset)
    )
    return onset, offset


def _score(event: Event) -> str:
    """The score as text, empty when there is none."""
    if event.score is None:
        return ""
    return f"{number('score', event.score, at_least=0, at_most=1, hint='is it a logit or a percentage?'):.6f}"


def _tsv(rows: Sequence[Sequence[str]]) -> str:
    """The rows as lines with tabs."""
    return "".join("\t".join(row) + "\n" for row in rows)
