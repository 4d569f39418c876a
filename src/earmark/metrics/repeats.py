"""Events that come twice or overlap another one of their class: often a mistake, and never a reason to stop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earmark.metrics.event_table import EventTable


@dataclass(frozen=True)
class Repeats:
    """How many events of one side are not the only ones where they are. All of them count.

    Args:
        n_duplicates: events with the file, class, onset and offset of an earlier one, to the nanosecond.
        n_overlapping: other events that begin before an earlier one of their class in their file has ended; touching
            is not overlapping.

    Example:
        >>> Repeats(n_duplicates=1).n_overlapping
        0
    """

    n_duplicates: int = 0
    n_overlapping: int = 0


def count_repeats(table: EventTable) -> Repeats:
    """Count the events that come twice or overlap.

    Example:
        >>> from earmark.metrics.encoding import event_tables
        >>> dogs = [(0.0, 2.0, "dog"), (0.0, 2.0, "dog"), (1.5, 3.0, "dog"), (3.0, 4.0, "dog"), (3.5, 4.0, "cat")]
        >>> count_repeats(event_tables({"a.wav": dogs}, {})[0])
        Repeats(n_duplicates=1, n_overlapping=1)
    """
    # Ranks instead of times, so that all files and classes fit on one line, one after the other.
    times, rank = np.unique([table.onset_nanoseconds, table.offset_nanoseconds], return_inverse=True)
    onset, offset = table.cell * (len(times) + 1) + rank.reshape(2, -1)
    order = np.lexsort((offset, onset))
    onset, offset = onset[order], offset[order]
    is_again = (onset[1:] == onset[:-1]) & (offset[1:] == offset[:-1])
    is_inside = onset[1:] < np.maximum.accumulate(offset)[:-1]
    return Repeats(int(is_again.sum()), int((is_inside & ~is_again).sum()))
