from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracles.bootstrap_cases import another_system, random_counts

from earmark.metrics.bootstrap import groups_of, resampled_weights
from earmark.metrics.resampled import (
    check_same_task,
    checked_runs,
    figures_under,
    group_columns,
    mean_over_runs,
    observed,
    resampled,
)

# Laws


def test_a_weight_of_two_is_the_group_twice(rng: np.random.Generator) -> None:
    counts = random_counts(rng, "segment", n_files=6)
    names = ("true_positives", "false_positives", "false_negatives", "substitutions", "n_segments")
    arrays: dict[str, Any] = {name: np.concatenate([getattr(counts, name)] * 2) for name in names}
    twice = replace(counts, files=tuple(str(number) for number in range(12)), **arrays)
    once, doubled = (group_columns([side], groups_of(side.files)) for side in (counts, twice))
    expected = figures_under(np.full((1, 6), 2), once, counts)
    for name, values in observed(doubled, twice).items():
        np.testing.assert_array_equal(values, expected[name][0, 0])


def test_pieces_make_no_difference(rng: np.random.Generator) -> None:
    runs = [random_counts(rng, "event")]
    runs.append(another_system(rng, runs[0]))
    columns = group_columns(runs, groups_of(runs[0].files))
    weights, of_runs = resampled_weights(30, n_resamples=20), rng.integers(0, 2, (20, 2))
    whole = resampled([weights], of_runs, columns, runs[0])
    in_pieces = resampled([weights[:7], weights[7:8], weights[8:]], of_runs, columns, runs[0])
    for name, values in whole.items():
        np.testing.assert_allclose(in_pieces[name], values, rtol=1e-14)  # matrix products of other shapes


# Worked numbers


def test_an_undefined_run_does_not_count_in_the_mean() -> None:
    of_runs = np.array([[[0.2, np.nan]], [[0.6, 0.5]], [[np.nan, np.nan]]])  # (3 runs, 1 resample, 2 rows)
    for weights, expected in (([1, 1, 1], [0.4, 0.5]), ([2, 1, 0], [1 / 3, 0.5]), ([2, 0, 1], [0.2, np.nan])):
        means = mean_over_runs({"f1": of_runs}, np.array([weights]))["f1"]
        np.testing.assert_allclose(means, [expected], rtol=1e-15)


# Wrong input


def test_wrong_input_is_named(rng: np.random.Generator) -> None:
    counts = random_counts(rng, "event", n_files=3)

    def complaint(match: str, **changes: Any) -> None:
        with pytest.raises(ValueError, match=match):
            check_same_task(counts, replace(counts, **changes), "system", "baseline")

    complaint(
        r"system and baseline must be scored on the same files; 1 are in system alone \(first: '2.wav'\) and 1 are in "
        r"baseline alone \(first: 'other.wav'\)",
        files=("0.wav", "1.wav", "other.wav"),
    )
    complaint("scored on the same files; they are in different order", files=("1.wav", "0.wav", "2.wav"))
    complaint(
        r"scored on the same classes; 1 are in system alone .* - name all of them with classes=",
        classes=("class 0", "class 1", "class 2", "cat"),
    )
    complaint("counted in the same way, but level is 'event' and 'clip'", level="clip")
    complaint("counted in the same way, but compatible is None and 'sed_eval'", compatible="sed_eval")
    complaint("counted in the same way, but segment_seconds is 0.0 and 0.5", segment_seconds=0.5)
    more = counts.false_negatives + np.array([[0], [1], [0]])
    complaint(r"scored against the same reference, but it differs in 1 files \(first: '1.wav'\)", false_negatives=more)
    with pytest.raises(ValueError, match="runs must have at least one run, got none"):
        checked_runs([])
    with pytest.raises(ValueError, match="the first of the runs and number 3 of the runs must be scored on the same"):
        checked_runs([counts, counts, replace(counts, files=("a", "b", "c"))])
