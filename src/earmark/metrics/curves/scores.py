"""Frame scores of many clips in one table: what curves are made of.

A score says how sure a detector is that a class is heard in a frame: a probability, or anything that grows with it. The
frames of all clips stand one after the other, so that a whole evaluation is a few operations on long arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earmark.checks import names, number
from earmark.metrics.event_table import LONGEST_SECONDS, one_form


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of the frames of many clips.

    Args:
        files: the clips.
        classes: the classes.
        values: (classes, frames of all clips), finite; the frames of a clip are neighbours.
        first_frame: (files + 1,), clip f has the frames from `first_frame[f]` up to, not with, `first_frame[f + 1]`.
        edge_seconds: (frames + files,), where frames begin and end: a clip of n frames has n + 1 edges, and its first
            edge is number `first_frame[f] + f`.

    Example:
        >>> table = score_table({"a.wav": [[0.1], [0.9]], "b.wav": [[0.2]]}, classes=["dog"], hop_seconds=0.5)
        >>> table.values, table.first_frame, table.edge_seconds
        (array([[0.1, 0.9, 0.2]]), array([0, 2, 3]), array([0. , 0.5, 1. , 0. , 0.5]))
    """

    files: tuple[str, ...]
    classes: tuple[str, ...]
    values: NDArray[np.float64]
    first_frame: NDArray[np.int64]
    edge_seconds: NDArray[np.float64]

    @property
    def n_frames(self) -> NDArray[np.int64]:
        """Frames of every clip: (files,)."""
        return np.diff(self.first_frame)

    @property
    def file_of_frame(self) -> NDArray[np.int64]:
        """Which clip a frame belongs to: (frames,)."""
        return np.repeat(np.arange(len(self.files)), self.n_frames)

    @property
    def begins_clip(self) -> NDArray[np.bool_]:
        """Whether a frame is the first of its clip: (frames,)."""
        begins = np.zeros(self.values.shape[1], dtype=bool)
        begins[self.first_frame[:-1][self.n_frames > 0]] = True
        return begins

    @property
    def end_seconds(self) -> NDArray[np.float64]:
        """Where the last frame of every clip ends: (files,)."""
        return self.edge_seconds[self.first_frame[1:] + np.arange(len(self.files))]

    def only(self, files: Sequence[str]) -> ScoreTable:
        """Return the table of these clips, in this order.

        Example:
            >>> table = score_table({"a.wav": [[0.1], [0.9]], "b.wav": [[0.2]]}, classes=["dog"], hop_seconds=0.5)
            >>> table.only(["b.wav"]).values
            array([[0.2]])
        """
        if tuple(files) == self.files:
            return self
        place = {name: index for index, name in enumerate(self.files)}
        chosen = np.array([place[name] for name in files], dtype=np.int64)
        n_frames = self.n_frames[chosen]
        first_frame = np.append(0, np.cumsum(n_frames))
        frames = ranges(self.first_frame[chosen], n_frames)
        edges = ranges(self.first_frame[chosen] + chosen, n_frames + 1)
        values = np.take(self.values, frames, axis=1)
        return ScoreTable(tuple(files), self.classes, values, first_frame, self.edge_seconds[edges])


def score_table(
    scores: Mapping[str, ArrayLike],
    *,
    classes: Sequence[str],
    hop_seconds: float | None = None,
    edge_seconds: Mapping[str, ArrayLike] | None = None,
) -> ScoreTable:
    """Put the scores of many clips into one table.

    Args:
        scores: file name -> (frames, classes). A clip may have no frame.
        classes: the names of the columns.
        hop_seconds: length of every frame, when frame i covers [i, i + 1] * hop_seconds.
        edge_seconds: otherwise, file name -> (frames + 1,) where its frames begin, and where the last one ends.

    Raises:
        ValueError: neither or both of `hop_seconds` and `edge_seconds`, a score that is not a finite number, or shapes
            that do not fit.

    Example:
        >>> score_table({"a.wav": [[0.1, 0.2]]}, classes=["cat", "dog"], edge_seconds={"a.wav": [0, 0.25]}).values
        array([[0.1],
               [0.2]])
    """
    columns = names("classes", [one_form(name) for name in names("classes", classes)])
    if (hop_seconds is None) == (edge_seconds is None):
        raise ValueError("one of hop_seconds and edge_seconds must be given, and not both")
    if hop_seconds is not None:
        number("hop_seconds", hop_seconds, above=0, hint="the length of a frame, for instance 0.02")
    files: dict[str, NDArray[np.float64]] = {}
    edges = []
    for name, values in scores.items():
        table = _checked(name, values, columns)
        if one_form(name) in files:
            raise ValueError(f"scores must have every file once, got {name!r} in two unicode forms")
        files[one_form(name)] = table
        if hop_seconds is not None:
            edges.append(np.arange(len(table) + 1) * hop_seconds)
            if edges[-1][-1] > LONGEST_SECONDS:
                raise ValueError(
                    f"hop_seconds makes {name!r} {edges[-1][-1]:g} s long, got {hop_seconds} - in seconds?"
                )
        else:
            assert edge_seconds is not None
            edges.append(_checked_edges(name, edge_seconds, len(table)))
    if not files:
        raise ValueError("scores must have at least one file, got none - is the folder empty?")
    first_frame = np.append(0, np.cumsum([len(table) for table in files.values()]))
    values = np.empty((len(columns), first_frame[-1]))  # filled clip by clip: the scores are never there three times
    for table, first in zip(files.values(), first_frame, strict=False):
        values[:, first : first + len(table)] = table.T  # (frames, classes) -> (classes, frames)
    return ScoreTable(tuple(files), columns, values, first_frame, np.concatenate(edges))


def ranges(first: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return first[0], first[0] + 1 ..., then first[1] ..., as many of each as `lengths` says: (sum of lengths,).

    Example:
        >>> ranges(np.array([5, 0]), np.array([2, 3]))
        array([5, 6, 0, 1, 2])
    """
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(first - before, lengths)


def _checked(name: str, values: ArrayLike, classes: tuple[str, ...]) -> NDArray[np.float64]:
    """The scores of one clip: (frames, classes)."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(classes):
        raise ValueError(
            f"scores[{name!r}] must have shape (frames, classes) with {len(classes)} classes, got {table.shape}"
            " - are the axes swapped, or does it belong to another model?"
        )
    if not np.isfinite(table).all():
        frame, column = np.argwhere(~np.isfinite(table))[0].tolist()
        raise ValueError(
            f"scores[{name!r}] must be finite numbers, got {table[frame, column]} in frame {frame}, class"
            f" {classes[column]!r} - did the training or the input go wrong?"
        )
    return table


def _checked_edges(name: str, edge_seconds: Mapping[str, ArrayLike], n_frames: int) -> NDArray[np.float64]:
    """Where the frames of one clip begin and end: (frames + 1,)."""
    if name not in edge_seconds:
        raise ValueError(f"edge_seconds must have every file of the scores, {name!r} is missing")
    edges = np.asarray(edge_seconds[name], dtype=np.float64)
    if edges.shape != (n_frames + 1,):
        raise ValueError(
            f"edge_seconds[{name!r}] must have one number more than there are frames, {n_frames + 1}, got shape"
            f" {edges.shape} - the end of the last frame belongs to it"
        )
    if not ((edges >= 0) & (edges <= LONGEST_SECONDS)).all() or not (np.diff(edges) > 0).all():
        raise ValueError(f"edge_seconds[{name!r}] must rise, in seconds from the start of the clip, got {edges}")
    return edges
