"""Which clips there are, what is known of each, and which are held out: never a part of a group."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.training_cases import weak_clip

from earmark.labels.weak import WeakClip
from earmark.training.clips import ClipSet, clip_set


def numbered(n_clips: int, *, group_size: int = 1) -> list[WeakClip]:
    """Clips of dogs, some to each site."""
    return [weak_clip(f"{i}.wav", ["dog"], columns={"site": f"site {i // group_size}"}) for i in range(n_clips)]


def held_out_names(clips: ClipSet) -> set[str]:
    """Files that are held out."""
    return {clip.filename for clip, out in zip(clips.clips, clips.held_out, strict=True) if out}


def of_fraction(clips: list[WeakClip], fraction: float, *, group: str | None = None, seed: int = 0) -> ClipSet:
    """The clips with a share held out."""
    return clip_set(clips, ["dog"], holdout_fraction=fraction, group_column=group, seed=seed)


# --- laws ---


@pytest.mark.parametrize("fraction", [0.05, 0.15, 0.5, 0.9])
def test_the_share_held_out_is_as_asked(fraction: float) -> None:
    assert of_fraction(numbered(1000), fraction).held_out.sum() == round(1000 * fraction)
    grouped = of_fraction(numbered(1000, group_size=10), fraction, group="site").held_out.sum()
    assert 1000 * fraction <= grouped < 1000 * fraction + 10


@pytest.mark.parametrize("seed", range(5))
def test_a_group_is_never_cut(seed: int) -> None:
    clips = of_fraction(numbered(90, group_size=7), 0.3, group="site", seed=seed)
    sides: dict[str, set[bool]] = {}
    for group, out in zip(clips.groups, clips.held_out, strict=True):
        sides.setdefault(group, set()).add(bool(out))
    assert all(len(side) == 1 for side in sides.values())
    assert {True, False} == {out for side in sides.values() for out in side}


def test_spans_of_one_file_stay_together() -> None:
    clips = [weak_clip(f"{i // 4}.wav", ["dog"], onset=float(i % 4), offset=i % 4 + 1.0) for i in range(80)]
    found = of_fraction(clips, 0.3)
    names = held_out_names(found)
    assert all((clip.filename in names) == out for clip, out in zip(found.clips, found.held_out, strict=True))


def test_neither_the_order_of_the_file_nor_other_labels_move_a_clip_to_the_other_side() -> None:
    clips = numbered(100)
    names = held_out_names(of_fraction(clips, 0.2))
    assert held_out_names(of_fraction(clips[::-1], 0.2)) == names
    other = [weak_clip(clip.filename, ["cat"], where="other.tsv:9") for clip in clips]
    assert held_out_names(clip_set(other, ["cat"], holdout_fraction=0.2)) == names


def test_a_few_more_clips_leave_nearly_all_where_they_were() -> None:
    names = held_out_names(of_fraction(numbered(200), 0.2))
    more = held_out_names(of_fraction(numbered(210), 0.2))
    assert len(names - more) <= 3


def test_another_seed_holds_out_others() -> None:
    first, again, other = (held_out_names(of_fraction(numbered(100), 0.2, seed=seed)) for seed in (0, 0, 1))
    assert first == again != other


def test_at_least_one_group_is_left_on_both_sides() -> None:
    clips = of_fraction(numbered(4, group_size=2), 0.9, group="site")
    assert clips.held_out.sum() == 2
    assert of_fraction(numbered(10), 0.001).held_out.sum() == 1


def test_nothing_is_held_out_when_nothing_is_asked_for() -> None:
    assert not of_fraction(numbered(10), 0.0).held_out.any()


def test_a_choice_of_clips_keeps_everything_in_step() -> None:
    clips = of_fraction(numbered(20, group_size=2), 0.4, group="site")
    for indices in ([3, 1, 7], [], list(range(20))):
        chosen = clips.only(indices)
        assert [clip.filename for clip in chosen.clips] == [f"{i}.wav" for i in indices]
        assert list(chosen.groups) == [clips.groups[i] for i in indices]
        np.testing.assert_array_equal(chosen.held_out, clips.held_out[indices])
        np.testing.assert_array_equal(chosen.tags, clips.tags[indices])
        np.testing.assert_array_equal(chosen.known, clips.known[indices])


# --- worked numbers ---


def test_tags_and_what_is_known() -> None:
    clips = [
        weak_clip("a.wav", ["dog", "cat"]),
        weak_clip("b.wav"),
        weak_clip("c.wav", ["owl"], known=frozenset({"owl", "cat"})),
        weak_clip("d.wav", known=frozenset({"dog", "a class of nobody else"})),
    ]
    found = clip_set(clips, ["cat", "dog", "owl"], holdout_fraction=0)
    assert found.tags.astype(int).tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert found.known.astype(int).tolist() == [[1, 1, 1], [1, 1, 1], [1, 0, 1], [0, 1, 0]]
    assert found.groups == ("a.wav", "b.wav", "c.wav", "d.wav")


def test_a_column_says_what_is_held_out() -> None:
    clips = [weak_clip(f"{i}.wav", ["dog"], columns={"split": s}) for i, s in enumerate(["train", "test", "", "test"])]
    found = clip_set(clips, ["dog"], holdout_fraction=0.5, split_column="split", held_out_value="test")
    assert found.held_out.tolist() == [False, True, False, True]


# --- wrong input ---


def test_no_clips_at_all() -> None:
    with pytest.raises(ValueError, match="the label file lists no clips - nothing can be learned from it"):
        clip_set([], ["dog"], holdout_fraction=0.1)


def test_a_misspelt_known_class_is_named() -> None:
    clips = [
        weak_clip("a.wav", ["tone"]),
        weak_clip("b.wav", ["chirp"], known=frozenset({"tnoe", "chirp"}), where="w.tsv:3"),
    ]
    message = r"w.tsv:3: known_classes names 'tnoe', but no clip has this class - did you mean 'tone'\?"
    with pytest.raises(ValueError, match=message):
        clip_set(clips, ["chirp", "tone"], holdout_fraction=0.0)


def test_a_label_that_is_no_class_of_the_model() -> None:
    clips = [weak_clip("a.wav", ["dgo"], where="weak.tsv:7")]
    with pytest.raises(ValueError, match=r"weak.tsv:7: unknown class 'dgo' \(the classes are: cat, dog\) - .* 'dog'\?"):
        clip_set(clips, ["cat", "dog"], holdout_fraction=0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"group_column": "sit"}, r"weak.tsv:2: --group names a column 'sit' .*: site, split\) - .* 'site'\?"),
        ({"split_column": "fold", "held_out_value": "1"}, r"--split names a column 'fold' that is not there"),
        ({"split_column": "split"}, r"--held-out must say which value of column 'split' is held out: 'a', 'b'"),
        ({"split_column": "split", "held_out_value": "c"}, r"no clip has 'c' in column 'split' \(.* are: 'a', 'b'"),
        (
            {"split_column": "split", "held_out_value": "a", "group_column": "site"},
            r"column 'split' cuts 1 groups into training and held-out clips, for instance 'x' - figures on them would",
        ),
    ],
)  # fmt: skip
def test_columns_that_cannot_split(arguments: dict[str, str], message: str) -> None:
    columns = [{"site": "x", "split": "a"}, {"site": "x", "split": "b"}, {"site": "y", "split": "b"}]
    clips = [weak_clip(f"{i}.wav", ["dog"], columns=row) for i, row in enumerate(columns)]
    with pytest.raises(ValueError, match=message):
        clip_set(clips, ["dog"], holdout_fraction=0.1, **arguments)  # type: ignore[arg-type]


def test_a_column_in_which_every_clip_is_held_out() -> None:
    clips = [weak_clip(f"{i}.wav", ["dog"], columns={"split": "a"}) for i in range(3)]
    with pytest.raises(ValueError, match=r"every clip has 'a' in column 'split' \(its values are: 'a'\)"):
        clip_set(clips, ["dog"], holdout_fraction=0.1, split_column="split", held_out_value="a")


def test_columns_that_are_not_there_at_all() -> None:
    with pytest.raises(ValueError, match=r"'site' that is not there, .* \(columns: none besides the labels\)"):
        clip_set([weak_clip("a.wav", ["dog"])], ["dog"], holdout_fraction=0.1, group_column="site")


def test_a_long_list_of_values_is_cut() -> None:
    clips = [weak_clip(f"{i}.wav", ["dog"], columns={"fold": f"{i:02d}"}) for i in range(12)]
    with pytest.raises(ValueError, match=r"is held out: '00', .*'09', \.\.\.$"):
        clip_set(clips, ["dog"], holdout_fraction=0.1, split_column="fold")


def test_everything_in_one_group() -> None:
    clips = numbered(3, group_size=3)
    with pytest.raises(ValueError, match=r"all 3 clips belong to one group, 'site 0', .* training.holdout_fraction=0"):
        of_fraction(clips, 0.2, group="site")


def test_one_clip_and_one_file_cannot_be_halved() -> None:
    with pytest.raises(ValueError, match=r"at least two clips are needed to hold one out, got one, 'a.wav' - set "):
        clip_set([weak_clip("a.wav", ["dog"])], ["dog"], holdout_fraction=0.2)
    spans = [weak_clip("a.wav", ["dog"], onset=float(i), offset=i + 1.0) for i in range(3)]
    with pytest.raises(ValueError, match=r"all 3 clips are spans of one file, 'a.wav', .*=0, or tag more files"):
        clip_set(spans, ["dog"], holdout_fraction=0.2)


def test_a_hash_never_holds_out_the_last_clips_of_a_class() -> None:
    rare = [weak_clip("rare.wav", ["owl"]), *(weak_clip(f"{i}.wav", ["dog"]) for i in range(9))]
    for seed in range(30):
        split = clip_set(rare, ["dog", "owl"], holdout_fraction=0.5, seed=seed)
        assert split.held_out.sum() == 5
        assert not split.held_out[0]


def test_a_group_that_is_most_of_the_data_is_not_held_out() -> None:
    sites = [weak_clip(f"{i}.wav", ["dog"], columns={"site": "big" if i < 80 else f"small {i}"}) for i in range(100)]
    for seed in range(30):
        split = clip_set(sites, ["dog"], holdout_fraction=0.1, group_column="site", seed=seed)
        assert split.held_out.sum() == 10
        assert not split.held_out[:80].any()


def test_nothing_can_be_held_out_when_every_clip_is_the_only_one_of_its_class() -> None:
    unique = [weak_clip("a.wav", ["dog"]), weak_clip("b.wav", ["owl"])]
    with pytest.raises(ValueError, match=r"none of the 2 files can be held out: each has the only clips of a class"):
        clip_set(unique, ["dog", "owl"], holdout_fraction=0.5)


def test_spans_of_one_file_stay_together_whatever_the_groups_say() -> None:
    spans = [
        weak_clip("long.wav", ["dog"], onset=float(i), offset=i + 6.0, columns={"tagger": f"t{i % 3}"})
        for i in range(9)
    ]
    others = [weak_clip(f"{i}.wav", ["dog"], columns={"tagger": f"t{i + 3}"}) for i in range(9)]
    for seed in range(20):
        split = clip_set([*spans, *others], ["dog"], holdout_fraction=0.3, group_column="tagger", seed=seed)
        assert split.held_out[:9].all() == split.held_out[:9].any()
        assert len(set(split.groups)) == 10


def test_an_empty_group_is_an_error() -> None:
    clips = [
        weak_clip("a.wav", ["dog"], columns={"patient": "1"}),
        weak_clip("b.wav", ["dog"], columns={"patient": ""}),
    ]
    with pytest.raises(ValueError, match=r"column 'patient' is empty - name the clip's group"):
        clip_set(clips, ["dog"], holdout_fraction=0.5, group_column="patient")
