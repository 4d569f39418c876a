"""The figures of event lists and tags in every resample: counts added up under weights, then divided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from earmark.metrics.bootstrap import Groups
from earmark.metrics.by_file import CountsByFile
from earmark.metrics.figures import CountArrays, Figures, figures_of

Weights = NDArray[np.int64]
Columns = NDArray[np.float64]  # (runs, groups, 3 * classes + 2): hits, wrong, missed by class; substitutions, segments


def checked_runs(runs: CountsByFile | Sequence[CountsByFile], name: str = "runs") -> list[CountsByFile]:
    """Return the runs as a list, if they are about the same thing.

    Raises:
        ValueError: no run, or runs that differ in files, classes, level, policy or reference.

    Example:
        >>> checked_runs([])
        Traceback (most recent call last):
        ...
        ValueError: runs must have at least one run, got none
    """
    listed = [runs] if isinstance(runs, CountsByFile) else list(runs)
    if not listed:
        raise ValueError(f"{name} must have at least one run, got none")
    for number, run in enumerate(listed[1:], start=2):
        check_same_task(listed[0], run, f"the first of the {name}", f"number {number} of the {name}")
    return listed


def check_same_task(one: CountsByFile, other: CountsByFile, name: str, other_name: str) -> None:
    """Raise ValueError unless both were counted on the same files, against the same reference, in the same way.

    Example:
        >>> from earmark.metrics import tag_tables
        >>> from earmark.metrics.by_file import clip_counts_by_file
        >>> one, other = (clip_counts_by_file(*tag_tables(tags, tags)[:2]) for tags in ({"a": {"dog"}}, {"b": {"dog"}}))
        >>> check_same_task(one, other, "system", "baseline")
        Traceback (most recent call last):
        ...
        ValueError: system and baseline must be scored on the same files; 1 are in system alone (first: 'a') and 1 ...
    """
    both = f"{name} and {other_name} must be"
    for what in ("level", "compatible", "segment_seconds"):
        if getattr(one, what) != getattr(other, what):
            raise ValueError(
                f"{both} counted in the same way, but {what} is {getattr(one, what)!r} and {getattr(other, what)!r}"
            )
    for what in ("files", "classes"):
        names, other_names = getattr(one, what), getattr(other, what)
        if names == other_names:
            continue
        alone, other_alone = sorted({*names} - {*other_names}), sorted({*other_names} - {*names})
        parts = [
            f"{len(found)} are in {whose} alone (first: {found[0]!r})"
            for found, whose in ((alone, name), (other_alone, other_name))
            if found
        ]
        hint = " - name all of them with classes=[...]" if what == "classes" else ""
        found = " and ".join(parts) if parts else "they are in different order"
        raise ValueError(f"{both} scored on the same {what}; {found}{hint}")
    differs = (one.true_positives + one.false_negatives != other.true_positives + other.false_negatives).any(axis=1)
    if differs.any():
        raise ValueError(
            f"{both} scored against the same reference, but it differs in {np.count_nonzero(differs)} files (first: "
            f"{one.files[int(np.argmax(differs))]!r})"
        )


def group_columns(runs: Sequence[CountsByFile], groups: Groups) -> Columns:
    """Return the counts of every run and group, ready for weights.

    Example:
        >>> from earmark.metrics.by_file import clip_counts_by_file
        >>> from earmark.metrics import tag_tables
        >>> tags = {"a.wav": {"dog"}, "b.wav": {"cat"}, "c.wav": {"dog"}}
        >>> by_file = clip_counts_by_file(*tag_tables(tags, tags)[:2])
        >>> group_columns([by_file], Groups("group", ("Ada", "Bob"), np.array([0, 1, 0])))[0, :, :2]     # cats, dogs
        array([[0., 2.],
               [1., 0.]])
    """
    return np.stack(
        [
            groups.added(
                np.column_stack(
                    [run.true_positives, run.false_positives, run.false_negatives, run.substitutions, run.n_segments]
                )
            ).astype(np.float64)
            for run in runs
        ]
    )


def figures_under(weights: Weights, columns: Columns, like: CountsByFile) -> Figures:
    """Return the figures of every run in every resample, by name: (runs, resamples, 2 + classes).

    Args:
        weights: (resamples, groups).
        columns: from `group_columns`.
        like: any of the runs, for what is the same in all of them.

    Example:
        >>> from earmark.metrics.by_file import clip_counts_by_file
        >>> from earmark.metrics import tag_tables
        >>> found = clip_counts_by_file(*tag_tables({"a": {"dog"}, "b": {"dog"}}, {"a": {"dog"}, "b": set()})[:2])
        >>> columns = group_columns([found], Groups("clip", ("a", "b"), np.array([0, 1])))
        >>> figures_under(np.array([[1, 1], [2, 0], [0, 2]]), columns, found)["recall"][0, :, 0]
        array([0.5, 1. , 0. ])
    """
    # In double precision, because that is where matrices are multiplied fast; sums of counts are exact there.
    return figures_from(weights.astype(np.float64) @ columns, like)


def figures_from(sums: Columns, like: CountsByFile) -> Figures:
    """Return the figures of counts that are added up: (..., columns) -> by name (..., 2 + classes)."""
    n_classes = len(like.classes)
    hits, wrong, missed, last = np.split(sums, [n_classes, 2 * n_classes, 3 * n_classes], axis=-1)
    return figures_of(CountArrays(like.level, hits, wrong, missed, last[..., 0], last[..., 1], like.compatible))


def mean_over_runs(figures: Figures, weights: Weights) -> Figures:
    """Return the mean over runs, each as often as it was drawn: (runs, resamples, rows) -> (resamples, rows).

    A run in which a figure is undefined does not count in its mean, as everywhere.

    Args:
        figures: by name.
        weights: (resamples, runs).

    Example:
        >>> of_runs = np.array([[[0.25], [0.25]], [[0.75], [0.75]]])
        >>> mean_over_runs({"f1": of_runs}, np.array([[1, 1], [0, 2]]))["f1"].tolist()
        [[0.5], [0.75]]
    """
    of_runs = weights.T[:, :, np.newaxis]
    means = {}
    for name, values in figures.items():
        is_known = ~np.isnan(values)
        total = (np.where(is_known, values, 0.0) * of_runs).sum(axis=0)
        n_known = (is_known * of_runs).sum(axis=0)
        means[name] = np.divide(total, n_known, out=np.full(total.shape, np.nan), where=n_known > 0)
    return means


def observed(columns: Columns, like: CountsByFile) -> Figures:
    """Return the figures themselves, the mean over runs: by name (2 + classes,).

    Example:
        >>> from earmark.metrics.by_file import clip_counts_by_file
        >>> from earmark.metrics import tag_tables
        >>> found = clip_counts_by_file(*tag_tables({"a": {"dog"}, "b": {"dog"}}, {"a": {"dog"}, "b": set()})[:2])
        >>> observed(group_columns([found], Groups("clip", ("a", "b"), np.array([0, 1]))), found)["recall"]
        array([0.5, 0.5, 0.5])
    """
    n_runs, n_groups, _ = columns.shape
    all_once = figures_under(np.ones((1, n_groups), dtype=np.int64), columns, like)
    return {name: values[0] for name, values in mean_over_runs(all_once, np.ones((1, n_runs), dtype=np.int64)).items()}


def resampled(weight_pieces: Iterable[Weights], of_runs: Weights, columns: Columns, like: CountsByFile) -> Figures:
    """Return the figures of every resample, the mean over the runs drawn: by name (resamples, 2 + classes).

    Args:
        weight_pieces: a few resamples at a time, (rows, groups).
        of_runs: (resamples, runs).
        columns: from `group_columns`.
        like: any of the runs.

    Example:
        >>> from earmark.metrics.by_file import clip_counts_by_file
        >>> from earmark.metrics import tag_tables
        >>> found = clip_counts_by_file(*tag_tables({"a": {"dog"}, "b": {"dog"}}, {"a": {"dog"}, "b": set()})[:2])
        >>> columns = group_columns([found], Groups("clip", ("a", "b"), np.array([0, 1])))
        >>> pieces = [np.array([[1, 1], [2, 0]]), np.array([[0, 2]])]
        >>> resampled(pieces, np.ones((3, 1), dtype=np.int64), columns, found)["recall"][:, 0]
        array([0.5, 1. , 0. ])
    """
    parts, start = [], 0
    for weights in weight_pieces:
        of_pieces = of_runs[start : start + len(weights)]
        parts.append(mean_over_runs(figures_under(weights, columns, like), of_pieces))
        start += len(weights)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
