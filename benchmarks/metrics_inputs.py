"""Made-up evaluations as large and as full as the DCASE 2019 validation set: lists of events, and frame scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from earmark.events import Event
from earmark.metrics import EventTable

N_CLIPS, N_EVENTS, N_CLASSES, CLIP_SECONDS = 1168, 4236, 10, 10.0
CLASSES = tuple(f"class {number}" for number in range(N_CLASSES))


def made_up(n_clips: int, n_events: int, *, found: bool = False) -> EventTable:
    """A reference; with `found`, predictions for it: a fifth dropped, all jittered, some of another class."""
    rng = np.random.default_rng(2019)
    file_index = np.sort(rng.integers(0, n_clips, n_events))
    class_index = rng.integers(0, N_CLASSES, n_events)
    onset = np.round(rng.random(n_events) * 9, 3)
    offset = np.round(np.minimum(CLIP_SECONDS, onset + 0.25 + rng.exponential(1.8, n_events)), 3)
    if found:
        onset = np.clip(np.round(onset + rng.normal(0, 0.15, n_events), 3), 0, 9.9)
        offset = np.maximum(onset + 0.05, np.round(offset + rng.normal(0, 0.15, n_events), 3))
        class_index = np.where(rng.random(n_events) < 0.1, rng.integers(0, N_CLASSES, n_events), class_index)
    keep = rng.random(n_events) > (0.2 if found else 0.0)
    return EventTable(
        tuple(f"{number}.wav" for number in range(n_clips)),
        CLASSES,
        file_index[keep],
        class_index[keep],
        onset[keep],
        offset[keep].astype(np.float64),
    )


def apart(table: EventTable) -> EventTable:
    """The same without events that overlap or touch another one of their class: sed_scores_eval refuses those."""
    order = np.lexsort((table.onset_seconds, table.cell))
    table = table.rows(order)
    far = (table.cell[1:] != table.cell[:-1]) | (table.onset_seconds[1:] > table.offset_seconds[:-1] + 0.01)
    while not far.all():
        table = table.rows(np.append(True, far))
        far = (table.cell[1:] != table.cell[:-1]) | (table.onset_seconds[1:] > table.offset_seconds[:-1] + 0.01)
    return table


def made_up_scores(reference: EventTable, n_frames: int) -> dict[str, NDArray[np.float64]]:
    """Frame scores of every clip, (frames, classes): noise of two kinds, and bumps where most events are."""
    rng = np.random.default_rng(157)
    hop = CLIP_SECONDS / n_frames
    n_clips = len(reference.files)
    logits = rng.normal(-4.0, 1.0, (n_clips, n_frames, N_CLASSES))
    drift = np.cumsum(rng.normal(0.0, 0.4, logits.shape), axis=1)
    logits += drift - drift.mean(axis=1, keepdims=True)
    begin = ((reference.onset_seconds + rng.normal(0, 0.1, len(reference))) / hop).astype(int)
    end = ((reference.offset_seconds + rng.normal(0, 0.1, len(reference))) / hop).astype(int)
    heights = rng.normal(5.0, 2.0, len(reference))
    for row, (file, label) in enumerate(zip(reference.file_index, reference.class_index, strict=True)):
        logits[file, max(0, begin[row]) : max(0, end[row]), label] += heights[row]
    scores = 1 / (1 + np.exp(-logits))
    return {name: scores[number] for number, name in enumerate(reference.files)}


def as_lists(table: EventTable) -> dict[str, list[Event]]:
    """File name -> its events."""
    lists: dict[str, list[Event]] = {name: [] for name in table.files}
    for file, label, onset, offset in zip(
        table.file_index.tolist(),
        table.class_index.tolist(),
        table.onset_seconds.tolist(),
        table.offset_seconds.tolist(),
        strict=True,
    ):
        lists[table.files[file]].append(Event(onset, offset, table.classes[label]))
    return lists
