"""Hierarchical pooling; the laws of every pooling function are in test_pooling_laws.py."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from oracles import pooling_formulas
from pooling_cases import Case, plain_cases, random_clips
from torch.testing import assert_close

from earmark import pooling
from earmark.pooling.hierarchical import Hierarchical
from earmark.pooling.power import Power

# -- laws -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inner", ["average", "max"])
@pytest.mark.parametrize("groups", [(5, 5, 4), (10, 10), (2, 5, 2, 5), (100, 1), (1, 100)])
def test_equal_groups_change_nothing_for_average_and_max(
    inner: str, groups: tuple[int, ...], rng: np.random.Generator
) -> None:
    clips = random_clips(rng, lengths=(100, 100))
    flat, staged = (
        pooling.create(inner, n_classes=3),
        pooling.create("hierarchical", n_classes=3, inner=inner, groups=groups),
    )
    assert_close(staged(clips.logits), flat(clips.logits), atol=1e-6, rtol=0)


def test_max_is_unchanged_by_any_groups_and_mask(rng: np.random.Generator) -> None:
    clips = random_clips(rng)
    flat, staged = Case("max", {}).pool(), Case("hierarchical", {"inner": "max", "groups": (3, 2)}).pool()
    assert_close(staged(*clips.arguments()), flat(*clips.arguments()))
    assert_close(staged.scores(*clips.arguments()), flat.scores(*clips.arguments()))


@pytest.mark.parametrize("case", plain_cases(), ids=str)
@pytest.mark.parametrize("groups", [(1, 1), (11, 1), (50, 1)])
def test_one_group_is_no_stage(case: Case, groups: tuple[int, ...], rng: np.random.Generator) -> None:
    clips = random_clips(rng)
    staged = Case("hierarchical", {**case.options, "inner": case.name, "groups": groups}).pool()
    assert_close(staged(*clips.arguments()), case.pool()(*clips.arguments()), atol=1e-6, rtol=1e-5)


FORMULAS: list[tuple[str, dict[str, Any], Callable[..., Any]]] = [
    ("average", {}, pooling_formulas.average),
    ("linear", {}, pooling_formulas.linear),
    ("exponential", {}, pooling_formulas.exponential),
    ("auto", {"initial": 4.0}, partial(pooling_formulas.auto, alpha=4.0)),
    ("power", {"initial": 2.5}, partial(pooling_formulas.power, n=2.5)),
]


@pytest.mark.parametrize(("inner", "options", "formula"), FORMULAS)
@pytest.mark.parametrize("groups", [(3, 2), (5, 5, 4), (2, 2, 2, 2)])
def test_stages_are_those_of_the_plain_formula(
    inner: str, options: dict[str, Any], formula: Callable[..., Any], groups: tuple[int, ...], rng: np.random.Generator
) -> None:
    pool = pooling.create("hierarchical", n_classes=1, inner=inner, groups=groups, **options).double()
    lengths = (1, 2, 10, 23, 100)
    y = rng.uniform(0.01, 0.99, size=(len(lengths), 100))
    mask = torch.arange(100) < torch.tensor(lengths)[:, None]
    clip_probs = pool(torch.logit(torch.from_numpy(y))[:, :, None], mask).flatten().tolist()
    expected = [pooling_formulas.hierarchical(clip[:n], groups, formula) for clip, n in zip(y, lengths, strict=True)]
    assert clip_probs == pytest.approx(expected, rel=1e-9)


def test_a_segment_head_score_is_what_the_head_says_about_its_mean_features(rng: np.random.Generator) -> None:
    staged = Case("hierarchical", {"inner": "attention", "axis": "time", "n_features": 5, "groups": (4, 3)}).pool()
    flat = Case("attention", {"axis": "time", "n_features": 5}).pool()
    clips = random_clips(rng, lengths=(12,))
    y, scores = torch.sigmoid(clips.logits[0]), flat.scores(*clips.arguments())[0]
    segments, segment_scores = [], []
    for start in (0, 4, 8):
        weights = scores[start : start + 4].softmax(dim=0)  # (4, classes)
        segments.append((weights * y[start : start + 4]).sum(dim=0))
        mean_features = torch.einsum("fc,fd->cd", weights, clips.features[0, start : start + 4])  # (classes, dims)
        head_scores = flat.head(mean_features[None])  # what each class's head says about each class's features
        assert head_scores is not None
        segment_scores.append(head_scores[0].diagonal())
    weights = torch.stack(segment_scores).softmax(dim=0)
    assert_close(staged(*clips.arguments())[0], (weights * torch.stack(segments)).sum(dim=0))


def test_parameters_penalty_and_projection_are_those_of_the_function_inside() -> None:
    pool = pooling.create("hierarchical", n_classes=2, inner="power", groups=(3, 2), initial=2.0, penalty=0.1)
    assert pool.parameter_name == "n"
    assert_close(pool.parameter_values(), torch.tensor([2.0, 2.0]))
    assert pool.penalty().item() == pytest.approx(0.8)  # 0.1 (4 + 4)
    (raw,) = pool.parameters()
    with torch.no_grad():
        raw.fill_(-1.0)
    pool.project_()
    assert raw.tolist() == [0.0, 0.0]


def test_there_is_no_single_threshold() -> None:
    pool = pooling.create("hierarchical", n_classes=2, inner="linear", groups=(3, 2))
    assert bool(pool.sign_threshold(torch.full((1, 2), 0.5)).isnan().all())


# -- worked numbers -------------------------------------------------------------------------------------------------

CLIP = torch.logit(torch.tensor([[[0.2], [0.6], [0.3], [0.1], [0.4]]]))


def test_linear_in_groups_of_two() -> None:
    # (0.04 + 0.36) / 0.8 = 0.5, (0.09 + 0.01) / 0.4 = 0.25, and 0.4 alone;
    # then (0.25 + 0.0625 + 0.16) / (0.5 + 0.25 + 0.4) = 0.4725 / 1.15
    pool = pooling.create("hierarchical", n_classes=1, inner="linear", groups=(2, 3))
    assert pool(CLIP).item() == pytest.approx(0.410870, abs=1e-6)
    # The weight of the first frame: 0.2 / 0.8 of its segment, which is 0.5 / 1.15 of the clip.
    assert pool.scores(CLIP).softmax(dim=1)[0, 0].item() == pytest.approx(0.25 * 0.5 / 1.15)


def test_mask() -> None:
    # Without the last two frames the second segment is 0.3 alone: (0.25 + 0.09) / (0.5 + 0.3) = 0.425
    pool = pooling.create("hierarchical", n_classes=1, inner="linear", groups=(2, 3))
    assert pool(CLIP, torch.tensor([[True, True, True, False, False]])).item() == pytest.approx(0.425)


# -- wrong input ----------------------------------------------------------------------------------------------------


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match=r"pooling 'hierarchical' needs 'inner', the function of its stages"):
        pooling.create("hierarchical", n_classes=2, groups=(3, 2))
    with pytest.raises(ValueError, match=r"pooling 'hierarchical' needs 'groups', the sizes of its stages"):
        pooling.create("hierarchical", n_classes=2, inner="power")
    with pytest.raises(ValueError, match=r"inner must be a plain pooling function, got 'hierarchical' - add to groups"):
        pooling.create("hierarchical", n_classes=2, inner="hierarchical", groups=(3, 2))
    with pytest.raises(ValueError, match=r"pooling must be one of .*, got 'pwer' - did you mean 'power'\?"):
        pooling.create("hierarchical", n_classes=2, inner="pwer", groups=(3, 2))
    with pytest.raises(
        ValueError, match=r"inner must be a pooling function, got 'power' - by its name: pooling.create"
    ):
        Hierarchical("power", groups=(3, 2))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"groups must name at least two stages, .* got \(5,\)"):
        Hierarchical(Power(2), groups=(5,))
    with pytest.raises(ValueError, match=r"groups must name at least two stages, for instance \(5, 5, 4\), got 5$"):
        Hierarchical(Power(2), groups=5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"groups must be at least 1, got 0"):
        Hierarchical(Power(2), groups=(5, 0))
    with pytest.raises(ValueError, match=r"inner must be a plain pooling function, got 'hierarchical' - add to groups"):
        Hierarchical(Hierarchical(Power(2), groups=(5, 5)), groups=(5, 5))
    with pytest.raises(ValueError, match=r"pooling 'linear' takes no 'initial'"):
        pooling.create("hierarchical", n_classes=2, inner="linear", groups=(3, 2), initial=1.0)
    with pytest.raises(ValueError, match=r"pooling 'attention' needs 'n_features'"):
        pooling.create("hierarchical", n_classes=2, inner="attention", groups=(3, 2))
