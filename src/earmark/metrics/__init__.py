"""Figures of merit for anybody's events and tags: event-based, segment-based and clip-level precision, recall and F1.

Usable alone: needs NumPy, and neither torch nor pandas.

Example:
    >>> from earmark import Event, metrics
    >>> counts = metrics.event_counts({"a.wav": [Event(1.0, 2.0, "dog")]}, {"a.wav": [Event(1.1, 2.0, "dog")]})
    >>> counts.macro.f1
    1.0
"""

from earmark.metrics.accuracies import Accuracies, SegmentCounts
from earmark.metrics.bootstrap import Interval
from earmark.metrics.by_file import CountsByFile, clip_counts_by_file, event_counts_by_file, segment_counts_by_file
from earmark.metrics.clip import clip_counts, count_clips, tags_from_events
from earmark.metrics.collars import Collars
from earmark.metrics.comparison import Comparison, Difference, compare
from earmark.metrics.counts import Counts, ErrorRates, Scores
from earmark.metrics.encoding import event_tables, tag_tables
from earmark.metrics.evaluation import Evaluation, evaluate
from earmark.metrics.event import count_events, event_counts, match_events
from earmark.metrics.event_table import EventTable, TagTable
from earmark.metrics.inputs import AnyEvents, AnyTags, events_by_file, tags_by_file
from earmark.metrics.segment import count_segments, segment_counts
from earmark.metrics.uncertainty import Uncertainty, uncertainty

__all__ = [
    "Accuracies",
    "AnyEvents",
    "AnyTags",
    "Collars",
    "Comparison",
    "Counts",
    "CountsByFile",
    "Difference",
    "ErrorRates",
    "Evaluation",
    "EventTable",
    "Interval",
    "Scores",
    "SegmentCounts",
    "TagTable",
    "Uncertainty",
    "clip_counts",
    "clip_counts_by_file",
    "compare",
    "count_clips",
    "count_events",
    "count_segments",
    "evaluate",
    "event_counts",
    "event_counts_by_file",
    "event_tables",
    "events_by_file",
    "match_events",
    "segment_counts",
    "segment_counts_by_file",
    "tag_tables",
    "tags_by_file",
    "tags_from_events",
    "uncertainty",
]
