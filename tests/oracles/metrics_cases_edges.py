"""The rarer traps, whose figures are the tool's and not always ours: every case says what the tool makes of it."""

from __future__ import annotations

import unicodedata

from oracles.metrics_cases import CLASSES, Case

DOG, HORN, SPEECH, SIREN = CLASSES


def edge_cases() -> list[Case]:
    """Cases for which the tests know how our answer differs from the tool's, if it does."""
    return [*lists_that_differ_in_names(), *lists_with_odd_classes(), *times_on_borders()]


def every_millisecond_pair() -> Case:
    """9,801 pairs of events exactly 200 ms apart, as a file with three decimals holds them; one pair per file.

    Stored event-based only: the tool needs minutes for the tags of so many files.
    """
    starts = range(9801)
    return Case(
        "200 ms apart on every millisecond",
        {f"{start}.wav": [(start / 1000, 20.0, DOG)] for start in starts},
        {f"{start}.wav": [((start + 200) / 1000, 20.0, DOG)] for start in starts},
        segment_seconds=10.0,
    )


def lists_that_differ_in_names() -> list[Case]:
    """File names on one side only, or written in another way."""
    composed = "Bär.wav"
    return [
        Case(
            "predictions in a file without reference",  # the usual loop never looks at them
            {"a.wav": [(0.5, 1.5, DOG)]},
            {"a.wav": [(0.5, 1.5, DOG)], "b.wav": [(0.5, 1.5, DOG), (2.0, 3.0, HORN)]},
        ),
        Case(
            "the same predictions in a file known to be empty",
            {"a.wav": [(0.5, 1.5, DOG)], "b.wav": []},
            {"a.wav": [(0.5, 1.5, DOG)], "b.wav": [(0.5, 1.5, DOG), (2.0, 3.0, HORN)]},
        ),
        Case(
            "a reference without predictions", {"a.wav": [(0.5, 1.5, DOG)], "b.wav": [(1.0, 2.0, DOG)]}, {"a.wav": []}
        ),
        Case(
            "another suffix is another file",
            {"a.wav": [(0.5, 1.5, DOG)], "a.flac": [(3.0, 4.0, DOG)]},
            {"a.wav": [(3.0, 4.0, DOG)], "a.flac": [(0.5, 1.5, DOG)]},
        ),
        Case(
            "two ways to write an umlaut",  # two files for the tool, one for us
            {unicodedata.normalize("NFC", composed): [(0.5, 1.5, DOG)]},
            {unicodedata.normalize("NFD", composed): [(0.5, 1.5, DOG)]},
        ),
    ]


def lists_with_odd_classes() -> list[Case]:
    """Classes that one side or the list of classes lacks; commas in names; tags of their own."""
    return [
        Case(
            "labels outside the class list",  # count overall, not class-wise; segments raise
            {"a.wav": [(0.5, 1.5, DOG), (2.0, 3.0, SIREN)]},
            {"a.wav": [(0.5, 1.5, DOG), (2.0, 3.0, SIREN), (5.0, 6.0, SPEECH)]},
            classes=(DOG, HORN),
        ),
        Case(
            "a class that is on neither side",
            {"a.wav": [(0.5, 1.5, DOG), (4.0, 5.0, HORN)]},
            {"a.wav": [(0.5, 1.5, DOG)]},
            classes=(DOG, HORN, SPEECH),
        ),
        Case(
            "one class missed, one made up, one found",
            {"a.wav": [(0.5, 1.5, DOG), (4.0, 5.0, HORN)], "b.wav": [(0.5, 1.5, DOG)]},
            {"a.wav": [(0.5, 1.5, DOG), (7.0, 8.0, SPEECH)], "b.wav": [(1.5, 2.5, DOG)]},
        ),
        Case(
            "a comma in every class",
            {"a.wav": [(0.5, 1.5, HORN), (0.5, 1.5, SIREN)]},
            {"a.wav": [(0.6, 1.6, SIREN), (3.0, 4.0, HORN)]},
        ),
        Case(
            "weak tags that the events contradict",
            {"a.wav": [(0.5, 1.5, DOG)], "b.wav": [], "c.wav": [(1.0, 2.0, HORN)]},
            {"a.wav": [(0.5, 1.5, DOG)], "b.wav": [(1.0, 2.0, DOG)], "c.wav": []},
            tags=(
                {"a.wav": [DOG, HORN], "b.wav": [DOG], "c.wav": []},
                {"a.wav": [DOG], "b.wav": [DOG, HORN], "c.wav": [HORN]},
            ),
            classes=(DOG, HORN),
        ),
    ]


def times_on_borders() -> list[Case]:
    """Times that one more or one less bit puts on the other side of a border."""
    return [
        Case(
            "zero length on a border of segments and inside one",
            {"a.wav": [(2.0, 2.0, DOG), (3.5, 3.5, DOG)], "b.wav": [(0.0, 0.0, HORN), (4.0, 5.0, HORN)]},
            {"a.wav": [(2.0, 2.0, DOG), (3.4, 3.4, DOG)], "b.wav": [(4.0, 5.0, HORN)]},
        ),
        Case(
            "label present, never heard",  # a row 0-0
            {"a.wav": [(0.0, 0.0, DOG)], "b.wav": [(1.0, 3.0, DOG)]},
            {"a.wav": [(0.0, 10.0, DOG)], "b.wav": [(1.0, 3.0, DOG)]},
        ),
        Case(
            "the offset collar is a maximum",  # 20 % of 10 s on the long one, 200 ms on the short one
            {"a.wav": [(0.0, 10.0, DOG), (0.0, 0.5, HORN)]},
            {"a.wav": [(0.0, 8.0, DOG), (0.0, 0.7, HORN)]},
        ),
        Case(
            "one bit beyond a whole second",
            {"a.wav": [(0.0, 3.0000000000000004, DOG)], "b.wav": [(0.9999999999999999, 2.0, DOG)]},
            {"a.wav": [(0.0, 3.0, DOG)], "b.wav": [(1.0, 2.0, DOG)]},
        ),
        Case(
            "length is the largest offset, not the duration",
            {"a.wav": [(0.0, 1.0, DOG)], "b.wav": []},
            {"a.wav": [(4.0, 5.0, DOG)], "b.wav": [(0.0, 2.2, DOG)]},
        ),
        Case(
            "the same with durations",
            {"a.wav": [(0.0, 1.0, DOG)], "b.wav": []},
            {"a.wav": [(4.0, 5.0, DOG)], "b.wav": [(0.0, 2.2, DOG)]},
            durations={"a.wav": 10.0, "b.wav": 9.3},
        ),
    ]
