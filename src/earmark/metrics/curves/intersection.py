r"""Intersection-based counting at every threshold: what PSDS is made of.

A detection is relevant when enough of it lies in reference events of its class (detection tolerance criterion, DTC);
otherwise it is a false alarm. A reference event is a hit when relevant detections cover enough of it (ground truth
criterion, GTC). A false alarm of which enough lies in reference events of another class triggers across to that class
(cross-trigger tolerance criterion, CTTC).

.. math:: \frac{|d \cap R_c|}{|d|} \ge \rho_\mathrm{DTC}, \quad
          \frac{\sum_{d \text{ relevant}} |d \cap r|}{|r|} \ge \rho_\mathrm{GTC}, \quad
          \frac{|d \cap R_k|}{|d|} \ge \rho_\mathrm{CTTC}

All three are compared in whole microseconds, as sed_scores_eval does, so that what is exactly enough is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from earmark.checks import number
from earmark.metrics.curves.changes import Changes, changes_of, found_changes, joined
from earmark.metrics.curves.coverage import Coverage, coverage_of
from earmark.metrics.curves.curve import Curves, curves_of
from earmark.metrics.curves.runs import Runs, find_runs
from earmark.metrics.curves.scored_clips import ScoredClips, frames_with_reference

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Criteria:
    """How much must intersect.

    Args:
        detection: rho_DTC, the part of a detection that must lie in reference events of its class.
        reference: rho_GTC, the part of a reference event that relevant detections must cover.
        cross_trigger: rho_CTTC, the part of a false alarm that must lie in reference events of another class; None
            when cross triggers do not count.

    Example:
        >>> Criteria(detection=0.7, reference=0.7).cross_trigger is None
        True
    """

    detection: float
    reference: float
    cross_trigger: float | None = None

    def __post_init__(self) -> None:
        hint = "a part of a length, for instance 0.5"
        for name in ("detection", "reference", "cross_trigger"):
            if getattr(self, name) is not None:
                number(name, getattr(self, name), above=0, at_most=1, hint=hint)


@dataclass(frozen=True, eq=False)
class CrossTriggers:
    """Changes in the number of cross triggers of one class's detections; all (changes,).

    Args:
        score: the change happens when the threshold falls to this score.
        file_index: in which clip.
        other: the class that is triggered.
        steps: gained, or lost where negative.
    """

    score: NDArray[np.float64]
    file_index: Rows
    other: Rows
    steps: Rows


def intersection_curves(clips: ScoredClips, *, criteria: Criteria, use_numba: bool | None = None) -> Curves:
    """Count intersection-based hits and false alarms at every threshold.

    Args:
        clips: scores and reference.
        criteria: how much must intersect.
        use_numba: see `collar_curves`.

    Example:
        >>> from earmark.metrics.curves.scored_clips import scored_clips
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a.wav": [[0.1], [0.9], [0.8], [0.3]]}, classes=["dog"], hop_seconds=1.0)
        >>> clips = scored_clips(scores, {"a.wav": [(1.0, 3.0, "dog")]})
        >>> curve = intersection_curves(clips, criteria=Criteria(detection=0.7, reference=0.7)).of_class[0]
        >>> curve.score, curve.true_positives, curve.false_positives     # at 0.3 too little of it is right
        (array([inf, 0.8, 0.3]), array([0, 1, 0]), array([0, 0, 1]))
    """

    def make_changes() -> list[Changes]:
        return intersection_changes(clips, criteria=criteria, above=None, use_numba=use_numba)[0]

    return curves_of(
        "intersection",
        clips.scores.classes,
        make_changes,
        clips.scores.files,
        reference_by_file=clips.reference_by_file,
        use_numba=use_numba,
    )


def intersection_changes(
    clips: ScoredClips, *, criteria: Criteria, above: NDArray[np.float64] | None, use_numba: bool | None
) -> tuple[list[Changes], list[CrossTriggers]]:
    """Return how hits, false alarms and cross triggers of every class change as the threshold falls.

    Args:
        clips: scores and reference.
        criteria: how much must intersect.
        above: (classes,) thresholds at or below these are of no interest, and what happens there is left out; None:
            all are.
        use_numba: see `collar_curves`.

    Returns:
        per class the changes, and the cross triggers (empty lists where they do not count).
    """
    scores = clips.scores
    coverage = coverage_of(scores, clips.reference)
    relevant_parts: list[tuple[Rows, Rows, Runs]] = []
    crossing: list[list[CrossTriggers]] = [[] for _ in scores.classes]
    file_of_frame = scores.file_of_frame
    for runs in find_runs(
        scores.values,
        frames=_worth_a_look(clips, criteria, above),
        begins_clip=scores.begins_clip,
        use_numba=use_numba,
    ):
        file_index = file_of_frame[runs.first]
        cell = coverage.cell_of(file_index, runs.class_index)  # -1 where the clip lacks the class
        length = _length(runs, file_index, coverage)
        is_relevant = _is_enough(_inside(runs, cell, coverage), length, criteria.detection) & (cell >= 0)
        relevant_parts.append((cell[is_relevant], file_index[is_relevant], runs.rows(is_relevant)))
        if criteria.cross_trigger is not None:
            wrong = ~is_relevant
            _add_crossing(
                crossing, runs.rows(wrong), file_index[wrong], length[wrong], coverage, criteria.cross_trigger
            )
    hits = _hit_changes(relevant_parts, coverage, clips, criteria.reference)
    found = list(found_changes(scores, above=above))
    changes = []
    for index in range(len(scores.classes)):
        parts = [found[index], *(_no_false_alarms(runs, files, index) for _, files, runs in relevant_parts)]
        changes.append(joined([*parts, hits[index]]))
    return changes, [_joined_crossing(parts) for parts in crossing]


def _worth_a_look(
    clips: ScoredClips, criteria: Criteria, above: NDArray[np.float64] | None
) -> Iterator[NDArray[np.int64]]:
    """For each class the frames of which it matters in which runs they are."""
    of_any_class = criteria.cross_trigger is not None
    for index, frames in enumerate(frames_with_reference(clips, of_any_class=of_any_class)):
        yield frames if above is None else frames[clips.scores.values[index][frames] > above[index]]


def _length(runs: Runs, file_index: Rows, coverage: Coverage) -> Rows:
    """Nanoseconds from the first to the last frame of each run: (runs,)."""
    edges = coverage.edge_nanoseconds
    return edges[runs.end + file_index] - edges[runs.first + file_index]


def _inside(runs: Runs, cell: Rows, coverage: Coverage) -> Rows:
    """Nanoseconds of each run that lie in the reference events of a cell; 0 where there is no cell: (runs,)."""
    has_cell = cell >= 0
    first_of_file = coverage.first_of_cell[np.where(has_cell, cell, 0)]
    frame = coverage.first_frame_of_cell[np.where(has_cell, cell, 0)]
    covered = coverage.covered_nanoseconds
    begin, end = (np.where(has_cell, first_of_file + edge - frame, 0) for edge in (runs.first, runs.end))
    return np.where(has_cell, covered[end] - covered[begin], 0)


def _is_enough(inside: Rows, length: Rows, part: float) -> NDArray[np.bool_]:
    """Whether `inside` is at least `part` of `length`, in whole microseconds."""
    return np.rint(inside / 1e3) >= np.rint(part * length / 1e3)


def _add_crossing(
    crossing: list[list[CrossTriggers]], runs: Runs, file_index: Rows, length: Rows, coverage: Coverage, part: float
) -> None:
    """The cross triggers of false alarms, for every other class that the clip holds."""
    n_cells = coverage.n_cells_of_file[file_index]
    run = np.repeat(np.arange(len(runs)), n_cells)
    before = np.cumsum(n_cells) - n_cells
    cell = coverage.first_cell_of_file[file_index][run] + np.arange(len(run)) - before[run]
    is_other = coverage.class_of_cell[cell] != runs.class_index[run]
    run, cell = run[is_other], cell[is_other]
    triggers = _is_enough(_inside(runs.rows(run), cell, coverage), length[run], part)
    run, cell = run[triggers], cell[triggers]
    order = np.argsort(runs.class_index[run], kind="stable")
    run, cell = run[order], cell[order]
    bounds = np.searchsorted(runs.class_index[run], np.arange(len(crossing) + 1))
    for index, (begin, end) in enumerate(pairwise(bounds.tolist())):
        if end > begin:
            chosen, other = run[begin:end], coverage.class_of_cell[cell[begin:end]]
            ends = runs.bottom[chosen] > -np.inf
            crossing[index].append(
                CrossTriggers(
                    np.concatenate([runs.top[chosen], runs.bottom[chosen][ends]]),
                    np.concatenate([file_index[chosen], file_index[chosen][ends]]),
                    np.concatenate([other, other[ends]]),
                    np.repeat([1, -1], [len(chosen), int(ends.sum())]),
                )
            )


def _no_false_alarms(runs: Runs, file_index: Rows, index: int) -> Changes:
    """Relevant runs of one class, which are no false alarms as long as they live."""
    mine = runs.class_index == index
    top, bottom, files = runs.top[mine], runs.bottom[mine], file_index[mine]
    ends = bottom > -np.inf
    steps = np.repeat([-1, 1], [len(top), int(ends.sum())])
    return changes_of(
        np.concatenate([top, bottom[ends]]),
        np.concatenate([files, files[ends]]),
        hits=np.zeros_like(steps),
        false_alarms=steps,
    )


def _hit_changes(
    parts: list[tuple[Rows, Rows, Runs]], coverage: Coverage, clips: ScoredClips, part: float
) -> list[Changes]:
    """When reference events become hits, and stop being hits: per class."""
    reference = clips.reference
    onset, offset = reference.onset_nanoseconds, reference.offset_nanoseconds
    event, score, gain = (
        np.concatenate(arrays)
        for arrays in zip(
            *(_gains(cell, files, runs, coverage, onset, offset) for cell, files, runs in parts),
            (np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64)),
            strict=True,
        )
    )
    # Sorted by event and falling score, what relevant detections cover of the event so far is a running sum; the
    # numbers are whole, so what was gained and lost again leaves nothing behind.
    order = np.lexsort((-score, event))
    event, score, gain = event[order], score[order], gain[order]
    covered = np.cumsum(gain)
    is_last = np.append((event[1:] != event[:-1]) | (score[1:] != score[:-1]), True)[: len(event)]
    is_first = np.append(True, event[1:] != event[:-1])[: len(event)]
    before = (covered - gain)[is_first]  # of all events before this one
    covered = covered - np.repeat(before, np.diff(np.append(np.flatnonzero(is_first), len(event))))
    event, score, covered = event[is_last], score[is_last], covered[is_last]
    is_hit = _is_enough(covered, (offset - onset)[event], part).astype(np.int64)
    was_hit = np.where(np.append(True, event[1:] != event[:-1])[: len(event)], 0, np.append(0, is_hit[:-1]))[
        : len(event)
    ]
    step = is_hit - was_hit
    changed = step != 0
    event, score, step = event[changed], score[changed], step[changed]
    class_index, file_index = reference.class_index[event], reference.file_index[event]
    return [
        changes_of(score[mine], file_index[mine], hits=step[mine], false_alarms=np.zeros_like(step[mine]))
        for mine in (class_index == index for index in range(len(clips.scores.classes)))
    ]


def _gains(
    cell: Rows, file_index: Rows, runs: Runs, coverage: Coverage, onset: Rows, offset: Rows
) -> tuple[Rows, NDArray[np.float64], Rows]:
    """What of which event is covered more, or less, from which score on: (changes,) event, score, nanoseconds."""
    edges = coverage.edge_nanoseconds
    begin, end = edges[runs.first + file_index], edges[runs.end + file_index]
    first, stop = coverage.events_between(cell, begin, end)  # events of the cell, sorted, that the run touches
    counts = stop - first
    run = np.repeat(np.arange(len(runs)), counts)
    event = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(len(run))
    shared = np.minimum(end[run], offset[event]) - np.maximum(begin[run], onset[event])
    ends = runs.bottom[run] > -np.inf
    return (
        np.concatenate([event, event[ends]]),
        np.concatenate([runs.top[run], runs.bottom[run][ends]]),
        np.concatenate([shared, -shared[ends]]),
    )


def _joined_crossing(parts: list[CrossTriggers]) -> CrossTriggers:
    """Several lists as one."""
    empty = np.zeros(0, dtype=np.int64)
    return CrossTriggers(
        np.concatenate([np.zeros(0), *(part.score for part in parts)]),
        *(
            np.concatenate([empty, *(getattr(part, name) for part in parts)])
            for name in ("file_index", "other", "steps")
        ),
    )
