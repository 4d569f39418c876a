"""Pictures of results: systems against each other, over all classes and class by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from earmark.report import canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def comparison_figure(
    *,
    scores: Mapping[str, Mapping[str, float]],
    intervals: Mapping[str, Mapping[str, tuple[float, float]]] | None = None,
) -> Figure:
    """Draw one panel per figure of merit with a bar per system and the value written at its end, the best in bold.

    All panels have one scale that begins at 0, so lengths can be compared across the whole picture.

    Args:
        scores: system -> figure name -> value, for instance ``{"power": {"event F1": 0.74}}``. NaN, or a name that
            only other systems have, is written as a dash.
        intervals: system -> figure name -> (low, high), drawn as a thin line over the bar; None draws none.

    Raises:
        ValueError: no system, no figure at all, or a value below 0.

    Example:
        >>> figure = comparison_figure(scores={"power": {"event F1": 0.74}, "linear": {"event F1": 0.7}})
        >>> [text.get_text() for text in figure.axes[0].texts]
        ['0.740', '0.700']
    """
    figures = list(dict.fromkeys(name for system in scores.values() for name in system))
    values = np.array([[system.get(name, np.nan) for name in figures] for system in scores.values()])
    if values.size == 0:
        raise ValueError("scores must have at least one system with one figure, got none")
    if (values < 0).any():
        raise ValueError(f"scores must be at least 0, got {float(np.nanmin(values))!r} - bars begin at 0")
    looks = canvas.system_looks(list(scores))
    ends = [high for system in (intervals if intervals is not None else {}).values() for _, high in system.values()]
    widest = max([*values[np.isfinite(values)], *ends, 0.0])
    with canvas.look():
        figure = canvas.new_figure(
            width_inches=max(4.0, 1.2 + 2.9 * len(figures)), height_inches=0.75 + 0.4 * len(scores)
        )
        panels = figure.subplots(1, len(figures), squeeze=False, sharex=True, sharey=True)[0]
        for column, (axes, name) in enumerate(zip(panels, figures, strict=True)):
            _draw_bars(axes, values[:, column], looks)
            for row, system in enumerate(scores):
                if intervals is not None and name in intervals.get(system, {}):
                    axes.plot(
                        intervals[system][name],
                        [row, row],
                        color=canvas.INK,
                        linewidth=1.1,
                        marker="|",
                        markersize=5,
                        gid=f"interval {system}",
                    )
            _write_values(
                axes,
                values[:, column],
                [
                    intervals[system][name][1] if intervals is not None and name in intervals.get(system, {}) else 0
                    for system in scores
                ],
            )
            axes.set_title(canvas.drawable(name))
        panels[0].set_xlim(0, 1.18 * widest if widest > 0 else 1)
        panels[0].set_ylim(len(scores) - 0.5, -0.5)
        canvas.settle(figure)
    return figure


def _draw_bars(axes: Axes, values: NDArray[np.float64], looks: Mapping[str, canvas.SystemLook]) -> None:
    """One bar per system, named at the left."""
    rows = np.arange(len(values))
    axes.barh(rows, np.nan_to_num(values), height=0.62, color=[system.colour for system in looks.values()])
    axes.set_yticks(rows, labels=[canvas.drawable(name) for name in looks])
    axes.tick_params(axis="y", length=0, labelcolor=canvas.INK, labelsize=9)
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="x", length=0, labelsize=7.5)
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="x")


def _write_values(axes: Axes, values: NDArray[np.float64], interval_ends: Sequence[float]) -> None:
    """The value right of its bar (and of the interval, if that reaches further); bold where none is better."""
    best = np.nanmax(values) if np.isfinite(values).any() else np.nan
    for row, (value, end) in enumerate(zip(values, interval_ends, strict=True)):
        axes.annotate(
            "–" if np.isnan(value) else f"{value:.3f}",
            (max(float(np.nan_to_num(value)), end), row),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontweight="bold" if value == best and len(values) > 1 else "normal",
        )


def metrics_by_class_figure(
    *,
    classes: Sequence[str],
    mean_durations_seconds: NDArray[np.floating],
    scores: Mapping[str, NDArray[np.floating]],
    metric: str = "event F1",
) -> Figure:
    """Draw a figure of merit class by class, short events at the top, long ones at the bottom, one dot per system.

    Within a row the systems stand a little below each other, in their order: equal ones do not hide each other.

    Args:
        classes: class names.
        mean_durations_seconds: (classes,), written beside the name; classes with NaN come last.
        scores: for each system, (classes,); NaN where the class has no events on either side, and no dot is drawn.
        metric: what the values are, for the axis.

    Raises:
        ValueError: no class, no system, or shapes that do not fit.

    Example:
        >>> figure = metrics_by_class_figure(classes=["hum", "knock"], mean_durations_seconds=np.array([5.0, 0.2]),
        ...     scores={"power": np.array([0.8, 0.6])})
        >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
        ['knock  0.20 s', 'hum  5.0 s']
    """
    if not classes or not scores:
        raise ValueError("classes and scores must not be empty - there would be nothing to draw")
    for argument, array in [
        ("mean_durations_seconds", mean_durations_seconds),
        *((f"scores[{system!r}]", values) for system, values in scores.items()),
    ]:
        if array.shape != (len(classes),):
            raise ValueError(f"{argument} must have shape (classes,) = ({len(classes)},), got {array.shape}")
    order = np.argsort(mean_durations_seconds, kind="stable")  # NaN sorts last
    looks = canvas.system_looks(list(scores))
    rows = np.arange(len(classes))
    row_inches = max(0.3, 0.08 * len(scores))
    with canvas.look():
        figure = canvas.new_figure(width_inches=canvas.SHEET_INCHES, height_inches=1.0 + row_inches * len(classes))
        axes = figure.add_subplot()
        stacked = np.array([values[order] for values in scores.values()])  # (systems, classes)
        for row in rows[::2]:
            axes.axhspan(row - 0.5, row + 0.5, facecolor="#f3f4f6", zorder=0, gid="band")
        # A marker's height apart where there is room, and inside the row however many there are.
        steps = min(0.32, 0.8 / len(looks)) * (np.arange(len(looks)) - (len(looks) - 1) / 2)
        axes.plot(stacked, steps[:, None] + rows, color="#b9c0c8", linewidth=1.5, zorder=1)
        for (name, system), values, step in zip(looks.items(), stacked, steps, strict=True):
            axes.plot(
                values,
                rows + step,
                linestyle="none",
                marker=system.marker,
                color=system.colour,
                markersize=6.5,
                markeredgecolor="white",
                markeredgewidth=0.8,
                clip_on=False,
                gid=f"score {name}",
            )
        for row in rows[np.isnan(stacked).all(axis=0)]:
            axes.text(
                0,
                row,
                "no events",
                va="center",
                fontsize=8,
                color=canvas.PALE_INK,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )
        axes.set_yticks(
            rows, labels=[_row_name(classes[index], float(mean_durations_seconds[index])) for index in order]
        )
        axes.tick_params(axis="y", length=0, labelcolor=canvas.INK)
        axes.set_xlim(-0.025, 1.025)  # so that dots at 0 and 1 stay clear of the edge
        axes.spines["left"].set_visible(False)
        axes.set_ylim(len(classes) - 0.5, -0.5)
        axes.set_xlabel(canvas.drawable(metric))
        axes.grid(axis="x")
        canvas.system_legend(figure, looks, with_markers=True)
        canvas.settle(figure)
    return figure


def _row_name(label: str, duration_seconds: float) -> str:
    """Class and mean event duration."""
    name = canvas.drawable(canvas.shortened(label, n_letters=36))
    if np.isnan(duration_seconds):
        return name
    return f"{name}  {duration_seconds:.{2 if duration_seconds < 1 else 1}f} s"
