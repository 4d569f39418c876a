"""Small random evaluations with everything that curves stumble over, as plain Python data."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from earmark.events import Event
from earmark.metrics.curves import ScoredClips, ScoreTable, score_table, scored_clips

Row = tuple[float, float, str]  # onset, offset, label
CLASSES = ("dog", "cat", "bird")


@dataclass(frozen=True)
class SmallCase:
    """A handful of clips of a few frames.

    Args:
        classes: the columns of the scores.
        scores: clip -> frames of classes; a clip may have no frame.
        edges: clip -> where frames begin, and where the last one ends; one number more than frames.
        reference: clip -> events, which may overlap and touch.
    """

    classes: tuple[str, ...]
    scores: dict[str, list[list[float]]]
    edges: dict[str, list[float]]
    reference: dict[str, list[Row]]


def small_case(rng: np.random.Generator, *, n_classes: int | None = None) -> SmallCase:
    """Ties, plateaus, constant and negative scores, single frames, empty clips, frames of uneven length."""
    classes = CLASSES[: rng.integers(1, 4) if n_classes is None else n_classes]
    hop = float(rng.choice([0.1, 0.25, 10 / 157, 1 / 3]))
    is_uneven, is_negative = rng.random() < 0.2, rng.random() < 0.2
    case = SmallCase(classes, {}, {}, {})
    for number in range(rng.integers(1, 5)):
        name = f"{number}.wav"
        n_frames = int(rng.choice([0, 1, 2, 5, 9, 14]))
        lengths = hop * (rng.integers(1, 5, n_frames) if is_uneven else np.ones(n_frames))
        edges = [0.0, *np.cumsum(lengths).tolist()] if is_uneven else [hop * index for index in range(n_frames + 1)]
        if n_frames > 1 and rng.random() < 0.3:
            edges[-1] -= 0.6 * hop  # the last frame is cut off
        columns = [_column(rng, n_frames) - (0.5 if is_negative else 0.0) for _ in classes]
        case.scores[name] = np.array(columns).round(2).T.tolist()
        case.edges[name] = edges
        case.reference[name] = [row for label in classes if rng.random() < 0.7 for row in _rows(rng, edges, label)]
    return case


def scores_of(case: SmallCase) -> ScoreTable:
    """The scores as our table."""
    arrays = {name: np.array(rows).reshape(len(rows), len(case.classes)) for name, rows in case.scores.items()}
    return score_table(arrays, classes=case.classes, edge_seconds=case.edges)


def events_of(case: SmallCase) -> dict[str, list[Event]]:
    """The reference as our events."""
    return {name: [Event(*row) for row in rows] for name, rows in case.reference.items()}


def clips_of(case: SmallCase) -> ScoredClips:
    """Scores and reference as our clips."""
    return scored_clips(scores_of(case), events_of(case))


def random_clips(
    rng: np.random.Generator, *, n_clips: int, n_frames: int, n_classes: int = 3, hop_seconds: float = 0.0625
) -> ScoredClips:
    """More and longer clips in one go: a walk per class, and events where another walk is high."""
    classes = [f"class {index}" for index in range(n_classes)]
    scores, reference = {}, {}
    for number in range(n_clips):
        walk = np.cumsum(rng.normal(size=(n_frames, n_classes)), axis=0) / 3
        truth = walk + rng.normal(size=walk.shape)
        scores[f"{number}.wav"] = (1 / (1 + np.exp(-walk))).round(3)
        rows = []
        for index, label in enumerate(classes):
            bounds = np.flatnonzero(np.diff(truth[:, index] > 1.5, prepend=False, append=False))
            rows += [Event(a * hop_seconds, b * hop_seconds, label) for a, b in bounds.reshape(-1, 2).tolist()]
        reference[f"{number}.wav"] = rows
    return scored_clips(score_table(scores, classes=classes, hop_seconds=hop_seconds), reference)


def _column(rng: np.random.Generator, n_frames: int) -> np.ndarray:
    """The scores of one class in one clip, in tenths."""
    kind = rng.random()
    if kind < 0.15:
        return np.full(n_frames, rng.integers(0, 11) / 10)
    if kind < 0.35:  # plateaus
        return np.repeat(rng.integers(0, 11, n_frames) / 10, 3)[:n_frames]
    return np.asarray(rng.integers(0, 11, n_frames) / 10)


def _rows(rng: np.random.Generator, edges: list[float], label: str) -> list[Row]:
    """Events of one class: at frame edges, on a grid of 10 ms, beyond the last frame; they may overlap or touch."""
    rows: list[Row] = []
    for _ in range(rng.integers(1, 4)):
        if len(edges) > 1 and rng.random() < 0.6:
            first, last = sorted(rng.choice(len(edges), 2, replace=False).tolist())
            onset, offset = edges[first], edges[last]
        else:
            onset, offset = sorted((rng.random(2) * (edges[-1] + 0.3)).round(2).tolist())
        if onset < offset:
            rows.append((onset, offset, label))
    return rows


def is_crowded(case: SmallCase) -> bool:
    """Whether any two events of a class in a clip overlap or touch."""
    return any(
        later[0] <= earlier[1]
        for rows in case.reference.values()
        for label in case.classes
        for earlier, later in pairwise(sorted(row for row in rows if row[2] == label))
    )


def reference_of(clips: ScoredClips) -> dict[str, list[Event]]:
    """The reference as lists once more."""
    table, by_file = clips.reference, {name: list[Event]() for name in clips.scores.files}
    for row in range(len(table)):
        times = float(table.onset_seconds[row]), float(table.offset_seconds[row])
        by_file[table.files[table.file_index[row]]].append(Event(*times, table.classes[table.class_index[row]]))
    return by_file
