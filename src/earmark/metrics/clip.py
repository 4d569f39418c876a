"""Clip-level figures: is a class in a clip or not, whenever it may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from earmark.checks import choice
from earmark.events import Event
from earmark.metrics.counts import COMPATIBLE, Counts
from earmark.metrics.encoding import tag_tables
from earmark.metrics.event_table import TagTable, check_same_grid
from earmark.metrics.inputs import AnyTags


def clip_counts(
    reference_tags: AnyTags,
    predicted_tags: AnyTags,
    *,
    classes: Sequence[str] | None = None,
    compatible: str | None = None,
) -> Counts:
    """Count the clips in which each class was found.

    Args:
        reference_tags: file name -> the classes in it; a clip without any has an empty set. Or events, the path of a
            table, columns or a data frame: see `tags_by_file`.
        predicted_tags: file name -> the classes found in it; files that the reference does not have are ignored, with a
            warning.
        classes: the classes in the wanted order; None takes all that occur, sorted.
        compatible: ``"sed_eval"`` gives that tool's own averages.

    Raises:
        ValueError: a tag not in `classes`, or an unknown option.

    Example:
        >>> counts = clip_counts({"a.wav": {"dog"}, "b.wav": set()}, {"a.wav": {"dog"}, "b.wav": {"cat"}})
        >>> counts.classes, counts.true_positives, counts.false_positives
        (('cat', 'dog'), array([0, 1]), array([1, 0]))
    """
    if compatible is not None:
        choice("compatible", compatible, COMPATIBLE)
    reference, predicted, left_out = tag_tables(reference_tags, predicted_tags, classes=classes)
    left_out.warn()
    return count_clips(reference, predicted, compatible=compatible)


def count_clips(reference: TagTable, predicted: TagTable, *, compatible: str | None = None) -> Counts:
    """Count as `clip_counts` does, from tables.

    A clip in which classes were missed and others made up has as many substitutions as the fewer of the two.

    Example:
        >>> reference, predicted, _ = tag_tables({"a": {"dog"}, "b": {"cat"}}, {"a": {"dog"}, "b": {"dog"}})
        >>> counts = count_clips(reference, predicted)     # in b a dog stands for the cat
        >>> counts.true_positives, counts.false_positives, counts.false_negatives, counts.substitutions
        (array([0, 1]), array([0, 1]), array([1, 0]), 1)
    """
    check_same_grid(reference, predicted)
    n_classes = len(reference.classes)
    is_hit = np.isin(reference.cell, predicted.cell)
    hits = np.bincount(reference.class_index[is_hit], minlength=n_classes)
    n_true, n_predicted = (np.bincount(side.file_index, minlength=len(side.files)) for side in (reference, predicted))
    substitutions = int(np.minimum(n_true, n_predicted).sum() - hits.sum())
    return Counts(
        "clip",
        reference.classes,
        hits,
        np.bincount(predicted.class_index, minlength=n_classes) - hits,
        np.bincount(reference.class_index, minlength=n_classes) - hits,
        substitutions,
        compatible,
    )


def tags_from_events(events: Mapping[str, Iterable[Event]]) -> dict[str, frozenset[str]]:
    """Return the classes that occur in every file.

    Example:
        >>> tags_from_events({"a.wav": [Event(0, 1, "dog"), Event(3, 4, "dog")], "b.wav": []})
        {'a.wav': frozenset({'dog'}), 'b.wav': frozenset()}
    """
    return {name: frozenset(event.label for event in found) for name, found in events.items()}
