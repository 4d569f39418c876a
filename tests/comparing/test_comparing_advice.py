from __future__ import annotations

import math

import pytest
from comparing_cases import made_up

from earmark.comparing.advice import advice

# Worked numbers


def test_a_function_that_is_shown_to_be_better_is_advised() -> None:
    found = made_up({"power": (0.72, 0.73, 0.74), "max": (0.50, 0.51, 0.52), "linear": (0.66, 0.67, 0.68)})
    said = advice(found)
    assert said.row == "power"
    assert said.sentence.startswith("power is better than linear in event F1 (0.730 vs 0.670, +0.060 [+0.0")
    assert "over 30 groups and 3 seeds): use it." in said.sentence
    assert said.sentence.endswith("Shown to be worse than linear: max.")
    assert said.cautions == ()


def test_of_several_the_one_with_the_highest_mean_is_advised_and_the_others_are_named() -> None:
    found = made_up(
        {
            "power": (0.72, 0.73, 0.74),
            "auto": (0.74, 0.75, 0.76),
            "max": (0.90, 0.50, 0.95),
            "linear": (0.6, 0.61, 0.62),
        }
    )
    said = advice(found)
    assert said.row == "auto"
    assert "Shown to be better, too: power." in said.sentence
    assert "A higher mean, but not shown to be better: max." in said.sentence


def test_when_none_is_better_linear_stays_and_what_could_be_gained_is_told() -> None:
    found = made_up({"power": (0.66, 0.70, 0.71), "linear": (0.66, 0.67, 0.68)})
    said = advice(found)
    assert said.row == "linear"
    difference = found.figures["power"]["event_f1"].difference
    assert difference is not None
    assert said.sentence == (
        "No function is shown to be better than linear in event F1 over 30 groups and 3 seeds: stay with it. The"
        " nearest is power (+0.020): with what is known so far it could be better by up to"
        f" {difference.high:.3f}. To know better, more seeds would help more than more groups."
    )


def test_what_is_better_only_before_the_correction_is_not_shown() -> None:
    linear = (0.66, 0.67, 0.68)
    equals = {f"power initial={n}": (0.65, 0.68, 0.68) for n in range(2, 12)}
    found = made_up({"power": (0.68, 0.70, 0.72), "linear": linear} | equals)
    figure = found.figures["power"]["event_f1"]
    assert figure.difference is not None
    assert figure.difference.p_value < 0.05 < figure.p_holm
    assert advice(found).row == "linear"


def test_one_that_scatters_more_than_the_nearest_is_named_as_well() -> None:
    found = made_up({"power": (0.67, 0.68, 0.66), "max": (0.2, 0.7, 0.5), "linear": (0.66, 0.67, 0.68)})
    difference = found.figures["max"]["event_f1"].difference
    assert difference is not None
    assert f", and max, which scatters more, by {difference.high:.3f}." in advice(found).sentence
    sure = made_up({"power": (0.60, 0.61, 0.62), "linear": (0.66, 0.67, 0.68)})
    assert "The nearest is power (-0.060): with what is known so far it could be no better." in advice(sure).sentence


def test_the_larger_error_says_what_would_help() -> None:
    found = made_up({"power": (0.670, 0.671, 0.672), "linear": (0.66, 0.67, 0.66)}, own_error=0.02, unit="clip")
    assert advice(found).sentence.endswith("To know better, more clips would help more than more seeds.")


def test_a_lower_loss_is_better() -> None:
    found = made_up(
        {"power": (0.30, 0.31, 0.32), "max": (0.5, 0.51, 0.52), "linear": (0.40, 0.41, 0.42)}, figure="loss"
    )
    said = advice(found)
    assert said.row == "power"
    assert said.sentence.endswith("Shown to be worse than linear: max.")


def test_few_groups_one_seed_no_groups_tags_alone_and_failures_are_told() -> None:
    found = made_up(
        {"power": (0.72,), "linear": (0.66,)},
        figure="clip_f1",
        n_groups=12,
        unit="clip",
        failures={"max seed 0": "killed"},
    )
    said = advice(found)
    assert [caution.split(":")[0] for caution in said.cautions] == [
        "Fewer than 20 clips in the test (12)",
        "No --group was given",
        "One seed",
        "Tags alone say who tags best, and not who finds onsets best",
        "1 run failed and is left out",
    ]
    assert said.text.startswith(said.sentence)


def test_only_groups_with_known_events_count_for_a_figure_of_events() -> None:
    found = made_up({"power": (0.72, 0.73), "linear": (0.66, 0.67)}, n_groups_with_events=5)
    assert "over 5 groups and 2 seeds" in advice(found).sentence
    assert "Fewer than 20 groups in the test (5)" in advice(found).cautions[0]
    tags = made_up({"power": (0.72, 0.73), "linear": (0.66, 0.67)}, figure="clip_f1", n_groups_with_events=5)
    assert tags.n_units == 30


def test_what_never_differed_is_not_said_to_be_no_better() -> None:
    same = {"power": (0.66, 0.70), "linear": (0.66, 0.70)}
    sentence = advice(made_up(same, own_error=0.0)).sentence
    assert sentence.endswith(
        "The nearest, power, never differed from it, not in one resample: the runs decide nothing (too few epochs, or"
        " too few events in the test?)."
    )
    assert "no better." not in sentence


def test_a_figure_that_is_undefined_for_linear_decides_nothing() -> None:
    said = advice(made_up({"power": (0.5, 0.6), "linear": (math.nan, math.nan)}))
    assert said.row is None
    assert said.sentence == (
        "Nothing could be compared: the event F1 of linear softmax is undefined in this test; the highest event F1 is"
        " that of power (0.550)."
    )


def test_a_difference_of_a_single_seed_is_told() -> None:
    found = made_up({"power": (0.72, 0.73), "max": (0.5, 0.5), "linear": (0.66, 0.67)}, missing=[("max", 1)])
    assert "Of max a single seed could be compared with linear" in advice(found).text


@pytest.mark.parametrize(("n_seeds", "words"), [(1, "stand alone"), (3, "stand alone")])
def test_without_linear_nothing_is_advised(n_seeds: int, words: str) -> None:
    found = made_up(
        {"power": (0.72,) * n_seeds, "linear": (0.66,) * n_seeds}, missing=[("linear", s) for s in range(3)]
    )
    said = advice(found)
    assert said.row is None
    assert words in said.sentence
