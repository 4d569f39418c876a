"""Segment-based and clip-level curves: everything that has one score, and is of a class or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earmark.checks import known_labels, names, number
from earmark.metrics.curves.changes import Changes, changes_of
from earmark.metrics.curves.curve import Curves, curves_of
from earmark.metrics.curves.scored_clips import ScoredClips
from earmark.metrics.curves.scores import ScoreTable, ranges
from earmark.metrics.event_table import nanoseconds, one_form, reached_segments
from earmark.metrics.inputs import AnyTags, tags_by_file


def segment_curves(clips: ScoredClips, *, segment_seconds: float = 1.0) -> Curves:
    """Count segments at every threshold: a segment scores as its best frame, and holds what reaches into it.

    Frames and events belong to every segment they reach into. A segment without any frame, behind the last one, has
    the lowest score there can be: 0, or the lowest of all where scores may be negative.

    Args:
        clips: scores, reference and durations.
        segment_seconds: length of a segment.

    Example:
        >>> from earmark.metrics.curves.scored_clips import scored_clips
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a.wav": [[0.1], [0.9], [0.8], [0.3]]}, classes=["dog"], hop_seconds=0.5)
        >>> curve = segment_curves(scored_clips(scores, {"a.wav": [(0.6, 0.9, "dog")]})).of_class[0]
        >>> curve.score, curve.true_positives, curve.false_positives, curve.auroc
        (array([inf, 0.9, 0.8]), array([0, 1, 1]), array([0, 0, 1]), 1.0)
    """
    number("segment_seconds", segment_seconds, at_least=1e-3, hint="in seconds, for instance 1.0")
    scores, ends = clips.scores, nanoseconds(clips.duration_seconds)
    n_segments = np.maximum(reached_segments(np.zeros_like(ends), ends, segment_seconds)[1], 0)  # (files,)
    first_segment = np.append(0, np.cumsum(n_segments))
    highest = _highest_in_segments(scores, n_segments, segment_seconds)  # (classes, segments of all clips)
    holds = np.zeros(highest.shape, dtype=bool)
    first, stop = reached_segments(
        clips.reference.onset_nanoseconds, clips.reference.offset_nanoseconds, segment_seconds
    )
    stop = np.minimum(stop, n_segments[clips.reference.file_index])
    counts = np.maximum(stop - first, 0)
    places = ranges(first_segment[clips.reference.file_index] + first, counts)
    holds[np.repeat(clips.reference.class_index, counts), places] = True
    file_index = np.repeat(np.arange(len(scores.files)), n_segments)
    return _item_curves("segment", scores, highest, holds, file_index)


def clip_curves(
    scores: ScoreTable | Mapping[str, ArrayLike],
    tags: AnyTags,
    *,
    classes: tuple[str, ...] | None = None,
) -> Curves:
    """Count clips at every threshold.

    Args:
        scores: a table of frame scores, of which a clip's highest one counts; or file name -> (classes,) clip scores,
            for instance what pooling says.
        tags: file name -> the classes in it, or in another form: see `tags_by_file`; these are the clips that count.
        classes: the names of the scores when they are per clip; with frame scores the table knows them.

    Raises:
        ValueError: a clip without scores, or a tag that is no class of the scores.

    Example:
        >>> curves = clip_curves({"a.wav": [0.9], "b.wav": [0.4]}, {"a.wav": {"dog"}, "b.wav": set()}, classes=("dog",))
        >>> curves.mean_average_precision, curves.mean_auroc
        (1.0, 1.0)
    """
    if isinstance(scores, ScoreTable):
        classes, highest_of = scores.classes, _highest_of_clips(scores)
    else:
        if classes is None:
            raise ValueError("classes must be given for scores per clip, got None - what do the numbers stand for?")
        classes = names("classes", [one_form(label) for label in names("classes", classes)])
        highest_of = {}
        for name, values in scores.items():
            if one_form(name) in highest_of:
                raise ValueError(f"scores must have every file once, got {name!r} in two unicode forms")
            highest_of[one_form(name)] = _checked(name, values, classes)
    files: dict[str, set[str]] = {}
    for name, found in tags_by_file("tags", tags).items():
        files.setdefault(one_form(name), set()).update(one_form(tag) for tag in found)
    missing = [name for name in files if name not in highest_of]
    if missing:
        raise ValueError(f"scores must have every file of the tags, {len(missing)} are missing (first: {missing[0]!r})")
    if not files:
        raise ValueError("tags must have at least one file, got none - is the table empty?")
    for name, found in files.items():
        known_labels(sorted(found), classes, where=f"tags of {name}")
    highest = np.array([highest_of[name] for name in files]).T  # (classes, clips)
    holds = np.array([[label in found for found in files.values()] for label in classes], dtype=bool)
    return _curves("clip", classes, tuple(files), highest, holds, np.arange(len(files)))


def _item_curves(
    level: str,
    scores: ScoreTable,
    highest: NDArray[np.float64],
    holds: NDArray[np.bool_],
    file_index: NDArray[np.int64],
) -> Curves:
    """Curves of a table's classes and files."""
    return _curves(level, scores.classes, scores.files, highest, holds, file_index)


def _curves(
    level: str,
    classes: tuple[str, ...],
    files: tuple[str, ...],
    highest: NDArray[np.float64],
    holds: NDArray[np.bool_],
    file_index: NDArray[np.int64],
) -> Curves:
    """Curves of items, (classes, items) each: every item is found when the threshold falls to its score."""

    def make_changes() -> Iterator[Changes]:
        for score, held in zip(highest, holds, strict=True):
            yield changes_of(score, file_index, hits=held, false_alarms=~held)

    by_file = np.zeros((len(files), len(classes)), dtype=np.int64)
    np.add.at(by_file, file_index, holds.T)
    n_items = np.bincount(file_index, minlength=len(files))
    return curves_of(level, classes, make_changes, files, reference_by_file=by_file, items_by_file=n_items)


def _highest_in_segments(
    scores: ScoreTable, n_segments: NDArray[np.int64], segment_seconds: float
) -> NDArray[np.float64]:
    """The best frame of every segment: (classes, segments of all clips)."""
    edges = nanoseconds(scores.edge_seconds)
    frame_edge = np.arange(scores.values.shape[1]) + scores.file_of_frame
    first, stop = reached_segments(edges[frame_edge], edges[frame_edge + 1], segment_seconds)  # (frames,)
    stop = np.minimum(stop, n_segments[scores.file_of_frame])
    counts = np.maximum(stop - first, 0)
    frames = np.repeat(np.arange(len(first)), counts)
    first_segment = np.append(0, np.cumsum(n_segments))
    segments = ranges(first_segment[scores.file_of_frame] + first, counts)  # sorted, since frames are
    lowest = min(0.0, float(scores.values.min(initial=0.0)))
    highest = np.full((len(scores.classes), int(n_segments.sum())), lowest)
    if len(segments):
        begins = np.flatnonzero(np.append(True, segments[1:] != segments[:-1]))
        highest[:, segments[begins]] = np.maximum.reduceat(scores.values[:, frames], begins, axis=1)
    return highest


def _highest_of_clips(scores: ScoreTable) -> dict[str, NDArray[np.float64]]:
    """File name -> (classes,) the score of its best frame."""
    lowest = float(scores.values.min(initial=0.0))
    return {
        name: scores.values[:, begin:end].max(axis=1, initial=lowest)
        for name, begin, end in zip(scores.files, scores.first_frame[:-1], scores.first_frame[1:], strict=True)
    }


def _checked(name: str, values: ArrayLike, classes: tuple[str, ...]) -> NDArray[np.float64]:
    """The scores of one clip: (classes,)."""
    row = np.asarray(values, dtype=np.float64)
    if row.shape != (len(classes),) or not np.isfinite(row).all():
        raise ValueError(f"scores[{name!r}] must be {len(classes)} finite numbers, one per class, got {values!r}")
    return row
