"""What is known of the moments of a clip: its events, and where nothing else was. From seconds to frames.

Frames exist at two rates. A shift moves a clip by feature frames, so the labels of a clip are made at that rate, as the
share of each frame that events cover; after the shift `output_labels` decides about the output frames. So nothing is
rounded twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from earmark.events import Event
from earmark.timeline import Timeline

TOLERANCE_SECONDS = 0.05  # of people who write down where they listened, and of files' headers
_HALF = 0.5 - 1e-4  # shares are sums of float32 numbers


@dataclass(frozen=True)
class Complete:
    """A stretch of a clip in which every event of some classes is marked, so that all else is known to be without.

    Args:
        onset: in seconds from the beginning of the clip.
        offset: its end; infinite where it is the clip's.
        classes: None for all.

    Example:
        >>> Complete(2.0, 5.0, frozenset({"dog"})).covers("cat")
        False
    """

    onset: float = 0.0
    offset: float = math.inf
    classes: frozenset[str] | None = None

    def covers(self, label: str) -> bool:
        """Whether it speaks of this class."""
        return self.classes is None or label in self.classes


@dataclass(frozen=True)
class StrongLabels:
    """What is known of the moments of one clip.

    Args:
        events: marked ones, in seconds from the beginning of the clip. One of no length says that its class is there,
            but not when.
        complete: where they are all there are; elsewhere only the moments of events are known.

    Example:
        >>> marked = StrongLabels((Event(1.0, 2.0, "dog"),), (Complete(0.0, 5.0), Complete(4.0)))
        >>> marked.is_complete("dog")     # to 5 s, and from 4 s to the end
        True
    """

    events: tuple[Event, ...]
    complete: tuple[Complete, ...]

    def is_complete(self, label: str) -> bool:
        """Whether every event of this class in the whole clip is marked."""
        reached = 0.0
        for onset, offset in _united((span.onset, span.offset) for span in self.complete if span.covers(label)):
            if onset > reached + TOLERANCE_SECONDS:
                return False
            reached = offset
        return reached == math.inf

    def later(self, seconds: float) -> StrongLabels:
        """The same of a clip that begins so much earlier; what was complete from its beginning on still is.

        Example:
            >>> marked = StrongLabels((Event(1.0, 2.5, "dog"),), (Complete(0.0, 9.0),)).later(0.5)
            >>> marked.events[0].onset, marked.events[0].offset, marked.complete[0].onset, marked.complete[0].offset
            (1.5, 3.0, 0.0, 9.5)
        """
        events = tuple(
            replace(event, onset=event.onset + seconds, offset=event.offset + seconds) for event in self.events
        )
        complete = tuple(
            replace(span, onset=span.onset + seconds if span.onset > 0 else 0.0, offset=span.offset + seconds)
            for span in self.complete
        )
        return StrongLabels(events, complete)

    def within(self, onset: float, offset: float) -> StrongLabels:
        """What is known of a part of the clip, in seconds from its beginning; events are cut at its borders.

        Example:
            >>> marked = StrongLabels((Event(1.0, 2.5, "dog"),), (Complete(0.0, 9.0),))
            >>> part = marked.within(2.0, 4.0)
            >>> part.events[0].onset, part.events[0].offset, part.complete
            (0.0, 0.5, (Complete(onset=0.0, offset=inf, classes=None),))
        """
        events = tuple(
            replace(event, onset=max(event.onset - onset, 0.0), offset=min(event.offset, offset) - onset)
            for event in self.events
            if event.offset > onset and event.onset < offset
        )
        complete = tuple(
            Complete(
                max(span.onset - onset, 0.0),
                math.inf if span.offset >= offset - TOLERANCE_SECONDS else span.offset - onset,
                span.classes,
            )
            for span in self.complete
            if span.offset > onset and span.onset < offset
        )
        return StrongLabels(events, complete)


def frame_labels(
    strong: StrongLabels, classes: Sequence[str], *, n_frames: int, timeline: Timeline, time_reduction: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return the labels of a clip's feature frames: the share covered by events, and where it is known.

    Args:
        strong: events, and where they are complete.
        classes: in the order of the logits.
        n_frames: feature frames of the clip.
        timeline: their grid.
        time_reduction: feature frames per output frame. An event too short to cover half of any output frame gets the
            one it lies in: one of its feature frames counts for that much.

    Returns:
        shares and known, each (frames, classes). A share may be above 1, for short events. Where it is above 0 it is
        known only as far as `output_labels` finds it to be half of an output frame.

    Example:
        >>> marked = StrongLabels((Event(1.0, 2.5, "dog"),), (Complete(0.0, 3.0),))
        >>> grid = Timeline(sample_rate=10, hop_samples=10)     # 1 s per frame
        >>> shares, known = frame_labels(marked, ["dog"], n_frames=4, timeline=grid, time_reduction=1)
        >>> shares.flatten().tolist(), known.flatten().tolist()
        ([0.0, 1.0, 0.5, 0.0], [True, True, True, False])
    """
    shares = np.zeros((n_frames, len(classes)), np.float32)
    known = np.zeros(shares.shape, bool)
    column_of = {label: column for column, label in enumerate(classes)}
    for span in strong.complete:
        first = timeline.half_covered(span.onset, span.onset)[0]
        end = n_frames if span.offset == math.inf else timeline.half_covered(span.onset, span.offset)[1]
        chosen = range(len(classes)) if span.classes is None else [column_of[label] for label in sorted(span.classes)]
        for column in chosen:
            known[first:end, column] = True
    for label, column in column_of.items():
        of_class = [event for event in strong.events if event.label == label]
        if any(event.duration == 0 for event in of_class):
            known[:, column] = False  # it is there, and nobody knows when
        spans = _united((event.onset, event.offset) for event in of_class if event.duration > 0)
        for onset, offset in spans:
            _add_share(shares[:, column], onset, offset, timeline)
        for onset, offset in spans:
            if offset - onset < timeline.hop_seconds * time_reduction:
                middle = min(timeline.frame((onset + offset) / 2), n_frames - 1)
                shares[middle, column] = max(shares[middle, column], time_reduction / 2)
    return shares, known


def output_labels(shares: Tensor, known: Tensor, *, time_reduction: int) -> tuple[Tensor, Tensor]:
    """Return the labels of output frames from those of feature frames: (batch, frames, classes) twice, float and bool.

    An output frame is positive when events cover at least half of it. It is known when all of it is, or when it is
    positive.

    Example:
        >>> import torch
        >>> shares, known = torch.tensor([[[1.0], [0.5], [0.0], [0.5]]]), torch.ones(1, 4, 1, dtype=torch.bool)
        >>> output_labels(shares, known, time_reduction=2)[0].flatten()     # three quarters of it, and one quarter
        tensor([1., 0.])
    """
    # (batch, frames, classes) -> (batch, output frames, feature frames in each, classes)
    parts = shares.unflatten(1, (-1, time_reduction))
    is_positive = parts.mean(dim=2) >= _HALF
    return is_positive.float(), known.unflatten(1, (-1, time_reduction)).all(dim=2) | is_positive


def _add_share(shares: NDArray[np.float32], onset: float, offset: float, timeline: Timeline) -> None:
    """Add to each frame the part of it that lies between two moments."""
    hop = timeline.hop_samples
    begin, end = round(onset * timeline.sample_rate), round(offset * timeline.sample_rate)
    first, last = begin // hop, (end - 1) // hop
    inside = np.arange(first, min(last, len(shares) - 1) + 1)
    covered = np.minimum((inside + 1) * hop, end) - np.maximum(inside * hop, begin)
    shares[inside] += (covered / hop).astype(np.float32)


def _united(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The spans in order, those that touch or overlap made one."""
    united: list[tuple[float, float]] = []
    for onset, offset in sorted(spans):
        if united and onset <= united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], offset))
        else:
            united.append((onset, offset))
    return united
