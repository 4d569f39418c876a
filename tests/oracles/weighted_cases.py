"""Made-up frame scores with many ties, and the same data with every clip written out as often as it counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.events import Event
from earmark.metrics.curves.scored_clips import ScoredClips, scored_clips
from earmark.metrics.curves.scores import score_table

CLASSES = ("cat", "dog", "owl")
HOP_SECONDS = 0.25


@dataclass(frozen=True)
class ScoreCase:
    """Scores (frames, classes) and events by clip."""

    scores: Mapping[str, NDArray[np.float64]]
    reference: Mapping[str, Sequence[Event]]
    durations: Mapping[str, float]

    def clips(self) -> ScoredClips:
        """As the code under test takes them."""
        table = score_table(self.scores, classes=CLASSES, hop_seconds=HOP_SECONDS)
        return scored_clips(table, self.reference, durations=self.durations)

    def written_out(self, weights: Sequence[int]) -> ScoreCase:
        """Every clip as often as its weight says, under names of their own."""
        copies = [
            (name, f"{name} copy {number}")
            for name, weight in zip(self.reference, weights, strict=True)
            for number in range(weight)
        ]
        return ScoreCase(
            {copy: self.scores[name] for name, copy in copies},
            {copy: self.reference[name] for name, copy in copies},
            {copy: self.durations[name] for name, copy in copies},
        )


def score_case(rng: np.random.Generator, *, n_clips: int = 8, n_levels: int = 6, skill: float = 0.4) -> ScoreCase:
    """Clips of 1 to 6 s; few different scores, so that many are equal; no clip but the first two has an owl."""
    scores, reference, durations = {}, {}, {}
    for number in range(n_clips):
        name, n_frames = f"{number}.wav", int(rng.integers(4, 25))
        events, holds = [], np.zeros((n_frames, len(CLASSES)))
        for index, label in enumerate(CLASSES):
            if label == "owl" and number > 1:
                continue
            for _ in range(int(rng.integers(0, 3)) if number > 1 else 1):
                first, last = sorted(rng.integers(0, n_frames + 1, 2).tolist())
                last = max(last, first + 1)
                events.append(Event(first * HOP_SECONDS, last * HOP_SECONDS, label))
                holds[first:last, index] = skill
        noise = rng.random((n_frames, len(CLASSES))) * (1 - skill)
        scores[name] = np.round((noise + holds) * n_levels) / n_levels
        reference[name] = events
        durations[name] = n_frames * HOP_SECONDS + float(rng.integers(10, 40))  # a few false alarms, as PSDS are hourly
    return ScoreCase(scores, reference, durations)


def another_run(rng: np.random.Generator, case: ScoreCase, *, noise: float = 0.3) -> ScoreCase:
    """Other scores of the same clips."""
    scores = {
        name: np.round((values + noise * rng.random(values.shape)) * 6) / 6 for name, values in case.scores.items()
    }
    return ScoreCase(scores, case.reference, case.durations)
