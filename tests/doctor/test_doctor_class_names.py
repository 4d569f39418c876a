from __future__ import annotations

from pathlib import Path

import pytest

from earmark.doctor.class_names import name_findings
from earmark.doctor.data_set import DataSet
from earmark.labels.weak import WeakClip


def found(tags: list[set[str]], columns: dict[str, str] | None = None) -> list[tuple[str, str, str]]:
    """Code, place and sentence of what is found in clips with these tags, the first of them in line 2."""
    other = {} if columns is None else columns
    clips = tuple(
        WeakClip(f"{i}.wav", frozenset(labels), None, None, None, other, f"weak.tsv:{i + 2}")
        for i, labels in enumerate(tags)
    )
    data = DataSet("weak.tsv", clips, Path(), {}, {}, None, "", {}, None, None, None)
    return [(finding.code, finding.where, finding.found) for finding in name_findings(data)]


@pytest.mark.parametrize(
    "tags",
    [
        [{"dog"}, {"cat"}, set()],
        [{"train"}, {"train"}],  # a sound, perhaps
        [{"train"}, {"test"}, {"dog"}],
        [{"1"}, {"dog"}],
        [{"wheeze+crackle"}, {"wheeze"}],
        [{"cat and mouse"}, {"cat"}],
    ],
)
def test_names_that_may_be_meant(tags: list[set[str]]) -> None:
    assert found(tags) == []


@pytest.mark.parametrize("tags", [[{"0"}, {"1"}], [{"4"}], [{"5.0"}, {"4.5"}], [{"train"}, {"Test"}]])
def test_labels_of_another_column(tags: list[set[str]]) -> None:
    ((code, where, sentence),) = found(tags, {"species": "dog"})
    assert (code, where) == ("labels-in-wrong-column", "weak.tsv")
    assert "do the classes stand in one of 'species'?" in sentence


def test_what_programs_write_for_nothing() -> None:
    assert found([{"dog"}, {"NaN"}, {"NaN", "n/a"}]) == [
        ("class-means-nothing", "weak.tsv:3", "the class 'NaN' looks like an empty cell (2 clips)"),
        ("class-means-nothing", "weak.tsv:4", "the class 'n/a' looks like an empty cell (1 clip)"),
    ]


@pytest.mark.parametrize("label", ["dog/cat", "dog + cat", "cat & dog", "dog and cat"])
def test_two_classes_in_one(label: str) -> None:
    ((code, where, sentence),) = found([{"dog"}, {label}, {"cat"}])
    assert (code, where) == ("class-put-together", "weak.tsv:3")
    assert sentence.startswith(f"the class {label!r} is made of '")
