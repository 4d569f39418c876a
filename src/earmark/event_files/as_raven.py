"""Events as a Raven selection table."""

from __future__ import annotations

from collections.abc import Sequence

from earmark.checks import number
from earmark.event_files.as_json import score_of
from earmark.events import Event
from earmark.labels.cells import clean_filename, clean_label

_HEADER = ("Selection", "View", "Channel", "Begin Time (s)", "End Time (s)", "Low Freq (Hz)", "High Freq (Hz)",
           "Begin File", "File Offset (s)", "Species", "Score")  # fmt: skip


def events_to_raven(filename: str, events: Sequence[Event], *, highest_hz: float) -> str:
    r"""Return a selection table of one recording: every event a box over all frequencies, the class in Species.

    Args:
        filename: the recording.
        events: of this recording.
        highest_hz: upper edge of the boxes: half the sample rate, since events have no frequencies.

    Example:
        >>> text = events_to_raven("a.wav", [Event(0.5, 1.25, "dog")], highest_hz=8000)
        >>> text.splitlines()[1].split("\t")[:7]
        ['1', 'Spectrogram 1', '1', '0.5', '1.25', '0.0', '8000.0']
    """
    name, top = clean_filename(filename), float(number("highest_hz", highest_hz, above=0))
    rows = [_HEADER]
    for index, event in enumerate(events, start=1):
        score = score_of(event)
        onset, offset = repr(float(event.onset)), repr(float(event.offset))
        rows.append((str(index), "Spectrogram 1", "1", onset, offset, "0.0", repr(top), name, onset,
                     clean_label(event.label), "" if score is None else f"{score:.6f}"))  # fmt: skip
    return "".join("\t".join(row) + "\n" for row in rows)
