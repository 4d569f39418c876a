"""What the pictures of curves contain."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from earmark.report import canvas
from earmark.report.curve_plots import class_intervals_figure, precision_recall_figure, psd_roc_figure

Points = tuple[np.ndarray, np.ndarray]
GOOD: Points = (np.array([0.0, 0.5, 1.0, 1.0]), np.array([1.0, 1.0, 0.8, 0.4]))
BAD: Points = (np.array([0.0, 0.0, 0.1, 0.3]), np.array([1.0, 0.0, 0.1, 0.1]))
NOTHING: Points = (np.full(3, np.nan), np.array([1.0, 0.0, 0.0]))
ROC: Points = (np.array([0.0, 20.0, 50.0]), np.array([0.1, 0.4, 0.9]))
NAMES = ["Air horn, truck horn", "🚒 犬", "a name that goes on and on, and then goes on", "$x_1$", "_hidden", "Dog"]


def line_of(axes: Axes, gid: str) -> Points:
    """Where a line goes."""
    (line,) = [line for line in axes.lines if line.get_gid() == gid]
    return np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)


def visible(figure: Figure) -> list[Axes]:
    """The panels."""
    return [axes for axes in figure.axes if axes.get_visible()]


def texts(axes: Axes) -> list[str]:
    """What is written in a panel, or beside it."""
    return [text.get_text() for text in axes.texts]


def curves(n_classes: int, *systems: str) -> dict[str, dict[str, Points]]:
    """Systems that are all as good."""
    return {system: {f"class {number}": GOOD for number in range(n_classes)} for system in systems}


def intervals(n_classes: int) -> Figure:
    """Bars of one figure."""
    names = ["all classes", *(f"class {number}" for number in range(n_classes))]
    return class_intervals_figure(
        values={"event F1": dict.fromkeys(names, 0.5)}, intervals={"event F1": {names[-1]: (0.25, 0.75)}}, note="95 %"
    )


# Laws


def test_curves_are_drawn_where_the_data_is() -> None:
    figure = precision_recall_figure(curves={"one": {"dog": GOOD, "cat": BAD}, "two": {"dog": BAD, "cat": GOOD}})
    for axes, (one, two) in zip(visible(figure), [(GOOD, BAD), (BAD, GOOD)], strict=True):
        for system, points in (("one", one), ("two", two)):
            np.testing.assert_array_equal(line_of(axes, f"curve {system}"), points)
    assert [axes.get_title(loc="left") for axes in visible(figure)] == ["dog", "cat"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "two"]


def test_the_best_point_is_that_of_the_highest_f1() -> None:
    axes = visible(precision_recall_figure(curves={"one": {"dog": GOOD, "cat": BAD}}))
    assert [np.ravel(line_of(panel, "best one")).tolist() for panel in axes] == [[1.0, 0.8], [0.3, 0.1]]


def test_grey_lines_are_of_equal_f1() -> None:
    axes = visible(precision_recall_figure(curves={"one": {"dog": GOOD}}))[0]
    grey = [line for line in axes.lines if line.get_gid() is None]
    for line, f1 in zip(grey, (0.2, 0.4, 0.6, 0.8), strict=True):
        recall, precision = (np.asarray(values, dtype=float) for values in (line.get_xdata(), line.get_ydata()))
        np.testing.assert_allclose(2 * recall * precision / (recall + precision), f1)
        assert (precision.max(), recall.max()) == (pytest.approx(1), 1)


def test_roc_curves_are_steps_up_to_the_end_of_the_picture() -> None:
    figure = psd_roc_figure(overall=ROC, of_class={"dog": ROC, "cat": BAD}, max_rate=80.0, unit="minute")
    axes = figure.axes[0]
    for gid in ("dog", "overall"):
        rate, hit_rate = line_of(axes, gid)
        np.testing.assert_array_equal(rate, [0, 20, 50, 80])
        np.testing.assert_array_equal(hit_rate, [0.1, 0.4, 0.9, 0.9])
    assert all(line.get_drawstyle() == "steps-post" for line in axes.lines)
    assert (axes.get_xlim(), axes.get_xlabel()) == ((0, 80), "effective false alarms per minute")


def test_the_shaded_area_is_the_psds() -> None:
    axes = psd_roc_figure(overall=ROC, of_class={"dog": ROC}, max_rate=80.0, unit="hour").axes[0]
    x, y = np.asarray(axes.collections[0].get_paths()[0].vertices).T
    area = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2  # of a polygon, from its corners
    assert area / 80 == pytest.approx((20 * 0.1 + 30 * 0.4 + 30 * 0.9) / 80)


def test_bars_and_intervals_are_drawn_where_the_data_is() -> None:
    values = {"F1": {"mean": 0.5, "dog": 0.4, "cat": 0.6}, "PSDS 1": {"mean": 0.3, "dog": 0.2, "cat": 0.1}}
    figure = class_intervals_figure(values=values, intervals={"F1": {"dog": (0.3, 0.55)}}, note="95 % over 12 dens")
    for axes, of_class in zip(figure.axes, values.values(), strict=True):
        widths = [patch.get_width() for patch in axes.patches if isinstance(patch, Rectangle)]
        assert widths == list(of_class.values())
        assert axes.get_xlim()[0] == 0
    middle = [
        patch.get_y() + patch.get_height() / 2 for patch in figure.axes[0].patches if isinstance(patch, Rectangle)
    ]
    ends, rows = line_of(figure.axes[0], "interval dog")
    assert (ends.tolist(), rows.tolist()) == ([0.3, 0.55], [pytest.approx(middle[1])] * 2)
    assert [line.get_gid() for line in figure.axes[1].lines] == []
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["mean", "dog", "cat"]
    assert figure.get_supxlabel() == "line: 95 % over 12 dens"


def test_values_stand_behind_bars_and_intervals_and_inside_their_panel() -> None:
    names = ["event best F1", "segment best F1", "clip best F1", "PSDS 1", "PSDS 2"]
    figure = class_intervals_figure(
        values={name: {"mean": 0.7, "a name that is rather long": 1.0} for name in names},
        intervals={name: {"mean": (0.9, 1.0)} for name in names},
        note="95 %",
    )
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    boxes = [axes.get_window_extent(renderer) for axes in figure.axes]
    for axes, box in zip(figure.axes, boxes, strict=True):
        right = axes.transData.transform([1.0, 0.0])[0]
        for text in axes.texts:
            assert right < text.get_window_extent(renderer).x0
            assert text.get_window_extent(renderer).x1 <= box.x1
    titles = [axes.title if axes.title.get_text() else axes._left_title for axes in figure.axes]  # type: ignore[attr-defined]
    edges = [title.get_window_extent(renderer) for title in titles]
    assert all(one.x1 < other.x0 for one, other in pairwise(edges))


@pytest.mark.parametrize("n_classes", [1, 3, 10, 20, 25])
def test_any_number_of_classes_has_a_panel_each_and_names_that_do_not_touch(n_classes: int) -> None:
    figure = precision_recall_figure(curves=curves(n_classes, "one"))
    panels = visible(figure)
    assert len(panels) == n_classes
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    # Every column has its scale below the last panel.
    below: dict[int, Axes] = {round(axes.get_window_extent(renderer).x0): axes for axes in panels}
    for axes in below.values():
        assert [label.get_text() for label in axes.get_xticklabels() if label.get_visible()] == ["0", "0.5", "1"]
    roc = psd_roc_figure(
        overall=ROC, of_class={f"class {number}": ROC for number in range(n_classes)}, max_rate=80.0, unit="hour"
    )
    # Of the letters: an annotation's own extent has its line in it.
    heights = np.sort([Text.get_window_extent(text, renderer).y0 for text in roc.axes[0].texts])
    assert len(heights) == n_classes + 1
    assert np.diff(heights).min() > 11 * roc.dpi / 72  # letters of 8.5 points
    assert intervals(n_classes).axes[0].yaxis_inverted()


def test_many_runs_are_told_apart() -> None:
    figure = precision_recall_figure(curves=curves(2, *(f"run {number}" for number in range(10))))
    looks = {
        (str(line.get_color()), str(vars(line)["_unscaled_dash_pattern"]))  # get_linestyle calls all of them "--"
        for line in figure.axes[0].lines
        if str(line.get_gid()).startswith("curve")
    }
    assert len(looks) == 10
    assert not figure.axes[0].texts


def test_saving_and_drawing_twice_gives_the_same_bytes() -> None:
    for draw in (
        lambda: precision_recall_figure(curves=curves(3, "one", "two"), notes={"class 1": "AP 0.5"}),
        lambda: psd_roc_figure(overall=ROC, of_class={"dog": ROC}, max_rate=80.0, unit="hour"),
        lambda: intervals(4),
    ):
        figure = draw()
        assert canvas.png_bytes(figure) == canvas.png_bytes(figure) == canvas.png_bytes(draw())


def test_any_name_can_be_drawn() -> None:
    figure = precision_recall_figure(curves={"$run$": dict.fromkeys(NAMES, GOOD), "_run": dict.fromkeys(NAMES, BAD)})
    titles = [axes.get_title(loc="left") for axes in visible(figure)]
    assert titles == ["Air horn, truck horn", "□ □", "a name tha…n goes on", "$x_1$", "_hidden", "Dog"]
    roc = psd_roc_figure(overall=ROC, of_class=dict.fromkeys(NAMES, ROC), max_rate=80.0, unit="hour")
    assert {"□ □", "$x_1$", "all classes"} <= set(texts(roc.axes[0]))
    bars = class_intervals_figure(values={"🎯": dict.fromkeys(NAMES, 0.5)}, intervals={}, note="🎯")
    for drawn in (figure, roc, bars):
        assert len(canvas.png_bytes(drawn)) > 1000


# Worked numbers


def test_notes_stand_where_the_curve_is_not() -> None:
    figure = precision_recall_figure(
        curves={"one": {"dog": GOOD, "cat": BAD}}, notes={"dog": "AP 0.9", "cat": "AP 0.1"}
    )
    good, bad = (axes.texts[0] for axes in visible(figure))
    assert (good.get_text(), bad.get_text()) == ("AP 0.9", "AP 0.1")
    assert good.get_position()[1] < 0.5 < bad.get_position()[1]


def test_a_class_without_events_says_so() -> None:
    figure = precision_recall_figure(curves={"one": {"dog": GOOD, "owl": NOTHING}})
    dog, owl = visible(figure)
    assert (texts(dog), texts(owl)) == ([], ["no events"])
    assert not [line for line in owl.lines if line.get_gid() is not None]


def test_a_curve_that_finds_nothing_has_its_best_point_at_the_start() -> None:
    flat: Points = (np.zeros(3), np.array([1.0, 0.0, 0.0]))
    axes = visible(precision_recall_figure(curves={"one": {"dog": flat}}))[0]
    assert np.ravel(line_of(axes, "best one")).tolist() == [0.0, 1.0]


def test_names_behind_the_roc_curves_are_bold_for_all_classes_alone() -> None:
    axes = psd_roc_figure(overall=ROC, of_class={"dog": ROC, "cat": BAD}, max_rate=80.0, unit="hour").axes[0]
    assert {text.get_text(): text.get_fontweight() for text in axes.texts} == {
        "dog": "normal",
        "cat": "normal",
        "all classes": "bold",
    }


def test_a_missing_value_is_a_dash_and_the_mean_is_bold() -> None:
    figure = class_intervals_figure(
        values={"F1": {"mean": 0.5, "dog": np.nan, "cat": 0.0}}, intervals={"F1": {"dog": (np.nan, np.nan)}}, note="-"
    )
    written = [(text.get_text(), text.get_fontweight()) for text in figure.axes[0].texts]
    assert written == [("0.50", "bold"), ("-", "normal"), ("0.00", "normal")]
    assert not figure.axes[0].lines
    canvas.png_bytes(figure)


# Wrong input


def test_nothing_to_draw_and_other_classes_are_refused() -> None:
    nothing = "there must be at least one system with one class, got none - there would be nothing to draw"
    no_class: dict[str, dict[str, Points]] = {"one": {}}
    for empty in ({}, no_class):
        with pytest.raises(ValueError, match=nothing):
            precision_recall_figure(curves=empty)
        with pytest.raises(ValueError, match=nothing):
            class_intervals_figure(values={"F1": {}}, intervals={}, note="")
    with pytest.raises(ValueError, match="of_class must have at least one class, got none"):
        psd_roc_figure(overall=ROC, of_class={}, max_rate=1.0, unit="hour")
    with pytest.raises(ValueError, match="all must have the same classes, 'two' has cat instead of dog"):
        precision_recall_figure(curves={"one": {"dog": GOOD}, "two": {"cat": GOOD}})
    with pytest.raises(ValueError, match="all must have the same classes, 'P' has dog, mean instead of mean, dog"):
        class_intervals_figure(
            values={"F1": {"mean": 0.5, "dog": 0.5}, "P": {"dog": 0.5, "mean": 0.5}}, intervals={}, note=""
        )
