"""What the pictures of results contain."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from earmark.report import canvas
from earmark.report.metric_plots import comparison_figure, metrics_by_class_figure

SCORES = {"power": {"event F1": 0.74, "clip F1": 0.9}, "linear": {"event F1": 0.7, "clip F1": 0.95}}
CLASSES = ["hum", "knock", "bark"]
DURATIONS = np.array([5.04, 0.2, 0.6])


def widths(axes: Axes) -> list[float]:
    """Lengths of the bars from top to bottom."""
    return [patch.get_width() for patch in axes.patches if isinstance(patch, Rectangle)]


def by_class(scores: dict[str, np.ndarray], durations: np.ndarray = DURATIONS) -> Figure:
    """The picture of three classes."""
    return metrics_by_class_figure(classes=CLASSES, mean_durations_seconds=durations, scores=scores)


def row_names(figure: Figure) -> list[str]:
    """What stands left of each row."""
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def dots(figure: Figure, system: str) -> list[float]:
    """Values of one system from top to bottom."""
    (line,) = [line for line in figure.axes[0].lines if line.get_gid() == f"score {system}"]
    return np.asarray(line.get_xdata()).tolist()


# laws


def test_bars_have_the_length_of_their_values_on_one_scale_from_zero() -> None:
    figure = comparison_figure(scores=SCORES)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["event F1", "clip F1"]
    assert [widths(axes) for axes in figure.axes] == [[0.74, 0.7], [0.9, 0.95]]
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert figure.axes[0].get_xlim()[0] == 0
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["power", "linear"]


def test_dots_are_the_input_sorted_by_duration() -> None:
    figure = by_class({"power": np.array([0.8, 0.6, 0.7]), "linear": np.array([0.9, 0.5, 0.4])})
    assert row_names(figure) == ["knock  0.20 s", "bark  0.60 s", "hum  5.0 s"]
    assert dots(figure, "power") == [0.6, 0.7, 0.8]
    assert dots(figure, "linear") == [0.5, 0.4, 0.9]
    assert figure.axes[0].yaxis_inverted()


def heights(figure: Figure, system: str) -> np.ndarray:
    """Where the dots of one system stand, in rows from the top."""
    (line,) = [line for line in figure.axes[0].lines if line.get_gid() == f"score {system}"]
    return np.asarray(line.get_ydata(), dtype=float)


@pytest.mark.parametrize("n_systems", [1, 2, 3, 10])
def test_equal_dots_stand_below_each_other_inside_their_row(n_systems: int) -> None:
    names = [f"system {index}" for index in range(n_systems)]
    figure = by_class(dict.fromkeys(names, np.array([0.8, 0.6, 0.7])))
    found = np.array([heights(figure, name) for name in names])  # (systems, classes)
    assert np.all(np.diff(found, axis=0) > 0.05)
    assert np.all(np.abs(found - [0, 1, 2]) < 0.5)
    assert found.mean(axis=0) == pytest.approx([0, 1, 2])


def test_two_equal_dots_do_not_touch() -> None:
    figure = by_class({"power": np.array([0.8, 0.6, 0.7]), "linear": np.array([0.8, 0.6, 0.7])})
    axes = figure.axes[0]
    pixels = [axes.transData.transform(np.column_stack([dots(figure, s), heights(figure, s)])) for s in SCORES]
    apart_points = np.abs(pixels[0] - pixels[1])[:, 1] * 72 / figure.dpi
    assert np.all(apart_points > 6.5)  # the size of a marker


def test_saving_twice_gives_the_same_bytes() -> None:
    for figure in (comparison_figure(scores=SCORES), by_class({"power": np.array([0.8, 0.6, 0.7])})):
        assert canvas.png_bytes(figure) == canvas.png_bytes(figure)


# worked numbers


def test_values_are_written_and_the_best_is_bold() -> None:
    axes = comparison_figure(scores=SCORES).axes[0]
    assert [(text.get_text(), text.get_fontweight()) for text in axes.texts] == [("0.740", "bold"), ("0.700", "normal")]


def test_a_missing_figure_is_a_dash() -> None:
    axes = comparison_figure(
        scores={"power": {"event F1": 0.5}, "max": {"clip F1": 0.4}, "mine": {"clip F1": np.nan}}
    ).axes
    assert [text.get_text() for text in axes[0].texts] == ["0.500", "–", "–"]
    assert [text.get_text() for text in axes[1].texts] == ["–", "0.400", "–"]


def test_intervals_are_drawn_where_given_and_the_value_stands_behind_them() -> None:
    axes = comparison_figure(scores=SCORES, intervals={"power": {"event F1": (0.7, 0.78)}}).axes
    (line,) = [line for line in axes[0].lines if line.get_gid() == "interval power"]
    assert np.asarray(line.get_xdata()).tolist() == [0.7, 0.78]
    assert [getattr(text, "xy", None) for text in axes[0].texts] == [(0.78, 0), (0.7, 1)]
    assert not [line for line in axes[1].lines if str(line.get_gid()).startswith("interval")]


def test_zeros_can_be_compared() -> None:
    canvas.png_bytes(comparison_figure(scores={"power": {"event F1": 0.0}, "max": {"event F1": np.nan}}))


def test_a_class_without_events_says_so_and_comes_last() -> None:
    figure = by_class({"power": np.array([np.nan, 0.6, 0.7])}, np.array([np.nan, 0.2, 0.6]))
    assert row_names(figure) == ["knock  0.20 s", "bark  0.60 s", "hum"]
    assert [(text.get_text(), text.get_position()) for text in figure.axes[0].texts] == [("no events", (0, 2))]


def test_the_metric_is_named_below() -> None:
    figure = metrics_by_class_figure(
        classes=["hum"], mean_durations_seconds=np.ones(1), scores={"power": np.ones(1)}, metric="segment F1"
    )
    assert figure.axes[0].get_xlabel() == "segment F1"


# wrong input


def test_nothing_and_negative_values_are_refused() -> None:
    with pytest.raises(ValueError, match="scores must have at least one system with one figure"):
        comparison_figure(scores={"power": {}})
    with pytest.raises(ValueError, match=r"scores must be at least 0, got -0\.1 - bars begin at 0"):
        comparison_figure(scores={"power": {"event F1": -0.1}})


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"scores\['power'\] must have shape \(classes,\) = \(3,\), got \(2,\)"):
        by_class({"power": np.ones(2)})
    with pytest.raises(ValueError, match=r"mean_durations_seconds must have shape"):
        by_class({"power": np.ones(3)}, np.ones(4))
    with pytest.raises(ValueError, match="classes and scores must not be empty"):
        by_class({})
