"""Curves once more: every threshold decoded by itself, in plain Python with exact fractions, clip after clip.

Nothing is shared between thresholds here, which is what makes it slow, and what makes it another way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby, pairwise
from math import ceil, floor, inf, sqrt

from oracles.curves_cases import Row, SmallCase
from oracles.metrics_slow import most_pairs

Span = tuple[Fraction, Fraction]
Pair = tuple[int, int]  # hits and false alarms
MICROSECOND = Fraction(1, 1_000_000)


def thresholds(case: SmallCase, label: str) -> list[float]:
    """Every threshold that can make a difference for a class: infinity and all its scores, falling."""
    column = case.classes.index(label)
    return [inf, *sorted({frame[column] for frames in case.scores.values() for frame in frames}, reverse=True)]


def detections(case: SmallCase, name: str, label: str, threshold: float) -> list[Span]:
    """What is found in a clip: the longest runs of frames whose scores are at least the threshold."""
    column, spans, place = case.classes.index(label), [], 0
    for is_found, frames in groupby(case.scores[name], key=lambda frame: frame[column] >= threshold):
        end = place + len(list(frames))
        if is_found:
            spans.append((_decimal(case.edges[name][place]), _decimal(case.edges[name][end])))
        place = end
    return spans


def truth(case: SmallCase, name: str, label: str) -> list[Span]:
    """The reference events of a class in a clip; overlapping and touching ones are one."""
    return merged([row for row in case.reference[name] if row[2] == label])


def merged(rows: Sequence[Row], *, as_time: Callable[[float], Fraction] | None = None) -> list[Span]:
    """Rows joined where they overlap or touch, sorted; times in nanoseconds, or as `as_time` says."""
    as_time = _decimal if as_time is None else as_time
    spans: list[Span] = []
    for onset, offset in sorted((as_time(row[0]), as_time(row[1])) for row in rows):
        if spans and onset <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], offset))
        else:
            spans.append((onset, offset))
    return spans


def collar_counts(
    case: SmallCase, label: str, threshold: float, *, onset: str = "0.2", offset: str = "0.2", fraction: str = "0.2"
) -> Pair:
    """Event-based counts with collars, which are decimal numbers as text."""
    hits = n_found = 0
    for name in case.reference:
        true, found = truth(case, name, label), detections(case, name, label, threshold)
        hits += most_pairs([[_is_near(one, other, onset, offset, fraction) for other in found] for one in true])
        n_found += len(found)
    return hits, n_found - hits


def _is_near(true: Span, found: Span, onset: str, offset: str, fraction: str) -> bool:
    longest = max(Fraction(offset), Fraction(fraction) * (true[1] - true[0]))
    slack = MICROSECOND / 2
    return abs(true[0] - found[0]) <= Fraction(onset) + slack and abs(true[1] - found[1]) <= longest + slack


def segment_counts(case: SmallCase, label: str, threshold: float, *, seconds: str) -> Pair:
    """Segment-based counts: a segment is found when any frame that reaches into it is."""
    hits = wrong = 0
    for name in case.reference:
        inside = [filled(truth(case, name, label), seconds), found_segments(case, name, label, threshold, seconds)]
        hits += len(inside[0] & inside[1])
        wrong += len(inside[1] - inside[0])
    return hits, wrong


def found_segments(case: SmallCase, name: str, label: str, threshold: float, seconds: str) -> set[int]:
    """Which segments of a clip are found; without any frame they score 0, or the lowest score there is below 0."""
    lowest = min([0.0, *(score for frames in case.scores.values() for frame in frames for score in frame)])
    found = filled(detections(case, name, label, threshold), seconds)
    if lowest >= threshold:
        everything = [(_decimal(case.edges[name][0]), _decimal(case.edges[name][-1]))]
        found |= set(range(n_segments(case, name, seconds))) - filled(everything, seconds)
    return found


def n_segments(case: SmallCase, name: str, seconds: str) -> int:
    """Segments of a clip, which ends with its last frame or event."""
    end = max([case.edges[name][-1], *(row[1] for row in case.reference[name])])
    return max(0, ceil((_decimal(end) - MICROSECOND / 2) / Fraction(seconds)))


def filled(spans: Sequence[Span], seconds: str) -> set[int]:
    """The segments that spans reach into by more than half a microsecond."""
    length, slack = Fraction(seconds), MICROSECOND / 2
    return {
        number
        for onset, offset in spans
        for number in range(floor(onset / length), ceil(offset / length))
        if onset + slack < (number + 1) * length and offset - slack > number * length
    }


def clip_counts(case: SmallCase, label: str, threshold: float) -> Pair:
    """Clip-level counts of clips with frames."""
    both = [
        (any(row[2] == label for row in rows), bool(detections(case, name, label, threshold)))
        for name, rows in case.reference.items()
    ]
    return both.count((True, True)), both.count((False, True))


def intersection_counts(
    case: SmallCase, label: str, threshold: float, *, dtc: str, gtc: str, cttc: str | None = None
) -> tuple[int, int, dict[str, int]]:
    """Intersection-based hits, false alarms, and cross triggers by other class; criteria are decimal numbers."""
    hits = wrong = 0
    crossed = {other: 0 for other in case.classes if other != label}
    for name in case.reference:
        true, found = truth(case, name, label), detections(case, name, label, threshold)
        relevant = [one for one in found if true and _is_enough(_shared([one], true), _length(one), dtc)]
        hits += sum(_is_enough(_shared([one], relevant), _length(one), gtc) for one in true)
        wrong += len(found) - len(relevant)
        for other in crossed if cttc is not None else ():
            others = truth(case, name, other)
            crossed[other] += sum(
                _is_enough(_shared([one], others), _length(one), str(cttc))
                for one in found
                if one not in relevant and others
            )
    return hits, wrong, crossed


def _length(span: Span) -> Fraction:
    return span[1] - span[0]


def _shared(spans: Sequence[Span], others: Sequence[Span]) -> Fraction:
    """How long two sets of spans overlap."""
    return sum((max(Fraction(0), min(a[1], b[1]) - max(a[0], b[0])) for a in spans for b in others), start=Fraction(0))


def _is_enough(shared: Fraction, length: Fraction, part: str) -> bool:
    """In whole microseconds."""
    return round(shared / MICROSECOND) >= round(Fraction(part) * length / MICROSECOND)


def roc(
    case: SmallCase,
    label: str,
    at: Sequence[float],
    *,
    dtc: str,
    gtc: str,
    cttc: str | None = None,
    alpha_ct: str = "0",
    divisor: int | None = None,
) -> list[tuple[Fraction, Fraction]]:
    """Effective false alarms per second and true positive rate of a class at some thresholds."""
    ends = {
        name: max([case.edges[name][-1], *(row[1] for row in rows if row[0] < row[1])])
        for name, rows in case.reference.items()
    }
    seconds = sum((Fraction(end) for end in ends.values()), start=Fraction(0))
    class_seconds = {other: _seconds(case, other) for other in case.classes}
    n_true = sum(len(truth(case, name, label)) for name in case.reference)
    n_others = max(1, len(case.classes) - 1)
    points = []
    for threshold in at:
        hits, wrong, crossed = intersection_counts(case, label, threshold, dtc=dtc, gtc=gtc, cttc=cttc)
        cross_rate = sum((n / class_seconds[other] for other, n in crossed.items() if n), start=Fraction(0))
        rate = wrong / seconds + Fraction(alpha_ct) * cross_rate / (n_others if divisor is None else divisor)
        points.append((rate, Fraction(hits, n_true)))
    return points


def _seconds(case: SmallCase, label: str) -> Fraction:
    """How long the events of a class are together, not rounded."""
    rows = [[row for row in rows if row[2] == label] for rows in case.reference.values()]
    return sum((_length(span) for one in rows for span in merged(one, as_time=Fraction)), start=Fraction(0))


def psds(
    rocs: Sequence[Sequence[tuple[Fraction, Fraction]]], *, alpha_st: float, max_rate: float, unit_seconds: int
) -> float:
    """The area under mean minus deviations of the classes' best true positive rates, rectangle after rectangle."""
    limit = Fraction(max_rate) / unit_seconds
    rates = sorted({rate for points in rocs for rate, _ in points if rate <= limit} | {Fraction(0), limit})
    total = 0.0
    for begin, end in pairwise(rates):
        heights = [max(hit_rate for rate, hit_rate in points if rate <= begin) for points in rocs]
        mean = sum(heights, start=Fraction(0)) / len(heights)
        variance = sum(((one - mean) ** 2 for one in heights), start=Fraction(0)) / len(heights)
        total += max(0.0, float(mean) - alpha_st * sqrt(variance)) * float((end - begin) / limit)
    return total


def as_steps(points: Sequence[tuple[float, Pair]]) -> Callable[[float], Pair]:
    """Counts at a threshold, from (score, counts) with falling scores: those of the lowest score that reaches it."""
    return lambda threshold: [counts for score, counts in points if score >= threshold][-1]


def _decimal(seconds: float) -> Fraction:
    """A time as what it was meant to be: rounded to nanoseconds, then exact."""
    return Fraction(f"{seconds:.9f}")


def runs_at(is_on: Sequence[bool], begins: Sequence[bool]) -> list[tuple[int, int]]:
    """The longest runs of frames that are on, first and end, none of which crosses the beginning of a clip."""
    runs: list[list[int]] = []
    for frame, (on, new) in enumerate(zip(is_on, begins, strict=True)):
        if on and runs and runs[-1][1] == frame and not new:
            runs[-1][1] = frame + 1
        elif on:
            runs.append([frame, frame + 1])
    return [(first, end) for first, end in runs]
