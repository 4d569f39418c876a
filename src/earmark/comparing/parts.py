"""Three parts of the clips: to learn from, to choose by (epoch, thresholds), and a test that nothing is chosen by."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.checks import did_you_mean
from earmark.labels.cells import join_labels
from earmark.labels.weak import WeakClip
from earmark.training.clips import ClipSet

LEARN, HELD_OUT, TEST = range(3)
NAMES = ("learn", "held-out", "test")
TEST_SHARE = 0.2  # of the clips, when no column says which ones


@dataclass(frozen=True)
class Columns:
    """The columns and values that say what belongs together and which clips are for what; None: a hash decides.

    Example:
        >>> Columns(group="patient").split is None
        True
    """

    group: str | None = None
    split: str | None = None
    held_out: str | None = None
    test: str | None = None


@dataclass(frozen=True, eq=False)
class Parts:
    """Clips and which part each is in.

    Args:
        clips: all of them; `held_out` of the set is of no meaning here.
        part: (clips,) `LEARN`, `HELD_OUT` or `TEST`.

    Example:
        >>> from earmark.training.clips import clip_set
        >>> rows = [WeakClip(name, frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for name in "abc"]
        >>> parts = Parts(clip_set(rows, ["dog"], holdout_fraction=0), np.array([LEARN, HELD_OUT, TEST]))
        >>> parts.of(TEST).clips[0].filename, parts.n_groups(LEARN)
        ('c', 1)
    """

    clips: ClipSet
    part: NDArray[np.intp]

    def indices(self, part: int) -> NDArray[np.intp]:
        """Which clips are in a part."""
        return np.flatnonzero(self.part == part)

    def of(self, part: int) -> ClipSet:
        """The clips of a part."""
        return self.clips.only(self.indices(part))

    def n_groups(self, part: int) -> int:
        """How many groups are in a part."""
        return len(set(self.of(part).groups))

    def only(self, chosen: NDArray[np.intp]) -> Parts:
        """The clips at `chosen` alone, in that order."""
        return Parts(self.clips.only(chosen), self.part[chosen])


def three_parts(clips: ClipSet, columns: Columns, *, held_out_share: float, seed: int) -> Parts:
    """Return the clips in three parts, by columns or by a hash that never cuts a group.

    Args:
        clips: with their groups.
        columns: of the label file.
        held_out_share: of all clips, for what no column says.
        seed: another one gives other parts.

    Raises:
        ValueError: a part without clips, a group in two parts, or a class without a clip to learn from.

    Example:
        >>> from earmark.training.clips import clip_set
        >>> rows = [WeakClip(f"{i}.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for i in range(20)]
        >>> parts = three_parts(clip_set(rows, ["dog"], holdout_fraction=0), Columns(), held_out_share=0.15, seed=0)
        >>> [len(parts.indices(part)) for part in (LEARN, HELD_OUT, TEST)]
        [13, 3, 4]
    """
    tags = clips.tags & clips.known
    if columns.split is None:
        part = np.full(len(clips.clips), LEARN, dtype=np.intp)
        part = _hashed(clips.groups, tags, part, TEST, TEST_SHARE, seed)
        part = _hashed(clips.groups, tags, part, HELD_OUT, held_out_share, seed)
    else:
        part = _by_column(clips.clips, columns)
        _refuse_cut_groups(clips.groups, part, columns.split)
        if columns.held_out is None:
            part = _hashed(clips.groups, tags, part, HELD_OUT, held_out_share, seed)
    missing = [label for label, column in zip(clips.classes, tags[part == LEARN].T, strict=True) if not column.any()]
    if missing:
        raise ValueError(
            f"no clip to learn from has the class {missing[0]!r} ({len(missing)} of {len(clips.classes)} classes are"
            " missing) - its clips are all held out or for the test; tag more of them, or leave the class out"
        )
    return Parts(clips, part)


def parts_table(parts: Parts, *, of: Sequence[int]) -> str:
    """Return some parts as a label file that `earmark train` reads: columns for everything, and one for the part.

    Example:
        >>> from earmark.training.clips import clip_set
        >>> rows = [WeakClip(f"{name}.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for name in "ab"]
        >>> parts = Parts(clip_set(rows, ["dog"], holdout_fraction=0), np.array([LEARN, TEST]))
        >>> parts_table(parts, of=[LEARN, HELD_OUT]).splitlines()[1].split(chr(9))
        ['a.wav', 'dog', '', '', '', 'a.wav', 'learn']
    """
    lines = ["filename\tevent_labels\tonset\toffset\tknown_classes\tgroup\tpart"]
    for clip, group, part in zip(parts.clips.clips, parts.clips.groups, parts.part, strict=True):
        if int(part) in of:
            known = "" if clip.known is None else join_labels(clip.known)
            times = ("", "") if clip.onset is None or clip.offset is None else (repr(clip.onset), repr(clip.offset))
            cells = (clip.filename, join_labels(clip.labels), *times, known, " ".join(group.split()), NAMES[part])
            lines.append("\t".join(cells))
    return "\n".join(lines) + "\n"


def _hashed(
    groups: Sequence[str], tags: NDArray[np.bool_], part: NDArray[np.intp], to: int, share: float, seed: int
) -> NDArray[np.intp]:
    """Move whole groups out of LEARN, in the order of their hash, until the share is reached.

    First, rare classes first, a group of each class, because without it the class would have no figure; then groups as
    they come, but of a class that is in few no more than leaves others for what is still to be filled. A group never
    leaves when it is the last one to learn a class from, or when it alone would make the part twice as large as wanted.
    """
    wanted = share * len(groups)
    names, group_of = np.unique(groups, return_inverse=True)
    order = sorted(
        (g for g in range(len(names)) if (part[group_of == g] == LEARN).all()),
        key=lambda g: hashlib.sha256(f"{seed}/{names[g]}".encode()).digest(),
    )
    has = np.zeros((len(names), tags.shape[1]), dtype=bool)  # (groups, classes)
    np.logical_or.at(has, group_of, tags)
    moving = _Moving(has, np.bincount(group_of), order)
    moving.one_of_each_class(largest=max(1, 2 * wanted))
    left_over = 2 if to == TEST else 1  # one of them for the held-out clips
    moving.until(wanted, left_over=left_over, largest=2 * wanted)
    if not moving.moved:  # every group is as large as that
        moving.until(wanted, left_over=left_over, largest=len(groups) - 1)
    if not moving.moved:
        raise ValueError(
            f"three parts (to learn from, to choose by, to test on) cannot be made of {len(names)}"
            f" group{'s' * (len(names) != 1)} in {len(groups)} clips: none is left for the {NAMES[to]} part, or each"
            " has the only clips of a class - tag more clips, or name another --group column"
        )
    part = part.copy()
    part[np.isin(group_of, moving.moved)] = to
    return part


class _Moving:
    """Groups that leave the part to learn from, one after the other.

    Args:
        has: bool (groups, classes).
        sizes: (groups,) in clips.
        order: the groups that may leave, in the order in which they are asked.
    """

    def __init__(self, has: NDArray[np.bool_], sizes: NDArray[np.intp], order: Sequence[int]) -> None:
        self.has, self.sizes, self.order = has, sizes, order
        self.moved: list[int] = []
        self._n_moved = 0  # clips
        self._left = has[list(order)].sum(axis=0)  # groups of each class that are still to be learned from

    def one_of_each_class(self, *, largest: float) -> None:
        """Rare classes first, the first group of each that may go."""
        for label in np.argsort(self._left, kind="stable"):
            if not self.has[self.moved, label].any():
                for group in self.order:
                    if self.has[group, label] and self._move(group, left_over=1, largest=largest):
                        break

    def until(self, wanted: float, *, left_over: int, largest: float) -> None:
        """Groups in their order until there are `wanted` clips, never more than `largest`.

        None goes that would leave fewer than `left_over` groups of one of its classes.
        """
        for group in self.order:
            if self._n_moved >= wanted:
                return
            self._move(group, left_over=left_over, largest=largest)

    def _move(self, group: int, *, left_over: int, largest: float) -> bool:
        """Move a group if it may go, and say whether it did."""
        is_too_large = self._n_moved + self.sizes[group] > largest
        if group in self.moved or is_too_large or (self.has[group] & (self._left <= left_over)).any():
            return False
        self.moved.append(group)
        self._left = self._left - self.has[group]
        self._n_moved += int(self.sizes[group])
        return True


def _by_column(clips: Sequence[WeakClip], columns: Columns) -> NDArray[np.intp]:
    """Parts as a column of the label file says."""
    column = columns.split
    assert column is not None
    if columns.test is None:
        raise ValueError(f"--split {column} needs --test, the value of the clips nothing is learned from or chosen by")
    if columns.test == columns.held_out:
        raise ValueError(
            f"--held-out and --test must be different values, got {columns.test!r} twice - figures on clips that the"
            " epoch was chosen by would flatter"
        )
    values = []
    for clip in clips:
        if column not in clip.columns:
            raise ValueError(
                f"{clip.where}: --split names a column {column!r} that is not there"
                f" (columns: {', '.join(clip.columns)}){did_you_mean(column, clip.columns)}"
            )
        values.append(clip.columns[column])
    there = sorted(set(values))
    for option, value in (("--held-out", columns.held_out), ("--test", columns.test)):
        if value is not None and value not in there:
            raise ValueError(
                f"{option}: no clip has {value!r} in column {column!r} (its values are:"
                f" {', '.join(map(repr, there[:10]))}){did_you_mean(value, there)}"
            )
    parts = {columns.test: TEST} | ({} if columns.held_out is None else {columns.held_out: HELD_OUT})
    part = np.array([parts.get(value, LEARN) for value in values], dtype=np.intp)
    if not (part == LEARN).any():
        raise ValueError(f"no clip is left to learn from: all have --held-out or --test in column {column!r}")
    return part


def _refuse_cut_groups(groups: Sequence[str], part: NDArray[np.intp], column: str) -> None:
    """Raise ValueError when clips of one group are in two parts."""
    part_of: dict[str, int] = {}
    cut = sorted({g for g, p in zip(groups, part, strict=True) if part_of.setdefault(g, int(p)) != p})
    if cut:
        raise ValueError(
            f"column {column!r} cuts {len(cut)} groups into two parts, for instance {cut[0]!r}"
            " - figures on them would flatter"
        )
