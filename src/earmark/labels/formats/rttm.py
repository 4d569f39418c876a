"""RTTM, as tools for speakers write it: one line per turn of a speaker, fields between blanks."""

from __future__ import annotations

from pathlib import Path

from earmark.events import Event
from earmark.labels.cells import clean_filename, clean_label, probability, seconds
from earmark.labels.formats.naming import recording_of
from earmark.labels.text import line_error, read_lines

KIND = "RTTM"

# The types of line that the format knows; only SPEAKER says who is heard when.
TYPES = frozenset(
    "SPEAKER SPKR-INFO SEGMENT NOSCORE NO_RT_METADATA LEXEME NON-LEX NON-SPEECH FILLER EDIT IP SU CB A/P".split()
)
_FIELDS = "SPEAKER file channel onset duration <NA> <NA> class <NA> <NA>"


def read_rttm(path: Path | str, *, name: str | None = None) -> dict[str, list[Event]]:
    """Read the SPEAKER lines of an RTTM file: per recording, in the order of the lines.

    The recording's name has no ending there, and the length of an event stands in the place of its end. Lines that
    begin with ``;;`` are comments; lines of other types are passed over. A file without lines is a recording without
    events.

    Args:
        path: the file.
        name: the recording of a file without lines; None: what `path` is named after.

    Raises:
        ValueError: naming file, line number and line, whatever is wrong with them.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "all.rttm")
        ...     _ = file.write_text("SPEAKER a 1 0.50 0.75 <NA> <NA> dog <NA> <NA>")
        ...     read_rttm(file)
        {'a': [Event(onset=0.5, offset=1.25, label='dog', score=None)]}
    """
    events: dict[str, list[Event]] = {}
    has_lines, place = False, Path(path).as_posix()
    for number, line in enumerate(read_lines(path), start=1):
        fields = line.split()
        if not fields or fields[0].startswith(";;"):
            continue
        has_lines = True
        try:
            if fields[0] not in TYPES:
                raise ValueError(f"the first field must be SPEAKER, got {fields[0]!r} - expected {_FIELDS}")
            if fields[0] == "SPEAKER":
                recording, event = _event(fields, f"{place}:{number}")
                events.setdefault(recording, []).append(event)
        except ValueError as reason:
            raise line_error(path, number, reason, line, KIND) from None
    if not has_lines:
        return {recording_of(path) if name is None else name: []}
    if not events:
        raise ValueError(f"{Path(path).as_posix()}: no line is of type SPEAKER, so nothing is marked (read as {KIND})")
    return events


def _event(fields: list[str], where: str) -> tuple[str, Event]:
    """Recording and event of one SPEAKER line, which stands at `where`."""
    if not 9 <= len(fields) <= 10:
        hint = "is there a blank in the name of a class or a file?" if len(fields) > 10 else "is a field missing?"
        raise ValueError(f"10 fields between blanks expected ({_FIELDS}), got {len(fields)} - {hint}")
    _, recording, _, onset, duration, _, _, label, confidence = fields[:9]
    if label == "<NA>":
        raise ValueError("the class (8th field) is <NA> - what was heard?")
    begin, length = seconds("onset", onset), seconds("duration", duration)
    score = None if confidence in ("<NA>", "NA") else probability(confidence)
    end = _end(onset, duration, begin + length)
    return clean_filename(recording), Event(begin, end, clean_label(label), score, where)


def _end(onset: str, duration: str, end: float) -> float:
    """Onset + duration, in the decimals that they are written in: 0.1 + 0.2 is 0.3 there."""
    decimals = [len(text.partition(".")[2]) for text in (onset, duration) if text.replace(".", "").isdigit()]
    return round(end, max(decimals)) if len(decimals) == 2 else end
