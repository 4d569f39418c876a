from __future__ import annotations

import numpy as np
import pytest

from earmark.events import Event
from earmark.metrics.encoding import event_tables, tag_tables

DECOMPOSED, COMPOSED = "Tu\u0308r.wav", "T\u00fcr.wav"

# Laws


def test_tables_hold_the_lists_row_by_row() -> None:
    reference = {"b.wav": [Event(0.5, 1.0, "dog"), Event(2.0, 3.5, "cat")], "a.wav": []}
    table, _, left_out = event_tables(reference, {"b.wav": [], "a.wav": []})
    assert table.files == ("b.wav", "a.wav")
    assert table.classes == ("cat", "dog")
    np.testing.assert_array_equal(table.class_index, [1, 0])
    np.testing.assert_array_equal(table.file_index, [0, 0])
    np.testing.assert_array_equal(table.onset_seconds, [0.5, 2.0])
    np.testing.assert_array_equal(table.offset_seconds, [1.0, 3.5])
    assert left_out.n_unpredicted_files == 0
    left_out.warn()  # nothing was left out: no warning


def test_two_spellings_of_a_name_are_one() -> None:
    reference, predicted, left_out = event_tables(
        {DECOMPOSED: [Event(0, 1, "Tu\u0308r")]}, {COMPOSED: [Event(0, 1, "T\u00fcr")]}
    )
    assert left_out.ignored_files == ()
    assert reference.files == (COMPOSED,)
    assert reference.classes == ("T\u00fcr",)
    np.testing.assert_array_equal(reference.cell, predicted.cell)
    tags, _, _ = tag_tables({DECOMPOSED: {"dog"}, COMPOSED: {"dog", "Tu\u0308r", "T\u00fcr"}}, {})
    assert len(tags.files) == 1
    assert len(tags) == 2  # dog and Tür


# Worked numbers


def test_other_files_are_left_out_and_counted() -> None:
    predicted = {"a.flac": [Event(0, 1, "dog"), Event(2, 3, "fox")], "a.wav": [Event(0, 1, "dog")], "c.wav": []}
    _, table, left_out = event_tables({"a.wav": [Event(0, 1, "dog")], "b.wav": []}, predicted)
    assert len(table) == 1
    assert table.classes == ("dog",)  # the fox is nowhere in what counts
    assert (left_out.ignored_files, left_out.n_ignored, left_out.n_unpredicted_files) == (("a.flac", "c.wav"), 2, 1)
    with pytest.warns(UserWarning, match=r"2 predicted files are not in the reference .* \(first: 'a.flac'\)"):
        left_out.warn()


def test_zero_length_events_are_dropped_and_counted_or_kept() -> None:
    reference = {"a.wav": [Event(0, 0, "dog"), Event(1, 1, "cat"), Event(1.0, 1.1, "cat")]}
    predicted = {"a.wav": [Event(2, 2, "dog"), Event(2.0, 2.0000000001, "dog")]}  # the second is shorter than 1 ns
    dropped = event_tables(reference, predicted)
    assert (len(dropped[0]), len(dropped[1])) == (1, 0)
    assert (dropped[2].n_zero_length_reference, dropped[2].n_zero_length_predicted) == (2, 2)
    assert dropped[0].classes == ("cat", "dog")  # the dog stays a class, and will be named as absent
    with pytest.warns(UserWarning, match="2 reference and 2 predicted events of zero length are left out"):
        dropped[2].warn()
    kept = event_tables(reference, predicted, zero_length="keep")
    assert (len(kept[0]), len(kept[1]), kept[2].n_zero_length_reference) == (3, 2, 0)


def test_given_classes_keep_their_order() -> None:
    table, _, _ = event_tables({"a.wav": [Event(0, 1, "dog")]}, {}, classes=["owl", "dog", "cat"])
    assert table.classes == ("owl", "dog", "cat")
    np.testing.assert_array_equal(table.class_index, [1])


def test_tags_count_their_left_outs_too() -> None:
    reference, predicted, left_out = tag_tables({"a": {"dog"}, "b": set()}, {"a": set(), "c": {"dog", "cat"}})
    assert (len(reference), len(predicted), reference.classes) == (1, 0, ("dog",))
    assert (left_out.ignored_files, left_out.n_ignored, left_out.n_unpredicted_files) == (("c",), 2, 1)


# Wrong input


def test_wrong_input_is_named() -> None:
    good = {"a.wav": [Event(0, 1, "dog")]}
    with pytest.raises(ValueError, match=r"unknown class 'dog' \(the classes are: cat, dogs\) - did you mean 'dogs'\?"):
        event_tables(good, good, classes=["cat", "dogs"])
    with pytest.raises(ValueError, match="classes must be different names, got 'dog' more than once"):
        event_tables(good, good, classes=["dog", "dog"])
    with pytest.raises(ValueError, match="zero_length must be one of drop, keep, got 'kept' - did you mean 'keep'"):
        event_tables(good, good, zero_length="kept")
    with pytest.raises(ValueError, match="unknown class 'cat'"):
        tag_tables({"a.wav": {"cat"}}, {}, classes=["dog"])
