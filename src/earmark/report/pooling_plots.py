"""The picture of the pooling parameter: which n the classes of each length have learned."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from earmark.report import canvas
from earmark.report.correlation import spearman
from earmark.report.placement import Box, place_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS_PER_INCH = 72
DURATION_TICKS_SECONDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def pooling_parameter_figure(
    *,
    names: Sequence[str],
    mean_durations_seconds: NDArray[np.floating],
    n_values: Mapping[str, NDArray[np.floating]],
    reference_line: float = 1.0,
) -> Figure:
    """Draw the learned n of each class against the class's mean event duration, with Spearman's rho.

    Several values of one class (systems or seeds) stand above each other, joined by a thin line. The time axis is
    logarithmic; rho does not depend on that. The axis of n reaches as far as the values and the reference line do.

    Args:
        names: class names.
        mean_durations_seconds: (classes,), above 0; NaN for a class without events, which is left out and named.
        n_values: for each system or seed, (classes,).
        reference_line: n of linear softmax, drawn dashed.

    Raises:
        ValueError: shapes that do not fit, fewer than two classes with a duration, or values that are not finite.

    Example:
        >>> figure = pooling_parameter_figure(names=["knock", "hum"], mean_durations_seconds=np.array([0.2, 5.0]),
        ...                                   n_values={"power": np.array([2.1, 0.4])})
        >>> [text.get_text() for text in figure.legends[0].get_texts() + figure.axes[0].texts]
        ['power: Spearman ρ = −1.00', 'knock', 'hum']
    """
    has_events = np.isfinite(mean_durations_seconds)
    _check_n_values(names, mean_durations_seconds, n_values)
    durations = mean_durations_seconds[has_events]
    values = {system: n[has_events] for system, n in n_values.items()}
    looks = canvas.system_looks(list(values))
    with canvas.look():
        figure = canvas.new_figure(width_inches=canvas.SHEET_INCHES, height_inches=4.2)
        axes = figure.add_subplot()
        stacked = np.array(list(values.values()))  # (systems, classes)
        axes.axhline(reference_line, color=canvas.INK, linewidth=0.9, linestyle=canvas.THIN_DASHES, gid="reference")
        if len(values) > 1:
            axes.vlines(durations, stacked.min(axis=0), stacked.max(axis=0), color="#b9c0c8", linewidth=1.2, zorder=1)
        for system, n in values.items():
            axes.plot(
                durations,
                n,
                linestyle="none",
                marker=looks[system].marker,
                color=looks[system].colour,
                markersize=7,
                markeredgecolor="white",
                markeredgewidth=0.8,
                gid=f"n {system}",
            )
        _duration_axis(axes, durations)
        low, high = min(float(stacked.min()), reference_line), max(float(stacked.max()), reference_line)
        margin = max(0.12 * (high - low), 0.05)  # room for names, and an axis even where all n are 1
        axes.set_ylim(low - margin, high + margin)
        axes.set_ylabel("n, the learned exponent")
        axes.grid()
        missing = [name for name, there in zip(names, has_events, strict=True) if not there]
        if missing:
            figure.supxlabel(
                f"not drawn, no events: {canvas.drawable(', '.join(missing))}",
                fontsize=8,
                x=0.01,
                ha="left",
                color=canvas.PALE_INK,
            )
        canvas.system_legend(figure, looks, with_markers=True, notes=_rho_notes(durations, values))
        canvas.settle(figure)
        _name_points(
            figure,
            axes,
            [name for name, there in zip(names, has_events, strict=True) if there],
            durations,
            stacked,
            reference_line=reference_line,
        )
    return figure


def _check_n_values(
    names: Sequence[str], durations: NDArray[np.floating], n_values: Mapping[str, NDArray[np.floating]]
) -> None:
    """All arrays have one finite entry per class, and there is something to draw."""
    if not n_values:
        raise ValueError("n_values must have at least one system, got none")
    for argument, array in [
        ("mean_durations_seconds", durations),
        *((f"n_values[{system!r}]", values) for system, values in n_values.items()),
    ]:
        if array.shape != (len(names),):
            raise ValueError(f"{argument} must have shape (classes,) = ({len(names)},), got {array.shape}")
        if argument != "mean_durations_seconds" and not np.isfinite(array).all():
            raise ValueError(f"{argument} must be finite, got {array.tolist()} - did the training end with NaN?")
    known = durations[np.isfinite(durations)]
    if len(known) < 2 or (known <= 0).any():
        raise ValueError(f"mean_durations_seconds must be above 0 for at least two classes, got {durations.tolist()}")


def _duration_axis(axes: Axes, durations: NDArray[np.floating]) -> None:
    """A logarithmic axis in plain seconds, with room on both sides for names."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    low, high = float(durations.min()) / 1.35, float(durations.max()) * 1.35
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in DURATION_TICKS_SECONDS if low <= tick <= high]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds:g}"))
    axes.set_xlabel("mean event duration, seconds")


def _rho_notes(durations: NDArray[np.floating], values: Mapping[str, NDArray[np.floating]]) -> dict[str, str]:
    """What is written behind each system's name."""
    notes = {}
    for system, n in values.items():
        rho = spearman(durations, n)
        notes[system] = f"Spearman ρ = {rho:.2f}".replace("-", "−")
        if math.isnan(rho):
            notes[system] = f"n = {n[0]:g} everywhere" if np.ptp(n) == 0 else "durations are all equal"
    return notes


def _name_points(
    figure: Figure,
    axes: Axes,
    names: Sequence[str],
    durations: NDArray[np.floating],
    stacked: NDArray[np.floating],
    *,
    reference_line: float,
) -> None:
    """Write each class beside its highest point, clear of points, of other names and of the reference line."""
    pixels_per_point = figure.dpi / POINTS_PER_INCH
    to_pixels = axes.transData.transform
    radius = 4.5 * pixels_per_point
    points = [to_pixels((x, y)) for values in stacked for x, y in zip(durations, values, strict=True)]
    obstacles = [Box(x - radius, y - radius, x + radius, y + radius) for x, y in points]
    frame = axes.get_window_extent()
    line_y = to_pixels((durations[0], reference_line))[1]
    obstacles.append(Box(frame.x0, line_y - pixels_per_point, frame.x1, line_y + pixels_per_point))
    anchors = [(float(x), float(y)) for x, y in to_pixels(np.column_stack([durations, stacked.max(axis=0)]))]
    texts = [axes.text(0, 0, canvas.drawable(canvas.shortened(name, n_letters=28)), fontsize=8.5) for name in names]
    extents = [text.get_window_extent() for text in texts]
    boxes = place_labels(
        anchors,
        [(extent.width, extent.height) for extent in extents],
        obstacles=obstacles,
        bounds=Box(frame.x0, frame.y0, frame.x1, frame.y1),
        distances=[points * pixels_per_point for points in (6, 11, 18, 28, 40)],
    )
    to_data = axes.transData.inverted().transform
    for text, box, anchor in zip(texts, boxes, anchors, strict=True):
        left, bottom = to_data((box.left, box.bottom))
        text.set_position((float(left), float(bottom)))
        text.set_verticalalignment("bottom")
        nearest = (min(max(anchor[0], box.left), box.right), min(max(anchor[1], box.bottom), box.top))
        if math.dist(anchor, nearest) > 9 * pixels_per_point:
            ends = to_data([anchor, nearest])
            axes.plot(ends[:, 0], ends[:, 1], color=canvas.PALE_INK, linewidth=0.6, zorder=1, gid="leader")
