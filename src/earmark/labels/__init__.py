"""Label files in: weak labels (what), strong labels (what and when), durations and groups."""

from earmark.labels.reviewed import Reviewed, read_reviewed
from earmark.labels.spelling import similar_classes
from earmark.labels.strong import read_durations, read_groups, read_strong, read_tags
from earmark.labels.weak import NONE_FOLDER, WeakClip, classes_of, classes_to_learn, read_weak

__all__ = [
    "NONE_FOLDER",
    "Reviewed",
    "WeakClip",
    "classes_of",
    "classes_to_learn",
    "read_durations",
    "read_groups",
    "read_reviewed",
    "read_strong",
    "read_tags",
    "read_weak",
    "similar_classes",
]
