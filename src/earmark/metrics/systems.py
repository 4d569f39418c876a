"""Several runs of a system, and what it is compared with: how sure all of their figures are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from earmark.metrics.comparison import Comparison, compare
from earmark.metrics.curves.evaluation import ScoreEvaluation
from earmark.metrics.curves.psds import SCENARIO_1, SCENARIO_2
from earmark.metrics.curves.uncertainty import CurveComparison, CurveUncertainty, compare_curves, curve_uncertainty
from earmark.metrics.evaluation import Evaluation
from earmark.metrics.event_table import EventTable
from earmark.metrics.uncertainty import Uncertainty, uncertainty

LEVELS = ("event", "segment", "clip")
SCENARIOS = {"PSDS 1": SCENARIO_1, "PSDS 2": SCENARIO_2}
Groups = Mapping[str, str] | None


def _check_same_lists(runs: Sequence[Evaluation]) -> None:
    """Raise ValueError unless all were evaluated against the same events, and in the same way."""
    for number, run in enumerate(runs[1:], start=2):
        first = runs[0]
        for what in ("collars", "zero_length", "compatible", "durations"):
            if getattr(run, what) != getattr(first, what):
                raise ValueError(
                    f"all evaluations must have the same {what}, got {getattr(first, what)} and, in number {number},"
                    f" {getattr(run, what)}"
                )
        _check_same_events(first.events[0], run.events[0], number)


def _check_same_scores(runs: Sequence[ScoreEvaluation]) -> None:
    """Raise ValueError unless all were evaluated against the same events in clips of the same length."""
    for number, run in enumerate(runs[1:], start=2):
        first = runs[0].clips
        _check_same_events(first.reference, run.clips.reference, number)
        if run.clips.scores.files == first.scores.files and len(run.clips.reference) == len(first.reference):
            differs = ~np.isclose(run.clips.duration_seconds, first.duration_seconds, rtol=0, atol=0.5)
            if differs.any():
                raise ValueError(
                    f"all evaluations must have clips of the same length, in number {number}"
                    f" {int(differs.sum())} differ (first: {first.scores.files[int(np.argmax(differs))]!r}) - give both"
                    " the same durations"
                )


def _check_same_events(one: EventTable, other: EventTable, number: int) -> None:
    """Raise ValueError unless two references of the same files and classes have the same times."""
    if one.files != other.files or one.classes != other.classes or len(one) != len(other):
        return  # what counts by file and class tell better
    for what in ("onset_seconds", "offset_seconds"):
        if not np.array_equal(getattr(one, what), getattr(other, what)):
            raise ValueError(
                f"all evaluations must be against the same reference, but in number {number} events have another"
                f" {what.removesuffix('_seconds')} - was the reference changed in between?"
            )


def list_uncertainty(
    runs: Sequence[Evaluation], *, groups: Groups = None, n_resamples: int = 1000
) -> dict[str, Uncertainty]:
    """Return level -> intervals of all list figures, the means over the runs.

    Args:
        runs: evaluations of the same classes against the same reference.
        groups: file name -> what belongs together; None: clips are resampled.
        n_resamples: how often.

    Example:
        >>> from earmark.metrics.evaluation import evaluate
        >>> reference = {f"{number}.wav": [(0.0, 1.0, "dog")] for number in range(40)}
        >>> run = evaluate(reference, {name: events[: int(name[0]) % 2] for name, events in reference.items()})
        >>> list_uncertainty([run])["clip"].macro["recall"].value
        0.625
    """
    _check_same_lists(runs)
    by_file = [run.by_file for run in runs]
    return {
        level: uncertainty([counts[place] for counts in by_file], groups=groups, n_resamples=n_resamples)
        for place, level in enumerate(LEVELS)
    }


def list_comparison(
    system: Sequence[Evaluation], baseline: Sequence[Evaluation], *, groups: Groups = None, n_resamples: int = 1000
) -> dict[str, Comparison]:
    """Return level -> differences of all list figures, system minus baseline.

    Args:
        system: evaluations of its runs.
        baseline: evaluations of what it is compared with, of the same classes and reference.
        groups, n_resamples: as in `list_uncertainty`.

    Example:
        >>> from earmark.metrics.evaluation import evaluate
        >>> reference = {f"{number}.wav": [(0.0, 1.0, "dog")] for number in range(40)}
        >>> half = evaluate(reference, {name: events[: int(name[0]) % 2] for name, events in reference.items()})
        >>> list_comparison([evaluate(reference, reference)], [half])["clip"].macro["recall"].value
        0.375
    """
    _check_same_lists([*system, *baseline])
    sides = [[run.by_file for run in side] for side in (system, baseline)]
    return {
        level: compare(*([counts[place] for counts in side] for side in sides), groups=groups, n_resamples=n_resamples)
        for place, level in enumerate(LEVELS)
    }


def score_uncertainty(
    runs: Sequence[ScoreEvaluation], *, groups: Groups = None, n_resamples: int = 1000
) -> dict[str, CurveUncertainty]:
    """Return level or PSDS -> intervals of its figures, the means over the runs.

    Args:
        runs: evaluations of frame scores against the same reference.
        groups, n_resamples: as in `list_uncertainty`.

    Example:
        >>> from earmark.metrics.curves import score_table
        >>> from earmark.metrics.curves.evaluation import evaluate_scores
        >>> reference = {f"{number}.wav": [(0.0, 1.0, "dog")] for number in range(20)}
        >>> scores = score_table({name: [[0.9], [0.1]] for name in reference}, classes=["dog"], hop_seconds=1.0)
        >>> result = score_uncertainty([evaluate_scores(scores, reference)], n_resamples=20)
        >>> list(result), result["PSDS 1"].overall["psds"].low
        (['event', 'segment', 'clip', 'PSDS 1', 'PSDS 2'], 1.0)
    """
    _check_same_scores(runs)
    levels = {
        level: curve_uncertainty([run.levels[place] for run in runs], groups=groups, n_resamples=n_resamples)
        for place, level in enumerate(LEVELS)
    }
    clips = [run.clips for run in runs]
    return levels | {
        name: curve_uncertainty(clips, scenario=scenario, groups=groups, n_resamples=n_resamples)
        for name, scenario in SCENARIOS.items()
    }


def score_comparison(
    system: Sequence[ScoreEvaluation],
    baseline: Sequence[ScoreEvaluation],
    *,
    groups: Groups = None,
    n_resamples: int = 1000,
) -> dict[str, CurveComparison]:
    """Return level or PSDS -> differences of its figures, system minus baseline.

    Args:
        system: evaluations of its runs.
        baseline: evaluations of what it is compared with, against the same reference.
        groups, n_resamples: as in `list_uncertainty`.

    Example:
        >>> from earmark.metrics.curves import score_table
        >>> from earmark.metrics.curves.evaluation import evaluate_scores
        >>> reference = {f"{number}.wav": [(0.0, 1.0, "dog")] for number in range(20)}
        >>> scores = score_table({name: [[0.9], [0.1]] for name in reference}, classes=["dog"], hop_seconds=1.0)
        >>> run = evaluate_scores(scores, reference)
        >>> score_comparison([run], [run], n_resamples=20)["PSDS 1"].overall["psds"].value
        0.0
    """
    _check_same_scores([*system, *baseline])
    levels = {
        level: compare_curves(
            [run.levels[place] for run in system],
            [run.levels[place] for run in baseline],
            groups=groups,
            n_resamples=n_resamples,
        )
        for place, level in enumerate(LEVELS)
    }
    sides = [run.clips for run in system], [run.clips for run in baseline]
    return levels | {
        name: compare_curves(*sides, scenario=scenario, groups=groups, n_resamples=n_resamples)
        for name, scenario in SCENARIOS.items()
    }
