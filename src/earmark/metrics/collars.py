"""When two events are the same event: collars around onset and offset, and all pairs within them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.checks import number
from earmark.metrics.event_table import EventTable, check_line, nanoseconds

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]  # rows of the reference, rows of the predictions; both (pairs,)


@dataclass(frozen=True)
class Collars:
    r"""How far apart two events may begin and end and still be the same event.

    .. math:: |t_\mathrm{on} - t'_\mathrm{on}| \le c_\mathrm{on}, \quad
              |t_\mathrm{off} - t'_\mathrm{off}| \le \max(c_\mathrm{off}, p \, (t_\mathrm{off} - t_\mathrm{on}))

    The larger of the two offset collars counts, with the length of the reference event.

    Args:
        onset_seconds: c_on.
        offset_seconds: c_off.
        offset_fraction: p, a part of the reference event's length.
        tolerance_seconds: differences are rounded to this before they are compared, so that events exactly one collar
            apart are the same event (1e-6, as in sed_scores_eval). 0 compares floating-point numbers as they are, as
            sed_eval does; then 1.2 - 1.0 is within 0.2 and 0.9 - 0.7 is not.

    Raises:
        ValueError: a negative or infinite value.

    Example:
        >>> Collars(offset_fraction=0.5).onset_seconds     # 200 ms for onsets, and half of the length for offsets
        0.2
    """

    onset_seconds: float = 0.2
    offset_seconds: float = 0.2
    offset_fraction: float = 0.2
    tolerance_seconds: float = 1e-6

    def __post_init__(self) -> None:
        for name in ("onset_seconds", "offset_seconds", "tolerance_seconds"):
            number(name, getattr(self, name), at_least=0, at_most=1e6, hint="in seconds, for instance 0.2")
        number("offset_fraction", self.offset_fraction, at_least=0, hint="a part of the length, for instance 0.2")


DCASE_COLLARS = Collars()  # 200 ms, and 20 % of the length for offsets


def within_collars(
    reference: EventTable,
    predicted: EventTable,
    reference_group: NDArray[np.int64],
    predicted_group: NDArray[np.int64],
    collars: Collars,
) -> Pairs:
    """All pairs of one group (a file, or a class in a file) that are within the collars of each other."""
    rows, columns = _near_onsets(
        reference, predicted, reference_group, predicted_group, collars.onset_seconds + collars.tolerance_seconds
    )
    if collars.tolerance_seconds == 0:
        is_hit = _is_hit_in_floating_point(reference, predicted, (rows, columns), collars)
    else:
        is_hit = _is_hit(reference, predicted, (rows, columns), collars)
    return rows[is_hit], columns[is_hit]


def _is_hit(reference: EventTable, predicted: EventTable, pairs: Pairs, collars: Collars) -> NDArray[np.bool_]:
    """Whether each pair is within the collars, in whole nanoseconds: (pairs,)."""
    rows, columns = pairs
    onset, offset = reference.onset_nanoseconds[rows], reference.offset_nanoseconds[rows]
    onset_collar, offset_collar, tolerance = nanoseconds(
        np.array([collars.onset_seconds, collars.offset_seconds, collars.tolerance_seconds])
    )
    # Rounding a difference to multiples of the tolerance lets it exceed the collar by half of one.
    slack = tolerance // 2
    longest = np.maximum(offset_collar, np.rint(collars.offset_fraction * (offset - onset)).astype(np.int64))
    return (np.abs(onset - predicted.onset_nanoseconds[columns]) <= onset_collar + slack) & (
        np.abs(offset - predicted.offset_nanoseconds[columns]) <= longest + slack
    )


def _is_hit_in_floating_point(
    reference: EventTable, predicted: EventTable, pairs: Pairs, collars: Collars
) -> NDArray[np.bool_]:
    """Whether each pair is within the collars, to the last bit as sed_eval decides it: (pairs,)."""
    rows, columns = pairs
    onset, offset = reference.onset_seconds[rows], reference.offset_seconds[rows]
    longest = np.maximum(collars.offset_seconds, collars.offset_fraction * (offset - onset))
    return (np.abs(onset - predicted.onset_seconds[columns]) <= collars.onset_seconds) & (
        np.abs(offset - predicted.offset_seconds[columns]) <= longest
    )


def _near_onsets(
    reference: EventTable,
    predicted: EventTable,
    reference_group: NDArray[np.int64],
    predicted_group: NDArray[np.int64],
    reach_seconds: float,
) -> Pairs:
    """All pairs of one group whose onsets are within reach, and a few that are up to 3 ms farther apart.

    One line holds all groups one after the other, with gaps wider than the reach, and one search per event finds its
    neighbours. Milliseconds are enough here, and leave room for a million recordings of a day in 500 classes.
    """
    milliseconds = [(side.onset_seconds * 1e3).astype(np.int64) for side in (reference, predicted)]
    reach = int(reach_seconds * 1e3) + 2
    group_length = max((int(times.max()) for times in milliseconds if len(times)), default=0) + reach + 1
    check_line(reference, group_length)
    places, candidates = (
        group * group_length + times
        for group, times in zip((reference_group, predicted_group), milliseconds, strict=True)
    )
    # Both sorted: the search goes along the line once, instead of starting anew for every event. Files mostly come one
    # after the other already, which the stable sort makes use of: it takes a fifth of the time.
    place_order, candidate_order = (np.argsort(line, kind="stable") for line in (places, candidates))
    places, candidates = places[place_order], candidates[candidate_order]
    first = _n_below(candidates, places - reach)
    n_near = _n_below(candidates, places + reach + 1) - first
    nth = np.arange(n_near.sum()) - np.repeat(np.cumsum(n_near) - n_near, n_near)  # 0, 1, 2 ... for each event
    return np.repeat(place_order, n_near), candidate_order[np.repeat(first, n_near) + nth]


def _n_below(line: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of `line` are below each place, both sorted: (places,).

    What `np.searchsorted` does, but by merging the two, which a stable sort of sorted parts is: half the time for many.
    """
    # Of equals the place comes first, so that it is not above itself.
    is_of_line = np.argsort(np.concatenate([places, line]), kind="stable") >= len(places)
    return np.cumsum(is_of_line, dtype=np.int64)[~is_of_line]
