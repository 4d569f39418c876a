from __future__ import annotations

import numpy as np
import pytest
from oracles.metrics_cases import Case, clips_case, crowded_case
from oracles.metrics_stored import as_events

from earmark.metrics.encoding import event_tables
from earmark.metrics.event_table import EventTable
from earmark.metrics.repeats import Repeats, count_repeats


def repeats(*rows: tuple[float, float, str], more: dict[str, list[tuple[float, float, str]]] | None = None) -> Repeats:
    return count_repeats(event_tables({"a": list(rows)} | (more or {}), {}, zero_length="keep")[0])


# Laws


@pytest.mark.parametrize("case", [*map(crowded_case, range(740, 750)), *map(clips_case, range(130, 135))], ids=str)
def test_counts_are_those_of_looking_at_every_pair(case: Case) -> None:
    n_duplicates = n_overlapping = 0
    for rows in case.reference.values():
        by_time = sorted(rows)
        for place, row in enumerate(by_time):
            before = [other for other in by_time[:place] if other[2] == row[2]]
            if row in before:
                n_duplicates += 1
            elif any(other[1] > row[0] for other in before):
                n_overlapping += 1
    table = event_tables(as_events(case.reference), {}, zero_length="keep")[0]
    assert count_repeats(table) == Repeats(n_duplicates, n_overlapping)


def test_the_order_of_rows_changes_nothing(rng: np.random.Generator) -> None:
    table = event_tables(as_events(crowded_case(751).reference), {}, zero_length="keep")[0]
    order = rng.permutation(len(table))
    shuffled = EventTable(
        table.files,
        table.classes,
        table.file_index[order],
        table.class_index[order],
        table.onset_seconds[order],
        table.offset_seconds[order],
    )
    assert count_repeats(shuffled) == count_repeats(table)


# Worked numbers


def test_only_events_of_one_class_in_one_file_overlap() -> None:
    assert repeats((0, 2, "dog"), (1, 3, "cat"), more={"b": [(1, 3, "dog")]}) == Repeats()
    assert repeats((0, 2, "dog"), (1, 3, "dog")) == Repeats(n_overlapping=1)
    assert repeats((0, 9, "dog"), (1, 2, "dog"), (5, 6, "dog")) == Repeats(n_overlapping=2)


def test_touching_events_do_not_overlap() -> None:
    assert repeats((0, 2, "dog"), (2, 3, "dog")) == Repeats()
    assert repeats((0.1, 0.3, "dog"), (0.1 + 0.2, 1, "dog")) == Repeats()  # 0.30000000000000004 is the same nanosecond
    assert repeats((0, 0.1 + 0.2, "dog"), (0.3, 1, "dog")) == Repeats()


def test_the_same_to_the_nanosecond_is_the_same() -> None:
    assert repeats((0.1 + 0.2, 1, "dog"), (0.3, 1, "dog")) == Repeats(n_duplicates=1)
    assert repeats(*[(0, 1, "dog")] * 3) == Repeats(n_duplicates=2)
    assert repeats((0, 0, "dog"), (0, 0, "dog")) == Repeats(n_duplicates=1)


def test_no_event_is_no_repeat() -> None:
    assert repeats() == Repeats()


def test_late_events_in_many_files_still_fit() -> None:
    files = tuple(str(number) for number in range(1_000_000))
    rows = np.array([999_999, 999_999])
    table = EventTable(files, ("dog",), rows, rows * 0, np.array([1e9 - 2, 1e9 - 1]), np.array([1e9, 1e9]))
    assert count_repeats(table) == Repeats(n_overlapping=1)
