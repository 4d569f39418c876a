from __future__ import annotations

import numpy as np
import pytest

from earmark.metrics.event_table import EventTable, TagTable, check_line, check_same_grid, nanoseconds, one_form


def table_of(
    *rows: tuple[int, int, float, float],
    files: tuple[str, ...] = ("a.wav", "b.wav"),
    classes: tuple[str, ...] = ("cat", "dog"),
) -> EventTable:
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return EventTable(
        files,
        classes,
        columns[0].astype(np.int64),
        columns[1].astype(np.int64),
        columns[2].astype(np.float64),
        columns[3].astype(np.float64),
    )


# Laws


def test_nanoseconds_undo_what_floating_point_adds() -> None:
    sums = np.append(0.0, np.cumsum(np.full(999, 0.1)))  # 0.30000000000000004, 2.9999999999999996, 5.999999999999998
    np.testing.assert_array_equal(nanoseconds(sums), np.arange(1000) * 100_000_000)
    day = 86_400 + sums
    np.testing.assert_array_equal(nanoseconds(day) - nanoseconds(np.array(86_400.0)), np.arange(1000) * 100_000_000)


def test_tags_name_every_class_of_a_file_once() -> None:
    tags = table_of((1, 1, 0, 1), (0, 1, 0, 1), (1, 1, 2, 3), (1, 0, 5, 6)).tags()
    assert list(zip(tags.file_index.tolist(), tags.class_index.tolist(), strict=True)) == [(0, 1), (1, 0), (1, 1)]


# Worked numbers


def test_cells_number_files_and_classes() -> None:
    np.testing.assert_array_equal(table_of((0, 1, 0, 1), (1, 0, 0, 1), (1, 1, 0, 1)).cell, [1, 2, 3])


def test_rows_keeps_what_is_wanted() -> None:
    table = table_of((0, 1, 0, 1), (1, 0, 2, 3)).rows(np.array([False, True]))
    assert len(table) == 1
    assert (table.onset_nanoseconds[0], table.offset_nanoseconds[0]) == (2_000_000_000, 3_000_000_000)


def test_one_form_joins_the_two_ways_to_write_an_umlaut() -> None:
    assert one_form("Tu\u0308r") == "T\u00fcr" == one_form("T\u00fcr")


# Wrong input


@pytest.mark.parametrize(
    ("onset", "offset", "message"),
    [
        (5.0, 3.0, r"b.wav: 'dog': onset 5.0 is after offset 3.0 - are the columns swapped\?"),
        (-0.5, 3.0, "b.wav: 'dog': onset must be at least 0, got -0.5"),
        (float("nan"), 3.0, "b.wav: 'dog': onset and offset must be finite, got nan and 3.0"),
        (1.0, float("inf"), "b.wav: 'dog': onset and offset must be finite, got 1.0 and inf"),
        (0.0, 2e9, r"b.wav: 'dog': offset must be at most 1e\+09, got 2000000000.0 - are the times in seconds\?"),
    ],
)
def test_impossible_times_are_named(onset: float, offset: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        table_of((0, 0, 0.0, 1.0), (1, 1, onset, offset))


def test_indices_outside_the_lists_are_refused() -> None:
    with pytest.raises(ValueError, match="file_index must be from 0 to 1, got 0 to 2"):
        table_of((0, 0, 0, 1), (2, 0, 0, 1))
    with pytest.raises(ValueError, match="class_index must be from 0 to 1, got -1 to 0"):
        table_of((0, -1, 0, 1), (0, 0, 0, 1))
    with pytest.raises(ValueError, match="every event must have a file, a class, an onset and an offset, got 1, 1, 2"):
        EventTable(("a",), ("dog",), np.array([0]), np.array([0]), np.array([0.0, 1.0]), np.array([1.0]))


def test_tables_of_other_files_or_classes_cannot_be_compared() -> None:
    one = table_of((0, 0, 0, 1))
    with pytest.raises(ValueError, match="reference and predicted must have the same files in the same order"):
        check_same_grid(one, table_of((0, 0, 0, 1), files=("b.wav", "a.wav")))
    with pytest.raises(ValueError, match="must have the same classes in the same order"):
        check_same_grid(one, table_of((0, 0, 0, 1), classes=("dog", "cat")))


def test_too_long_a_line_is_refused_rather_than_wrapped_around() -> None:
    none = np.array([], dtype=np.int64)
    check_line(TagTable(("a",), ("dog",), none, none), 2**62)
    with pytest.raises(ValueError, match=r"2 files in 1 classes with events as late as these do not fit"):
        check_line(TagTable(("a", "b"), ("dog",), none, none), 2**62)
