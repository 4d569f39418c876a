from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from earmark.events import Event
from earmark.metrics.clip import clip_counts
from earmark.metrics.evaluation import evaluate
from earmark.metrics.event import event_counts
from earmark.metrics.inputs import AnyEvents, AnyTags, events_by_file, tags_by_file
from earmark.metrics.segment import segment_counts

EVENTS = {"a.wav": [Event(0.5, 1.0, "dog"), Event(2.0, 2.5, "Air horn, truck horn")], "b.wav": []}
FILES, ONSETS, OFFSETS = ["a.wav", "a.wav", "b.wav"], [0.5, 2.0, np.nan], [1.0, 2.5, np.nan]
LABELS = ["dog", "Air horn, truck horn", None]
TAGS = {"a.wav": {"dog", "cat"}, "b.wav": set[str]()}


@dataclass
class Frame:
    """As much of a data frame as is needed: columns by name, which give themselves as lists."""

    data: dict[str, list[object]]

    @property
    def columns(self) -> Iterator[str]:
        return iter(self.data)

    def __getitem__(self, column: str) -> np.ndarray:
        return np.array(self.data[column], dtype=object)


class NAType:
    """As pandas' NA: whatever it is compared with, the answer is no yes or no."""

    def __eq__(self, other: object) -> NAType:  # type: ignore[override]
        return self

    def __bool__(self) -> bool:
        raise TypeError("boolean value of NA is ambiguous")


def forms(folder: Path) -> dict[str, AnyEvents]:
    """`EVENTS` in every form."""
    table = folder / "events.tsv"
    table.write_text(
        "filename\tonset\toffset\tevent_label\na.wav\t0.5\t1.0\tdog\na.wav\t2.0\t2.5\tAir horn, truck horn\n"
        "b.wav\t\t\t\n"
    )
    named: dict[str, list[object]] = {
        "filename": [*FILES], "onset": [*ONSETS], "offset": [*OFFSETS], "event_label": [*LABELS]
    }  # fmt: skip
    other: dict[str, list[object]] = {
        "site": [1, 2, 3],
        **{("label" if name == "event_label" else name): named[name] for name in named},
    }
    other |= {"onset": [0.5, 2, NAType()], "score": [None, np.nan, None]}
    return {
        "mapping": EVENTS,
        "tuples": {"a.wav": [(0.5, 1.0, "dog"), [np.float64(2), 2.5, LABELS[1]]], "b.wav": ()},
        "path": table,
        "path as text": str(table),
        "lists": (FILES, ONSETS, OFFSETS, ["dog", LABELS[1], ""]),
        "arrays": (np.array(FILES), np.array(ONSETS), np.array(OFFSETS), np.array(["dog", LABELS[1], ""])),
        "columns": named,
        "data frame": Frame(named),
        "data frame with other columns": Frame(other),
    }


# Laws


def test_every_form_gives_the_same_events(tmp_path: Path) -> None:
    for name, form in forms(tmp_path).items():
        assert {file: list(found) for file, found in events_by_file("reference", form).items()} == EVENTS, name


def test_every_function_takes_every_form(tmp_path: Path) -> None:
    expected = evaluate(EVENTS, EVENTS)
    for form in forms(tmp_path).values():
        for counts in (*evaluate(form, form).levels, event_counts(form, EVENTS), segment_counts(EVENTS, form)):
            assert counts.classes == expected.event.classes
            assert counts.macro.f1 == 1.0
        for counts in (clip_counts(form, form), evaluate(EVENTS, EVENTS, reference_tags=form).clip):
            assert counts.true_positives.tolist() == expected.clip.true_positives.tolist() == [1, 1]


def test_every_form_gives_the_same_tags(tmp_path: Path) -> None:
    weak = tmp_path / "tags.tsv"
    weak.write_text("filename\tevent_labels\na.wav\tdog,cat\nb.wav\t\n")
    rows: dict[str, list[object]] = {"filename": [*FILES], "label": ["dog", "cat", np.nan]}
    given: list[AnyTags] = [
        TAGS,
        {"a.wav": ["cat", "dog"], "b.wav": ()},
        {"a.wav": np.array(["cat", "dog"]), "b.wav": np.array([])},
        {"a.wav": [Event(0, 1, "cat"), (3, 4, "dog")], "b.wav": []},
        weak,
        (FILES, ["dog", "cat", None]),
        rows,
        Frame(rows),
        Frame({"filename": ["a.wav", "b.wav"], "event_labels": ["dog,cat", ""]}),
        (FILES, ONSETS, OFFSETS, ["dog", "cat", None]),
    ]
    for form in given:
        assert tags_by_file("reference_tags", form) == TAGS, form


# Worked numbers


def test_names_are_cleaned_as_in_tables() -> None:
    events = events_by_file("reference", ([".\\site\\Tu\u0308r.wav"], [0], [1], [" dog "]))
    assert events == {"site/T\u00fcr.wav": [Event(0.0, 1.0, "dog")]}
    assert list(events_by_file("reference", ([Path("a.wav")], [0], [1], ["dog"]))) == ["a.wav"]


def test_text_is_plain_text_whoever_made_it() -> None:
    names = [np.str_("a.wav")], [0.0], [1.0], [np.str_("dog")]
    assert repr(events_by_file("reference", names)) == repr({"a.wav": [Event(0.0, 1.0, "dog")]})
    assert repr(tags_by_file("reference_tags", {"a.wav": [np.str_("dog")]})) == repr({"a.wav": frozenset({"dog"})})
    assert tags_by_file("reference_tags", (["./a.wav"], [" Tu\u0308r "])) == {"a.wav": {"T\u00fcr"}}


def test_scores_come_along() -> None:
    columns: dict[str, list[object]] = {
        "filename": ["a"], "onset": [0], "offset": [1], "label": ["dog"], "score": [np.float32(0.5)]
    }  # fmt: skip
    assert events_by_file("predicted", columns)["a"][0].score == 0.5


def test_no_row_is_no_file() -> None:
    assert events_by_file("predicted", ([], [], [], [])) == {}
    assert tags_by_file("predicted_tags", ([], [])) == {}


# Wrong input


@pytest.mark.parametrize(
    ("events", "message"),
    [
        (17, "reference must be a mapping of file names, the path of a table, 4 arrays .* got 17"),
        (
            (FILES, ONSETS),
            r"reference must be a mapping .* 4 arrays \(filename, onset, offset, event_label\) or a data",
        ),
        (("a", "b", "c", "d"), "reference must be a mapping"),
        ((FILES, ONSETS, OFFSETS, ["dog"]), "equally long, got filename 3, onset 3, offset 3, event_label 1 rows"),
        ({"filename": FILES, "onset": ONSETS, "ofset": OFFSETS}, r"no column 'offset' .* - did you mean 'ofset'\?"),
        (Frame({"filename": ["a"], "onset": [0], "offset": [1]}), r"reference: no column 'event_label' \(the columns"),
        ((["a"], [np.inf], [np.inf], ["dog"]), r"reference: row 0 \(the first is 0\): onset must be a finite number"),
        ((["a"], [0], [np.nan], ["dog"]), r"row 0 .*: offset must be a number, got nan - is the cell empty\?"),
        ((["a"], [None], [None], ["dog"]), r"row 0 .*: onset must be a number, got None - is the cell empty\?"),
        ((["a"], [0], [1], [""]), "row 0 .*: a label is empty"),
        ((["a"], [0], [1], [3]), "row 0 .*: event_label must be text, got 3"),
        ((["a", "a"], [0, 5], [1, 4], ["dog", "dog"]), r"row 1 .*: an event must begin .* - are they swapped"),
        ((["a"], [-1], [1], ["dog"]), "row 0 .*: an event must begin at 0 s or later"),
        ((["a"], ["0"], [1], ["dog"]), r"row 0 .*: onset must be a number, got '0' - is it text\?"),
        (([7], [0], [1], ["dog"]), "row 0 .*: filename must be text, got 7"),
        ((["a", "a"], [0, None], [1, None], ["dog", None]), "row 1 .*: a has no event here, but other rows give it 1"),
        ({7: []}, "reference: file names must be text, got 7"),
        ({"a": "dog"}, "reference: a: the events must be a list, got 'dog'"),
        ({"a": 7}, "reference: a: the events must be a list, got 7"),
        ({"a": [Event(0, 1, "dog"), "dog"]}, r"reference: a: event 1 \(the first is 0\) must be an Event or \(onset, "),
        ({"a": [(0, 1)]}, r"event 0 .* must be an Event or \(onset, offset, label\), got \(0, 1\)"),
        ({"a": [(2, 1, "dog")]}, "reference: a: event 0 .*: an event must begin"),
        ({"a": [(0, np.nan, "dog")]}, "reference: a: event 0 .*: offset must be a number, got nan"),
        ({"a": [(0, 1, None)]}, "reference: a: event 0 .*: label must be text, got None"),
    ],
)
def test_wrong_events_are_named(events: AnyEvents, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        events_by_file("reference", events)


@pytest.mark.parametrize("score", [2.0, -0.1, np.inf, "high"])
def test_wrong_scores_are_named(score: object) -> None:
    columns: dict[str, list[object]] = {
        "filename": ["a"], "onset": [0], "offset": [1], "label": ["dog"], "score": [score]
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"predicted: row 0 \(the first is 0\): score must be"):
        events_by_file("predicted", columns)


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({"a": "dog"}, r"predicted_tags: a: the classes must be a set of names, got 'dog' - did you mean \{'dog'\}\?"),
        ({"a": None}, "predicted_tags: a: the classes must be a set of names, got None"),
        ({"a": [3]}, r"predicted_tags: a: event 0 .* must be an Event"),
        ({7: {"dog"}}, "predicted_tags: file names must be text, got 7"),
        ((["a"], ["dog"], ["cat"]), r"2 arrays \(filename, event_label\) or 4 arrays"),
        (Frame({"filename": ["a"]}), "predicted_tags: no column 'event_label'"),
        ((["a"], [3]), r"predicted_tags: row 0 \(the first is 0\): label must be text, got 3"),
    ],
)
def test_wrong_tags_are_named(tags: AnyTags, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tags_by_file("predicted_tags", tags)
