from __future__ import annotations

import numpy as np
import pytest

from earmark.report.comparison_plots import Dot, class_differences_figure, intervals_figure, parameters_figure
from earmark.report.plots import png_bytes

SYSTEMS = ("power", "rap 1e-3", "linear")
DOTS = {"power": Dot(0.7, 0.6, 0.8, (0.68, 0.72)), "rap 1e-3": Dot(0.5, np.nan, np.nan), "linear": Dot(0.6, 0.5, 0.7)}

# Laws


def drawn(figure: object, gid: str) -> list[list[float]]:
    """The x values of every line with this name."""
    return [
        [float(x) for x in line.get_xdata()]
        for axes in figure.axes  # type: ignore[attr-defined]
        for line in axes.lines
        if line.get_gid() == gid
    ]


def test_means_intervals_seeds_and_the_reference_stand_where_they_are() -> None:
    figure = intervals_figure(panels={"event F1": DOTS, "loss": DOTS}, reference="linear", lower_is_better=["loss"])
    assert drawn(figure, "mean power") == [[0.7], [0.7]]
    assert drawn(figure, "interval power") == [[0.6, 0.8]] * 2
    assert drawn(figure, "single power") == [[0.68, 0.72]] * 2
    assert drawn(figure, "interval rap 1e-3") == []  # nothing is known of it
    assert drawn(figure, "reference") == [[0.6, 0.6]] * 2
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["event F1", "loss (lower is better)"]
    for axes in figure.axes:
        low, high = axes.get_xlim()
        assert low < 0.5 < 0.8 < high


def test_a_function_looks_the_same_in_all_pictures() -> None:
    dots = intervals_figure(panels={"event F1": DOTS}, reference="linear").axes[0].lines
    values = {"rap 1e-3": {0: np.array([1.0, 2.0])}}
    learned = (
        parameters_figure(classes=["a", "b"], values=values, names={"rap 1e-3": "α"}, systems=SYSTEMS).axes[0].lines
    )
    (one,) = (line for line in dots if line.get_gid() == "mean rap 1e-3")
    (other,) = (line for line in learned if line.get_gid() == "values rap 1e-3")
    assert (one.get_marker(), one.get_color()) == (other.get_marker(), other.get_color())


def test_parameters_of_every_seed_are_drawn_and_equal_ones_not_blown_up() -> None:
    values = {"power": {seed: np.array([1.0, 1.0 + 1e-6 * seed]) for seed in (0, 1, 2)}}
    figure = parameters_figure(classes=["a", "b"], values=values, names={"power": "n"}, systems=SYSTEMS)
    assert len(drawn(figure, "values power")) == 3
    low, high = figure.axes[0].get_xlim()
    assert high - low > 0.15
    assert png_bytes(figure)[1:4] == b"PNG"


# Worked numbers


def test_a_better_class_is_blue_whichever_way_better_is() -> None:
    for sign in (1, -1):
        figure = class_differences_figure(
            classes=["a", "b"],
            differences={"power": sign * np.array([0.2, -0.1]), "max": np.array([np.nan, 0.0])},
            is_sure={"power": np.array([True, False]), "max": np.array([False, False])},
            reference="linear",
            lower_is_better=sign < 0,
        )
        (image,) = figure.axes[0].images
        assert image.get_array()[:, 0].tolist() == [1.0, -0.5]
        texts = figure.axes[0].texts
        assert [text.get_text() for text in texts] == (
            ["+0.20", "–", "−0.10", "+0.00"] if sign > 0 else ["−0.20", "–", "+0.10", "+0.00"]
        )
        assert [text.get_fontweight() for text in texts] == ["bold", "normal", "normal", "normal"]


# Wrong input


def test_nothing_to_draw_is_refused() -> None:
    with pytest.raises(ValueError, match="panels must hold at least one"):
        intervals_figure(panels={}, reference="linear")
    with pytest.raises(ValueError, match="the same systems in the same order"):
        intervals_figure(panels={"a": DOTS, "b": {"power": DOTS["power"]}}, reference="linear")
    with pytest.raises(ValueError, match="one number per class, 2"):
        class_differences_figure(classes=["a", "b"], differences={}, is_sure={}, reference="linear")
    with pytest.raises(ValueError, match="values must have at least one system"):
        parameters_figure(classes=["a"], values={}, names={}, systems=SYSTEMS)
