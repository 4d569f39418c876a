"""Tags: what a clip, or every span of a long recording, contains.

The network gives frame probabilities and, per frame and class, a score of its pooling function. The softmax of the
scores over the frames of a clip weighs its probabilities: what the pooling function did in training.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earmark.checks import choice, number
from earmark.detection.decoding import checked_probs, n_frames_within, offset_seconds
from earmark.detection.settings import Decoding
from earmark.timeline import Timeline

RULES = ("softmax", "max")


class SpanTags(NamedTuple):
    """The tags of one span: its borders in seconds and its probability per class, (classes,).

    Example:
        >>> span = SpanTags(10.0, 20.0, np.array([0.25, 0.5]))
        >>> span.offset - span.onset, span.clip_probs.max().item()
        (10.0, 0.5)
    """

    onset: float
    offset: float
    clip_probs: NDArray[np.float64]


def clip_probs(frame_probs: ArrayLike, scores: ArrayLike | None, *, rule: str) -> NDArray[np.float64]:
    r"""Pool the frame probabilities of one clip into one probability per class.

    .. math:: y^c = \sum_i p_i y_i, \quad p = \mathrm{softmax}_i(s) \qquad \text{or} \qquad y^c = \max_i y_i

    Args:
        frame_probs: y, (frames, classes), 0 to 1, at least one frame.
        scores: s, (frames, classes), any real number or -inf, which is a weight of 0; frames that all have -inf weigh
            the same. None only where `rule` is "max", which needs none.
        rule: "softmax" for every pooling function with weights, "max" for the maximum.

    Returns:
        (classes,), 0 to 1.

    Raises:
        ValueError: when there is no frame, a value is not a probability, or a score is NaN or +inf.

    Example:
        >>> clip_probs([[0.5], [1.0]], [[0.0], [0.0]], rule="softmax").tolist()     # equal weights: the mean
        [0.75]
        >>> clip_probs([[0.5], [1.0]], None, rule="max").tolist()
        [1.0]
    """
    probs, weighed_by = _checked(frame_probs, scores, rule)
    return _pooled(probs, weighed_by)


def span_tags(
    frame_probs: ArrayLike,
    scores: ArrayLike | None,
    *,
    rule: str,
    span_seconds: float,
    timeline: Timeline,
    duration_seconds: float | None = None,
) -> list[SpanTags]:
    """Pool every span of a recording by itself, since a pooling function knows clips of the training clips' length.

    Spans lie on a grid from 0: span k holds the frames that begin in the seconds [k, k + 1] * span_seconds. So no span
    depends on how a recording was cut or how long it is; the last one may be shorter than the others.

    Args:
        frame_probs: (frames, classes), 0 to 1.
        scores: (frames, classes), as in `clip_probs`.
        rule: "softmax" or "max", as in `clip_probs`.
        span_seconds: length of the training clips, at least one frame.
        timeline: the grid of the frames.
        duration_seconds: length of the recording, as in `decode`.

    Returns:
        the spans in order; onsets and offsets are borders of frames. Empty when there is no frame.

    Raises:
        ValueError: as in `clip_probs`, or when a span is shorter than a frame.

    Example:
        >>> grid = Timeline(sample_rate=10, hop_samples=5)
        >>> for span in span_tags([[0.2], [0.4], [0.9]], None, rule="max", span_seconds=1, timeline=grid):
        ...     print(span.onset, span.offset, span.clip_probs)
        0.0 1.0 [0.4]
        1.0 1.5 [0.9]
    """
    probs, weighed_by = _checked(frame_probs, scores, rule, may_be_empty=True)
    number("span_seconds", span_seconds, at_least=timeline.hop_seconds, hint="it is in seconds, at least one frame")
    n_frames = n_frames_within(duration_seconds, len(probs), timeline=timeline)
    spans: list[SpanTags] = []
    first = 0
    while first < n_frames:
        # From the span's number, not from the span before: a span of 151.03 frames must not drift to 151.
        next_border = round((len(spans) + 1) * span_seconds * timeline.sample_rate)
        end = min(timeline.n_frames(next_border), n_frames)
        of_span = None if weighed_by is None else weighed_by[first:end]
        offset = offset_seconds(end, duration_seconds, timeline=timeline)
        spans.append(SpanTags(timeline.seconds(first), offset, _pooled(probs[first:end], of_span)))
        first = end
    return spans


def has_tag(clip_probs: ArrayLike, *, decoding: Decoding) -> NDArray[np.bool_]:
    """Decide which tags clips have: (clips, classes) probabilities at or above each class's `clip_threshold`.

    Example:
        >>> has_tag([[0.4, 0.5]], decoding=Decoding.fixed(["cat", "dog"])).tolist()
        [[False, True]]
    """
    probs = checked_probs("clip_probs", clip_probs, classes=decoding.classes, row="clip")
    # float64, as in decode: a threshold must not be rounded onto a float32 probability.
    return probs.astype(np.float64) >= np.array([setting.clip_threshold for setting in decoding.settings])


def _checked(
    frame_probs: ArrayLike, scores: ArrayLike | None, rule: str, *, may_be_empty: bool = False
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Probabilities and scores as arrays, or None for scores where the rule needs none.

    Not yet as float64: for a day of sound that would be more memory than everything else together.
    """
    choice("rule", rule, RULES)
    probs = checked_probs("frame_probs", frame_probs)
    if len(probs) == 0 and not may_be_empty:
        raise ValueError("frame_probs must hold at least one frame, got none - is the clip empty?")
    if rule == "max":
        return probs, None
    if scores is None:
        raise ValueError("scores must be given for rule 'softmax', got None - does the pooling take the maximum?")
    weighed_by = np.asarray(scores)
    if weighed_by.dtype.kind not in "biuf":
        raise ValueError(f"scores must hold numbers, got type {weighed_by.dtype} - is it text, or has it None?")
    if weighed_by.shape != probs.shape:
        raise ValueError(f"scores must have the shape of frame_probs {probs.shape}, got {weighed_by.shape}")
    is_wrong = np.isnan(weighed_by) | (weighed_by == np.inf)
    if is_wrong.any():
        row, column = np.argwhere(is_wrong)[0]
        raise ValueError(
            f"scores must be below +inf and not NaN, got {weighed_by[row, column]} in frame {row}, class "
            f"number {column} - did the training or the input go wrong?"
        )
    return probs, weighed_by


def _pooled(frame_probs: NDArray[Any], frame_scores: NDArray[Any] | None) -> NDArray[np.float64]:
    """(frames, classes) -> (classes,), the maximum where there are no scores."""
    probs = frame_probs.astype(np.float64)
    if frame_scores is None:
        return probs.max(axis=0)
    scores = frame_scores.astype(np.float64)
    # Frames that all have -inf get equal weights: -inf minus -inf would be NaN.
    finite = np.where(np.isneginf(scores.max(axis=0)), 0.0, scores)
    weights = np.exp(finite - finite.max(axis=0))  # at most 1, and 1 for at least one frame: never 0 / 0
    # Rounding may carry the weighted mean of equal values past them by one unit.
    return np.clip((weights * probs).sum(axis=0) / weights.sum(axis=0), probs.min(axis=0), probs.max(axis=0))
