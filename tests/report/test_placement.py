"""Labels that cover neither each other nor the points they name."""

from __future__ import annotations

import numpy as np
import pytest

from earmark.report.placement import Box, place_labels, spread

# laws


def test_spread_keeps_order_gap_and_limits(rng: np.random.Generator) -> None:
    for _ in range(300):
        n = int(rng.integers(1, 12))
        wanted = rng.uniform(0, 1, n)
        placed = spread(wanted, gap=0.1, low=0, high=1)
        in_order = placed[np.argsort(wanted)]
        gap = min(0.1, 1 / max(1, n - 1))
        assert (np.diff(in_order) >= gap - 1e-12).all()
        assert placed.min() >= -1e-12
        assert placed.max() <= 1 + 1e-12


def test_no_other_arrangement_moves_less(rng: np.random.Generator) -> None:
    # Any sorted numbers plus i * gap obey the gap: none of many random ones may beat the answer.
    wanted = np.sort(rng.uniform(0.2, 0.8, 5))
    best = ((spread(wanted, gap=0.1, low=0, high=1) - wanted) ** 2).sum()
    others = np.sort(rng.uniform(0, 1 - 4 * 0.1, (100_000, 5)), axis=1) + 0.1 * np.arange(5)
    assert ((others - wanted) ** 2).sum(axis=1).min() >= best - 1e-12


def test_labels_of_crowded_points_do_not_overlap(rng: np.random.Generator) -> None:
    for _ in range(10):
        anchors = [(float(x), float(y)) for x, y in rng.uniform(100, 900, (25, 2))]
        points = [Box(x - 8, y - 8, x + 8, y + 8) for x, y in anchors]
        bounds = Box(0, 0, 1000, 1000)
        boxes = place_labels(anchors, [(90, 22)] * 25, obstacles=points, bounds=bounds, distances=[10, 22, 40, 60])
        assert all(a.overlap(b) == 0 for i, a in enumerate(boxes) for b in boxes[:i])
        assert all(box.overlap(point) == 0 for box in boxes for point in points)
        assert all(box.overlap(bounds) == pytest.approx(box.area) for box in boxes)


# worked numbers


def test_three_positions_around_one() -> None:
    # 0.5, 0.5, 0.5 with gap 0.1: the middle stays, the others move by 0.1, in the order in which they came.
    assert spread([0.5, 0.5, 0.5], gap=0.1, low=0, high=1) == pytest.approx([0.4, 0.5, 0.6])
    # At the upper limit all move down: 0.8, 0.9, 1.0.
    assert spread([1.0, 1.0, 1.0], gap=0.1, low=0, high=1) == pytest.approx([0.8, 0.9, 1.0])
    # Eleven gaps of 0.1 do not fit into 0..1 for twelve: the gap becomes 1/11.
    assert np.diff(spread([0.5] * 12, gap=0.1, low=0, high=1)) == pytest.approx(1 / 11)


def test_a_label_alone_stands_right_of_its_point() -> None:
    boxes = place_labels([(50, 50)], [(20, 10)], obstacles=[], bounds=Box(0, 0, 100, 100), distances=[4])
    assert boxes == [Box(54, 45, 74, 55)]


def test_a_label_at_the_right_edge_stands_left_of_its_point() -> None:
    boxes = place_labels([(95, 50)], [(20, 10)], obstacles=[], bounds=Box(0, 0, 100, 100), distances=[4])
    assert boxes == [Box(71, 45, 91, 55)]


def test_boxes_that_only_touch_do_not_overlap() -> None:
    assert Box(0, 0, 1, 1).overlap(Box(1, 0, 2, 1)) == 0
    assert Box(0, 0, 2, 2).overlap(Box(1, 0.5, 3, 1.5)) == 1  # 1 wide, 1 high
    assert Box(1, 1, 3, 2).area == 2


# wrong input


def test_anchors_without_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        place_labels([(0, 0), (1, 1)], [(1, 1)], obstacles=[], bounds=Box(0, 0, 9, 9), distances=[1])


def test_no_position_needs_no_place() -> None:
    assert spread([], gap=0.1, low=0, high=1).shape == (0,)
    assert place_labels([], [], obstacles=[], bounds=Box(0, 0, 1, 1), distances=[1]) == []
