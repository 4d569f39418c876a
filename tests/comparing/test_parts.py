from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from earmark.comparing.parts import HELD_OUT, LEARN, NAMES, TEST, Columns, Parts, parts_table, three_parts
from earmark.labels.weak import WeakClip, read_weak
from earmark.training.clips import ClipSet, clip_set


def clips_of(labels: list[set[str]], *, groups: list[str] | None = None, split: list[str] | None = None) -> ClipSet:
    """One clip per set of labels."""
    rows = []
    for index, of_clip in enumerate(labels):
        columns = {} if groups is None else {"patient": groups[index]}
        columns |= {} if split is None else {"split": split[index]}
        rows.append(WeakClip(f"{index}.wav", frozenset(of_clip), None, None, None, columns, f"weak.tsv:{index + 2}"))
    classes = sorted(set().union(*labels))
    return clip_set(rows, classes, holdout_fraction=0, group_column=None if groups is None else "patient")


def random_clips(rng: np.random.Generator, n_clips: int, n_groups: int) -> ClipSet:
    """Clips of groups of different sizes, with a common, a middling and a rare class."""
    shares = (0.6, 0.2, 0.08)
    labels = [{name for name, share in zip("abc", shares, strict=True) if rng.random() < share} for _ in range(n_clips)]
    labels[0] = {"a", "b", "c"}
    sizes = rng.dirichlet(np.full(n_groups, 2.0))
    groups = [f"P{group}" for group in rng.choice(n_groups, n_clips, p=sizes)]
    return clips_of(labels, groups=groups)


def split(clips: ClipSet, seed: int = 0, **columns: str) -> Parts:
    return three_parts(clips, Columns(**columns), held_out_share=0.15, seed=seed)


# Laws


def test_no_group_is_cut_and_no_class_goes_unlearned(rng: np.random.Generator) -> None:
    for seed in range(40):
        clips = random_clips(rng, n_clips=120, n_groups=25)
        parts = split(clips, seed)
        for group in set(clips.groups):
            assert len({int(p) for p, g in zip(parts.part, clips.groups, strict=True) if g == group}) == 1
        assert parts.of(LEARN).tags.any(axis=0).all()
        assert len(parts.of(LEARN).clips) + len(parts.of(HELD_OUT).clips) + len(parts.of(TEST).clips) == 120
        assert 24 <= len(parts.indices(TEST)) <= 48  # a fifth, and never twice that
        assert 18 <= len(parts.indices(HELD_OUT)) <= 36


def test_a_class_in_three_groups_is_in_every_part() -> None:
    labels = [{"common"} for _ in range(60)]
    for index in (5, 23, 41):
        labels[index] = {"rare"}
    for seed in range(20):
        parts = split(clips_of(labels), seed)
        for part in (LEARN, HELD_OUT, TEST):
            assert parts.of(part).tags[:, 1].any(), NAMES[part]


def test_a_class_in_two_groups_is_learned_and_tested() -> None:
    labels = [{"common"} for _ in range(60)]
    labels[5] = labels[23] = {"rare"}
    for seed in range(20):
        parts = split(clips_of(labels), seed)
        assert parts.of(LEARN).tags[:, 1].sum() == parts.of(TEST).tags[:, 1].sum() == 1


def test_another_seed_tests_on_others() -> None:
    clips = clips_of([{"dog"}] * 60)
    assert split(clips, 0).indices(TEST).tolist() != split(clips, 1).indices(TEST).tolist()
    assert split(clips, 0).indices(TEST).tolist() == split(clips, 0).indices(TEST).tolist()


def test_the_table_reads_back_as_the_same_clips(tmp_path: Path) -> None:
    rows = [
        WeakClip("a.wav", frozenset({"Air horn, truck horn", "Car"}), None, 1.5, 3.0, {"patient": "P 1"}, "w:2"),
        WeakClip("a.wav", frozenset(), None, 4.0, 5.25, {"patient": "P 1"}, "w:3"),
        WeakClip("b.wav", frozenset({"Car"}), frozenset({"Car"}), None, None, {"patient": "P2"}, "w:4"),
    ]
    classes = ("Air horn, truck horn", "Car")
    clips = clip_set(rows, classes, holdout_fraction=0, group_column="patient")
    parts = Parts(clips, np.array([LEARN, LEARN, TEST]))
    file = tmp_path / "learn.tsv"
    file.write_text(parts_table(parts, of=(LEARN, TEST)), encoding="utf-8")
    back = read_weak(file)
    for one, other in zip(rows, back, strict=True):
        assert (one.filename, one.labels, one.known, one.onset, one.offset) == (
            other.filename, other.labels, other.known, other.onset, other.offset,
        )  # fmt: skip
    assert [clip.columns["part"] for clip in back] == ["learn", "learn", "test"]
    assert [clip.columns["group"] for clip in back] == ["P 1", "P 1", "P2"]
    file.write_text(parts_table(parts, of=(TEST,)), encoding="utf-8")
    assert [clip.filename for clip in read_weak(file)] == ["b.wav"]


# Worked numbers


def test_columns_say_which_is_which() -> None:
    clips = clips_of([{"dog"}] * 5, split=["train", "dev", "eval", "train", "other"])
    parts = split(clips, split="split", held_out="dev", test="eval")
    assert [NAMES[part] for part in parts.part] == ["learn", "held-out", "test", "learn", "learn"]


def test_a_column_may_leave_the_held_out_ones_to_the_hash() -> None:
    clips = clips_of([{"dog"}] * 20, split=["train"] * 16 + ["eval"] * 4)
    parts = split(clips, split="split", test="eval")
    assert parts.indices(TEST).tolist() == [16, 17, 18, 19]
    assert len(parts.indices(HELD_OUT)) == 3  # 15 % of 20


# Wrong input


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"split": "spilt", "test": "b"}, "a column 'spilt' that is not there .* did you mean 'split'"),
        ({"split": "split"}, "--split split needs --test"),
        ({"split": "split", "test": "b", "held_out": "b"}, "must be different values, got 'b' twice"),
        ({"split": "split", "test": "x"}, "--test: no clip has 'x' in column 'split' .* 'a', 'b'"),
        ({"split": "split", "test": "b", "held_out": "a"}, "no clip is left to learn from"),
    ],
)
def test_columns_that_say_nothing_useful(columns: dict[str, str], message: str) -> None:
    clips = clips_of([{"dog"}] * 4, split=["a", "a", "b", "b"])
    with pytest.raises(ValueError, match=message):
        split(clips, seed=0, **columns)


def test_a_column_that_cuts_a_group_is_refused() -> None:
    clips = clips_of([{"dog"}] * 4, groups=["P1", "P1", "P2", "P3"], split=["a", "b", "a", "a"])
    with pytest.raises(ValueError, match="cuts 1 groups into two parts, for instance 'P1'"):
        split(clips, split="split", test="b")


def test_a_class_that_only_the_test_has_is_refused() -> None:
    clips = clips_of([{"dog"}, {"dog"}, {"dog"}, {"cat"}], split=["a", "b", "a", "c"])
    with pytest.raises(ValueError, match=r"no clip to learn from has the class 'cat' \(1 of 2"):
        split(clips, split="split", held_out="b", test="c")


@pytest.mark.parametrize("n_groups", [1, 2])
def test_too_few_groups_for_three_parts(n_groups: int) -> None:
    clips = clips_of([{"dog"}] * 12, groups=[f"P{index % n_groups}" for index in range(12)])
    with pytest.raises(ValueError, match=f"cannot be made of {n_groups} group"):
        split(clips)
