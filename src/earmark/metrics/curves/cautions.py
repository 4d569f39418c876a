"""What a reader of curves has to know: what does not count, is not there, or looks like a mistake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from earmark.metrics.curves.scored_clips import ScoredClips

if TYPE_CHECKING:
    from earmark.metrics.curves.evaluation import ScoreEvaluation

LATE_SECONDS = 0.001  # tables round to milliseconds
OTHER_UNITS = 10  # so many times as long, or as short, are no durations of these scores


def curve_cautions(evaluation: ScoreEvaluation) -> list[str]:
    """Return what a reader of the curves has to know, one sentence each.

    Example:
        >>> from earmark.metrics.curves.evaluation import evaluate_scores
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a": [[0.1], [0.9]], "b": [[0.2]]}, classes=["dog"], hop_seconds=1.0)
        >>> curve_cautions(evaluate_scores(scores, {"a": [(0.0, 1.0, "dog"), (1.0, 2.0, "dog")], "b": []}))
        ['1 reference event overlaps or touches another one of its class and was joined with it for curves and PSDS']
    """
    clips = evaluation.clips
    sentences = []
    if clips.n_merged > 0:
        words = ("overlaps or touches", "its", "was") if clips.n_merged == 1 else ("overlap or touch", "their", "were")
        sentences.append(
            f"{_many(clips.n_merged, 'reference event')} {words[0]} another one of {words[1]} class and {words[2]}"
            " joined with it for curves and PSDS"
        )
    if clips.n_zero_length > 0:
        sentences.append(f"{_many(clips.n_zero_length, 'reference event')} of zero length left out of curves and PSDS")
    if clips.ignored_files:
        sentences.append(
            f"{_many(len(clips.ignored_files), 'clip')} with scores not in the reference, ignored (first:"
            f" {clips.ignored_files[0]})"
        )
    without = [name for name, n_frames in zip(clips.scores.files, clips.scores.n_frames, strict=True) if n_frames == 0]
    if without:
        sentences.append(
            f"{_many(len(without), 'clip')} with scores but without a frame, so nothing can be found there (first:"
            f" {without[0]}) - did the detector fail?"
        )
    return [*sentences, *_odd_times(clips), *_absent_classes(evaluation), *_classes_everywhere(evaluation)]


def _odd_times(clips: ScoredClips) -> list[str]:
    """Events where there are no scores, and durations of something else."""
    sentences = []
    file_index, offset = clips.reference.file_index, clips.reference.offset_seconds
    is_late = offset > clips.duration_seconds[file_index] + LATE_SECONDS
    n_late = int(np.count_nonzero(is_late))
    if n_late > 0:
        sentences.append(
            f"{_many(n_late, 'reference event')} {'ends' if n_late == 1 else 'end'} after the clip does - are the"
            " durations in seconds, and of these clips?"
        )
    n_unseen = int(np.count_nonzero((offset > clips.scores.end_seconds[file_index] + LATE_SECONDS) & ~is_late))
    if n_unseen > 0:
        sentences.append(
            f"{_many(n_unseen, 'reference event')} {'ends' if n_unseen == 1 else 'end'} after the last frame of the"
            " clip's scores - are both in seconds, and of the same clips?"
        )
    seconds, of_frames = float(clips.duration_seconds.sum()), float(clips.scores.end_seconds.sum())
    if of_frames > 0 and not 1 / OTHER_UNITS < seconds / of_frames < OTHER_UNITS:
        sentences.append(
            f"the clips last {seconds:,.0f} s together and their scores {of_frames:,.0f} s - are the durations in"
            " seconds, and the frames as long as they say?"
        )
    return sentences


def _absent_classes(evaluation: ScoreEvaluation) -> list[str]:
    """Classes that nothing can be said of; given tags and durations make them other ones on other levels."""
    event, segment, clip = (curves.absent for curves in evaluation.levels)
    if event == segment == clip:
        found = {"no reference event, so left out of the means of curves and PSDS": event}
    else:
        found = {
            "no reference event, so left out of the means of event curves and PSDS": event,
            "in no reference segment, so left out of the means of segment curves": segment,
            "no reference tag, so left out of the means of clip curves": clip,
        }
    return [f"{sentence}: {_listed(labels)}" for sentence, labels in found.items() if labels]


def _classes_everywhere(evaluation: ScoreEvaluation) -> list[str]:
    """Classes whose scores have nothing to be higher than."""
    sentences = []
    for curves in (evaluation.segment, evaluation.clip):
        labels = [curve.label for curve in curves.of_class if curve.n_reference > 0 and curve.n_negatives == 0]
        if labels:
            sentences.append(f"in every {curves.level}, so without AUC of {curves.level}s: {_listed(labels)}")
    return sentences


def _listed(labels: Sequence[str]) -> str:
    """Names, those with a comma in double quotes."""
    return ", ".join(f'"{label}"' if "," in label else label for label in labels)


def _many(n: int, noun: str) -> str:
    """``1 clip``, ``2,000 clips``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
