"""An evaluation in words and rows: what `earmark evaluate` prints and writes."""

from __future__ import annotations

import math

from earmark.metrics.accuracies import SegmentCounts
from earmark.metrics.cautions import cautions
from earmark.metrics.counts import Counts, Scores
from earmark.metrics.evaluation import Evaluation

Json = dict[str, object]
FIGURES = ("f1", "precision", "recall")
COUNTED = ("true_positives", "false_positives", "false_negatives")
ERRORS = ("error_rate", "deletion_rate", "insertion_rate")
ACCURACIES = ("accuracy", "balanced_accuracy", "sensitivity", "specificity")


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


def error_rows(evaluation: Evaluation) -> list[list[str]]:
    """Return macro mean, micro mean, then every class: name, and error rates and accuracies.

    The columns are the error rate of events; error rate, accuracy, balanced accuracy and specificity of segments; and
    the error rate of clips.

    Example:
        >>> from earmark.events import Event
        >>> from earmark.metrics.evaluation import evaluate
        >>> events = {"a.wav": [Event(1.0, 2.0, "dog"), Event(1.5, 3.0, "cat")]}
        >>> for row in error_rows(evaluate(events, {"a.wav": events["a.wav"][:1]})):
        ...     print(*row)
        macro mean 0.500 0.500 0.667 0.750 1.000 0.500
        micro mean 0.500 0.667 0.667 0.667 1.000 0.500
        cat 1.000 1.000 0.333 0.500 1.000 1.000
        dog 0.000 0.000 1.000 1.000 1.000 0.000
    """
    segment = evaluation.segment
    columns = []
    for counts in evaluation.levels:
        columns.append([counts.macro_errors.error_rate, counts.error_rate, *counts.class_error_rate.tolist()])
        if counts is segment:
            means = (segment.macro_accuracies, segment.micro_accuracies)
            columns += [
                [*(getattr(mean, name) for mean in means), *getattr(segment, name).tolist()]
                for name in ACCURACIES
                if name != "sensitivity"  # recall, which stands among the scores
            ]
    names = ["macro mean", "micro mean", *evaluation.event.classes]
    return [[name, *map(_figure, figures)] for name, *figures in zip(names, *columns, strict=True)]


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
    if segment.n_late_events > 0 and evaluation.compatible is None:
        end = "durations as given, or longer where an event ends later"
    tags = [
        f"{side} tags {'as given' if is_given else 'derived from the events'}"
        for side, is_given in (
            ("reference", evaluation.has_reference_tags),
            ("predicted", evaluation.has_predicted_tags),
        )
    ]
    if evaluation.compatible is None:
        policy = (
            "a class that one side lacks counts 0 in the means, but has no error rate without a reference; a class "
            "that both sides lack is left out"
        )
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
        ("errors", "; ".join(map(_errors, evaluation.levels))),
    ]


def as_json(evaluation: Evaluation) -> Json:
    """Return everything as plain dictionaries, lists, numbers and None (for undefined), ready for a JSON file.

    Example:
        >>> from earmark.events import Event
        >>> from earmark.metrics.evaluation import evaluate
        >>> result = as_json(evaluate({"a.wav": [Event(1.0, 2.0, "dog")]}, {"a.wav": [Event(1.0, 2.0, "dog")]}))
        >>> result["policy"], result["event"]["macro"]
        ('earmark', {'f1': 1.0, 'precision': 1.0, 'recall': 1.0,
                     'error_rate': 0.0, 'deletion_rate': 0.0, 'insertion_rate': 0.0})
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
        "n_late_events": segment.n_late_events,
        "true_negatives": dict(zip(segment.classes, segment.true_negatives.tolist(), strict=True)),
    }
    levels["clip"] |= {
        "n_clips": evaluation.n_clips,
        "reference_tags": "given" if evaluation.has_reference_tags else "derived from events",
        "predicted_tags": "given" if evaluation.has_predicted_tags else "derived from events",
        "ignored_files": list(tags.ignored_files),
        "n_ignored_tags": tags.n_ignored,
        "n_unpredicted_clips": tags.n_unpredicted_files,
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
        "duplicates": _of_both_sides(evaluation, "n_duplicates"),
        "overlapping": _of_both_sides(evaluation, "n_overlapping"),
        "cautions": cautions(evaluation),
        **levels,
    }


def _level_json(counts: Counts) -> Json:
    """One level."""
    figures: dict[str, list[float]] = {name: getattr(counts, name).tolist() for name in FIGURES}
    figures |= {name: getattr(counts, f"class_{name}").tolist() for name in ERRORS}
    macro, micro = ({name: getattr(mean, name) for name in FIGURES} for mean in (counts.macro, counts.micro))
    macro |= {name: getattr(counts.macro_errors, name) for name in ERRORS}
    micro |= {name: getattr(counts.micro_errors, name) for name in (*ERRORS, "substitution_rate")}
    if isinstance(counts, SegmentCounts):
        figures |= {name: getattr(counts, name).tolist() for name in ACCURACIES}
        macro |= {name: getattr(counts.macro_accuracies, name) for name in ACCURACIES}
        micro |= {name: getattr(counts.micro_accuracies, name) for name in ACCURACIES}
    classes = {
        label: {
            **{name: _or_none(values[index]) for name, values in figures.items()},
            **{name: int(getattr(counts, name)[index]) for name in COUNTED},
        }
        for index, label in enumerate(counts.classes)
    }
    return {
        "macro": {name: _or_none(value) for name, value in macro.items()},
        "micro": {name: _or_none(value) for name, value in micro.items()},
        "error_rate": _or_none(counts.error_rate),
        "substitutions": counts.substitutions,
        "deletions": counts.deletions,
        "insertions": counts.insertions,
        "absent": list(counts.absent),
        "classes": classes,
    }


def _of_both_sides(evaluation: Evaluation, name: str) -> Json:
    """One number of the events that come twice or overlap, for each side."""
    return {
        side: getattr(found, name) for side, found in zip(("reference", "predicted"), evaluation.repeats, strict=True)
    }


def _per_class(counts: Counts) -> list[Scores]:
    """The scores of every class."""
    figures = (counts.precision.tolist(), counts.recall.tolist(), counts.f1.tolist())
    return [Scores(*of_class) for of_class in zip(*figures, strict=True)]


def _errors(counts: Counts) -> str:
    """event 2 S + 3 D + 1 I of 60."""
    return (
        f"{counts.level} {counts.substitutions:,} S + {counts.deletions:,} D + {counts.insertions:,} I"
        f" of {counts.n_reference.sum():,}"
    )


def _or_none(value: float) -> float | None:
    """JSON has no NaN."""
    return None if math.isnan(value) else value


def _figure(value: float) -> str:
    """Three decimals, or a dash; sed_eval's error rates without a reference are astronomical."""
    return "-" if math.isnan(value) else f"{value:.3f}" if value < 1e5 else f"{value:.0e}"


def _seconds(value: float) -> str:
    """200 ms, 1.5 s."""
    return f"{value * 1e3:g} ms" if value < 1 else f"{value:g} s"
