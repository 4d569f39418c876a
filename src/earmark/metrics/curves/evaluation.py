"""One evaluation of frame scores: all curves and both PSDS, and the rows and numbers that report them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from earmark.metrics.collars import DCASE_COLLARS, Collars
from earmark.metrics.curves.cautions import curve_cautions
from earmark.metrics.curves.collar import collar_curves
from earmark.metrics.curves.curve import Curve, Curves
from earmark.metrics.curves.items import clip_curves, segment_curves
from earmark.metrics.curves.median import median_filtered
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
        has_durations: whether durations were given; otherwise a clip ends with its last frame.
        collars: what made two events the same.
        segment_seconds: length of a segment.
        median_seconds: length of the median window; 0 without a filter.
    """

    clips: ScoredClips
    event: Curves
    segment: Curves
    clip: Curves
    psds: tuple[Psds, Psds]
    has_tags: bool
    has_durations: bool
    collars: Collars
    segment_seconds: float
    median_seconds: float

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
    median_seconds: float = 0.0,
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
        median_seconds: length of a median window that the scores are filtered with first; 0 filters nothing.
        use_numba: see `collar_curves`.

    Example:
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a.wav": [[0.1], [0.9], [0.8], [0.2]]}, classes=["dog"], hop_seconds=1.0)
        >>> result = evaluate_scores(scores, {"a.wav": [(1.0, 3.0, "dog")]})
        >>> result.event.macro_best.f1, result.psds[0].value
        (1.0, 1.0)
    """
    if median_seconds > 0:
        scores = median_filtered(scores, seconds=median_seconds)
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
        durations is not None,
        collars,
        segment_seconds,
        median_seconds,
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


def score_settings(evaluation: ScoreEvaluation) -> list[tuple[str, str]]:
    """Return how the figures were made: pairs of a keyword and a sentence.

    Example:
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a.wav": [[0.1], [0.9], [0.8], [0.2]]}, classes=["dog"], hop_seconds=1.0)
        >>> score_settings(evaluate_scores(scores, {"a.wav": [(1.0, 3.0, "dog")]}))[0]
        ('clips', '1 with 4 frames and 1 reference event, 4 s in all; each ends with its last frame or event')
    """
    clips, collars, n_events = evaluation.clips, evaluation.collars, len(evaluation.clips.reference)
    end = "durations as given" if evaluation.has_durations else "each ends with its last frame or event"
    tags = "as given" if evaluation.has_tags else "derived from the events"
    lines = [
        (
            "clips",
            f"{len(clips.scores.files):,} with {clips.scores.values.shape[1]:,} frames and {n_events:,} reference"
            f" event{'' if n_events == 1 else 's'}, {clips.duration_seconds.sum():,.0f} s in all; {end}",
        ),
        (
            "levels",
            f"event: onset within {collars.onset_seconds:g} s, offset within {collars.offset_seconds:g} s or"
            f" {collars.offset_fraction:.0%} of the length; segment: {evaluation.segment_seconds:g} s; clip: tags"
            f" {tags}",
        ),
    ]
    if evaluation.median_seconds > 0:
        lines.append(("median", f"scores filtered with a window of {evaluation.median_seconds:g} s, in whole frames"))
    return lines


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
        "settings": {
            **asdict(evaluation.collars),
            "segment_seconds": evaluation.segment_seconds,
            "median_seconds": evaluation.median_seconds,
            "durations": "given" if evaluation.has_durations else "last frame or event",
        },
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
