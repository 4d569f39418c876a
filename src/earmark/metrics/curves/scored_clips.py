"""Scores beside the reference they are measured against: what every curve begins with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.checks import known_labels, number
from earmark.metrics.curves.scores import ScoreTable, ranges
from earmark.metrics.encoding import event_tables
from earmark.metrics.event_table import EventTable, one_form
from earmark.metrics.inputs import AnyEvents, events_by_file


@dataclass(frozen=True, eq=False)
class ScoredClips:
    """The scores and the reference events of the same clips.

    Args:
        scores: of the clips of the reference.
        reference: their events, in the classes of the scores; of one class in one clip none overlap or touch.
        duration_seconds: (files,) length of every clip.
        n_merged: reference events that were joined with an overlapping or touching one of their class.
        n_zero_length: reference events without a length, which are left out.
        ignored_files: clips with scores that the reference does not have.

    Example:
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a.wav": [[0.1], [0.9]]}, classes=["dog"], hop_seconds=0.5)
        >>> clips = scored_clips(scores, {"a.wav": [(0.2, 0.6, "dog"), (0.5, 0.8, "dog")]})
        >>> clips.reference.onset_seconds, clips.reference.offset_seconds, clips.n_merged, clips.duration_seconds
        (array([0.2]), array([0.8]), 1, array([1.]))
    """

    scores: ScoreTable
    reference: EventTable
    duration_seconds: NDArray[np.float64]
    n_merged: int = 0
    n_zero_length: int = 0
    ignored_files: tuple[str, ...] = ()

    @property
    def n_reference(self) -> NDArray[np.int64]:
        """Reference events per class: (classes,)."""
        return np.bincount(self.reference.class_index, minlength=len(self.reference.classes))

    @property
    def reference_by_file(self) -> NDArray[np.int64]:
        """Reference events per clip and class: (files, classes)."""
        shape = len(self.reference.files), len(self.reference.classes)
        return np.bincount(self.reference.cell, minlength=shape[0] * shape[1]).reshape(shape)

    @property
    def reference_seconds_by_file(self) -> NDArray[np.float64]:
        """How long the reference events of each class are together in each clip: (files, classes)."""
        seconds = np.zeros((len(self.reference.files), len(self.reference.classes)))
        length = self.reference.offset_seconds - self.reference.onset_seconds
        np.add.at(seconds, (self.reference.file_index, self.reference.class_index), length)
        return seconds


def scored_clips(
    scores: ScoreTable, reference: AnyEvents, *, durations: Mapping[str, float] | None = None
) -> ScoredClips:
    """Put scores beside the reference events of the same clips.

    Args:
        scores: of all clips of the reference; others are ignored, and named in the result.
        reference: file name -> its events; a file without events has an empty list. Or the path of a table, columns or
            a data frame: see `events_by_file`.
        durations: file name -> its length in seconds; None: a clip ends with its last frame, or with a reference event
            that ends later.

    Raises:
        ValueError: a clip without scores or duration, a reference label that is no class of the scores, or impossible
            times.
    """
    reference = events_by_file("reference", reference)
    known_labels(
        sorted({one_form(event.label) for events in reference.values() for event in events}),
        scores.classes,
        where="reference",
    )
    table, _, left_out = event_tables(reference, {}, classes=scores.classes, zero_length="drop")
    if not table.files:
        raise ValueError("reference must have at least one file, got none - is the table empty?")
    has_scores = set(scores.files)
    missing = [name for name in table.files if name not in has_scores]
    if missing:
        raise ValueError(
            f"scores must have every file of the reference, {len(missing)} of {len(table.files)} are missing"
            f" (first: {missing[0]!r}; the scores have {scores.files[0]!r}) - another folder or extension?"
        )
    wanted = set(table.files)
    merged = _without_overlaps(table)
    chosen = scores.only(table.files)
    return ScoredClips(
        chosen,
        merged,
        _durations(chosen, merged, durations),
        n_merged=len(table) - len(merged),
        n_zero_length=left_out.n_zero_length_reference,
        ignored_files=tuple(name for name in scores.files if name not in wanted),
    )


def frames_with_reference(clips: ScoredClips, *, of_any_class: bool = False) -> Iterator[NDArray[np.int64]]:
    """Yield for each class the numbers of the frames of all clips that hold it, rising.

    Args:
        clips: scores and reference.
        of_any_class: clips that hold any class at all, for every class.

    Example:
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a.wav": [[0.1]], "b.wav": [[0.9], [0.8]]}, classes=["dog"], hop_seconds=0.5)
        >>> list(frames_with_reference(scored_clips(scores, {"a.wav": [], "b.wav": [(0.0, 1.0, "dog")]})))
        [array([1, 2])]
    """
    holds = clips.reference_by_file > 0  # (files, classes)
    for of_class in holds.T:
        chosen = np.flatnonzero(holds.any(axis=1) if of_any_class else of_class)
        yield ranges(clips.scores.first_frame[chosen], clips.scores.n_frames[chosen])


def _without_overlaps(table: EventTable) -> EventTable:
    """The same events, those of one class in one clip that overlap or touch joined; sorted by clip, class and onset."""
    order = np.lexsort((table.onset_nanoseconds, table.cell))
    table = table.rows(order)
    # On one line per clip and class, so that one running maximum tells how far all events so far reach.
    reach = int(table.offset_nanoseconds.max(initial=0)) + 1
    if len(table.files) * max(1, len(table.classes)) * reach >= 2**63:  # then in floating point: never for real clips
        raise ValueError(
            f"{len(table.files)} clips with events as late as these do not fit - are the times in seconds?"
        )
    onset, offset = (table.cell * reach + times for times in (table.onset_nanoseconds, table.offset_nanoseconds))
    so_far = np.maximum.accumulate(offset)
    begins = np.append(True, onset[1:] > so_far[:-1])[: len(table)]
    first = np.flatnonzero(begins)
    latest = np.maximum.reduceat(table.offset_seconds, first) if len(first) else table.offset_seconds
    return EventTable(
        table.files,
        table.classes,
        table.file_index[first],
        table.class_index[first],
        table.onset_seconds[first],
        latest,
    )


def _durations(scores: ScoreTable, reference: EventTable, durations: Mapping[str, float] | None) -> NDArray[np.float64]:
    """The length of every clip: (files,)."""
    if durations is None:
        seconds = scores.end_seconds.copy()
        np.maximum.at(seconds, reference.file_index, reference.offset_seconds)
        return seconds
    given = {one_form(name): seconds for name, seconds in durations.items()}
    missing = [name for name in scores.files if name not in given]
    if missing:
        raise ValueError(
            f"durations must have every file of the reference, {len(missing)} are missing (first: {missing[0]!r})"
        )
    return np.array(
        [number(f"duration of {name}", given[name], above=0, at_most=1e9) for name in scores.files], dtype=np.float64
    )
