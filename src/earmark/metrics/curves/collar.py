"""Event-based curves: event F1 with collars at every threshold at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from earmark.metrics.collars import DCASE_COLLARS, Collars, within_collars
from earmark.metrics.curves.changes import Changes, changes_of, found_changes, joined
from earmark.metrics.curves.coverage import Coverage, coverage_of
from earmark.metrics.curves.curve import Curves, curves_of
from earmark.metrics.curves.runs import Runs, find_runs
from earmark.metrics.curves.scored_clips import ScoredClips, frames_with_reference
from earmark.metrics.event_table import EventTable
from earmark.metrics.matching import maximum_matching


def collar_curves(clips: ScoredClips, *, collars: Collars = DCASE_COLLARS, use_numba: bool | None = None) -> Curves:
    """Count hits and false alarms with collars, as `count_events` does, at every threshold.

    At a threshold the predicted events of a class are the longest runs of frames whose scores reach it. Each run is
    tested against the reference once, however many thresholds it lives through.

    Args:
        clips: scores and reference.
        collars: what makes two events the same.
        use_numba: True insists on the compiled loop of the extra `[fast]`, False forbids it, None takes it if it is
            there. The result is the same.

    Example:
        >>> from earmark.metrics.curves.scored_clips import scored_clips
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a.wav": [[0.1], [0.9], [0.8], [0.3]]}, classes=["dog"], hop_seconds=1.0)
        >>> curve = collar_curves(scored_clips(scores, {"a.wav": [(1.0, 3.0, "dog")]})).of_class[0]
        >>> curve.score, curve.true_positives, curve.false_positives
        (array([inf, 0.9, 0.8, 0.3]), array([0, 0, 1, 0]), array([0, 1, 0, 1]))
    """
    hits = _hit_changes(clips, collars, use_numba)

    def make_changes() -> Iterator[Changes]:
        for index, found in enumerate(found_changes(clips.scores)):
            yield joined([found, _of_class(hits, index)])

    return curves_of(
        "event",
        clips.scores.classes,
        make_changes,
        clips.scores.files,
        reference_by_file=clips.reference_by_file,
        use_numba=use_numba,
    )


def _of_class(hits: tuple[NDArray[np.int64], Changes], index: int) -> Changes:
    """The changes of one class."""
    class_index, changes = hits
    keep = class_index == index
    return Changes(changes.score[keep], changes.file_index[keep], changes.hits[keep], changes.false_alarms[keep])


def _hit_changes(clips: ScoredClips, collars: Collars, use_numba: bool | None) -> tuple[NDArray[np.int64], Changes]:
    """When hits appear and disappear, each a false alarm less or more: (changes,) class index, and the changes."""
    rows, runs = _hitting_runs(clips, collars, use_numba)
    if len(rows) == 0:
        empty = np.zeros(0, dtype=np.int64)
        return empty, changes_of(np.zeros(0), empty, hits=empty, false_alarms=empty)
    cell = clips.reference.cell[rows]
    contest = _contests(rows, runs)
    # Nearly always a run hits one event only, and an event is hit as long as any of its runs is there. Where runs hit
    # several events, matching decides at each threshold, for those events alone.
    is_alone = contest < 0
    parts = [_hit_while_any_lives(rows[is_alone], cell[is_alone], runs.rows(is_alone))]
    order = np.argsort(contest, kind="stable")[np.count_nonzero(is_alone) :]
    begins = np.flatnonzero(np.append(True, np.diff(contest[order]) > 0)[: len(order)])
    for pairs in np.split(order, begins[1:]) if len(order) else ():
        parts.append(_matched(int(cell[pairs[0]]), rows[pairs], runs.rows(pairs)))
    cells, score, step = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    is_real = score > -np.inf
    file_index, class_index = np.divmod(cells[is_real], len(clips.scores.classes))
    return class_index, changes_of(score[is_real], file_index, hits=step[is_real], false_alarms=-step[is_real])


def _hitting_runs(clips: ScoredClips, collars: Collars, use_numba: bool | None) -> tuple[NDArray[np.int64], Runs]:
    """All pairs of a reference row and a run within the collars: (pairs,), (pairs,)."""
    scores, reference = clips.scores, clips.reference
    file_of_frame = scores.file_of_frame
    coverage = coverage_of(scores, reference)
    near_onset, near_offset = _near_edges(clips, coverage, collars)
    pairs: list[tuple[NDArray[np.int64], Runs]] = []
    for runs in find_runs(
        scores.values,
        frames=frames_with_reference(clips),
        begins_clip=scores.begins_clip,
        use_numba=use_numba,
    ):
        cell = coverage.cell_of(file_of_frame[runs.first], runs.class_index)
        first_edge = coverage.first_of_cell[cell] - coverage.first_frame_of_cell[cell]
        runs = runs.rows(near_onset[first_edge + runs.first] & near_offset[first_edge + runs.end])
        file_index = file_of_frame[runs.first]
        found = EventTable(
            scores.files,
            scores.classes,
            file_index,
            runs.class_index,
            scores.edge_seconds[runs.first + file_index],
            scores.edge_seconds[runs.end + file_index],
        )
        rows, columns = within_collars(reference, found, reference.cell, found.cell, collars)
        pairs.append((rows, runs.rows(columns)))
    if not pairs:
        empty = np.zeros(0, dtype=np.int64)
        return empty, Runs(empty, empty, empty, np.zeros(0), np.zeros(0))
    return np.concatenate([rows for rows, _ in pairs]), _joined_runs([runs for _, runs in pairs])


def _near_edges(
    clips: ScoredClips, coverage: Coverage, collars: Collars
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether an edge may be the onset, or the offset, of a hit, generously: (edges of all cells,) each."""
    reference, slack = clips.reference, 1_000_000  # more than any rounding; who is really near is decided later
    fraction = collars.offset_fraction * (reference.offset_nanoseconds - reference.onset_nanoseconds)
    reach = (
        np.full(len(reference), collars.onset_seconds * 1e9),
        np.maximum(collars.offset_seconds * 1e9, fraction),
    )
    # Each cell's part of the line, so that no reach leads into the next one.
    first = coverage.first_of_cell[coverage.cell_of_event]
    stop = np.append(coverage.first_of_cell, len(coverage.edge_line))[coverage.cell_of_event + 1]
    near = []
    for line, collar in zip((coverage.event_onset_line, coverage.event_offset_line), reach, strict=True):
        margin = np.rint(collar).astype(np.int64) + slack + round(collars.tolerance_seconds * 1e9)
        low = np.clip(np.searchsorted(coverage.edge_line, line - margin), first, stop)
        high = np.clip(np.searchsorted(coverage.edge_line, line + margin), first, stop)
        n_edges = len(coverage.edge_line) + 1
        steps = np.bincount(low, minlength=n_edges) - np.bincount(high, minlength=n_edges)
        near.append(np.cumsum(steps)[:-1] > 0)
    return near[0], near[1]


def _contests(rows: NDArray[np.int64], runs: Runs) -> NDArray[np.int64]:
    """To which contest each pair belongs, events that share a run and so on; -1 where one event is alone: (pairs,)."""
    order = np.lexsort((runs.end, runs.first, runs.class_index))
    is_other = np.zeros(len(order), dtype=bool)
    for numbers in (runs.class_index, runs.first, runs.end):
        is_other[1:] |= np.diff(numbers[order]) != 0
    run = np.empty(len(order), dtype=np.int64)
    run[order] = np.cumsum(is_other)
    # Every pair takes the lowest event that its run or its event knows of, until nobody learns anything new.
    contest, before = rows.copy(), np.full(len(rows), -1)
    while not np.array_equal(contest, before):
        before = contest
        for member in (run, rows):
            lowest = np.full(int(member.max(initial=0)) + 1, np.iinfo(np.int64).max)
            np.minimum.at(lowest, member, contest)
            contest = lowest[member]
    has_others = np.zeros(int(contest.max(initial=0)) + 1, dtype=bool)
    has_others[contest[contest != rows]] = True
    return np.where(has_others[contest], contest, -1)


def _hit_while_any_lives(
    rows: NDArray[np.int64], cell: NDArray[np.int64], runs: Runs
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Events whose runs hit nothing else: a hit as long as at least one is there: (changes,) cell, score and step."""
    event, score = np.concatenate([rows, rows]), np.concatenate([runs.top, runs.bottom])
    order = np.lexsort((-score, event))
    event, score, cell = event[order], score[order], np.concatenate([cell, cell])[order]
    n_alive = np.cumsum(np.repeat([1, -1], len(rows))[order])  # 0 again after the last change of every event
    is_last = np.append((np.diff(event) != 0) | (np.diff(score) != 0), True)[: len(event)]
    event, score, cell, n_alive = event[is_last], score[is_last], cell[is_last], n_alive[is_last]
    is_hit = (n_alive > 0).astype(np.int64)
    step = np.diff(is_hit, prepend=0)  # every event ends with 0, so the next one begins with it
    changed = step != 0
    return cell[changed], score[changed], step[changed]


def _matched(
    cell: int, rows: NDArray[np.int64], runs: Runs
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """In one clip and class: the largest matching of the runs alive at each threshold."""
    levels = np.unique(np.concatenate([runs.top, runs.bottom]))[::-1]
    sizes = []
    for level in levels.tolist():
        neighbours: dict[int, list[int]] = {}
        for place in np.flatnonzero((runs.top >= level) & (runs.bottom < level)).tolist():
            neighbours.setdefault(int(runs.first[place]), []).append(int(rows[place]))
        sizes.append(len(maximum_matching(neighbours)))
    steps = np.diff(sizes, prepend=0)
    return np.full(len(levels), cell, dtype=np.int64), levels, steps.astype(np.int64)


def _joined_runs(parts: list[Runs]) -> Runs:
    """Several lists as one."""
    return Runs(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("class_index", "first", "end", "top", "bottom")
        )
    )
