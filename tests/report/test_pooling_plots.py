"""What the picture of n against duration contains."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from earmark.report import canvas
from earmark.report.pooling_plots import pooling_parameter_figure

NAMES = ["knock", "bark", "siren", "hum"]
DURATIONS = np.array([0.2, 0.6, 2.5, 5.0])
N = np.array([2.1, 1.6, 1.0, 0.4])


def draw(n_values: dict[str, np.ndarray], durations: np.ndarray = DURATIONS) -> Figure:
    """The picture of four classes."""
    return pooling_parameter_figure(names=NAMES, mean_durations_seconds=durations, n_values=n_values)


def notes(figure: Figure) -> list[str]:
    """The entries of the legend."""
    return [text.get_text() for text in figure.legends[0].get_texts()]


def values(axes: Axes, gid: str) -> tuple[list[float], list[float]]:
    """The points of one line."""
    (line,) = [line for line in axes.lines if line.get_gid() == gid]
    return np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist()


# laws


def test_points_are_the_input_and_the_reference_line_is_where_asked() -> None:
    axes = draw({"power": N, "seed 2": N + 0.1}).axes[0]
    assert values(axes, "n power") == (DURATIONS.tolist(), N.tolist())
    assert values(axes, "n seed 2") == (DURATIONS.tolist(), (N + 0.1).tolist())
    assert values(axes, "reference")[1] == [1, 1]
    moved = pooling_parameter_figure(
        names=NAMES, mean_durations_seconds=DURATIONS, n_values={"power": N}, reference_line=0.5
    )
    assert values(moved.axes[0], "reference")[1] == [0.5, 0.5]


@pytest.mark.parametrize("n", [N, N + 1.0, np.array([0.9, 0.8, 0.5, 0.7]), np.ones(4), np.zeros(4)])
def test_the_axis_reaches_as_far_as_the_values_and_the_reference_line(n: np.ndarray) -> None:
    axes = draw({"power": n}).axes[0]
    low, high = axes.get_ylim()
    shown = [*n.tolist(), 1.0]
    assert low < min(shown) <= max(shown) < high
    if np.ptp(shown) > 0:
        assert np.ptp(shown) > 0.75 * (high - low)  # most of the height is used


def test_names_overlap_neither_each_other_nor_points(rng: np.random.Generator) -> None:
    names = [f"class with a name {index}" for index in range(17)]
    durations = np.exp(rng.uniform(np.log(0.2), np.log(9), 17))
    figure = pooling_parameter_figure(
        names=names,
        mean_durations_seconds=durations,
        n_values={"power": 2 / (1 + durations) + rng.normal(0, 0.1, 17).clip(-0.2)},
    )
    axes = figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.texts]
    assert [text.get_text() for text in axes.texts] == names
    assert not any(box.overlaps(other) for index, box in enumerate(boxes) for other in boxes[:index])
    points = axes.transData.transform(np.column_stack(values(axes, "n power")))
    assert not any(box.contains(x, y) for box in boxes for x, y in points)
    assert all(axes.get_window_extent().padded(1).contains(*corner) for box in boxes for corner in (box.min, box.max))


def test_saving_twice_gives_the_same_bytes() -> None:
    figure = draw({"power": N})
    assert canvas.png_bytes(figure) == canvas.png_bytes(figure)


# worked numbers


def test_rho_stands_behind_each_name() -> None:
    # n falls with every step in duration: -1. With two neighbours swapped: 1 - 6 * 2 / (4 * 15) = 0.8, negative.
    figure = draw({"power": N, "other": N[[1, 0, 2, 3]], "linear": np.ones(4)})
    assert notes(figure) == ["power: Spearman ρ = −1.00", "other: Spearman ρ = −0.80", "linear: n = 1 everywhere"]


def test_a_class_without_events_is_left_out_and_named() -> None:
    figure = draw({"power": N}, np.array([0.2, np.nan, 2.5, 5.0]))
    assert values(figure.axes[0], "n power") == ([0.2, 2.5, 5.0], [2.1, 1.0, 0.4])
    assert [text.get_text() for text in figure.axes[0].texts] == ["knock", "siren", "hum"]
    assert figure.get_supxlabel() == "not drawn, no events: bark"


def test_a_name_with_room_stands_right_of_its_point_at_its_height() -> None:
    figure = pooling_parameter_figure(
        names=["gypsy", "hum"], mean_durations_seconds=np.array([0.2, 5.0]), n_values={"power": np.array([2.0, 0.5])}
    )
    axes = figure.axes[0]
    box = axes.texts[0].get_window_extent()
    x, y = axes.transData.transform((0.2, 2.0))
    # 6 points at 150 dots per inch and 72 points per inch are 12.5 dots.
    assert (box.x0 - x, (box.y0 + box.y1) / 2 - y) == pytest.approx((12.5, 0), abs=0.75)


def test_the_axis_is_in_plain_seconds() -> None:
    axes = draw({"power": N}).axes[0]
    axes.figure.canvas.draw()
    # 0.2 / 1.35 = 0.148 to 5 * 1.35 = 6.75
    assert [label.get_text() for label in axes.get_xticklabels(which="both")] == ["0.2", "0.5", "1", "2", "5"]


def test_classes_of_one_length_can_be_drawn() -> None:
    figure = draw({"power": N}, np.full(4, 1.0))
    assert notes(figure) == ["power: durations are all equal"]
    canvas.png_bytes(figure)


# wrong input


@pytest.mark.parametrize(
    ("durations", "n_values", "message"),
    [
        (DURATIONS, {}, "n_values must have at least one system"),
        (DURATIONS[:3], {"power": N}, r"mean_durations_seconds must have shape \(classes,\) = \(4,\), got \(3,\)"),
        (DURATIONS, {"power": np.ones((2, 4))}, r"n_values\['power'\] must have shape"),
        (DURATIONS, {"power": np.array([1, np.nan, 1, 1])}, r"n_values\['power'\] must be finite.*end with NaN"),
        (np.array([0.2, -1.0, 1, 1]), {"power": N}, "mean_durations_seconds must be above 0 for at least two classes"),
        (np.array([0.2, np.nan, np.nan, np.nan]), {"power": N}, "above 0 for at least two classes"),
    ],
)
def test_what_cannot_be_drawn_is_refused(durations: np.ndarray, n_values: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw(n_values, durations)
