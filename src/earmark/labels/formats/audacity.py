"""Audacity label tracks: one text file per recording, a line per label."""

from __future__ import annotations

from pathlib import Path

from earmark.events import Event
from earmark.labels.cells import clean_label, span
from earmark.labels.formats.naming import recording_of
from earmark.labels.text import line_error, read_lines

KIND = "an Audacity label track"


def read_audacity(path: Path | str, *, name: str | None = None) -> dict[str, list[Event]]:
    r"""Read an Audacity label track: begin, end (seconds) and label between tabs, one label per line.

    A point label is an event of zero length. The second lines of labels with frequencies (``\``, low, high) are passed
    over: earmark knows times, not frequencies. An empty file is a recording without events.

    Args:
        path: the file, named after its recording: ``a.wav.txt`` or ``a.txt``.
        name: the recording; None: what `path` is named after.

    Raises:
        ValueError: naming file, line number and line, whatever is wrong with them.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "a.wav.txt")
        ...     _ = file.write_text('0.500000\t1.250000\tdog\n\\\t200.0\t900.0\n2.000000\t2.000000\tclick\n')
        ...     for event in read_audacity(file)["a.wav"]:
        ...         print(event.onset, event.offset, event.label)
        0.5 1.25 dog
        2.0 2.0 click
    """
    events: list[Event] = []
    place = Path(path).as_posix()
    follows_label = False
    for number, line in enumerate(read_lines(path), start=1):
        try:
            if line.startswith("\\\t"):
                _check_frequencies(line, follows_label=follows_label)
                follows_label = False
            elif line.strip():
                events.append(_event(line, f"{place}:{number}"))
                follows_label = True
        except ValueError as reason:
            raise line_error(path, number, reason, line, KIND) from None
    return {recording_of(path) if name is None else name: events}


def _event(line: str, where: str) -> Event:
    """The event of one line, which stands at `where`."""
    cells = line.rstrip("\t").split("\t")
    if len(cells) == 3 and "_" not in line:
        try:  # quickly; where something is wrong it is looked at closely below
            return Event(float(cells[0]), float(cells[1]), clean_label(cells[2]), where=where)
        except ValueError:
            pass
    if len(cells) == 1:
        why = "a line holds begin, end and label with tabs between them, got no tab"
        raise ValueError(f"{why} - did an editor turn the tabs into spaces, or a spreadsheet into commas?")
    if len(cells) == 2:
        span(*(cell.strip() for cell in cells))
        raise ValueError("the label has no name - name it in Audacity, or delete it there")
    if len(cells) > 3:
        raise ValueError(f"begin, end and label expected, got {len(cells)} fields - is a tab too many in the name?")
    if any(character.isalpha() for character in cells[0] + cells[1]):
        raise ValueError(
            f"the line must begin with two times in seconds, got {cells[0]!r} and {cells[1]!r}"
            " - a label track has no line with the names of columns"
        )
    onset, offset = span(cells[0].strip(), cells[1].strip())
    return Event(onset, offset, clean_label(cells[2]), where=where)


def _check_frequencies(line: str, *, follows_label: bool) -> None:
    r"""Raise ValueError unless this is the second line of a label: ``\``, lowest and highest frequency."""
    if not follows_label:
        raise ValueError("frequencies stand behind the line of their label, but there is none - was it deleted?")
    try:
        _, low, high = line.split("\t")
        float(low), float(high)
    except ValueError:
        raise ValueError(r"a line of frequencies holds \, the lowest and the highest in Hz, between tabs") from None
