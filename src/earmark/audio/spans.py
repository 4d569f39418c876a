"""Spans of files: which are none, what to say about those that lie beside their file, and where decoding begins."""

from __future__ import annotations

import math

from earmark.checks import number

# How much less than the header says may come out before it is worth a note: lossy formats round to whole frames.
TOLERANCE_SECONDS = 0.1

# An offset this many times as late as the end of the file is in another unit rather than a little wrong.
_OTHER_UNIT_FACTOR = 10


def late_onset(onset: float, end_seconds: float) -> str:
    """Return what to say about a span that begins after the end of its file.

    Example:
        >>> late_onset(700, 2)
        'onset 700 s is after the end of the file at 2.00 s - is the onset in seconds, and counted from the start of ...
    """
    return (
        f"onset {onset:g} s is after the end of the file at {end_seconds:.2f} s"
        " - is the onset in seconds, and counted from the start of this file?"
    )


def late_offset(onset: float, offset: float | None, end_seconds: float) -> str:
    """Return what to say about a span that begins inside its file and ends after it; nothing when it hardly does.

    Example:
        >>> late_offset(0, 4000, 4)
        'offset 4000 s is after the end of the file at 4.00 s - is it in milliseconds?'
        >>> late_offset(1.5, 4, 2)
        'offset 4 s is after the end of the file at 2.00 s, so only 0.50 of 2.50 s are used'
        >>> late_offset(0, 2.05, 2)
        ''
    """
    if offset is None or offset - end_seconds <= TOLERANCE_SECONDS:
        return ""
    end = f"offset {offset:g} s is after the end of the file at {end_seconds:.2f} s"
    if offset > _OTHER_UNIT_FACTOR * end_seconds:
        return f"{end} - is it in milliseconds?"
    return f"{end}, so only {end_seconds - onset:.2f} of {offset - onset:.2f} s are used"


def check_span(onset: float, offset: float | None) -> None:
    """Raise ValueError for a span that is none.

    Example:
        >>> check_span(2.0, 1.0)
        Traceback (most recent call last):
        ...
        ValueError: offset must be above 2, got 1.0 - it must come after the onset; are they swapped?
    """
    number("onset", onset, at_least=0, hint="in seconds from the start of the file")
    if offset is not None:
        number("offset", offset, above=onset, hint="it must come after the onset; are they swapped?")


def meeting_point(seconds: float, source_rate: int, sample_rate: int) -> tuple[int, int]:
    """Return the last moment up to `seconds` that is a whole sample in both rates, as an index in each.

    The two grids meet every 1 / gcd seconds. Decoding a span must begin at such a moment, for its samples to lie
    where the samples of the whole file lie.

    Example:
        >>> meeting_point(1.003, 44100, 16000)      # they meet every 10 ms
        (44100, 16000)
    """
    meetings_per_second = math.gcd(source_rate, sample_rate)
    meeting = max(0, math.floor(seconds * meetings_per_second))
    return meeting * (source_rate // meetings_per_second), meeting * (sample_rate // meetings_per_second)
