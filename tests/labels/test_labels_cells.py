from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from earmark.labels.cells import clean_filename, clean_label, join_labels, seconds, span, split_labels

# Laws


def test_any_set_of_labels_survives_a_cell(rng: np.random.Generator) -> None:
    pieces = ["Dog", "Air horn", ", ", ",", "'", 'say "hi" now', "Käfer", "犬", ";", " "]
    for _ in range(500):
        labels = set()
        for _ in range(rng.integers(0, 5)):
            name = "x".join(str(piece) for piece in rng.choice(pieces, size=rng.integers(1, 4)))
            labels.add(clean_label(f"a{name}"))
        assert split_labels(join_labels(frozenset(labels))) == labels


def test_cleaning_a_clean_filename_changes_nothing() -> None:
    for text in ("./a/./b.wav", ".\\a\\b.wav", "/data//a.wav", " a b.wav ", "../a.wav", "Ka\u0308fer.wav"):
        assert clean_filename(clean_filename(text)) == clean_filename(text)


def test_both_spellings_of_an_umlaut_are_one_name() -> None:
    for composed in ("Käfer.wav", "été/œuvre.flac", "한국.wav"):
        decomposed = unicodedata.normalize("NFD", composed)
        assert decomposed != composed or composed.isascii()
        assert clean_filename(decomposed) == clean_filename(composed) == composed
        assert clean_label(decomposed) == composed


# Worked numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.wav", "a.wav"),
        (" a.wav ", "a.wav"),
        ("./a.wav", "a.wav"),
        (".\\site 3\\a.wav", "site 3/a.wav"),
        ("site//3/./a.wav", "site/3/a.wav"),
        ("../a.wav", "../a.wav"),
        ("../../a.wav", "../../a.wav"),
        ("dogs/../a.wav", "a.wav"),
        ("/day/dogs/../cats/./a..wav", "/day/cats/a..wav"),
        ("/data/a.wav", "/data/a.wav"),
        ("\\\\server\\share\\a.wav", "//server/share/a.wav"),
        ("a..wav", "a..wav"),
        (".a./b.wav", ".a./b.wav"),
    ],
)
def test_filename(text: str, expected: str) -> None:
    assert clean_filename(text) == expected


def test_the_extension_is_part_of_the_name() -> None:
    assert clean_filename("a.wav") != clean_filename("a.flac")
    assert clean_filename("a.wav") != clean_filename("a.WAV")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("", set()),
        ("  ", set()),
        ("Dog", {"Dog"}),
        ("Dog,Cat", {"Dog", "Cat"}),
        (" Dog , Cat ", {"Dog", "Cat"}),
        ("Dog,Dog", {"Dog"}),
        ('"Air horn, truck horn"', {"Air horn, truck horn"}),
        ('"Air horn, truck horn",Car', {"Air horn, truck horn", "Car"}),
        ('Car, "Air horn, truck horn"', {"Air horn, truck horn", "Car"}),
        ('12" vinyl,Car', {'12" vinyl', "Car"}),
    ],
)
def test_lists_of_labels(cell: str, expected: set[str]) -> None:
    assert split_labels(cell) == expected


def test_labels_are_joined_in_order_with_quotes_only_where_needed() -> None:
    assert join_labels(frozenset({"Car", "Air horn, truck horn", "Bus"})) == '"Air horn, truck horn",Bus,Car'
    assert join_labels(frozenset({'12" vinyl', "Car"})) == '12" vinyl,Car'
    assert join_labels(frozenset({'12", old', "b"})) == '"12"", old",b'


@pytest.mark.parametrize(("text", "value"), [("0", 0.0), ("12.5", 12.5), ("1e-3", 0.001), (" 3 ", 3.0), ("1.", 1.0)])
def test_seconds(text: str, value: float) -> None:
    assert seconds("onset", text) == value


def test_a_span_may_have_no_length() -> None:
    assert span("0", "0") == (0.0, 0.0)


# Wrong input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the filename is empty"),
        ("a\x07.wav", "holds a tab, a line end or another control character"),
        ("a\n.wav", "holds a tab, a line end or another control character"),
        ("m\udcff.wav", r"the filename 'm\\udcff\.wav' is not UTF-8 and no table can hold it - rename it"),
        ("a\u2028.wav", "holds a tab, a line end or another control character"),
        ('"a.wav"', "is it quoted twice"),
    ],
)
def test_filenames_no_table_can_hold(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        clean_filename(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" ", "a label is empty - is there a comma too many"),
        ("Dog\tCat", "holds a tab"),
        ("Dog\nCat", "a line end"),
        ('"Dog', "begins with a quotation mark"),
    ],
)
def test_labels_no_table_can_hold(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        clean_label(text)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("Dog,", "a label is empty"),
        ("Dog,,Cat", "a label is empty"),
        ('"Air horn, truck horn', "the quotes in .* do not match"),
        ('"Air horn, truck horn" ,Car', "the quotes in .* do not match"),
        ('"""Dog"""', "begins with a quotation mark"),
    ],
)
def test_lists_that_are_not_lists(cell: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        split_labels(cell)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,5", r"onset must be a number of seconds, got '1,5' - a decimal comma\? write 1.5"),
        ("1:23.5", r"is it in seconds\? 1:23.5 is written 83.5"),
        ("500 ms", r"is it in seconds\?"),
        ("1_000", r"is it in seconds\?"),
        ("Dog", r"got 'Dog' - is this the right column\?"),
        ("nan", "must be a number of seconds, got 'nan'"),
        ("inf", "must be a number of seconds, got 'inf'"),
        ("-0.5", "onset must be at least 0, got -0.5"),
    ],
)
def test_what_is_not_a_time(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        seconds("onset", text)


@pytest.mark.parametrize(
    ("onset", "offset", "message"),
    [
        ("12.5", "3.0", r"onset 12.5 is after offset 3.0 - are the columns swapped\?"),
        ("1", "", "onset is given but offset is empty"),
        ("", "1", "offset is given but onset is empty"),
        ("1", "2,5", "offset must be a number of seconds, got '2,5'"),
    ],
)
def test_what_is_not_a_span(onset: str, offset: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        span(onset, offset)
