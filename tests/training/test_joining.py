"""Tags, events and reviewed stretches become clips with what is known of each, or a message with file and row."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from oracles.training_cases import RATE, changed

from earmark.training.clips import ClipSet
from earmark.training.joining import Joined, join
from earmark.training.sources import Sources, Split
from earmark.training.strong_labels import Complete

ALL = changed(training={"holdout_fraction": 0.0})
HEADS = {
    "weak": "filename\tevent_labels",
    "strong": "filename\tonset\toffset\tevent_label",
    "reviewed": "filename\tonset\toffset\tclasses",
}


@pytest.fixture(scope="module")
def audio(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of 10 s, a.wav to f.wav."""
    folder = tmp_path_factory.mktemp("audio")
    for name in "abcdef":
        soundfile.write(folder / f"{name}.wav", np.zeros(10 * RATE), RATE, subtype="PCM_16")
    return folder


def joined(folder: Path, audio: Path, *, split: Split | None = None, **tables: list[str]) -> Joined:
    """The clips of tables given as rows; `head_weak` is another head for the tags."""
    head = tables.pop("head_weak", [HEADS["weak"]])
    files = {}
    for name, rows in tables.items():
        files[name] = folder / f"{name}.tsv"
        files[name].write_text("\n".join([*(head if name == "weak" else [HEADS[name]]), *rows]) + "\n")
    sources = Sources(files["weak"], audio, files.get("strong"), files.get("reviewed"))
    return join(sources, ALL, Split() if split is None else split)


def said(clips: ClipSet) -> dict[str, str]:
    """Of each clip, + for a class that is known to be there, - for one known not to be, ? for one nobody knows of."""
    return {
        clip.filename: "".join("?" if not k else "+" if t else "-" for t, k in zip(tags, known, strict=True))
        for clip, tags, known in zip(clips.clips, clips.tags, clips.known, strict=True)
    }


# --- laws ---


def test_strong_labels_alone_are_complete_and_tags_follow_from_events(tmp_path: Path, audio: Path) -> None:
    found = joined(
        tmp_path,
        audio,
        weak=["a.wav\tdog", "b.wav\t", "c.wav\tcat,dog"],
        strong=["c.wav\t1\t2\tcat", "c.wav\t3\t4\tdog", "d.wav\t0\t9\tcat", "e.wav\t\t\t"],
    )
    assert found.clips.classes == ("cat", "dog")
    assert said(found.clips) == {"a.wav": "-+", "b.wav": "--", "c.wav": "++", "d.wav": "+-", "e.wav": "--"}
    assert found.clips.kinds.tolist() == ["weak", "weak", "strong", "strong", "strong"]
    assert found.clips.strong is not None
    assert [None if one is None else len(one.events) for one in found.clips.strong] == [None, None, 2, 1, 0]
    assert all(one is None or one.complete == (Complete(),) for one in found.clips.strong)
    assert found.remarks == ()
    assert found.clips.clips[3].where.endswith("strong.tsv:4")


def test_with_a_reviewed_table_all_else_is_unknown(tmp_path: Path, audio: Path) -> None:
    found = joined(
        tmp_path,
        audio,
        weak=["a.wav\tdog,cat"],
        strong=["a.wav\t1\t2\tcat", "b.wav\t1\t2\tcat", "c.wav\t5\t6\tdog"],
        reviewed=["b.wav\t\t\t", "c.wav\t0\t4\tcat", "d.wav\t0\t10\tdog", "c.wav\t3.99\t9.97\tcat"],
    ).clips
    # b was heard whole; c for cats, in two rows that make one, to its end; d has no event and was heard for dogs.
    assert said(found) == {"a.wav": "++", "b.wav": "+-", "c.wav": "-+", "d.wav": "?-"}
    assert found.strong is not None
    assert [one.complete for one in found.strong if one is not None] == [
        (),
        (Complete(),),
        (Complete(0.0, math.inf, frozenset({"cat"})),),
        (Complete(0.0, math.inf, frozenset({"dog"})),),
    ]


def test_a_class_of_the_model_may_be_reviewed_and_not_be_there(tmp_path: Path, audio: Path) -> None:
    files = {name: tmp_path / f"{name}.tsv" for name in HEADS}
    rows = {"weak": "a.wav\tdog\nb.wav\t", "strong": "a.wav\t1\t2\tdog", "reviewed": "a.wav\t0\t10\tdog,cat"}
    for name, file in files.items():
        file.write_text(f"{HEADS[name]}\n{rows[name]}\n")
    sources = Sources(files["weak"], audio, files["strong"], files["reviewed"])
    clips = join(sources, ALL, Split(), model_classes=("cat", "owl")).clips
    assert clips.classes == ("cat", "owl", "dog")
    assert clips.strong is not None
    assert clips.strong[0] is not None
    assert {label for label in clips.classes if clips.strong[0].is_complete(label)} == {"cat", "dog"}
    with pytest.raises(ValueError, match=r"reviewed\.tsv:2: says where 'cat' is complete, but no clip"):
        join(sources, ALL, Split(), model_classes=("owl",))


def test_a_class_that_only_the_strong_labels_have_was_not_listened_for_elsewhere(tmp_path: Path, audio: Path) -> None:
    found = joined(
        tmp_path,
        audio,
        head_weak=["filename\tevent_labels\tknown_classes"],
        weak=["a.wav\tdog\t", "b.wav\tdog\tdog,owl", "c.wav\tdog\t", "d.wav\t\tdog"],
        strong=["c.wav\t1\t2\towl", "c.wav\t3\t4\tdog", "d.wav\t\t\t"],
    ).clips
    assert found.classes == ("dog", "owl")
    assert said(found) == {"a.wav": "+?", "b.wav": "+-", "c.wav": "++", "d.wav": "--"}


def test_a_tagged_span_gets_the_events_inside_it(tmp_path: Path, audio: Path) -> None:
    found = joined(
        tmp_path,
        audio,
        head_weak=["filename\tonset\toffset\tevent_labels"],
        weak=["a.wav\t0\t4\tdog", "a.wav\t4\t8\t", "b.wav\t2\t5\tdog"],
        strong=["a.wav\t1\t2\tdog", "a.wav\t3\t4.5\tdog", "a.wav\t8.5\t9\tdog"],
    ).clips
    assert found.strong is not None
    first, second, third = found.strong
    assert first is not None
    assert second is not None
    assert [(event.onset, event.offset) for event in first.events] == [(1, 2), (3, 4)]
    # A third of an event reaches into the span that is said to be without; who tagged it may not have heard that.
    assert [(event.onset, event.offset) for event in second.events] == [(0, 0.5)]
    assert first.is_complete("dog")
    assert third is None
    assert len(found.clips) == 3  # the file itself is no clip


def test_strong_labels_take_part_in_the_split(tmp_path: Path, audio: Path) -> None:
    rows = [f"{name}.wav\t1\t2\tdog" for name in "abcdef"]
    (tmp_path / "strong.tsv").write_text("\n".join([HEADS["strong"], *rows]) + "\n")
    (tmp_path / "weak.tsv").write_text("filename\tevent_labels\na.wav\tdog\n")
    sources = Sources(tmp_path / "weak.tsv", audio, tmp_path / "strong.tsv")
    clips = join(sources, changed(training={"holdout_fraction": 0.4}), Split()).clips
    assert 0 < clips.held_out.sum() < 4
    assert clips.only(np.flatnonzero(clips.held_out)).strong == tuple(
        labels for labels, out in zip(clips.strong or (), clips.held_out, strict=True) if out
    )


def test_tags_without_an_event_and_events_behind_the_end_are_remarked_on(tmp_path: Path, audio: Path) -> None:
    found = joined(
        tmp_path,
        audio,
        weak=[f"{name}.wav\tcat,dog" for name in "abcde"],
        strong=[*(f"{name}.wav\t1\t2\tcat" for name in "abcde"), "e.wav\t9\t11.5\tdog"],
    )
    cut, untimed = found.remarks
    assert cut.startswith("1 end behind their recordings and were cut there: ")
    assert "strong.tsv:7: the event from 9 to 11.5 s of e.wav, which lasts 10 s" in cut
    assert untimed.startswith("4 tags have no event though all events are marked: ")
    assert "weak.tsv:2: 'dog' in a.wav" in untimed
    assert untimed.endswith("in c.wav, and 1 more")
    assert said(found.clips)["a.wav"] == "++"  # the tag is believed, for the clip
    assert found.clips.strong is not None
    assert found.clips.strong[4] is not None
    assert found.clips.strong[4].events[1].offset == 10.0


# --- wrong input ---


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        pytest.param(
            {"weak": ["a.wav\tdog"], "strong": ["a.wav\t1500\t2750\tdog"]},
            r"strong.tsv:2: the event from 1500 to 2750 s lies behind the end of a.wav, which lasts 10 s - are the"
            r" times in milliseconds\? 2750 ms are written 2.75",
            id="milliseconds",
        ),
        pytest.param(
            {"weak": ["a.wav\tdog"], "strong": ["a.wav\t0\t2750\tdog"]},
            r"strong.tsv:2: the event from 0 to 2750 s lies .* milliseconds",
            id="milliseconds from the beginning",
        ),
        pytest.param(
            {"weak": ["a.wav\tdog"], "strong": ["a.wav\t1\t2\tdog"], "reviewed": ["a.wav\t12\t15\t"]},
            r"reviewed.tsv:2: the reviewed stretch from 12 to 15 s lies behind the end of a.wav, which lasts 10 s"
            " - is it the right recording",
            id="reviewed behind the end",
        ),
        pytest.param(
            {"weak": ["a.wav\tdog"], "strong": ["a.wav\t1\t2\tdog"], "reviewed": ["a.wav\t1\t5\tdgo"]},
            r"reviewed.tsv:2: says where 'dgo' is complete, but no clip and no event has this class"
            " - did you mean 'dog'",
            id="unknown reviewed class",
        ),
        pytest.param(
            {"weak": ["a.wav\tdog"], "strong": ["x.wav\t1\t2\tdog", "y.wav\t1\t2\tdog"]},
            r"strong.tsv:2: none of the 2 recordings with strong labels is there; the first: x.wav: no such file in",
            id="other recordings",
        ),
        pytest.param(
            {"weak": ["a.wav\tdog", "b.wav\tcat"], "strong": ["a.wav\t1\t2\tdog", "a.wav\t3\t4\tcat"]},
            r"weak.tsv:2: says that 'cat' is not in a.wav, but .*strong.tsv:3 marks it from 3 to 4 s - add the tag",
            id="denied",
        ),
        pytest.param({"weak": ["a.wav\tdog"], "strong": []}, "strong.tsv: lists no recordings", id="empty"),
        pytest.param(
            {"weak": ["a.wav\t"], "strong": ["a.wav\t\t\t"]},
            "weak.tsv: at least one clip must have a label",
            id="no class",
        ),
        pytest.param(
            {"weak": ["a.wav\tdog"], "reviewed": ["a.wav\t1\t5\tdog"]},
            r"--reviewed .*reviewed.tsv needs --strong",
            id="reviewed alone",
        ),
    ],
)
def test_labels_that_cannot_be_meant_are_refused(
    tables: dict[str, Any], message: str, tmp_path: Path, audio: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        joined(tmp_path, audio, **tables)


def test_a_column_of_the_strong_labels_splits_the_recordings_that_stand_there_alone(
    tmp_path: Path, audio: Path
) -> None:
    (tmp_path / "weak.tsv").write_text("filename\tevent_labels\tsplit\na.wav\tdog\ttrain\n")
    rows = ["b.wav\t1\t2\tdog\ttest", "b.wav\t3\t4\tdog\ttest", "c.wav\t1\t2\tdog\ttrain"]
    (tmp_path / "strong.tsv").write_text("\n".join([HEADS["strong"] + "\tsplit", *rows]) + "\n")
    sources = Sources(tmp_path / "weak.tsv", audio, tmp_path / "strong.tsv")
    assert join(sources, ALL, Split("split", "test")).clips.held_out.tolist() == [False, True, False]


def test_classes_that_are_probably_one_are_remarked_on(tmp_path: Path, audio: Path) -> None:
    found = joined(tmp_path, audio, weak=["a.wav\tDog", "b.wav\t"], strong=["c.wav\t1\t2\tdog"])
    assert found.remarks[0].startswith("the classes 'Dog' and 'dog' look alike, and only the strong labels have one")


def test_a_split_by_a_column_wants_it_of_every_clip(tmp_path: Path, audio: Path) -> None:
    with pytest.raises(ValueError, match=r"strong.tsv:2: --split names a column 'split' that is not there"):
        joined(
            tmp_path,
            audio,
            split=Split("split", "test"),
            head_weak=["filename\tevent_labels\tsplit"],
            weak=["a.wav\tdog\ttrain", "b.wav\tdog\ttest"],
            strong=["c.wav\t1\t2\tdog"],
        )


def test_other_formats_are_read_and_checked_as_well(tmp_path: Path, audio: Path) -> None:
    (tmp_path / "weak.tsv").write_text("filename\tevent_labels\na.wav\tdog\nb.wav\t\n")
    (tmp_path / "tracks").mkdir()
    (tmp_path / "tracks" / "a.txt").write_text("1.0\t2.0\tdog\n")  # of Audacity
    sources = Sources(tmp_path / "weak.tsv", audio, tmp_path / "tracks")
    clips = join(sources, ALL, Split()).clips
    assert clips.kinds.tolist() == ["strong", "weak"]
    (tmp_path / "tracks" / "b.txt").write_text("\n1.0\t2.0\tdog\n")
    (tmp_path / "weak.tsv").write_text("filename\tevent_labels\na.wav\tdog\n")
    assert (
        join(sources, ALL, Split()).clips.clips[1].where.endswith("tracks/b.txt:2")
    )  # in no table: where its event is
    (tmp_path / "tracks" / "b.txt").unlink()
    (tmp_path / "weak.tsv").write_text("filename\tevent_labels\na.wav\tdog\nb.wav\t\n")
    (tmp_path / "tracks" / "a.txt").write_text("1.0\t12.5\tdog\n")
    assert "the event from 1 to 12.5 s of a.wav, which lasts 10 s" in join(sources, ALL, Split()).remarks[0]
    (tmp_path / "tracks" / "a.txt").write_text("1.0\t2.0\tcat\n")
    (tmp_path / "weak.tsv").write_text("filename\tevent_labels\na.wav\tdog\nb.wav\tcat\n")
    with pytest.raises(
        ValueError, match=r"weak.tsv:2: says that 'cat' is not in a.wav, but .*tracks/a.txt:1 marks it from 1 to 2"
    ):
        join(sources, ALL, Split())
