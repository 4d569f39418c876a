r"""The polyphonic sound detection score: one figure for a detector at all thresholds, whatever its calibration.

Per class, the true positive rate is followed as the threshold falls and false alarms become more; then

.. math:: \mathrm{eFPR}_c = \frac{FP_c}{T} + \alpha_\mathrm{CT} \frac{1}{C - 1} \sum_{k \ne c} \frac{CT_{ck}}{T_k},
          \quad \mathrm{eTPR}(e) = \max(0, \mu(e) - \alpha_\mathrm{ST} \, \sigma(e)), \quad
          \mathrm{PSDS} = \frac{1}{e_\mathrm{max}} \int_0^{e_\mathrm{max}} \mathrm{eTPR}(e) \, de

with T the length of all clips and T_k that of all reference events of class k, in hours (or another unit), and mean
and deviation taken over the classes' highest true positive rates at no more than e false alarms per hour.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earmark.checks import choice, number
from earmark.metrics.curves.changes import Changes
from earmark.metrics.curves.intersection import Criteria, CrossTriggers, intersection_changes
from earmark.metrics.curves.scored_clips import ScoredClips

SECONDS_PER_UNIT = {"second": 1.0, "minute": 60.0, "hour": 3600.0}


@dataclass(frozen=True)
class Scenario:
    """What a PSDS rewards and punishes.

    Args:
        criteria: what makes a hit, a false alarm and a cross trigger.
        alpha_ct: weight of cross triggers.
        alpha_st: weight of differences between the classes.
        max_rate: e_max, effective false alarms per unit of time up to which the curve counts.
        unit_of_time: ``"second"``, ``"minute"`` or ``"hour"``.
        cross_trigger_divisor: what the cross triggers of a class are divided by: ``"others"``, the number of other
            classes, as psds_eval 0.5.3 and sed_scores_eval do; or ``"all"``, the number of classes, as psds_eval 0.3.0
            did.

    Example:
        >>> SCENARIO_1.criteria.detection, SCENARIO_2.alpha_ct
        (0.7, 0.5)
    """

    criteria: Criteria
    alpha_ct: float = 0.0
    alpha_st: float = 1.0
    max_rate: float = 100.0
    unit_of_time: str = "hour"
    cross_trigger_divisor: str = "others"

    def __post_init__(self) -> None:
        for name in ("alpha_ct", "alpha_st"):
            number(name, getattr(self, name), at_least=0)
        number("max_rate", self.max_rate, above=0, hint="in false alarms per unit of time, for instance 100")
        choice("unit_of_time", self.unit_of_time, SECONDS_PER_UNIT)
        choice("cross_trigger_divisor", self.cross_trigger_divisor, ("others", "all"))
        if (self.alpha_ct > 0) != (self.criteria.cross_trigger is not None):
            raise ValueError(
                "alpha_ct and criteria.cross_trigger must be given together, got"
                f" {self.alpha_ct} and {self.criteria.cross_trigger} - one without the other changes nothing"
            )


# The two of DCASE's task 4: react fast and exactly; and do not confuse the classes, wherever exactly they are.
SCENARIO_1 = Scenario(Criteria(detection=0.7, reference=0.7))
SCENARIO_2 = Scenario(Criteria(detection=0.1, reference=0.1, cross_trigger=0.3), alpha_ct=0.5)


@dataclass(frozen=True, eq=False)
class Roc:
    """A curve of steps: from each rate up to the next, the true positive rate stays.

    Args:
        rate: (points,) effective false alarms per unit of time, rising.
        hit_rate: (points,) true positive rate, or the effective one of all classes together.
    """

    rate: NDArray[np.float64]
    hit_rate: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Psds:
    """A PSDS and how it comes about.

    Args:
        value: the score, 0 to 1; NaN when the reference has no event at all.
        of_class: class -> its own score, without the others; classes that the reference lacks are missing.
        roc: the curve of all classes together.
        roc_of_class: class -> its own curve.
        absent: classes that the reference lacks: they are left out of mean and deviation.
        scenario: what it rewards and punishes.
    """

    value: float
    of_class: dict[str, float]
    roc: Roc
    roc_of_class: dict[str, Roc]
    absent: tuple[str, ...]
    scenario: Scenario


def psds(clips: ScoredClips, *, scenario: Scenario = SCENARIO_1, use_numba: bool | None = None) -> Psds:
    """Compute the exact PSDS: every threshold counts, not a grid of fifty.

    Args:
        clips: scores, reference and durations.
        scenario: what it rewards and punishes.
        use_numba: see `collar_curves`.

    Raises:
        ValueError: clips whose lengths add up to nothing.

    Example:
        >>> from earmark.metrics.curves.scored_clips import scored_clips
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a.wav": [[0.1], [0.9], [0.2], [0.8]]}, classes=["dog"], hop_seconds=9.0)
        >>> clips = scored_clips(scores, {"a.wav": [(9.0, 18.0, "dog"), (27.0, 36.0, "dog")]})
        >>> psds(clips).value     # both found before the first false alarm
        1.0
    """
    seconds = float(clips.duration_seconds.sum())
    if seconds <= 0:
        raise ValueError("clips must have a length, got 0 s in all - are durations missing?")
    unit = SECONDS_PER_UNIT[scenario.unit_of_time]
    all_once = np.ones((1, len(clips.scores.files)), dtype=np.int64)
    above = surely_over(clips, all_once, np.array([scenario.max_rate * seconds / unit]))
    changes, crossing = intersection_changes(clips, criteria=scenario.criteria, above=above, use_numba=use_numba)
    class_seconds = clips.reference_seconds_by_file.sum(axis=0)
    rocs = {}
    for index, label in enumerate(clips.scores.classes):
        if clips.n_reference[index] > 0:
            rate, hits = _rates(changes[index], crossing[index], index, class_seconds, seconds, scenario)
            rocs[label] = steps_of(rate * unit, hits, int(clips.n_reference[index]), scenario.max_rate)
    overall = combined(list(rocs.values()), alpha_st=scenario.alpha_st)
    return Psds(
        area(overall, scenario.max_rate) if rocs else float("nan"),
        {label: area(roc, scenario.max_rate) for label, roc in rocs.items()},
        overall,
        rocs,
        tuple(label for label in clips.scores.classes if label not in rocs),
        scenario,
    )


def steps_of(rate: NDArray[np.float64], hits: NDArray[np.int64], n_reference: int, max_rate: float) -> Roc:
    """Return the highest hit rate that can be had for each rate of false alarms, up to `max_rate`.

    Args:
        rate: (points,) effective false alarms per unit of time at every threshold, in any order.
        hits: (points,) at the same thresholds.
        n_reference: what there is to hit.
        max_rate: points above it do not count.

    Example:
        >>> roc = steps_of(np.array([0.0, 2.0, 1.0, 9.0]), np.array([0, 2, 1, 4]), 4, max_rate=5.0)
        >>> roc.rate, roc.hit_rate
        (array([0., 1., 2.]), array([0.  , 0.25, 0.5 ]))
    """
    cheapest = np.full(n_reference + 1, np.inf)  # the lowest rate at which there are so many hits ...
    np.minimum.at(cheapest, hits, rate)
    cheapest = np.minimum.accumulate(cheapest[::-1])[::-1]  # ... or more
    cheapest = cheapest[cheapest <= max_rate]
    is_last = np.append(cheapest[1:] > cheapest[:-1], True)[: len(cheapest)]
    return Roc(cheapest[is_last], np.flatnonzero(is_last) / n_reference)


def combined(rocs: list[Roc], *, alpha_st: float) -> Roc:
    """Return mean minus `alpha_st` deviations of several curves, never below 0.

    Example:
        >>> one, two = Roc(np.array([0.0]), np.array([1.0])), Roc(np.array([0.0, 2.0]), np.array([0.0, 1.0]))
        >>> both = combined([one, two], alpha_st=1.0)
        >>> both.rate, both.hit_rate     # until the second curve rises, 0.5 - 0.5
        (array([0., 2.]), array([0., 1.]))
    """
    if not rocs:
        return Roc(np.zeros(1), np.zeros(1))
    rate = np.unique(np.concatenate([roc.rate for roc in rocs]))
    hit_rates = np.array([roc.hit_rate[np.searchsorted(roc.rate, rate, side="right") - 1] for roc in rocs])
    return Roc(rate, np.maximum(hit_rates.mean(axis=0) - alpha_st * hit_rates.std(axis=0), 0.0))


def area(roc: Roc, max_rate: float) -> float:
    """Return the mean height of a curve of steps from 0 to `max_rate`.

    Example:
        >>> area(Roc(np.array([0.0, 2.0]), np.array([0.0, 1.0])), max_rate=8.0)     # 6 of 8
        0.75
    """
    return float((roc.hit_rate * np.diff(np.append(roc.rate, max_rate))).sum() / max_rate)


def surely_over(
    clips: ScoredClips, weights: NDArray[np.int64], max_false_alarms: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return per class a score at which the curve of every resample has ended, -inf where there is none: (classes,).

    In a clip without the class whatever is found is a false alarm, and there is at least one as soon as the threshold
    falls to the clip's highest score. When there are too many such clips, nothing below matters any more: of most
    detectors that spares nearly all the work.

    Args:
        clips: scores and reference.
        weights: (resamples, files) how often each clip counts.
        max_false_alarms: (resamples,) so many still count.

    Example:
        >>> from earmark.metrics.curves.scored_clips import scored_clips
        >>> from earmark.metrics.curves.scores import score_table
        >>> scores = score_table({"a": [[0.9]], "b": [[0.2]], "c": [[0.4]]}, classes=["dog"], hop_seconds=1.0)
        >>> clips = scored_clips(scores, {"a": [], "b": [], "c": []})
        >>> surely_over(clips, np.array([[1, 1, 1]]), np.array([1.5]))     # at 0.4 there are two
        array([0.4])
    """
    scores, reference = clips.scores, clips.reference
    above = np.full(len(scores.classes), -np.inf)
    has_frames = np.flatnonzero(scores.n_frames > 0)
    if len(has_frames) == 0:
        return above
    highest = np.maximum.reduceat(scores.values, scores.first_frame[has_frames], axis=1)  # (classes, clips)
    holds = np.zeros((len(scores.classes), len(scores.files)), dtype=bool)
    holds[reference.class_index, reference.file_index] = True
    for index in range(len(above)):
        lacks = ~holds[index][has_frames]
        order = np.argsort(-highest[index][lacks])
        n_wrong = np.cumsum(weights[:, has_frames[lacks][order]], axis=1)  # (resamples, clips)
        # How many clips it takes in the resample that takes the most; 29, not 28.999999999999996, are 29.
        n_clips = int((n_wrong <= max_false_alarms[:, None] * (1 + 1e-9)).sum(axis=1).max())
        if n_clips < len(order):
            above[index] = highest[index][lacks][order[n_clips]]
    return above


def _rates(
    changes: Changes,
    crossing: CrossTriggers,
    own: int,
    class_seconds: NDArray[np.float64],
    seconds: float,
    scenario: Scenario,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Effective false alarms per second, and hits, of one class at every threshold: (points,), (points,)."""
    score = np.concatenate([changes.score, crossing.score])
    order = np.argsort(-score)
    is_last = np.append(score[order][1:] < score[order][:-1], True)[: len(order)]
    nothing = np.zeros(len(crossing.score), dtype=np.int64)

    def counts(of_changes: NDArray[np.int32], of_crossing: NDArray[np.int64]) -> NDArray[np.int64]:
        steps = np.concatenate([of_changes, of_crossing])
        return np.append(0, np.cumsum(steps[order])[is_last])

    hits, wrong = counts(changes.hits, nothing), counts(changes.false_alarms, nothing)
    rate = wrong / seconds
    if scenario.alpha_ct > 0:
        # Added up as whole numbers, class by class: no rounding is carried along the curve.
        others = [index for index in range(len(class_seconds)) if index != own]
        crossed = np.zeros(len(rate))
        for other in others:
            steps = np.where(crossing.other == other, crossing.steps, 0)
            if steps.any():
                crossed += counts(np.zeros_like(changes.hits), steps) / class_seconds[other]
        divisor = len(others) if scenario.cross_trigger_divisor == "others" else len(class_seconds)
        rate = rate + scenario.alpha_ct * crossed / max(divisor, 1)
    return rate, hits
