"""Event, segment and clip counts once more: plain Python, exact fractions, one file and one class after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import permutations
from math import ceil

from oracles.metrics_cases import Lists, Row

Triple = tuple[int, int, int]  # true positives, false positives, false negatives


def event_counts(reference: Lists, predicted: Lists, label: str, *, offset_fraction: float) -> Triple:
    """Event-based counts of one class with collars of 200 ms."""
    hits = n_true = n_found = 0
    for name in reference:
        true_rows = [row for row in reference[name] if row[2] == label]
        found_rows = [row for row in predicted.get(name, []) if row[2] == label]
        hits += most_pairs([[_is_hit(row, other, offset_fraction) for other in found_rows] for row in true_rows])
        n_true += len(true_rows)
        n_found += len(found_rows)
    return hits, n_found - hits, n_true - hits


def segment_counts(reference: Lists, predicted: Lists, label: str, *, segment_seconds: float) -> Triple:
    """Segment-based counts of one class, from the set of segments that each side fills."""
    hits = wrong = missed = 0
    for name in reference:
        true_segments, found_segments = (
            filled(rows, label, segment_seconds) for rows in (reference[name], predicted.get(name, []))
        )
        hits += len(true_segments & found_segments)
        wrong += len(found_segments - true_segments)
        missed += len(true_segments - found_segments)
    return hits, wrong, missed


def clip_counts(reference: Lists, predicted: Lists, label: str) -> Triple:
    """Clip-level counts of one class."""
    both = [
        (any(row[2] == label for row in reference[name]), any(row[2] == label for row in predicted.get(name, [])))
        for name in reference
    ]
    return both.count((True, True)), both.count((False, True)), both.count((True, False))


def most_pairs(may_pair: Sequence[Sequence[bool]]) -> int:
    """The size of the largest matching: every row asks in turn, and a column's owner makes room if it can."""
    owner: dict[int, int] = {}

    def finds_place(row: int, asked: set[int]) -> bool:
        for column, may in enumerate(may_pair[row]):
            if may and column not in asked:
                asked.add(column)
                if column not in owner or finds_place(owner[column], asked):
                    owner[column] = row
                    return True
        return False

    return sum(finds_place(row, set()) for row in range(len(may_pair)))


def most_pairs_by_trying(may_pair: Sequence[Sequence[bool]]) -> int:
    """The same by trying every assignment; for a handful of items."""
    n_columns = max((len(row) for row in may_pair), default=0)
    places = [*range(n_columns), *[-1] * len(may_pair)]  # -1: this row gets nothing
    return max(
        sum(column >= 0 and may_pair[row][column] for row, column in enumerate(choice))
        for choice in permutations(places, len(may_pair))
    )


def _decimal(seconds: float) -> Fraction:
    """What the number was meant to be: rounded to 9 decimals, then exact."""
    return Fraction(f"{seconds:.9f}")


def _is_hit(true_row: Row, found_row: Row, offset_fraction: float) -> bool:
    """Whether two events of one class are the same event."""
    onset, offset, other_onset, other_offset = (_decimal(time) for time in (*true_row[:2], *found_row[:2]))
    collar, slack = Fraction(1, 5), Fraction(1, 2_000_000)
    offset_collar = max(collar, _decimal(offset_fraction) * (offset - onset))
    return abs(onset - other_onset) <= collar + slack and abs(offset - other_offset) <= offset_collar + slack


def filled(rows: Sequence[Row], label: str, segment_seconds: float) -> set[int]:
    """The numbers of the segments that events of one class reach into."""
    length, filled = _decimal(segment_seconds), set[int]()
    for onset, offset, name in rows:
        if name == label:
            # Where start and stop are one moment, these two conditions hold in the middle of a segment alone.
            start, stop = _decimal(onset), _decimal(offset)
            segments = range(int(start / length), int(stop / length) + 1)
            filled |= {number for number in segments if start < (number + 1) * length and stop > number * length}
    return filled


def segment_answers(
    reference: Lists, predicted: Lists, label: str, *, segment_seconds: float
) -> list[tuple[bool, bool]]:
    """Of every segment of every file: is the class in it, was it predicted. A file ends with the last event in it."""
    answers = []
    for name in reference:
        rows = (reference[name], predicted.get(name, []))
        end = max((_decimal(offset) for side in rows for _, offset, _ in side), default=Fraction(0))
        true_segments, found_segments = (filled(side, label, segment_seconds) for side in rows)
        n_segments = ceil(end / _decimal(segment_seconds))
        answers += [(number in true_segments, number in found_segments) for number in range(n_segments)]
    return answers


def accuracies(answers: Sequence[tuple[bool, bool]]) -> list[Fraction | None]:
    """Sensitivity, specificity, balanced accuracy and accuracy; None where there is nothing to divide by."""
    sensitivity = share(is_found for is_true, is_found in answers if is_true)
    specificity = share(not is_found for is_true, is_found in answers if not is_true)
    if sensitivity is None:  # only made up: nothing was found of it
        sensitivity = Fraction(0)
    balanced = None if specificity is None else (sensitivity + specificity) / 2
    return [sensitivity, specificity, balanced, share(is_true == is_found for is_true, is_found in answers)]


def share(answers: Iterable[bool]) -> Fraction | None:
    """How many of the answers are yes."""
    listed = list(answers)
    return Fraction(listed.count(True), len(listed)) if listed else None


def error_rates(counts: Triple) -> list[Fraction | None]:
    """Error, deletion and insertion rate of one class; None without a reference."""
    hits, wrong, missed = counts
    n_true = hits + missed
    return [Fraction(number, n_true) if n_true else None for number in (wrong + missed, missed, wrong)]


def mean(figures: Iterable[Fraction | None]) -> Fraction | None:
    """The mean of what is not None."""
    known = [figure for figure in figures if figure is not None]
    return sum(known, Fraction(0)) / len(known) if known else None
