"""What a reader of the figures has to know: what does not count, is not there, or looks like a mistake."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from earmark.checks import did_you_mean
from earmark.metrics.encoding import LeftOut
from earmark.metrics.evaluation import Evaluation

# Times in milliseconds are 1000 times as large; half of that, because the last event need not be the same one.
MILLISECONDS_FACTOR = 500


def cautions(evaluation: Evaluation) -> list[str]:
    """Return what does not count or is not there, one sentence each; empty when there is nothing to say.

    Example:
        >>> from earmark.events import Event
        >>> from earmark.metrics.evaluation import evaluate
        >>> cautions(evaluate({"a.wav": [Event(0.0, 0.0, "dog")]}, {"a.wav": []}))
        ['1 event of zero length was dropped (1 reference, 0 predicted); --zero-length keep counts them',
         'on neither side, so left out of the event, segment and clip means: dog']
    """
    return [
        *_dropped_events(evaluation),
        *_repeated_events(evaluation),
        *_other_files(evaluation),
        *_odd_times(evaluation),
        *_undefined_classes(evaluation),
        *_made_up_classes(evaluation),
        *_without_error_rate(evaluation),
    ]


def _dropped_events(evaluation: Evaluation) -> list[str]:
    """Events without a length, if they do not count."""
    left_out = evaluation.left_out
    n_dropped = left_out.n_zero_length_reference + left_out.n_zero_length_predicted
    if n_dropped == 0:
        return []
    return [
        f"{_many(n_dropped, 'event')} of zero length {_was(n_dropped)} dropped "
        f"({left_out.n_zero_length_reference:,} reference, {left_out.n_zero_length_predicted:,} "
        "predicted); --zero-length keep counts them"
    ]


def _repeated_events(evaluation: Evaluation) -> list[str]:
    """Events that come twice or overlap, which all count."""
    reference, predicted = evaluation.repeats
    sentences = []
    n_again = reference.n_duplicates + predicted.n_duplicates
    if n_again > 0:
        sentences.append(
            f"{_many(n_again, 'event')} {'repeats' if n_again == 1 else 'repeat'} an earlier one: same file, times and "
            f"class ({reference.n_duplicates:,} reference, {predicted.n_duplicates:,} predicted); all count"
        )
    n_overlapping = reference.n_overlapping + predicted.n_overlapping
    if n_overlapping > 0:
        sentences.append(
            f"{_many(n_overlapping, 'event')} {'overlaps' if n_overlapping == 1 else 'overlap'} another one of "
            f"{'its' if n_overlapping == 1 else 'their'} class ({reference.n_overlapping:,} reference, "
            f"{predicted.n_overlapping:,} predicted); all count as events, and together in segments"
        )
    return sentences


def _other_files(evaluation: Evaluation) -> list[str]:
    """Files that one side alone has."""
    left_out, tags = evaluation.left_out, evaluation.left_out_tags
    sentences = []
    if left_out.ignored_files:
        sentences.append(_ignored(left_out, "event", evaluation.near_miss))
    if tags.ignored_files and (evaluation.has_predicted_tags or tags.ignored_files != left_out.ignored_files):
        sentences.append(_ignored(tags, "tag", evaluation.near_miss_tags))
    if left_out.n_unpredicted_files > 0:
        sentences.append(
            f"{_many(left_out.n_unpredicted_files, 'reference file')} without any predicted row: nothing "
            "was found there"
        )
    # Where both are derived from the events, or the tags are of the same files, the sentence above has said it.
    says_more = evaluation.has_predicted_tags or (tags.n_unpredicted_files, evaluation.n_clips) != (
        left_out.n_unpredicted_files,
        evaluation.n_files,
    )
    if tags.n_unpredicted_files > 0 and says_more:
        rows = "tags" if evaluation.has_predicted_tags else "row"
        sentences.append(
            f"{_many(tags.n_unpredicted_files, 'clip')} of the reference tags without any predicted {rows}: nothing "
            "was found there - are the tags and the events of the same files?"
        )
    return sentences


def _odd_times(evaluation: Evaluation) -> list[str]:
    """Times that are hardly in seconds, or not of these files."""
    sentences = []
    n_late = evaluation.segment.n_late_events
    if n_late > 0:
        become = "counted in full" if evaluation.compatible is None else f"cut there, as {evaluation.compatible} does"
        sentences.append(
            f"{_many(n_late, 'event')} {'ends' if n_late == 1 else 'end'} after the duration given ({become}): are "
            "both in seconds, and of the same files?"
        )
    last_true, last_found = evaluation.last_offsets_seconds
    if min(last_true, last_found) > 0:
        texts = f"the last predicted event ends at {last_found:g} s, the last one of the reference at {last_true:g} s"
        if last_found >= MILLISECONDS_FACTOR * last_true:
            sentences.append(f"{texts}: are the predictions in milliseconds?")
        if last_true >= MILLISECONDS_FACTOR * last_found:
            sentences.append(f"{texts}: is the reference in milliseconds?")
    longest = 0.0 if evaluation.durations is None else max(evaluation.durations.values(), default=0.0)
    if longest >= MILLISECONDS_FACTOR * max(last_true, last_found) > 0:
        sentences.append(
            f"the longest duration given is {longest:g} s, and the last event ends at {max(last_true, last_found):g} s:"
            " are the durations in milliseconds?"
        )
    return sentences


def _undefined_classes(evaluation: Evaluation) -> list[str]:
    """Classes that have no F1 at some level."""
    reason = "on neither side" if evaluation.compatible is None else "F1 undefined (missing on one side or both)"
    undefined: dict[tuple[str, ...], list[str]] = {}  # levels -> the classes without F1 in just these
    f1_of_levels = [(counts.level, counts.f1.tolist()) for counts in evaluation.levels]
    for index, label in enumerate(evaluation.event.classes):
        levels = tuple(level for level, f1 in f1_of_levels if math.isnan(f1[index]))
        undefined.setdefault(levels, []).append(label)
    return [
        f"{reason}, so left out of the {_and(levels)} mean{'s' * (len(levels) > 1)}: {', '.join(labels)}"
        for levels, labels in undefined.items()
        if levels
    ]


def _made_up_classes(evaluation: Evaluation) -> list[str]:
    """Classes that are predicted and that the reference never has at any level, each with the nearest it has."""
    n_reference = np.sum([counts.n_reference for counts in evaluation.levels], axis=0)
    n_predicted = np.sum([counts.n_predicted for counts in evaluation.levels], axis=0)
    classes = evaluation.event.classes
    known = [label for label, n in zip(classes, n_reference, strict=True) if n > 0]
    return [
        f"the class {label!r} is predicted, but not one reference has it{did_you_mean(label, known)}"
        for label, found, true in zip(classes, n_predicted, n_reference, strict=True)
        if found > 0 and true == 0
    ]


def _without_error_rate(evaluation: Evaluation) -> list[str]:
    """Classes whose error rate has nothing to divide by."""
    without: dict[tuple[str, ...], list[str]] = {}  # levels -> the made-up classes of just these
    for index, label in enumerate(evaluation.event.classes):
        made_up = [
            counts.level
            for counts in evaluation.levels
            if counts.n_reference[index] == 0 < counts.n_predicted[index]
            and (evaluation.compatible is None or counts.level != "clip")  # the tool has no error rate of clips
        ]
        without.setdefault(tuple(made_up), []).append(label)
    if evaluation.compatible is None:
        consequence = "left out of the {} mean of error rates"
    else:
        consequence = f"{evaluation.compatible} divides by 2e-16, and its {{}} mean of error rates is astronomical"
    return [
        f"no reference to divide by, so {consequence.format(_and(levels))}: {', '.join(labels)}"
        for levels, labels in without.items()
        if levels
    ]


def _many(n: int, noun: str) -> str:
    """1 event, 2 events."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _was(n: int) -> str:
    """One was, several were."""
    return "was" if n == 1 else "were"


def _and(words: Sequence[str]) -> str:
    """a; a and b; a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _ignored(left_out: LeftOut, noun: str, near_miss: tuple[str, str] | None) -> str:
    """Which predicted files do not count, and what one of them is likely called in the reference."""
    files = left_out.ignored_files
    meant = "" if near_miss is None else f" - {near_miss[0]!r}: did you mean {near_miss[1]!r}?"
    isnt = "is" if len(files) == 1 else "are"
    return (
        f"{_many(len(files), 'predicted file')} {isnt} not in the reference: {_many(left_out.n_ignored, noun)} "
        f"ignored (first: {files[0]}){meant}"
    )
