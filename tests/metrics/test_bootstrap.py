from __future__ import annotations

import numpy as np
import pytest

from earmark.metrics import bootstrap
from earmark.metrics.bootstrap import (
    Groups,
    Interval,
    bounds_of,
    groups_of,
    interval_of,
    p_value_of,
    resampled_weights,
    run_weights,
    swap_pieces,
    weight_pieces,
)

# Laws


def test_as_many_groups_are_drawn_as_there_are_each_as_likely() -> None:
    weights = resampled_weights(7, n_resamples=20_000, seed=3)
    assert weights.shape == (20_000, 7)
    assert weights.dtype == np.int64
    np.testing.assert_array_equal(weights.sum(axis=1), 7)
    # A multinomial draw: mean 1, variance 1 - 1/7; the bounds are five standard errors.
    np.testing.assert_allclose(weights.mean(axis=0), 1, atol=5 * np.sqrt((6 / 7) / 20_000))
    np.testing.assert_allclose(weights.var(axis=0), 6 / 7, atol=0.06)


def test_the_mean_of_the_drawn_runs_scatters_as_that_of_new_runs_does() -> None:
    of_runs = np.array([0.3, 0.5, 0.7])
    weights = run_weights(3, n_resamples=50_000)
    np.testing.assert_array_equal(weights.sum(axis=1), 2)
    assert (weights @ of_runs / 2).var() == pytest.approx(of_runs.var(ddof=1) / 3, rel=0.03)
    np.testing.assert_array_equal(run_weights(1, n_resamples=4), 1)


def test_pieces_are_the_rows_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, swaps = resampled_weights(13, n_resamples=50, seed=1), next(swap_pieces(13, n_resamples=50, seed=1))
    for n_in_piece in (1, 3 * 13, 7 * 13 + 5):
        monkeypatch.setattr(bootstrap, "N_IN_PIECE", n_in_piece)
        pieces = list(weight_pieces(13, n_resamples=50, seed=1))
        assert max(len(piece) for piece in pieces) == max(1, n_in_piece // 13)
        np.testing.assert_array_equal(np.concatenate(pieces), whole)
        np.testing.assert_array_equal(np.concatenate(list(swap_pieces(13, n_resamples=50, seed=1))), swaps)


def test_the_seed_decides_and_each_draw_has_a_sequence_of_its_own() -> None:
    np.testing.assert_array_equal(resampled_weights(9, 20, seed=5), resampled_weights(9, 20, seed=5))
    assert (resampled_weights(9, 20, seed=5) != resampled_weights(9, 20, seed=6)).any()
    assert (run_weights(9, 20) != run_weights(9, 20, of_baseline=True)).any()
    assert (resampled_weights(9, 20)[:, :8] != run_weights(9, 20)[:, :8]).any()


def test_bounds_are_quantiles_of_what_is_known(rng: np.random.Generator) -> None:
    values = rng.normal(size=(201, 4, 3))
    values[rng.random(values.shape) < 0.3] = np.nan
    values[:, 1, 1] = np.nan
    values[1:, 2, 2] = np.nan
    for confidence in (0.5, 0.9, 0.95, 1.0):
        low, high = bounds_of(values, confidence=confidence)
        for place in np.ndindex(4, 3):
            known = values[:, *place][~np.isnan(values[:, *place])]
            expected = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2]) if len(known) else [np.nan] * 2
            np.testing.assert_allclose([low[place], high[place]], expected, rtol=1e-12)


def test_added_up_by_group_nothing_is_lost(rng: np.random.Generator) -> None:
    files = [str(number) for number in range(50)]
    groups = groups_of(files, {name: f"group {rng.integers(0, 9)}" for name in files})
    values = rng.integers(0, 9, (50, 3, 2))
    expected = [
        values[[i for i in range(50) if groups.index[i] == number]].sum(axis=0) for number in range(groups.n_groups)
    ]
    np.testing.assert_array_equal(groups.added(values), expected)


# Worked numbers


def test_a_group_is_named_in_either_unicode_form_and_others_do_not_matter() -> None:
    for name, same_name in (("Tu\u0308r.wav", "T\u00fcr.wav"), ("T\u00fcr.wav", "Tu\u0308r.wav")):
        groups = groups_of([name, "b.wav"], {same_name: "y", "b.wav": "x", "other.wav": "z"})
        assert (groups.unit, groups.names, groups.index.tolist()) == ("group", ("x", "y"), [1, 0])
    clips = groups_of(["a.wav", "b.wav"])
    assert (clips.unit, clips.n_groups, clips.index.tolist()) == ("clip", 2, [0, 1])


def test_p_values() -> None:
    at_null = np.array([[-0.3], [-0.1], [0.0], [0.1], [np.nan]])
    assert p_value_of(np.array([0.1]), at_null) == (1 + 3) / (1 + 4)  # -0.3, -0.1 and 0.1 are as large
    assert p_value_of(np.array([-0.1]), at_null) == (1 + 3) / (1 + 4)
    assert p_value_of(np.array([0.0]), at_null) == 1
    assert p_value_of(np.array([9.0]), at_null) == 1 / 5
    assert np.isnan(p_value_of(np.array([np.nan]), at_null)).all()
    assert p_value_of(np.array([0.3]), np.array([[0.1 + 0.2 - 1e-15]])) == 1  # sums in another order


def test_an_interval_says_how_often_the_figure_was_undefined() -> None:
    assert interval_of(2.0, np.array([1.0, 2.0, 3.0, np.nan]), confidence=1.0) == Interval(2.0, 1.0, 3.0, 1)
    nowhere = interval_of(np.nan, np.full(4, np.nan))
    assert np.isnan([nowhere.value, nowhere.low, nowhere.high]).all()
    assert nowhere.n_undefined == 4


# Wrong input


def test_wrong_input_is_named() -> None:
    files = ["a.wav", "b.wav", "c.wav"]
    with pytest.raises(ValueError, match=r"groups must have every file .*, 2 of 3 are missing \(first: 'b.wav'\)"):
        groups_of(files, {"a.wav": "Ada"})
    with pytest.raises(ValueError, match=r"groups must be names, got 7 for 'a\.wav'"):
        groups_of(files, {"a.wav": 7})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match=r"groups must have every file once, got .* in 'Ada' and in 'Bob' - the same"):
        groups_of(files, {"u\u0308": "Ada", "\u00fc": "Bob"})
    with pytest.raises(ValueError, match="intervals need at least 2 groups, got only 'Ada' - another column as group"):
        groups_of(files, dict.fromkeys(files, "Ada"))
    with pytest.raises(ValueError, match=r"intervals need at least 2 clips, got only 'a.wav'$"):
        groups_of(files[:1])
    with pytest.raises(ValueError, match="intervals need at least 2 clips, got none"):
        groups_of([])
    with pytest.raises(ValueError, match="n_resamples must be at least 1, got 0"):
        resampled_weights(3, n_resamples=0)
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        resampled_weights(3, seed=-1)
    with pytest.raises(ValueError, match=r"seed must be a whole number, got 0\.5"):
        resampled_weights(3, seed=0.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n_runs must be at least 1, got 0"):
        run_weights(0)
    with pytest.raises(
        ValueError, match=r"confidence must be above 0 and at most 1, got 95 - a share, for instance 0\.95"
    ):
        bounds_of(np.zeros(3), confidence=95)
    with pytest.raises(ValueError, match="resampled must have at least one resample, got none"):
        bounds_of(np.zeros((0, 3)))


def test_groups_of_one_size_are_as_many_as_there_are() -> None:
    assert Groups("group", ("a", "b", "c"), np.repeat([0, 1, 2], 5)).n_effective == 3.0
    assert Groups("clip", ("a",), np.zeros(4, dtype=np.int64)).n_effective == 1.0
