"""One evaluation of frame scores: all curves and both PSDS, and the rows and numbers that report them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from earmark.metrics.collars import DCASE_COLLARS, Collars
from earmark.metrics.curves.collar import collar_curves
from earmark.metrics.curves.curve import Curve, Curves
from earmark.metrics.curves.items import clip_curves, segment_curves
from earmark.metrics.curves.psds import SCENARIO_1, SCENARIO_2, Psds, Roc, psds
from earmark.metrics.curves.scored_clips import ScoredClips, scored_clips
from earmark.metrics.curves.scores import ScoreTable
from earmark.metrics.inputs import AnyEvents, AnyTags

Json = dict[str, object]
# What a table shows of each level.
COLUMNS = {"event": ("best F1", "AP"), "segment": ("best F1", "AP", "AUC"), "clip": ("best F1", "AP", "AUC")}
PSDS_COLUMNS = {"PSDS": ("1", "2")}


@dataclass(frozen=True, eq=False)
class ScoreEvaluation:
    """The curves of frame scores.

    Args:
        clips: scores beside the reference.
        event: event-based curves.
        segment: segment-based curves.
        clip: clip-level curves.
        psds: in both scenarios; the second one without cross triggers where there is one class only.
        has_tags: whether reference tags were given; otherwise they are derived from the events.
    """

    clips: ScoredClips
    event: Curves
    segment: Curves
    clip: Curves
    psds: tuple[Psds, Psds]
    has_tags: bool

    @property
    def levels(self) -> tuple[Curves, Curves, Curves]:
        """Event, segment and clip."""
        return self.event, self.segment, self.clip


def evaluate_scores(
    scores: ScoreTable,
    reference: AnyEvents,
    *,
    reference_tags: AnyTags | None = None,
    durations: Mapping[str, float] | None = None,
    collars: Collars = DCASE_COLLARS,
    segment_seconds: float = 1.0,
    use_numba: bool | None = None,
) -> ScoreEvaluation:
    """Draw all curves of frame scores.

    Args:
        scores: of every clip of the reference.
        reference: file name -> its events, or in another form: see `events_by_file`.
        reference_tags: file name -> the classes in it, or in another form; None derives them from the events.
        durations: file name -> its length in seconds; None: as `scored_clips`.
        collars: what makes two events the same.
        segment_seconds: length of a segment.
        use_numba: see `collar_curves`.

    Example:
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a.wav": [[0.1], [0.9], [0.8], [0.2]]}, classes=["dog"], hop_seconds=1.0)
        >>> result = evaluate_scores(scores, {"a.wav": [(1.0, 3.0, "dog")]})
        >>> result.event.macro_best.f1, result.psds[0].value
        (1.0, 1.0)
    """
    clips = scored_clips(scores, reference, durations=durations)
    tags = _tags(clips) if reference_tags is None else reference_tags
    return ScoreEvaluation(
        clips,
        collar_curves(clips, collars=collars, use_numba=use_numba),
        segment_curves(clips, segment_seconds=segment_seconds),
        clip_curves(scores, tags),
        (
            psds(clips, scenario=SCENARIO_1, use_numba=use_numba),
            psds(clips, scenario=SCENARIO_2, use_numba=use_numba),
        ),
        reference_tags is not None,
    )


def curve_rows(evaluation: ScoreEvaluation) -> list[list[str]]:
    """Return the mean, then every class: name, and the figures of `COLUMNS` and `PSDS_COLUMNS`; a dash for none.

    Example:
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a.wav": [[0.1], [0.9], [0.8], [0.2]]}, classes=["dog"], hop_seconds=1.0)
        >>> for row in curve_rows(evaluate_scores(scores, {"a.wav": [(1.0, 3.0, "dog")]})):
        ...     print(*row[:4], *row[-2:])
        mean 1.000 1.000 1.000 1.000 1.000
        dog 1.000 1.000 1.000 1.000 1.000
    """
    first, second = evaluation.psds
    means = [
        *(figure for curves in evaluation.levels for figure in _mean_figures(curves)),
        first.value,
        second.value,
    ]
    rows = [["mean", *map(_figure, means)]]
    for index, label in enumerate(evaluation.event.classes):
        figures = [figure for curves in evaluation.levels for figure in _class_figures(curves.of_class[index])]
        own = (scenario.of_class.get(label, math.nan) for scenario in evaluation.psds)
        rows.append([label, *map(_figure, [*figures, *own])])
    return rows


def curve_cautions(evaluation: ScoreEvaluation) -> list[str]:
    """Return what a reader of the curves has to know, one sentence each.

    Example:
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
    n_late = int(np.count_nonzero(clips.reference.offset_seconds > clips.duration_seconds[clips.reference.file_index]))
    if n_late > 0:
        sentences.append(
            f"{_many(n_late, 'reference event')} {'ends' if n_late == 1 else 'end'} after the clip does - are the"
            " durations in seconds, and of these clips?"
        )
    return [*sentences, *_absent_classes(evaluation), *_classes_everywhere(evaluation)]


def curves_as_json(evaluation: ScoreEvaluation) -> Json:
    """Return all figures and curves' best points as plain dictionaries, ready for a JSON file.

    Example:
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a.wav": [[0.1], [0.9], [0.8], [0.2]]}, classes=["dog"], hop_seconds=1.0)
        >>> result = curves_as_json(evaluate_scores(scores, {"a.wav": [(1.0, 3.0, "dog")]}))
        >>> result["event"]["classes"]["dog"]["best_threshold"], result["psds_1"]["value"]
        (0.5, 1.0)
    """
    levels: Json = {curves.level: _level_json(curves) for curves in evaluation.levels}
    for number, scenario in enumerate(evaluation.psds, start=1):
        levels[f"psds_{number}"] = {
            "value": _or_none(scenario.value),
            "classes": scenario.of_class,
            "max_rate": scenario.scenario.max_rate,
            "unit_of_time": scenario.scenario.unit_of_time,
            "roc": _roc_json(scenario.roc),
        }
    return {
        **levels,
        "n_merged_events": evaluation.clips.n_merged,
        "n_zero_length_events": evaluation.clips.n_zero_length,
        "ignored_files": list(evaluation.clips.ignored_files),
        "absent": list(evaluation.event.absent),
        "reference_tags": "given" if evaluation.has_tags else "derived from events",
        "cautions": curve_cautions(evaluation),
    }


def _tags(clips: ScoredClips) -> dict[str, frozenset[str]]:
    """Tags from the events that count."""
    holds = clips.reference_by_file > 0
    return {
        name: frozenset(label for label, is_there in zip(clips.scores.classes, row, strict=True) if is_there)
        for name, row in zip(clips.scores.files, holds, strict=True)
    }


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


def _mean_figures(curves: Curves) -> list[float]:
    """The figures of `COLUMNS` over all classes."""
    figures = [curves.macro_best.f1, curves.mean_average_precision]
    return figures if curves.items_by_file is None else [*figures, curves.mean_auroc]


def _class_figures(curve: Curve) -> list[float]:
    """The figures of `COLUMNS` of one class."""
    figures = [curve.best.scores.f1, curve.average_precision]
    return figures if curve.n_negatives is None else [*figures, curve.auroc]


def _level_json(curves: Curves) -> Json:
    """One level."""
    classes: Json = {}
    for curve in curves.of_class:
        best = curve.best
        classes[curve.label] = {
            "best_f1": _or_none(best.scores.f1),
            "best_precision": _or_none(best.scores.precision),
            "best_recall": _or_none(best.scores.recall),
            "best_threshold": _or_none(best.threshold),
            "average_precision": _or_none(curve.average_precision),
            "auroc": _or_none(curve.auroc),
            "n_reference": curve.n_reference,
        }
    macro, micro = curves.macro_best, curves.micro_best
    return {
        "macro_best": {
            "f1": _or_none(macro.f1),
            "precision": _or_none(macro.precision),
            "recall": _or_none(macro.recall),
        },
        "micro_best": {
            "f1": _or_none(micro.f1),
            "precision": _or_none(micro.precision),
            "recall": _or_none(micro.recall),
        },
        "mean_average_precision": _or_none(curves.mean_average_precision),
        "mean_auroc": _or_none(curves.mean_auroc),
        "classes": classes,
    }


def _roc_json(roc: Roc) -> Json:
    """A curve of steps."""
    return {"rate": roc.rate.tolist(), "hit_rate": roc.hit_rate.tolist()}


def _or_none(value: float) -> float | None:
    """JSON has neither NaN nor infinity."""
    return value if math.isfinite(value) else None


def _figure(value: float) -> str:
    """Three decimals, or a dash."""
    return "-" if math.isnan(value) else f"{value:.3f}"


def _many(n: int, noun: str) -> str:
    """``1 clip``, ``2,000 clips``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
