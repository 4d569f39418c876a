"""Where to write labels so that they cover neither each other nor what they name. Plain geometry, no drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Right of the point first, then the places a reader looks next.
_DIRECTIONS = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))


@dataclass(frozen=True)
class Box:
    """A rectangle on the sheet, in any one unit."""

    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: Box) -> float:
        """Area that both cover.

        Example:
            >>> Box(0, 0, 2, 2).overlap(Box(1, 1, 3, 3))
            1
        """
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return width * height if width > 0 and height > 0 else 0

    @property
    def area(self) -> float:
        """Width times height."""
        return (self.right - self.left) * (self.top - self.bottom)


def spread(positions: ArrayLike, *, gap: float, low: float, high: float) -> NDArray[np.float64]:
    """Move positions on a line apart until neighbours are `gap` from each other, and as little as possible.

    The sum of squared moves is the least there is: with the i-th smallest shifted down by i * gap, the rule "at least
    gap apart" becomes "not decreasing", which is isotonic regression. Where not all fit between `low` and `high`, the
    gap is made smaller.

    Example:
        >>> spread([0.50, 0.52, 0.90], gap=0.1, low=0, high=1).round(3).tolist()
        [0.46, 0.56, 0.9]
    """
    wanted = np.asarray(positions, dtype=np.float64)
    if len(wanted) > 1:
        gap = min(gap, (high - low) / (len(wanted) - 1))
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(wanted))
    means: list[float] = []
    sizes: list[int] = []
    for value in wanted[order] - steps:
        means.append(float(value))
        sizes.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            total = sizes[-2] + sizes[-1]
            means[-2:] = [(means[-2] * sizes[-2] + means[-1] * sizes[-1]) / total]
            sizes[-2:] = [total]
    result = np.empty_like(wanted)
    result[order] = np.clip(np.repeat(means, sizes), low, high - gap * (len(wanted) - 1)) + steps
    return result


def place_labels(
    anchors: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    *,
    obstacles: Sequence[Box],
    bounds: Box,
    distances: Sequence[float],
) -> list[Box]:
    """Choose a box for each label near its anchor, so that boxes avoid obstacles, each other and the edge.

    Each label takes the candidate that covers least, nearer ones first; three rounds, so that early labels can
    make way for later ones.

    Args:
        anchors: the points that are named.
        sizes: width and height of each label.
        obstacles: boxes not to be covered, mostly the markers.
        bounds: the box that labels should not leave.
        distances: how far from the anchor to try, nearest first.

    Example:
        >>> place_labels([(5, 5)], [(2, 1)], obstacles=[Box(5, 4, 9, 6)], bounds=Box(0, 0, 10, 10), distances=[1])
        [Box(left=2.0, bottom=4.5, right=4.0, top=5.5)]
    """
    chosen: list[Box | None] = [None] * len(anchors)
    for _ in range(3):
        for index, (anchor, size) in enumerate(zip(anchors, sizes, strict=True)):
            others = [box for place, box in enumerate(chosen) if box is not None and place != index]
            candidates = [
                _beside(anchor, size, direction, distance) for distance in distances for direction in _DIRECTIONS
            ]
            costs = [_cost(box, [*others, *obstacles], bounds) + 0.02 * place for place, box in enumerate(candidates)]
            chosen[index] = candidates[int(np.argmin(costs))]
    return [box for box in chosen if box is not None]


def _beside(
    anchor: tuple[float, float], size: tuple[float, float], direction: tuple[float, float], distance: float
) -> Box:
    """The label's box in one direction, its nearest side or corner `distance` from the anchor."""
    centre_x = anchor[0] + direction[0] * (distance + size[0] / 2)
    centre_y = anchor[1] + direction[1] * (distance + size[1] / 2)
    return Box(centre_x - size[0] / 2, centre_y - size[1] / 2, centre_x + size[0] / 2, centre_y + size[1] / 2)


def _cost(box: Box, taken: Sequence[Box], bounds: Box) -> float:
    """How bad a place is: the share of the label that is covered, or outside."""
    covered = sum(box.overlap(other) for other in taken)
    outside = box.area - box.overlap(bounds)
    return 100 * (covered + 2 * outside) / box.area
