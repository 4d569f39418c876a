"""How much of a clip's time lies in the reference events of a class, up to every edge between two frames.

Only pairs of clip and class that have an event are kept (a cell each): of ten classes a clip holds one or two, of five
hundred no more. What lies between two edges is then one subtraction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from earmark.metrics.curves.scores import ScoreTable, ranges
from earmark.metrics.event_table import EventTable, nanoseconds


@dataclass(frozen=True, eq=False)
class Coverage:
    """Cells sorted by clip and class, and their events sorted by onset.

    Args:
        edge_nanoseconds: (edges of all clips,) as in the score table.
        class_of_cell: (cells,).
        first_cell_of_file: (files,) number of the clip's first cell.
        n_cells_of_file: (files,).
        cell_number: (files * classes,) number of a cell, -1 where the clip lacks the class.
        first_of_cell: (cells,) where a cell's numbers begin in `covered_nanoseconds`.
        first_frame_of_cell: (cells,) the first frame of the cell's clip.
        cell_of_event: (events,).
        edge_line: (edges of all cells,) edges on one line on which cells follow each other.
        event_onset_line, event_offset_line: (events,) onsets and offsets on that line.
        line_length: of one cell on that line.
    """

    edge_nanoseconds: NDArray[np.int64]
    class_of_cell: NDArray[np.int64]
    first_cell_of_file: NDArray[np.int64]
    n_cells_of_file: NDArray[np.int64]
    cell_number: NDArray[np.int64]
    first_of_cell: NDArray[np.int64]
    first_frame_of_cell: NDArray[np.int64]
    cell_of_event: NDArray[np.int64]
    edge_line: NDArray[np.int64]
    event_onset_line: NDArray[np.int64]
    event_offset_line: NDArray[np.int64]
    line_length: int

    @cached_property
    def covered_nanoseconds(self) -> NDArray[np.int64]:
        """(edges of all cells,) time in the events of all cells before each edge: only differences inside a cell mean
        something. Computed when it is first asked for."""
        length_before = np.append(0, np.cumsum(self.event_offset_line - self.event_onset_line))
        # Of each event the first edge behind its onset.
        first_after = np.searchsorted(self.edge_line, self.event_onset_line, side="right")
        n_begun = np.cumsum(np.bincount(first_after, minlength=len(self.edge_line) + 1))[:-1]
        # All events that ended before the edge, and of the one that began last the part before it.
        rest = np.append(0, self.event_offset_line)[n_begun] - self.edge_line
        covered: NDArray[np.int64] = length_before[n_begun] - np.where(n_begun > 0, np.maximum(rest, 0), 0)
        return covered

    def cell_of(self, file_index: NDArray[np.int64], class_index: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of cells, -1 where the clip lacks the class."""
        n_classes = len(self.cell_number) // max(1, len(self.n_cells_of_file))
        return self.cell_number[file_index * n_classes + class_index]

    def events_between(
        self, cell: NDArray[np.int64], begin: NDArray[np.int64], end: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first event of a cell that reaches into begin..end (nanoseconds), and the one after the last."""
        line = cell * self.line_length
        return (
            np.searchsorted(self.event_offset_line, line + begin, side="right"),
            np.searchsorted(self.event_onset_line, line + end, side="left"),
        )


def coverage_of(scores: ScoreTable, reference: EventTable) -> Coverage:
    """Return the coverage of reference events, none of which overlap in their class, sorted by clip, class and onset.

    Example:
        >>> from earmark.metrics.curves.scored_clips import scored_clips
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a.wav": [[0.1], [0.9]]}, classes=["dog"], hop_seconds=0.5)
        >>> reference = scored_clips(scores, {"a.wav": [(0.25, 0.75, "dog")]}).reference
        >>> coverage_of(scores, reference).covered_nanoseconds / 1e9     # before 0 s, 0.5 s and 1 s
        array([0.  , 0.25, 0.5 ])
    """
    edges = nanoseconds(scores.edge_seconds)
    onset, offset = reference.onset_nanoseconds, reference.offset_nanoseconds
    cell, cell_of_event = np.unique(reference.cell, return_inverse=True)
    file_of_cell, class_of_cell = np.divmod(cell, max(1, len(reference.classes)))
    n_edges = scores.n_frames[file_of_cell] + 1
    first_of_cell = np.cumsum(n_edges) - n_edges
    line_length = int(max(edges.max(initial=0), offset.max(initial=0))) + 1
    onset_line, offset_line = (cell_of_event * line_length + times for times in (onset, offset))

    edge = edges[ranges(scores.first_frame[file_of_cell] + file_of_cell, n_edges)]
    edge_line = np.repeat(np.arange(len(cell)), n_edges) * line_length + edge
    n_cells_of_file = np.bincount(file_of_cell, minlength=len(scores.files))
    cell_number = np.full(len(scores.files) * len(scores.classes), -1, dtype=np.int64)
    cell_number[cell] = np.arange(len(cell))
    return Coverage(
        edges,
        class_of_cell,
        np.cumsum(n_cells_of_file) - n_cells_of_file,
        n_cells_of_file,
        cell_number,
        first_of_cell,
        scores.first_frame[file_of_cell],
        cell_of_event,
        edge_line,
        onset_line,
        offset_line,
        line_length,
    )
