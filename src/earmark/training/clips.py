"""Which clips there are to learn from, what is known of each, and which are held out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark import checks
from earmark.labels.weak import WeakClip
from earmark.training.strong_labels import StrongLabels

KINDS = ("weak", "strong", "unlabelled")


@dataclass(frozen=True)
class ClipSet:
    """Clips with what is known of them; everything has one entry per clip, in the same order.

    Args:
        classes: names of the classes.
        clips: filename, span and origin of each.
        tags: bool (clips, classes), true where a clip is tagged with a class.
        known: bool (clips, classes), false where nobody listened for a class; a loss never looks there.
        groups: what belongs together and is never split; the file itself when nothing else is said.
        held_out: bool (clips,), true for clips that are never trained on.
        strong: what is known of the moments of each; None for a clip with tags alone, or when all are.

    Example:
        >>> names = ("cat", "dog")
        >>> rows = [WeakClip(f"{name}.wav", frozenset({name}), None, None, None, {}, "weak.tsv:2") for name in names]
        >>> clips = clip_set(rows, names, holdout_fraction=0)
        >>> clips.tags.astype(int).tolist(), clips.held_out.tolist()
        ([[1, 0], [0, 1]], [False, False])
    """

    classes: tuple[str, ...]
    clips: tuple[WeakClip, ...]
    tags: NDArray[np.bool_]
    known: NDArray[np.bool_]
    groups: tuple[str, ...]
    held_out: NDArray[np.bool_]
    strong: tuple[StrongLabels | None, ...] | None = None

    @property
    def kinds(self) -> NDArray[np.str_]:
        """What is known of each clip: ``"strong"`` (of moments too), ``"weak"`` (tags) or ``"unlabelled"``, (clips,).

        Example:
            >>> rows = [WeakClip("a.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2")]
            >>> clip_set(rows, ["dog"], holdout_fraction=0).kinds.tolist()
            ['weak']
        """
        kinds = np.where(self.known.any(axis=1), "weak", "unlabelled")
        if self.strong is not None:
            kinds[[labels is not None for labels in self.strong]] = "strong"
        return kinds

    def only(self, indices: Sequence[int] | NDArray[np.intp]) -> ClipSet:
        """The clips at `indices`, in that order.

        Example:
            >>> rows = [WeakClip(name, frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for name in "ab"]
            >>> clip_set(rows, ["dog"], holdout_fraction=0).only([1]).groups
            ('b',)
        """
        chosen = np.asarray(indices, dtype=np.intp)
        return ClipSet(
            self.classes,
            tuple(self.clips[i] for i in chosen),
            self.tags[chosen],
            self.known[chosen],
            tuple(self.groups[i] for i in chosen),
            self.held_out[chosen],
            None if self.strong is None else tuple(self.strong[i] for i in chosen),
        )


def with_unlabelled(clips: ClipSet, others: Sequence[WeakClip]) -> ClipSet:
    """Return the clips and others of which nothing is known, none of them held out.

    Example:
        >>> rows = [WeakClip(name, frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for name in "ab"]
        >>> with_unlabelled(clip_set(rows[:1], ["dog"], holdout_fraction=0), rows[1:]).kinds.tolist()
        ['weak', 'unlabelled']
    """
    nothing = np.zeros((len(others), len(clips.classes)), dtype=bool)
    return ClipSet(
        clips.classes,
        (*clips.clips, *others),
        np.concatenate([clips.tags, nothing]),
        np.concatenate([clips.known, nothing]),
        (*clips.groups, *(clip.filename for clip in others)),
        np.concatenate([clips.held_out, np.zeros(len(others), dtype=bool)]),
        None if clips.strong is None else (*clips.strong, *[None] * len(others)),
    )


def clip_set(
    clips: Sequence[WeakClip],
    classes: Sequence[str],
    *,
    holdout_fraction: float,
    split_column: str | None = None,
    held_out_value: str | None = None,
    group_column: str | None = None,
    seed: int = 0,
) -> ClipSet:
    """Return the clips as arrays, with some held out: by a column, or by a hash that never cuts a group.

    Args:
        clips: as read from the label file.
        classes: the classes to learn; a label outside them is an error.
        holdout_fraction: share of the clips to hold out when `split_column` is None.
        split_column: column of the label file that says which clips are held out.
        held_out_value: its value for held-out clips.
        group_column: column that says what belongs together (patient, site, recorder).
        seed: another seed holds out other groups. No class loses its last training clip to the held-out ones.

    Raises:
        ValueError: for an unknown label or column, or when nothing is left on one side.

    Example:
        >>> clips = [WeakClip(f"{i}.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for i in range(10)]
        >>> int(clip_set(clips, ["cat", "dog"], holdout_fraction=0.2).held_out.sum())
        2
    """
    if not clips:
        raise ValueError("the label file lists no clips - nothing can be learned from it")
    index = {label: i for i, label in enumerate(classes)}
    tags = np.zeros((len(clips), len(classes)), dtype=bool)
    known = np.ones_like(tags)
    for row, clip in enumerate(clips):
        checks.known_labels(sorted(clip.labels), classes, where=clip.where)
        tags[row, [index[label] for label in clip.labels]] = True
        if clip.known is not None:
            _refuse_misspelt(clip, classes)
            known[row] = False
            known[row, [index[label] for label in clip.known if label in index]] = True
    groups = _groups(clips, group_column)
    if split_column is None:
        kind = "files" if group_column is None else "groups"
        held_out = _hash_split(groups, tags & known, holdout_fraction, seed, kind=kind)
    else:
        held_out = _column_split(clips, groups, split_column, held_out_value)
    return ClipSet(tuple(classes), tuple(clips), tags, known, groups, held_out)


def _refuse_misspelt(clip: WeakClip, classes: Sequence[str]) -> None:
    """Raise ValueError for a known class that no clip has but a similar one does: nobody would learn of its absence."""
    assert clip.known is not None
    for label in sorted(clip.known - set(classes)):
        hint = checks.did_you_mean(label, classes)
        if hint:
            raise ValueError(f"{clip.where}: known_classes names {label!r}, but no clip has this class{hint}")


def _groups(clips: Sequence[WeakClip], column: str | None) -> tuple[str, ...]:
    """What must stay on one side: spans of one file always, and clips with the same value in the column."""
    if column is None:
        return tuple(clip.filename for clip in clips)
    values = [_column(clip, column, "--group") for clip in clips]
    for clip, value in zip(clips, values, strict=True):
        if not value:
            raise ValueError(
                f"{clip.where}: column {column!r} is empty - name the clip's group, or give it one of its own"
            )
    # Files join groups: the first group a file was seen in stands for all groups its other spans belong to.
    stands_for = {value: value for value in values}

    def root(value: str) -> str:
        while stands_for[value] != value:
            value = stands_for[value]
        return value

    first_of_file: dict[str, str] = {}
    for clip, value in zip(clips, values, strict=True):
        stands_for[root(value)] = root(first_of_file.setdefault(clip.filename, value))
    return tuple(root(value) for value in values)


def _column(clip: WeakClip, column: str, option: str) -> str:
    """The clip's value in a column of the label file."""
    if column not in clip.columns:
        names = ", ".join(clip.columns) if clip.columns else "none besides the labels"
        hint = checks.did_you_mean(column, clip.columns)
        raise ValueError(
            f"{clip.where}: {option} names a column {column!r} that is not there, or in which the clip's rows disagree"
            f" (columns: {names}){hint}"
        )
    return clip.columns[column]


def _hash_split(
    groups: Sequence[str], tags: NDArray[np.bool_], fraction: float, seed: int, *, kind: str
) -> NDArray[np.bool_]:
    """Groups in the order of their hash, held out until `fraction` of the clips is reached; `kind`: what they are.

    A group stays with the training clips when it has the last ones of a class, or when it alone is so large that twice
    the wanted share would be held out.
    """
    names, group_of = np.unique(groups, return_inverse=True)
    is_out = np.zeros(len(names), dtype=bool)  # (groups,)
    if fraction == 0:
        return is_out[group_of]
    if len(names) == 1:
        if len(groups) == 1:
            raise ValueError(
                f"at least two clips are needed to hold one out, got one, {groups[0]!r}"
                " - set training.holdout_fraction=0, or tag more clips"
            )
        which, other = {
            "files": ("are spans of one file", "tag more files"),
            "groups": ("belong to one group", "name another group column"),
        }[kind]
        raise ValueError(
            f"all {len(groups)} clips {which}, {groups[0]!r}, so none can be held out"
            f" - set training.holdout_fraction=0, or {other}"
        )
    sizes = np.bincount(group_of)
    positives = np.zeros((len(names), tags.shape[1]), dtype=np.int64)  # clips of each class, (groups, classes)
    np.add.at(positives, group_of, tags)
    left = positives.sum(axis=0)  # for training
    order = sorted(range(len(names)), key=lambda i: hashlib.sha256(f"{seed}/{names[i]}".encode()).digest())
    wanted = fraction * len(groups)
    for largest in (2 * wanted, len(groups) - 1):  # the second round only when every group is that large
        for group in order:
            loses_a_class = ((positives[group] == left) & (left > 0)).any()
            if sizes[is_out].sum() + sizes[group] <= largest and not loses_a_class:
                is_out[group] = True
                left = left - positives[group]
            if sizes[is_out].sum() >= wanted:
                return is_out[group_of]
        if is_out.any():
            return is_out[group_of]
    raise ValueError(
        f"none of the {len(names)} {kind} can be held out: each has the only clips of a class"
        " - set training.holdout_fraction=0, or tag more clips"
    )


def _column_split(
    clips: Sequence[WeakClip], groups: Sequence[str], column: str, value: str | None
) -> NDArray[np.bool_]:
    """Held out where the column says so, with groups that stand on both sides refused."""
    values = [_column(clip, column, "--split") for clip in clips]
    if value is None:
        raise ValueError(f"--held-out must say which value of column {column!r} is held out: {_some(values)}")
    held_out = np.array([entry == value for entry in values])
    if not held_out.any() or held_out.all():
        which = "no" if not held_out.any() else "every"
        raise ValueError(f"{which} clip has {value!r} in column {column!r} (its values are: {_some(values)})")
    both = {g for g, out in zip(groups, held_out, strict=True) if out} & {
        g for g, out in zip(groups, held_out, strict=True) if not out
    }
    if both:
        raise ValueError(
            f"column {column!r} cuts {len(both)} groups into training and held-out clips, for instance {min(both)!r}"
            " - figures on them would flatter"
        )
    return held_out


def _some(values: Sequence[str]) -> str:
    """The distinct values, not more than ten."""
    distinct = sorted(set(values))
    return ", ".join(repr(v) for v in distinct[:10]) + (", ..." if len(distinct) > 10 else "")
