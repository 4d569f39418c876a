from __future__ import annotations

import math

import numpy as np
import pytest

from earmark.comparing.ranking import loss_under, ranking_under, with_mean
from earmark.metrics.curves.items import clip_curves
from earmark.metrics.curves.weighted import WeighableCurves

CLASSES = ("cat", "dog", "owl")


def some_clips(rng: np.random.Generator, n_clips: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logarithms of probabilities with many ties, tags, and everything known."""
    probs = np.round(rng.uniform(0.05, 1.0, (n_clips, 3)), 1)
    return np.log(probs), rng.random((n_clips, 3)) < 0.3, np.ones((n_clips, 3), bool)


# Laws


def test_the_figures_are_those_of_the_curves(rng: np.random.Generator) -> None:
    log_y, tags, known = some_clips(rng)
    names = [f"{index:02d}.wav" for index in range(len(tags))]
    held = {name: {CLASSES[i] for i in np.flatnonzero(row)} for name, row in zip(names, tags, strict=True)}
    curves = clip_curves(dict(zip(names, np.exp(log_y), strict=True)), held, classes=CLASSES)
    weights = rng.multinomial(len(tags), np.full(len(tags), 1 / len(tags)), 20)
    expected = WeighableCurves(curves).under(weights)
    found = ranking_under(weights.astype(np.float64), log_y, tags, known)
    for name in ("average_precision", "auroc"):
        np.testing.assert_allclose(found[name], expected[name], atol=1e-12)


def test_auroc_is_the_chance_to_stand_above(rng: np.random.Generator) -> None:
    log_y, tags, known = some_clips(rng)
    known = rng.random(known.shape) < 0.8
    found = ranking_under(np.ones((1, len(tags))), log_y, tags, known)["auroc"][0, 1:]
    for index in range(3):
        with_it = log_y[tags[:, index] & known[:, index], index]
        without = log_y[~tags[:, index] & known[:, index], index]
        wins = [1.0 if one > other else 0.5 if one == other else 0.0 for one in with_it for other in without]
        assert found[index] == pytest.approx(np.mean(wins))


def test_what_nobody_listened_for_changes_nothing(rng: np.random.Generator) -> None:
    log_y, tags, known = some_clips(rng)
    known[::3, 1] = False
    weights = np.ones((1, len(tags)))
    other_y, other_tags = log_y.copy(), tags.copy()
    other_y[~known], other_tags[~known] = -9.0, ~tags[~known]
    one, other = ranking_under(weights, log_y, tags, known), ranking_under(weights, other_y, other_tags, known)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])
    np.testing.assert_array_equal(
        loss_under(weights, log_y, log_y, tags, known), loss_under(weights, other_y, other_y, other_tags, known)
    )


# Worked numbers


def test_a_clip_drawn_twice_counts_twice() -> None:
    log_y, log_not_y = np.log([[0.5], [0.25]]), np.log([[0.5], [0.75]])
    tags, known = np.array([[True], [False]]), np.ones((2, 1), bool)
    found = loss_under(np.array([[1, 1], [2, 0], [0, 2]]), log_y, log_not_y, tags, known)[:, 0]
    assert found == pytest.approx([(math.log(2) + math.log(4 / 3)) / 2, math.log(2), math.log(4 / 3)])


def test_one_certain_error_does_not_decide_the_loss() -> None:
    found = loss_under(
        np.ones((1, 1)), np.array([[-np.inf]]), np.zeros((1, 1)), np.ones((1, 1), bool), np.ones((1, 1), bool)
    )
    assert found[0, 0] == pytest.approx(-math.log(1e-7))


def test_a_class_that_is_not_there_has_no_figure() -> None:
    log_y, tags = np.log([[0.5, 0.5]] * 2), np.array([[True, False], [False, False]])
    found = ranking_under(np.ones((1, 2)), log_y, tags, np.ones((2, 2), bool))
    assert np.isnan(found["average_precision"][0, 2])
    assert found["average_precision"][0, 0] == found["average_precision"][0, 1] == 0.5
    assert np.isnan(with_mean(np.array([[np.nan, np.nan]]))[0, 0])
