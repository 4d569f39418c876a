"""The code against the paper: its formulas as printed, its Table 1 read off the gradient."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from oracles import pooling_formulas as printed
from torch import Tensor

from earmark import pooling
from earmark.pooling import Pool

EXPONENTS = [0.0, 0.337, 1.0, 2.5, 8.0]
SHARPNESSES = [-2.0, 0.0, 1.0, 2.5, 8.0]


def functions_without_features() -> list[Any]:
    """Each pooling function with the forward and the gradient formula that the paper, or the paper it cites, prints."""
    rows: list[tuple[str, dict[str, Any], Callable[..., Any], Callable[..., Any]]] = [
        ("average", {}, printed.average, printed.average_gradient),
        ("max", {}, printed.maximum, printed.maximum_gradient),
        ("linear", {}, printed.linear, printed.linear_gradient),
        ("exponential", {}, printed.exponential, printed.exponential_gradient),
    ]
    for n in EXPONENTS:
        formulas = partial(printed.power, n=n), partial(printed.power_gradient, n=n)
        rows.append(("power", {"initial": n}, *formulas))
    for alpha in SHARPNESSES:
        formulas = partial(printed.auto, alpha=alpha), partial(printed.auto_gradient, alpha=alpha)
        rows.append(("auto", {"initial": alpha}, *formulas))
        rows.append(("rap", {"initial": alpha, "penalty": 0.01}, *formulas))
        if abs(alpha) <= np.log(3000 - 1):
            rows.append(("cap", {"initial": alpha, "n_frames": 3000}, *formulas))
    return [pytest.param(*row, id=f"{row[0]}-{row[1].get('initial', '')}") for row in rows]


def clip_and_gradient(pool: Pool, y: Tensor, features: Tensor | None = None) -> tuple[float, np.ndarray[Any, Any]]:
    """y^c and dy^c / dy_i for a clip of one class with frame probabilities y."""
    logits = torch.logit(y).reshape(1, -1, 1).requires_grad_()
    clip_prob = pool(logits, None, features)
    clip_prob.sum().backward()
    assert logits.grad is not None
    return clip_prob.item(), (logits.grad.flatten() / (y * (1 - y))).numpy()  # dy/dz = y (1 - y)


# -- laws: the printed formulas -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "options", "forward", "gradient"), functions_without_features())
def test_results_and_gradients_are_those_of_the_printed_formulas(
    name: str,
    options: dict[str, Any],
    forward: Callable[..., Any],
    gradient: Callable[..., Any],
    rng: np.random.Generator,
) -> None:
    pool = pooling.create(name, n_classes=1, **options).double()
    for n_frames in (1, 2, 10, 100):
        y = rng.uniform(0.01, 0.99, size=n_frames)
        clip_prob, to_frames = clip_and_gradient(pool, torch.from_numpy(y))
        # The options are stored in float32: 0.337 becomes 0.33700001.
        assert clip_prob == pytest.approx(forward(y), rel=1e-7)
        np.testing.assert_allclose(to_frames, gradient(y), rtol=1e-6, atol=1e-9)


def test_attention_is_that_of_the_printed_formulas(rng: np.random.Generator) -> None:
    pool = pooling.create("attention", n_classes=1, n_features=4).double()
    y, features = rng.uniform(0.01, 0.99, size=20), torch.from_numpy(rng.normal(size=(1, 20, 4)))
    u = pool.scores(torch.zeros(1, 20, 1, dtype=torch.float64), None, features).detach().flatten().numpy()
    clip_prob, to_frames = clip_and_gradient(pool, torch.from_numpy(y), features)
    assert clip_prob == pytest.approx(printed.attention(y, u), rel=1e-12)
    np.testing.assert_allclose(to_frames, printed.attention_gradient(y, u), rtol=1e-9)


# -- laws: Table 1 --------------------------------------------------------------------------------------------------

# As printed, but for two slips of the print: "y_f" for y_i in the last two rows, and one cell drawn over two.
PAPER_TABLE_1 = [
    ("Y = 1", "y^c -> 1", "y_i > theta y^c", "y_i -> 1"),
    ("Y = 1", "y^c -> 1", "y_i < theta y^c", "y_i -> 0"),
    ("Y = 0", "y^c -> 0", "y_i > theta y^c", "y_i -> theta y^c"),
    ("Y = 0", "y^c -> 0", "y_i < theta y^c", "y_i -> theta y^c"),
]


def direction_table(pool: Pool, theta: float, y: Tensor) -> list[tuple[str, str, str, str]]:
    """Where one step down the cross-entropy moves a clip and its frames, (frames,): Table 1 read off the gradient."""
    rows = []
    for label in (1, 0):
        logits = torch.logit(y).reshape(1, -1, 1).requires_grad_()
        clip_prob = pool(logits)
        loss = -torch.log(clip_prob if label == 1 else 1 - clip_prob).sum()
        to_clip, to_frames = torch.autograd.grad(loss, [clip_prob, logits])
        rises = (to_frames < 0).flatten()
        is_above = y > theta * clip_prob.item()
        for condition, chosen in ((">", is_above), ("<", ~is_above)):
            assert bool(chosen.any())
            ways = {_destination(condition, bool(way)) for way in rises[chosen]}
            clip_way = f"y^c -> {1 if to_clip.item() < 0 else 0}"
            rows.append((f"Y = {label}", clip_way, f"y_i {condition} theta y^c", " and ".join(sorted(ways))))
    return rows


def _destination(condition: str, rises: bool) -> str:
    """Where a frame ends that is above (>) or below (<) the threshold and rises or falls."""
    away = (condition == ">") == rises
    return f"y_i -> {int(rises)}" if away else "y_i -> theta y^c"


@pytest.mark.parametrize(
    ("name", "options", "theta"),
    [("linear", {}, 1 / 2)] + [("power", {"initial": n}, n / (n + 1)) for n in EXPONENTS if n > 0],
)
def test_table_1_follows_from_the_gradient(
    name: str, options: dict[str, Any], theta: float, rng: np.random.Generator
) -> None:
    pool = pooling.create(name, n_classes=1, **options).double()
    for n_frames in (5, 50, 500):
        # Quiet frames first, so that some lie below theta y^c for the smallest theta too.
        quiet, loud = rng.uniform(0.001, 0.02, size=n_frames), rng.uniform(0.02, 0.99, size=n_frames)
        assert direction_table(pool, theta, torch.from_numpy(np.concatenate([quiet, loud]))) == PAPER_TABLE_1


@pytest.mark.parametrize(("name", "options"), [("average", {}), ("exponential", {}), ("auto", {"initial": 1.0})])
def test_table_1_is_not_that_of_functions_that_push_every_frame_up(
    name: str, options: dict[str, Any], rng: np.random.Generator
) -> None:
    table = direction_table(pooling.create(name, n_classes=1, **options), 0.5, torch.linspace(0.01, 0.99, 40))
    assert table[0] == PAPER_TABLE_1[0]
    assert table[1][3] == "y_i -> theta y^c"  # a quiet frame of a positive clip rises, up to the others


# A positive clip only with a small n: at n = 4 the threshold follows the loudest frame up and leaves the second behind.
@pytest.mark.parametrize(("label", "n"), [(1, 0.337), (1, 1.0), (0, 0.337), (0, 1.0), (0, 4.0)])
def test_frames_end_where_table_1_sends_them(label: int, n: float) -> None:
    pool = pooling.create("power", n_classes=1, initial=n).double()
    y = torch.tensor([0.01, 0.03, 0.65, 0.7], dtype=torch.float64)
    logits = torch.logit(y).reshape(1, -1, 1).requires_grad_()
    for _ in range(1500):
        log_y, log_not_y = pool.log_probs(logits)
        (to_frames,) = torch.autograd.grad(-(log_y if label == 1 else log_not_y).sum(), logits)
        with torch.no_grad():
            logits -= 5 * to_frames
    ends = torch.sigmoid(logits).flatten().tolist()
    if label == 1:
        assert min(ends[2:]) > 0.99
        assert max(ends[:2]) < 0.01
    else:
        assert max(ends) < 0.05


# -- worked numbers -------------------------------------------------------------------------------------------------


def test_the_threshold_of_figure_2() -> None:
    # n = 0.337: theta = 0.337 / 1.337 = 0.2521, so a clip of 0.8 pushes up its frames above 0.2016.
    pool = pooling.create("power", n_classes=1, initial=0.337)
    assert pool.sign_threshold(torch.tensor([[0.8]])).item() == pytest.approx(0.2016, abs=5e-5)
