"""An evaluation in words and rows: what `earmark evaluate` prints and writes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from earmark.checks import did_you_mean
from earmark.metrics.counts import Counts, Scores
from earmark.metrics.evaluation import Evaluation

Json = dict[str, object]
FIGURES = ("f1", "precision", "recall")
COUNTED = ("true_positives", "false_positives", "false_negatives")


def score_rows(evaluation: Evaluation) -> list[list[str]]:
    """Return macro mean, micro mean, then every class: name, and F1, precision, recall at each of the three levels.

    What is undefined is a dash.

    Example:
        >>> from earmark.events import Event
        >>> from earmark.metrics.evaluation import evaluate
        >>> events = {"a.wav": [Event(1.0, 2.0, "dog"), Event(1.5, 3.0, "cat")]}
        >>> for row in score_rows(evaluate(events, {"a.wav": events["a.wav"][:1]})):
        ...     print(*row[:4])
        macro mean 0.500 0.500 0.500
        micro mean 0.667 1.000 0.500
        cat 0.000 0.000 0.000
        dog 1.000 1.000 1.000
    """
    scores = [[counts.macro, counts.micro, *_per_class(counts)] for counts in evaluation.levels]  # (levels, rows)
    names = ["macro mean", "micro mean", *evaluation.event.classes]
    return [
        [name, *(_figure(getattr(level[row], figure)) for level in scores for figure in FIGURES)]
        for row, name in enumerate(names)
    ]


def count_rows(evaluation: Evaluation) -> list[list[str]]:
    """Return all classes together, then every class: name, and true positives, false positives, false negatives at
    each of the three levels.

    Example:
        >>> from earmark.events import Event
        >>> from earmark.metrics.evaluation import evaluate
        >>> events = {"a.wav": [Event(1.0, 2.0, "dog"), Event(1.5, 3.0, "cat")]}
        >>> for row in count_rows(evaluate(events, {"a.wav": events["a.wav"][:1]})):
        ...     print(*row[:4])
        all classes 1 0 1
        cat 0 0 1
        dog 1 0 0
    """
    arrays = [getattr(counts, name) for counts in evaluation.levels for name in COUNTED]
    return [
        ["all classes", *(f"{array.sum():,}" for array in arrays)],
        *([label, *(f"{array[index]:,}" for array in arrays)] for index, label in enumerate(evaluation.event.classes)),
    ]


def settings_lines(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Return how the figures were made: pairs of a keyword and a sentence.

    Example:
        >>> from earmark.events import Event
        >>> from earmark.metrics.evaluation import evaluate
        >>> result = evaluate({"a.wav": [Event(1.0, 2.0, "dog")]}, {"a.wav": []})
        >>> settings_lines(result)[1]
        ('segment', '1 s, 2 segments in all; a file ends with its last event (no durations given)')
    """
    collars, segment = evaluation.collars, evaluation.segment
    end = "durations as given" if evaluation.has_durations else "a file ends with its last event (no durations given)"
    tags = [
        f"{side} tags {'as given' if is_given else 'derived from the events'}"
        for side, is_given in (
            ("reference", evaluation.has_reference_tags),
            ("predicted", evaluation.has_predicted_tags),
        )
    ]
    if evaluation.compatible is None:
        policy = "a class that one side lacks counts 0 in the means; a class that both sides lack is left out"
    else:
        policy = (
            f"as {evaluation.compatible} has them: undefined figures are left out of the means, so a class that "
            "was never predicted, or never there, does not lower macro F1"
        )
    return [
        (
            "event",
            f"onset within {_seconds(collars.onset_seconds)}, offset within "
            f"{_seconds(collars.offset_seconds)} or {collars.offset_fraction:.0%} of the reference event's "
            "length, best matching",
        ),
        ("segment", f"{segment.segment_seconds:g} s, {segment.n_segments:,} segments in all; {end}"),
        ("clip", f"{evaluation.n_clips:,} clips; {', '.join(tags)}"),
        ("means", policy),
    ]


def cautions(evaluation: Evaluation) -> list[str]:
    """Return what does not count or is not there, one sentence each; empty when there is nothing to say.

    Example:
        >>> from earmark.events import Event
        >>> from earmark.metrics.evaluation import evaluate
        >>> cautions(evaluate({"a.wav": [Event(0.0, 0.0, "dog")]}, {"a.wav": []}))
        ['1 event of zero length was dropped (1 reference, 0 predicted); --zero-length keep counts them',
         'on neither side, so left out of the event, segment and clip means: dog']
    """
    left_out, tags = evaluation.left_out, evaluation.left_out_tags
    n_dropped = left_out.n_zero_length_reference + left_out.n_zero_length_predicted
    sentences = []
    if n_dropped > 0:
        sentences.append(
            f"{_many(n_dropped, 'event')} of zero length {_was(n_dropped)} dropped "
            f"({left_out.n_zero_length_reference:,} reference, {left_out.n_zero_length_predicted:,} "
            "predicted); --zero-length keep counts them"
        )
    if left_out.ignored_files:
        sentences.append(_ignored(left_out.ignored_files, left_out.n_ignored, "event"))
    if tags.ignored_files and (evaluation.has_predicted_tags or tags.ignored_files != left_out.ignored_files):
        sentences.append(_ignored(tags.ignored_files, tags.n_ignored, "tag"))
    if left_out.n_unpredicted_files > 0:
        sentences.append(
            f"{_many(left_out.n_unpredicted_files, 'reference file')} without any predicted row: nothing "
            "was found there"
        )
    reason = "on neither side" if evaluation.compatible is None else "F1 undefined (missing on one side or both)"
    undefined: dict[tuple[str, ...], list[str]] = {}  # levels -> the classes without F1 in just these
    f1_of_levels = [(counts.level, counts.f1.tolist()) for counts in evaluation.levels]
    for index, label in enumerate(evaluation.event.classes):
        levels = tuple(level for level, f1 in f1_of_levels if math.isnan(f1[index]))
        undefined.setdefault(levels, []).append(label)
    sentences += [
        f"{reason}, so left out of the {_and(levels)} mean{'s' * (len(levels) > 1)}: {', '.join(labels)}"
        for levels, labels in undefined.items()
        if levels
    ]
    return sentences + _made_up_classes(evaluation)


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


def as_json(evaluation: Evaluation) -> Json:
    """Return everything as plain dictionaries, lists, numbers and None (for undefined), ready for a JSON file.

    Example:
        >>> from earmark.events import Event
        >>> from earmark.metrics.evaluation import evaluate
        >>> result = as_json(evaluate({"a.wav": [Event(1.0, 2.0, "dog")]}, {"a.wav": [Event(1.0, 2.0, "dog")]}))
        >>> result["policy"], result["event"]["macro"]
        ('earmark', {'f1': 1.0, 'precision': 1.0, 'recall': 1.0})
    """
    left_out, tags, collars = evaluation.left_out, evaluation.left_out_tags, evaluation.collars
    segment = evaluation.segment
    levels = {counts.level: _level_json(counts) for counts in evaluation.levels}
    levels["event"] |= {
        "onset_collar_seconds": collars.onset_seconds,
        "offset_collar_seconds": collars.offset_seconds,
        "offset_collar_fraction": collars.offset_fraction,
        "tolerance_seconds": collars.tolerance_seconds,
    }
    levels["segment"] |= {
        "segment_seconds": segment.segment_seconds,
        "n_segments": segment.n_segments,
        "has_durations": evaluation.has_durations,
        "true_negatives": dict(zip(segment.classes, segment.true_negatives.tolist(), strict=True)),
    }
    levels["clip"] |= {
        "n_clips": evaluation.n_clips,
        "reference_tags": "given" if evaluation.has_reference_tags else "derived from events",
        "predicted_tags": "given" if evaluation.has_predicted_tags else "derived from events",
        "ignored_files": list(tags.ignored_files),
        "n_ignored_tags": tags.n_ignored,
    }
    return {
        "policy": "earmark" if evaluation.compatible is None else evaluation.compatible,
        "n_files": evaluation.n_files,
        "n_unpredicted_files": left_out.n_unpredicted_files,
        "ignored_files": list(left_out.ignored_files),
        "n_ignored_events": left_out.n_ignored,
        "zero_length": {
            "policy": evaluation.zero_length,
            "n_dropped_reference": left_out.n_zero_length_reference,
            "n_dropped_predicted": left_out.n_zero_length_predicted,
        },
        "cautions": cautions(evaluation),
        **levels,
    }


def _level_json(counts: Counts) -> Json:
    """One level."""
    classes = {
        label: {**_scores_json(scores), **{name: int(getattr(counts, name)[index]) for name in COUNTED}}
        for index, (label, scores) in enumerate(zip(counts.classes, _per_class(counts), strict=True))
    }
    return {
        "macro": _scores_json(counts.macro),
        "micro": _scores_json(counts.micro),
        "error_rate": _or_none(counts.error_rate),
        "substitutions": counts.substitutions,
        "deletions": counts.deletions,
        "insertions": counts.insertions,
        "absent": list(counts.absent),
        "classes": classes,
    }


def _per_class(counts: Counts) -> list[Scores]:
    """The scores of every class."""
    figures = (counts.precision.tolist(), counts.recall.tolist(), counts.f1.tolist())
    return [Scores(*of_class) for of_class in zip(*figures, strict=True)]


def _scores_json(scores: Scores) -> Json:
    """Scores by name, F1 first."""
    return {figure: _or_none(getattr(scores, figure)) for figure in FIGURES}


def _or_none(value: float) -> float | None:
    """JSON has no NaN."""
    return None if math.isnan(value) else value


def _figure(value: float) -> str:
    """Three decimals, or a dash."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def _seconds(value: float) -> str:
    """200 ms, 1.5 s."""
    return f"{value * 1e3:g} ms" if value < 1 else f"{value:g} s"


def _many(n: int, noun: str) -> str:
    """1 event, 2 events."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _was(n: int) -> str:
    """One was, several were."""
    return "was" if n == 1 else "were"


def _and(words: Sequence[str]) -> str:
    """a; a and b; a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _ignored(files: Sequence[str], n: int, noun: str) -> str:
    """Which predicted files do not count."""
    isnt = "is" if len(files) == 1 else "are"
    return (
        f"{_many(len(files), 'predicted file')} {isnt} not in the reference: {_many(n, noun)} ignored "
        f"(first: {files[0]})"
    )
