from __future__ import annotations

import json
import math

import numpy as np
import pytest
from comparing_cases import made_up

from earmark.comparing.measuring import Measured
from earmark.comparing.results import as_json, outcome
from earmark.comparing.tables import HEADER, as_markdown, as_tsv, main_rows, overview_rows

THREE = {"power": (0.70, 0.72, 0.74), "max": (0.50, 0.55, 0.60), "linear": (0.66, 0.68, 0.70)}

# Laws


def test_a_difference_is_taken_seed_by_seed_and_resample_by_resample() -> None:
    # Seeds scatter by 0.2, but power is always 0.04 above linear: the difference does not scatter at all.
    found = made_up({"power": (0.50, 0.70, 0.90), "linear": (0.46, 0.66, 0.86)}, own_error=0.0)
    mean, difference = (getattr(found.figures["power"]["event_f1"], name) for name in ("mean", "difference"))
    assert mean.seed_deviation == pytest.approx(0.2)
    assert difference.value == pytest.approx(0.04)
    assert difference.seed_deviation == pytest.approx(0.0, abs=1e-12)
    assert (difference.low, difference.high) == (pytest.approx(0.04), pytest.approx(0.04))


def test_the_other_seeds_count_when_a_run_failed() -> None:
    found = made_up(THREE, missing=[("linear", 2), ("max", 0)], failures={"linear seed 2": "killed"})
    assert found.figures["power"]["event_f1"].mean.n_seeds == 3
    of_power, of_max = (found.figures[row]["event_f1"].difference for row in ("power", "max"))
    assert of_power is not None
    assert of_max is not None
    assert (of_power.n_seeds, of_max.n_seeds) == (2, 1)  # seeds 0 and 1; seed 1
    assert of_max.value == pytest.approx(0.55 - 0.68)
    assert main_rows(found, "event_f1")[-1][:2] == ["max", "2 of 3"]


def test_without_linear_there_is_no_difference() -> None:
    found = made_up(THREE, missing=[("linear", seed) for seed in range(3)])
    assert list(found.figures) == ["power", "max"]
    assert found.figures["power"]["event_f1"].difference is None
    assert main_rows(found, "event_f1")[0][5:] == ["-", "", "", ""]


def test_p_values_are_corrected_for_the_number_of_functions() -> None:
    found = made_up(THREE)
    figures = {row: found.figures[row]["event_f1"] for row in ("power", "max")}
    for figure in figures.values():
        assert figure.difference is not None
        assert figure.p_holm >= figure.difference.p_value
    smallest = min(figures.values(), key=lambda figure: figure.p_holm)
    assert smallest.difference is not None
    assert smallest.p_holm == pytest.approx(2 * smallest.difference.p_value)


def test_json_has_neither_nan_nor_infinity() -> None:
    found = as_json(made_up({"power": (0.7,), "linear": (0.6,)}))
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text)["figures"]["power"]["event_f1"]["mean"]["seed_deviation"] is None
    assert found["figures"]["power"]["event_f1"]["of_seeds"] == {"0": 0.7}


# Worked numbers


def test_the_best_comes_first_and_the_smallest_loss() -> None:
    assert made_up(THREE).ranked() == ["power", "linear", "max"]
    assert made_up(THREE, figure="loss").ranked() == ["max", "linear", "power"]


def test_groups_of_unequal_size_count_as_fewer() -> None:
    run = Measured({"loss": np.array([0.5])}, {"loss": np.array([[0.4], [0.6]])})
    found = outcome(
        {("linear", 0): run},
        rows=["linear"],
        seeds=[0],
        classes=[],
        groups=["a"] + ["b"] * 3,
        unit="group",
        failures={},
    )
    assert (found.n_units, found.n_effective) == (2, 1.6)  # 4^2 / (1 + 9)


def test_figures_of_events_know_of_the_groups_with_events_alone() -> None:
    # Of one seed the degrees of freedom are those of the groups.
    for figure, freedom in (("event_f1", 4.0), ("psds_1", 4.0), ("clip_f1", 29.0), ("loss", 29.0)):
        found = made_up({"power": (0.7,), "linear": (0.6,)}, figure=figure, n_groups=30, n_groups_with_events=5)
        of_power = found.figures["power"][figure]
        assert of_power.difference is not None
        assert (of_power.mean.freedom, of_power.difference.freedom) == pytest.approx((freedom, freedom))


def test_tables() -> None:
    found = made_up(THREE)
    rows = main_rows(found, "event_f1")
    assert [len(row) for row in rows] == [len(HEADER)] * 3
    assert rows[0][:3] == ["power", "3", "0.720"]
    assert (rows[0][4], rows[0][5]) == ("0.020", "+0.040")
    assert rows[1][5:] == ["", "", "", ""]
    assert overview_rows(found) == (
        ["pooling", "event F1"], [["power", "0.720*"], ["linear", "0.680"], ["max", "0.550"]],
    )  # fmt: skip
    header, first, *others = (line.split("\t") for line in as_tsv(found).splitlines())
    assert len(others) == 3 * 3 - 1  # all classes and each, of three functions
    assert dict(zip(header, first, strict=True))["mean"] == "0.72"
    assert "| power | 3 | 0.720 |" in as_markdown(found, "Take power.")


def test_a_function_without_any_run_is_not_in_the_table() -> None:
    found = made_up(THREE, missing=[("max", seed) for seed in range(3)])
    assert found.ranked() == ["power", "linear"]
    assert math.isnan(found.figures["linear"]["event_f1"].p_holm)
