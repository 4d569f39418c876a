"""One sentence of advice, made from the figures by a rule that stands here and in docs/compare.md.

The figure that decides is event F1 where the truth about events is known, clip F1 otherwise.

1. *Shown to be better* than linear softmax is a function whose difference is above 0 with a corrected p below 0.05.
   Of those the one with the highest mean is advised.
2. If there is none, linear softmax is advised. Of the others the one with the best mean is named, with the difference
   that could still be there (the good end of its interval; another function's where that is larger), and whether more
   groups or more seeds would say more: the larger of the two errors of its difference.
3. With fewer than 20 groups, with a single seed, or when runs failed, the advice is a hint. Where the figure of linear
   softmax is undefined nothing is advised, and a function that never differed from it is told apart from an equal one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from earmark.comparing.plan import BASELINE
from earmark.comparing.results import LOWER_IS_BETTER, TITLES, Outcome

SURE = 0.05
FEW = 20  # groups; with fewer the error itself is not known well


@dataclass(frozen=True)
class Advice:
    """What to take, and what else a reader must know.

    Args:
        row: the function that is advised; None when nothing can be said.
        sentence: the advice.
        cautions: why not to believe it, each a sentence.

    Example:
        >>> Advice("power", "power is best.", ()).row
        'power'
    """

    row: str | None
    sentence: str
    cautions: tuple[str, ...]

    @property
    def text(self) -> str:
        """Everything in one paragraph."""
        return " ".join([self.sentence, *self.cautions])


def advice(found: Outcome) -> Advice:
    """Return the advice that the figures give.

    Example:
        >>> advice(Outcome(("dog",), (0,), "clip", 9, 9.0, {}, {"linear seed 0": "killed"})).sentence
        'No run came to its end, so nothing can be said.'
    """
    if not found.figures:
        return Advice(None, "No run came to its end, so nothing can be said.", ())
    name = found.main
    sign = -1 if name in LOWER_IS_BETTER else 1
    compared = [row for row in found.ranked() if _has_difference(found, row)]
    if not compared:
        best = found.ranked()[0]
        value = found.figures[best][name].mean.value
        sentence = f"Nothing could be compared with {BASELINE} softmax, whose runs failed or stand alone"
        if BASELINE in found.figures and math.isnan(found.figures[BASELINE][name].mean.value):
            sentence = f"Nothing could be compared: the {TITLES[name]} of {BASELINE} softmax is undefined in this test"
        if not math.isnan(value):
            sentence += f"; the {_best_word(name)} {TITLES[name]} is that of {best} ({_number(value)})"
        return Advice(None, f"{sentence}.", _cautions(found))
    better = [row for row in compared if _is_shown(found, row, sign)]
    sentence = _take(found, better) if better else _none_better(found, compared, sign)
    worse = [row for row in compared if _is_shown(found, row, -sign)]
    if worse:
        sentence += f" Shown to be worse than {BASELINE}: {', '.join(worse)}."
    return Advice(better[0] if better else BASELINE, sentence, _cautions(found))


def over(found: Outcome) -> str:
    """Return what the figures are taken over.

    Example:
        >>> over(Outcome(("dog",), (0, 1, 2), "group", 41, 38.0, {}, {}))
        '41 groups and 3 seeds'
    """
    unit = found.unit if found.n_units == 1 else f"{found.unit}s"
    return f"{found.n_units} {unit} and {len(found.seeds)} seed{'s' * (len(found.seeds) != 1)}"


def _has_difference(found: Outcome, row: str) -> bool:
    """Whether anything is known of a function's difference from linear softmax."""
    difference = found.figures[row][found.main].difference
    return difference is not None and not math.isnan(difference.value)


def _best_word(name: str) -> str:
    """What the best value of a figure is."""
    return "lowest" if name in LOWER_IS_BETTER else "highest"


def _is_shown(found: Outcome, row: str, sign: int) -> bool:
    """Whether a function is shown to differ from linear softmax in this direction."""
    figure = found.figures[row][found.main]
    return figure.difference is not None and sign * figure.difference.value > 0 and figure.p_holm < SURE


def _take(found: Outcome, better: list[str]) -> str:
    """The advice when a function is shown to be better."""
    name, row = found.main, better[0]
    figure = found.figures[row][name]
    difference = figure.difference
    assert difference is not None
    sentence = (
        f"{row} is better than {BASELINE} in {TITLES[name]} ({_number(figure.mean.value)} vs"
        f" {_number(found.figures[BASELINE][name].mean.value)}, {_signed(difference.value)}"
        f" [{_signed(difference.low)}, {_signed(difference.high)}], corrected p = {_p(figure.p_holm)},"
        f" over {over(found)}): use it."
    )
    if len(better) > 1:
        sentence += f" Shown to be better, too: {', '.join(better[1:])}."
    higher = found.ranked()[: found.ranked().index(row)]
    if higher:
        sentence += f" A higher mean, but not shown to be better: {', '.join(higher)}."
    return sentence


def _none_better(found: Outcome, compared: list[str], sign: int) -> str:
    """The advice when no function is shown to be better: how near the nearest is, and what would tell more."""
    name = found.main
    sentence = f"No function is shown to be better than {BASELINE} in {TITLES[name]} over {over(found)}: stay with it."
    nearest = compared[0]  # the one with the best mean
    gains = {row: _possible_gain(found, row, sign) for row in compared}
    difference = found.figures[nearest][name].difference
    if difference is None or not math.isfinite(gains[nearest]):
        return sentence
    if not difference.freedom > 0 and gains[nearest] == 0:
        return (
            f"{sentence} The nearest, {nearest}, never differed from it, not in one resample: the runs decide nothing"
            " (too few epochs, or too few events in the test?)."
        )
    sentence += (
        f" The nearest is {nearest} ({_signed(difference.value)}): with what is known so far it could be"
        f" {'better by up to ' + _number(gains[nearest]) if gains[nearest] > 0 else 'no better'}"
    )
    widest = max(compared, key=lambda row: gains[row])
    sentence += f", and {widest}, which scatters more, by {_number(gains[widest])}." if widest != nearest else "."
    if len(found.seeds) == 1:
        return sentence
    units = f"{found.unit}s"
    more, less = (units, "seeds") if difference.group_error >= difference.seed_error else ("seeds", units)
    return f"{sentence} To know better, more {more} would help more than more {less}."


def _possible_gain(found: Outcome, row: str, sign: int) -> float:
    """By how much a function could be better than linear softmax: the good end of its interval."""
    difference = found.figures[row][found.main].difference
    if difference is None or math.isnan(difference.low):
        return -math.inf
    return difference.high if sign > 0 else -difference.low


def _cautions(found: Outcome) -> tuple[str, ...]:
    """Why the advice is no more than a hint."""
    cautions = []
    if found.n_units < FEW:
        cautions.append(
            f"Fewer than {FEW} {found.unit}s in the test ({found.n_units}): how far they scatter is itself badly known,"
            " so treat this as a hint."
        )
    elif found.n_effective < FEW:
        cautions.append(
            f"A few large groups hold most of the test (it counts as {found.n_effective:.0f} groups): treat this as a"
            " hint."
        )
    if found.unit == "clip":
        cautions.append(
            "No --group was given: if clips share a recording, a patient or a site, the intervals are too narrow."
        )
    if len(found.seeds) == 1:
        cautions.append("One seed: another one may turn the order round. Take 3 at least.")
    differences = {row: figures[found.main].difference for row, figures in found.figures.items()}
    lonely = [row for row, difference in differences.items() if difference is not None and difference.n_seeds == 1]
    if lonely and len(found.seeds) > 1:
        cautions.append(
            f"Of {', '.join(lonely)} a single seed could be compared with {BASELINE}: another one may turn the order"
            " round."
        )
    if found.main == "clip_f1":
        cautions.append(
            "Tags alone say who tags best, and not who finds onsets best: functions differ far more in that. With"
            " --strong, events marked in the test clips are the measure."
        )
    if found.failures:
        n_failed = len(found.failures)
        runs = "1 run failed and is" if n_failed == 1 else f"{n_failed} runs failed and are"
        cautions.append(f"{runs} left out: treat this as a hint.")
    return tuple(cautions)


def _number(value: float) -> str:
    """Three decimals."""
    return f"{value:.3f}"


def _signed(value: float) -> str:
    """Three decimals with a sign."""
    return f"{value:+.3f}"


def _p(value: float) -> str:
    """A p-value as it is read."""
    return "under 0.001" if value < 0.001 else f"{value:.3f}"
