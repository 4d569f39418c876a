"""The same counts as event.py, segment.py and clip.py, kept apart by file: what intervals are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.checks import choice
from earmark.metrics.accuracies import SegmentCounts
from earmark.metrics.collars import DCASE_COLLARS, Collars
from earmark.metrics.counts import COMPATIBLE, Counts
from earmark.metrics.event import decide_events
from earmark.metrics.event_table import EventTable, TagTable, check_same_grid
from earmark.metrics.segment import added_up, decide_segments

LEVELS = ("event", "segment", "clip")


@dataclass(frozen=True, eq=False)
class CountsByFile:
    """Hits and misses per file and class.

    Args:
        level: what was counted: ``"event"``, ``"segment"`` or ``"clip"``.
        files: the names, in the order of the rows.
        classes: the names, in the order of the columns.
        true_positives: (files, classes).
        false_positives: (files, classes).
        false_negatives: (files, classes).
        substitutions: (files,) false positives that stand where another class was missed.
        n_segments: (files,) each of them one yes or no per class; 0 at the other levels.
        compatible: None for our policy, or ``"sed_eval"``, see `Counts`.
        segment_seconds: the length of one segment; 0 at the other levels.
        n_late_events: see `SegmentCounts`; 0 at the other levels.

    Raises:
        ValueError: arrays of another shape, or an unknown level or tool.

    Example:
        >>> hits, wrong, missed = np.array([[[1, 0], [0, 1]], [[0, 0], [0, 2]], [[1, 0], [0, 0]]])
        >>> none = np.array([0, 0])
        >>> by_file = CountsByFile("event", ("a.wav", "b.wav"), ("cat", "dog"), hits, wrong, missed, none, none)
        >>> by_file.total().false_positives
        array([0, 2])
    """

    level: str
    files: tuple[str, ...]
    classes: tuple[str, ...]
    true_positives: NDArray[np.int64]
    false_positives: NDArray[np.int64]
    false_negatives: NDArray[np.int64]
    substitutions: NDArray[np.int64]
    n_segments: NDArray[np.int64]
    compatible: str | None = None
    segment_seconds: float = 0.0
    n_late_events: int = 0

    def __post_init__(self) -> None:
        choice("level", self.level, LEVELS)
        if self.compatible is not None:
            choice("compatible", self.compatible, COMPATIBLE)
        grid = (len(self.files), len(self.classes))
        for name, shape in (
            ("true_positives", grid),
            ("false_positives", grid),
            ("false_negatives", grid),
            ("substitutions", grid[:1]),
            ("n_segments", grid[:1]),
        ):
            if getattr(self, name).shape != shape:
                raise ValueError(
                    f"{name} must have shape {shape} for {grid[0]} files and {grid[1]} classes, "
                    f"got {getattr(self, name).shape}"
                )

    def total(self) -> Counts:
        """Return the counts of all files together, as `count_events`, `count_segments` or `count_clips` gives them.

        Example:
            >>> one = np.array([0])
            >>> table = TagTable(("a.wav",), ("dog",), one, one)
            >>> clip_counts_by_file(table, table).total().micro.f1
            1.0
        """
        counts = (
            self.level,
            self.classes,
            self.true_positives.sum(axis=0),
            self.false_positives.sum(axis=0),
            self.false_negatives.sum(axis=0),
            int(self.substitutions.sum()),
            self.compatible,
        )
        if self.level == "segment":
            return SegmentCounts(*counts, self.segment_seconds, int(self.n_segments.sum()), self.n_late_events)
        return Counts(*counts)


def event_counts_by_file(
    reference: EventTable, predicted: EventTable, *, collars: Collars = DCASE_COLLARS, compatible: str | None = None
) -> CountsByFile:
    """Count events as `count_events` does, file by file.

    Example:
        >>> from earmark import Event
        >>> from earmark.metrics import event_tables
        >>> dogs = [Event(0.0, 1.0, "dog"), Event(5.0, 6.0, "dog")]
        >>> reference, predicted, _ = event_tables({"a.wav": dogs, "b.wav": dogs}, {"a.wav": dogs[:1], "b.wav": dogs})
        >>> event_counts_by_file(reference, predicted).true_positives
        array([[1],
               [2]])
    """
    decisions = decide_events(reference, predicted, collars=collars, compatible=compatible)
    n_files = len(reference.files)
    return CountsByFile(
        "event",
        reference.files,
        reference.classes,
        _on_grid(reference, reference.cell[decisions.found]),
        _on_grid(reference, predicted.cell[decisions.wrong]),
        _on_grid(reference, reference.cell[decisions.missed]),
        np.bincount(reference.file_index[decisions.substituted], minlength=n_files),
        np.zeros(n_files, dtype=np.int64),
        compatible,
    )


def segment_counts_by_file(
    reference: EventTable,
    predicted: EventTable,
    *,
    segment_seconds: float = 1.0,
    durations: Mapping[str, float] | None = None,
    compatible: str | None = None,
) -> CountsByFile:
    """Count segments as `count_segments` does, file by file.

    Example:
        >>> from earmark import Event
        >>> from earmark.metrics import event_tables
        >>> reference = {"a.wav": [Event(0.0, 3.0, "dog")], "b.wav": []}
        >>> reference, predicted, _ = event_tables(reference, {"a.wav": [Event(2.0, 5.0, "dog")], "b.wav": []})
        >>> by_file = segment_counts_by_file(reference, predicted, durations={"a.wav": 10.0, "b.wav": 4.0})
        >>> by_file.false_positives.tolist(), by_file.n_segments
        ([[2], [0]], array([10,  4]))
    """
    decided = decide_segments(
        reference, predicted, segment_seconds=segment_seconds, durations=durations, compatible=compatible
    )
    grid = (len(reference.files), len(reference.classes))
    hits, n_true, n_predicted = (
        added_up(cell, n_of_run, grid[0] * grid[1]).reshape(grid)
        for cell, n_of_run in (
            (decided.reference_cell, decided.n_found),
            (decided.reference_cell, decided.n_reference),
            (decided.predicted_cell, decided.n_predicted),
        )
    )
    return CountsByFile(
        "segment",
        reference.files,
        reference.classes,
        hits,
        n_predicted - hits,
        n_true - hits,
        added_up(decided.stretch_file, decided.n_shared, grid[0]) - hits.sum(axis=1),
        decided.n_segments,
        compatible,
        segment_seconds,
        decided.n_late_events,
    )


def clip_counts_by_file(reference: TagTable, predicted: TagTable, *, compatible: str | None = None) -> CountsByFile:
    """Count clips as `count_clips` does, file by file: zeros and ones.

    Example:
        >>> from earmark.metrics import tag_tables
        >>> reference, predicted, _ = tag_tables({"a": {"dog"}, "b": {"cat"}}, {"a": {"dog"}, "b": {"dog"}})
        >>> by_file = clip_counts_by_file(reference, predicted)     # in b a dog stands for the cat
        >>> by_file.true_positives.tolist(), by_file.substitutions
        ([[0, 1], [0, 0]], array([0, 1]))
    """
    check_same_grid(reference, predicted)
    is_true, is_predicted = (_on_grid(reference, side.cell) for side in (reference, predicted))
    hits = is_true & is_predicted
    wrong, missed = is_predicted - hits, is_true - hits
    return CountsByFile(
        "clip",
        reference.files,
        reference.classes,
        hits,
        wrong,
        missed,
        np.minimum(wrong.sum(axis=1), missed.sum(axis=1)),
        np.zeros(len(reference.files), dtype=np.int64),
        compatible,
    )


def _on_grid(table: TagTable, cell: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many rows each file and class has: (files, classes)."""
    grid = (len(table.files), len(table.classes))
    return np.bincount(cell, minlength=grid[0] * grid[1]).reshape(grid)
