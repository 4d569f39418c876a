"""What becomes of the bad input that docs/metrics.md names: an error that says where, or a caution that counts.

From files, because that is where it comes from; the same in arrays and mappings is in test_inputs.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from earmark.events import Event
from earmark.metrics.cautions import cautions
from earmark.metrics.evaluation import Evaluation, evaluate
from earmark.metrics.event import event_counts
from earmark.metrics.report import as_json

HEADER = "filename\tonset\toffset\tevent_label\n"
GOOD = f"{HEADER}a.wav\t1.0\t2.0\tDog\na.wav\t4.0\t5.0\tAir horn, truck horn\nb.wav\t\t\t\n"


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a table, as text or as bytes, and return its path."""

    def written(content: str | bytes, name: str = "predicted.tsv") -> Path:
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return written


def against_itself(path: Path) -> Evaluation:
    """Nothing may be lost on the way: two events, two classes, two files."""
    result = evaluate(path, path)
    assert result.event.classes == ("Air horn, truck horn", "Dog")
    assert (result.n_files, result.event.true_positives.tolist()) == (2, [1, 1])
    return result


# What is the same in another dress


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        b"\xef\xbb\xbf" + GOOD.encode(),  # a byte order mark, as Windows programs write it
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        GOOD.rstrip("\n"),
        GOOD + "\n\n",
        GOOD.replace("Air horn, truck horn", '"Air horn, truck horn"'),
        GOOD.replace("Air horn, truck horn", '"Air horn, truck horn"').replace("\t", ","),  # CSV
    ],
    ids=["plain", "BOM", "CRLF", "CR", "no last line end", "blank lines", "quoted", "CSV"],
)
def test_byte_order_marks_line_ends_and_commas_in_names_change_nothing(write: Write, content: str | bytes) -> None:
    assert cautions(against_itself(write(content))) == []


def test_composed_and_decomposed_names_are_one(write: Write) -> None:
    composed = write(f"{HEADER}T\u00fcr.wav\t1.0\t2.0\tT\u00fcr\n", "composed.tsv")
    decomposed = write(f"{HEADER}Tu\u0308r.wav\t1.0\t2.0\tTu\u0308r\n", "decomposed.tsv")
    result = evaluate(composed, decomposed, classes=["Tu\u0308r"])
    assert (result.event.classes, result.event.true_positives.tolist()) == (("T\u00fcr",), [1])
    assert cautions(result) == []


# What is counted and told


def test_files_on_one_side_alone_are_told(write: Write) -> None:
    reference = write(GOOD, "reference.tsv")
    predicted = write(f"{HEADER}b.wav\t1.0\t2.0\tDog\nc.wav\t1.0\t2.0\tDog\nc.wav\t3.0\t4.0\tDog\n")
    result = evaluate(reference, predicted)
    assert result.event.false_positives.tolist() == [0, 1]  # in b, where there is none; not in c, where nobody listened
    told = cautions(result)
    assert "1 predicted file is not in the reference: 2 events ignored (first: c.wav)" in told
    assert "1 reference file without any predicted row: nothing was found there" in told
    everything = as_json(result)
    assert (everything["ignored_files"], everything["n_ignored_events"]) == (["c.wav"], 2)
    assert everything["n_unpredicted_files"] == 1


def test_duplicate_and_overlapping_rows_count_and_are_told(write: Write) -> None:
    path = write(f"{GOOD}a.wav\t1.0\t2.0\tDog\na.wav\t1.5\t3.0\tDog\n")
    result = evaluate(path, write(GOOD, "good.tsv"))
    assert result.event.n_reference.tolist() == [1, 3]
    assert result.segment.n_reference.tolist() == [1, 2]  # the two dogs fill two seconds
    told = cautions(result)
    assert "1 event repeats an earlier one: same file, times and class (1 reference, 0 predicted); all count" in told
    assert [sentence for sentence in told if sentence.startswith("1 event overlaps another one of its class")]
    assert as_json(result)["duplicates"] == as_json(result)["overlapping"] == {"reference": 1, "predicted": 0}


def test_a_header_alone_is_nothing_found(write: Write) -> None:
    result = evaluate(write(GOOD, "reference.tsv"), write(HEADER))
    assert result.event.false_negatives.tolist() == [1, 1]
    assert "2 reference files without any predicted row: nothing was found there" in cautions(result)


def test_classes_that_one_side_alone_has_are_told(write: Write) -> None:
    predicted = write(GOOD.replace("Dog", "Dgo"))
    told = cautions(evaluate(write(GOOD, "reference.tsv"), predicted))
    assert "the class 'Dgo' is predicted, but not one reference has it - did you mean 'Dog'?" in told


# What is refused


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a.wav\tnan\t2.0\tDog", r"predicted\.tsv:5: onset must be a number of seconds, got 'nan'"),
        ("a.wav\t1.0\tinf\tDog", r"predicted\.tsv:5: offset must be a number of seconds, got 'inf'"),
        (
            "a.wav\t-1.0\t2.0\tDog",
            r"predicted\.tsv:5: onset must be at least 0, got -1.0 - seconds count from the start",
        ),
        ("a.wav\t3.0\t2.0\tDog", r"predicted\.tsv:5: onset 3.0 is after offset 2.0 - are the columns swapped\?"),
        ("a.wav\t1,5\t2.0\tDog", r"predicted\.tsv:5: .* got '1,5' - a decimal comma\? write 1.5"),
        ("a.wav\t1.0\t\tDog", r"predicted\.tsv:5: onset is given but offset is empty"),
        ("a.wav\t1.0\t2.0\t", r"predicted\.tsv:5: a label is empty"),
        ("a.wav\t\t\tDog", r"predicted\.tsv:5: onset and offset are empty, but label or score is not"),
        ("\t1.0\t2.0\tDog", r"predicted\.tsv:5: the filename is empty"),
        ("a.wav\t1.0\t2.0", r"predicted\.tsv:5: 4 fields expected .*, got 3"),
        ("a.wav\t1.0\t2.0\tDog\tloud", r"predicted\.tsv:5: 4 fields expected .*, got 5"),
        ("a.wav\t\t\t", r"predicted\.tsv:5: this row says a.wav has no event, but other rows give it 2"),
        ("a.wav\t1.0\t2e9\tDog", r"predicted: a.wav: 'Dog': offset must be at most 1e\+09, got 2000000000.0"),
    ],
)
def test_wrong_rows_are_named_with_their_line(write: Write, row: str, message: str) -> None:
    reference, predicted = write(GOOD, "reference.tsv"), write(f"{GOOD}{row}\n")
    with pytest.raises(ValueError, match=message):
        evaluate(reference, predicted)


@pytest.mark.parametrize("score", ["nan", "inf", "-0.1", "97"])
def test_wrong_scores_are_named_with_their_line(write: Write, score: str) -> None:
    content = f"{HEADER.strip()}\tscore\na.wav\t1.0\t2.0\tDog\t0.5\na.wav\t3.0\t4.0\tDog\t{score}\n"
    with pytest.raises(ValueError, match=rf"predicted\.tsv:3: score must be a probability from 0 to 1, got '{score}'"):
        evaluate(write(GOOD, "reference.tsv"), write(content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"predicted\.tsv:1: the first line must name the columns, but it is empty"),
        ("\n\n", r"predicted\.tsv:1: the first line must name the columns, but it is empty"),
        (GOOD.replace("\t", ";"), r"predicted\.tsv:1: columns must be separated by tabs or commas, got semicolons"),
        (GOOD.replace("onset", "start"), r"predicted\.tsv:1: no column 'onset' \(the columns are: filename, start"),
        (GOOD.split("\n", 1)[1], r"predicted\.tsv:1: the first line must name the columns, got the recording 'a.wav'"),
        (GOOD.encode("utf-16"), r"predicted\.tsv: the file is UTF-16, not UTF-8"),
        (GOOD.replace("Dog", "T\u00fcr").encode("latin-1"), r"predicted\.tsv:2: byte 0xfc is not UTF-8"),
    ],
    ids=["zero bytes", "blank", "semicolons", "wrong columns", "no header", "UTF-16", "Latin-1"],
)
def test_wrong_tables_are_named(write: Write, content: str | bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(write(GOOD, "reference.tsv"), write(content))


def test_a_reference_without_rows_is_refused(write: Write) -> None:
    with pytest.raises(ValueError, match=r"reference must have at least one file, got none - is the table empty\?"):
        evaluate(write(HEADER, "reference.tsv"), write(GOOD))


def test_predictions_of_other_files_alone_are_refused(write: Write) -> None:
    with pytest.raises(ValueError, match=r"predicted must have files of the reference, got 2 others, such as 'a.flac'"):
        evaluate(write(GOOD, "reference.tsv"), write(GOOD.replace(".wav", ".flac")))


def test_unknown_classes_are_named_with_side_and_file(write: Write) -> None:
    reference, predicted = write(GOOD, "reference.tsv"), write(GOOD.replace("Dog", "Dgo"))
    message = (
        r"predicted: a.wav: unknown class 'Dgo' \(the classes are: Dog, \"Air horn, truck horn\"\) - did you mean 'Dog'"
    )
    for count in (evaluate, event_counts):
        with pytest.raises(ValueError, match=message):
            count(reference, predicted, classes=["Dog", "Air horn, truck horn"])
    with pytest.raises(ValueError, match=r"reference_tags: b\.wav: unknown class 'Owl'"):
        evaluate(predicted, predicted, reference_tags={"b.wav": {"Owl"}}, classes=["Dgo", "Air horn, truck horn"])


def test_events_made_in_python_cannot_be_wrong() -> None:
    for onset, offset in ((float("nan"), 1.0), (0.0, float("inf")), (-1.0, 1.0), (2.0, 1.0)):
        with pytest.raises(ValueError, match="an event must begin at 0 s or later and not end before it begins"):
            Event(onset, offset, "Dog")


@pytest.mark.parametrize("label", ["", " ", "dog "])
def test_class_names_with_blanks_around_them_are_refused(label: str) -> None:
    with pytest.raises(ValueError, match=r"predicted: a.wav: a class must have a name without blanks around it, got '"):
        evaluate({"a.wav": [Event(0.0, 1.0, "dog")]}, {"a.wav": [Event(0.0, 1.0, label)]})
