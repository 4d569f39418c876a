"""What `earmark evaluate` reads and computes: every run of a system and of its baseline, and their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from earmark.events import Event
    from earmark.metrics.collars import Collars
    from earmark.metrics.curves.evaluation import ScoreEvaluation
    from earmark.metrics.curves.scores import ScoreTable
    from earmark.metrics.evaluation import Evaluation
    from earmark.metrics.uncertainty_report import AnyComparison, AnyUncertainty


@dataclass(frozen=True)
class Paths:
    """The runs of one system: tables of events, and folders of frame scores."""

    lists: Sequence[Path]
    scores: Sequence[Path]


@dataclass(frozen=True)
class Side:
    """What one system, or its baseline, was found to be: its runs as lists, as frame scores, or both."""

    lists: list[Evaluation] = field(default_factory=list)
    scores: list[ScoreEvaluation] = field(default_factory=list)

    @property
    def n_clips(self) -> int:
        """Clips of the reference."""
        return self.lists[0].n_files if self.lists else len(self.scores[0].clips.scores.files)


@dataclass(frozen=True)
class Options:
    """What is the same for all runs of all systems."""

    reference: Path
    reference_tags: Path | None
    durations: Path | None
    collars: Collars
    segment_seconds: float
    median_seconds: float | None
    zero_length: str | None
    compatible: str | None
    audio: Path | None
    class_column: str | None


def both_sides(options: Options, system: Paths, baseline: Paths, predicted_tags: Path | None) -> tuple[Side, Side]:
    """Read and evaluate every run of the system and of its baseline, all with the same classes."""
    from earmark.labels.strong import read_durations, read_strong, read_tags
    from earmark.metrics.evaluation import all_labels, evaluate

    reference = read_strong(options.reference, audio=options.audio, class_column=options.class_column)
    lists = [[read_strong(path, audio=options.audio) for path in side.lists] for side in (system, baseline)]
    if options.audio is None:
        for path, events in zip((*system.lists, *baseline.lists), (*lists[0], *lists[1]), strict=True):
            _refuse_other_names(options.reference, reference, path, events)
    true_tags = None if options.reference_tags is None else read_tags(options.reference_tags)
    found_tags = None if predicted_tags is None else read_tags(predicted_tags)
    durations = None if options.durations is None else read_durations(options.durations)
    classes = all_labels([reference, *(events for runs in lists for events in runs)], [true_tags, found_tags])
    evaluations = [
        [
            evaluate(
                reference,
                events,
                reference_tags=true_tags,
                predicted_tags=found_tags,
                durations=durations,
                classes=classes,
                collars=options.collars,
                segment_seconds=options.segment_seconds,
                zero_length=options.zero_length,
                compatible=options.compatible,
            )
            for events in runs
        ]
        for runs in lists
    ]
    folders, scored = [*system.scores, *baseline.scores], []
    if folders:  # otherwise nothing of the curves is imported
        scored = _scored(folders, options, reference, true_tags, durations)
    n_runs = len(system.scores)
    return Side(evaluations[0], scored[:n_runs]), Side(evaluations[1], scored[n_runs:])


def _refuse_other_names(
    reference_path: Path, reference: Mapping[str, object], path: Path, events: Mapping[str, object]
) -> None:
    """Raise ValueError where one side names recordings with their endings, and the other without."""
    if not events or not reference or any(name in reference for name in events):
        return
    stems = {Path(name).stem: name for name in reference}
    for name in events:
        other = stems.get(Path(name).stem)
        if other is not None and (Path(name).suffix == "") != (Path(other).suffix == ""):
            raise ValueError(
                f"{path} calls a recording {name!r} and {reference_path} {other!r} - name the folder of the recordings"
                " with --audio, so that both are called alike"
            )


def uncertainties(
    system: Side, groups: Mapping[str, str] | None, n_resamples: int
) -> dict[str, dict[str, AnyUncertainty]]:
    """Return the intervals of what there is: "lists", "scores"."""
    from earmark.metrics.systems import list_uncertainty, score_uncertainty

    sure: dict[str, dict[str, AnyUncertainty]] = {}
    if system.lists:
        sure["lists"] = {**list_uncertainty(system.lists, groups=groups, n_resamples=n_resamples)}
    if system.scores:
        sure["scores"] = {**score_uncertainty(system.scores, groups=groups, n_resamples=n_resamples)}
    return sure


def comparisons(
    system: Side, baseline: Side, groups: Mapping[str, str] | None, n_resamples: int
) -> dict[str, dict[str, AnyComparison]]:
    """Return the differences from the baseline, of what both have."""
    from earmark.metrics.systems import list_comparison, score_comparison

    found: dict[str, dict[str, AnyComparison]] = {}
    if baseline.lists:
        found["lists"] = {**list_comparison(system.lists, baseline.lists, groups=groups, n_resamples=n_resamples)}
    if baseline.scores:
        found["scores"] = {**score_comparison(system.scores, baseline.scores, groups=groups, n_resamples=n_resamples)}
    return found


def _scored(
    folders: Sequence[Path],
    options: Options,
    reference: Mapping[str, Sequence[Event]],
    reference_tags: Mapping[str, AbstractSet[str]] | None,
    durations: Mapping[str, float] | None,
) -> list[ScoreEvaluation]:
    """The curves of every folder, the classes in the order of the first one."""
    from earmark.checks import known_labels
    from earmark.metrics.curves.evaluation import evaluate_scores
    from earmark.metrics.curves.folder import read_scores, unread_scores
    from earmark.metrics.evaluation import all_labels

    evaluations: list[ScoreEvaluation] = []
    for folder in folders:
        scores = read_scores(folder, files=list(reference))
        for source, labels in (
            (options.reference, all_labels([reference], [])),
            (options.reference_tags, all_labels([], [reference_tags])),
        ):
            known_labels(labels, scores.classes, where=f"{folder}: the scores lack a class of {source}")
        if evaluations:
            scores = _in_order_of(evaluations[0].clips.scores.classes, scores, folder, folders[0])
        evaluation = evaluate_scores(
            scores,
            reference,
            reference_tags=reference_tags,
            durations=durations,
            collars=options.collars,
            segment_seconds=options.segment_seconds,
            median_seconds=0.0 if options.median_seconds is None else options.median_seconds,
        )
        unread = unread_scores(folder, files=list(reference))
        evaluations.append(replace(evaluation, clips=replace(evaluation.clips, ignored_files=unread)))
    return evaluations


def _in_order_of(classes: tuple[str, ...], scores: ScoreTable, folder: Path, first: Path) -> ScoreTable:
    """The same scores, the classes in this order: columns are known by their names, as those of every table."""
    if sorted(classes) != sorted(scores.classes):
        alone = sorted({*classes} ^ {*scores.classes})
        raise ValueError(
            f"{folder}: the scores must have the classes of {first}, but only one of the two has {', '.join(alone)}"
            " - is one of another model?"
        )
    if classes == scores.classes:
        return scores
    return replace(scores, classes=classes, values=scores.values[[scores.classes.index(label) for label in classes]])
