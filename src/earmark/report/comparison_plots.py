"""Pictures of a comparison of pooling functions: how sure each figure is, class by class, and what was learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from earmark.report import canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

_DOT = 6.5  # of means, in points
_ROW_INCHES = 0.26


@dataclass(frozen=True)
class Dot:
    """A mean with its interval, and the values it is the mean of.

    Args:
        value: the mean; NaN draws nothing.
        low: lower end of the interval; NaN draws none.
        high: upper end.
        single: for instance one per seed; drawn small and pale.
    """

    value: float
    low: float
    high: float
    single: tuple[float, ...] = ()


def intervals_figure(
    *, panels: Mapping[str, Mapping[str, Dot]], reference: str, lower_is_better: Sequence[str] = ()
) -> Figure:
    """Draw one panel per figure of merit with a dot and an interval per system, and a line at that of the reference.

    The systems stand in the order given, the same in every panel.

    Args:
        panels: figure name -> system -> dot.
        reference: the system whose mean is drawn as a line through each panel; none if no panel has it.
        lower_is_better: figures whose title says so.

    Raises:
        ValueError: no panel, or panels of different systems.

    Example:
        >>> dots = {"power": Dot(0.7, 0.6, 0.8), "linear": Dot(0.65, 0.55, 0.75)}
        >>> figure = intervals_figure(panels={"event F1": dots}, reference="linear")
        >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
        ['power', 'linear']
    """
    systems = list(next(iter(panels.values()), {}))
    if not systems or any(list(dots) != systems for dots in panels.values()):
        raise ValueError("panels must hold at least one, and the same systems in the same order")
    looks = canvas.system_looks(systems)
    n_columns = min(2, len(panels))
    n_rows = -(-len(panels) // n_columns)
    with canvas.look():
        figure = canvas.new_figure(
            width_inches=canvas.SHEET_INCHES if n_columns == 2 else 5.2,
            height_inches=n_rows * (0.85 + _ROW_INCHES * len(systems)),
        )
        grid = figure.add_gridspec(n_rows, n_columns, hspace=0.08, wspace=0.04)
        for index, (name, dots) in enumerate(panels.items()):
            axes = figure.add_subplot(grid[index // n_columns, index % n_columns])
            _draw_dots(axes, list(dots.values()), looks)
            if reference in dots and np.isfinite(dots[reference].value):
                axes.axvline(
                    dots[reference].value, color=canvas.INK, linewidth=0.9, linestyle=canvas.THIN_DASHES,
                    zorder=0, gid="reference",
                )  # fmt: skip
            title = f"{name} (lower is better)" if name in lower_is_better else name
            axes.set_title(canvas.drawable(title))
            _name_rows(axes, systems if index % n_columns == 0 else [""] * len(systems))
        canvas.settle(figure)
    return figure


def _draw_dots(axes: Axes, dots: Sequence[Dot], looks: Mapping[str, canvas.SystemLook]) -> None:
    """Intervals as lines, means as dots, single values small above them."""
    for row, (dot, (name, system)) in enumerate(zip(dots, looks.items(), strict=True)):
        if np.isfinite(dot.low):
            axes.plot([dot.low, dot.high], [row, row], color=system.colour, linewidth=2, gid=f"interval {name}")
        axes.plot(
            list(dot.single), [row - 0.28] * len(dot.single), linestyle="none", marker="o", markersize=2.6,
            color=canvas.PALE_INK, gid=f"single {name}",
        )  # fmt: skip
        axes.plot(
            [dot.value], [row], linestyle="none", marker=system.marker, markersize=_DOT, color=system.colour,
            markeredgecolor="white", markeredgewidth=0.8, gid=f"mean {name}",
        )  # fmt: skip
    axes.set_ylim(len(dots) - 0.4, -0.6)
    drawn = [value for dot in dots for value in (dot.value, dot.low, dot.high, *dot.single) if np.isfinite(value)]
    low, high = min(drawn, default=0.0), max(drawn, default=1.0)
    margin = max(0.06 * (high - low), (0.02 - (high - low)) / 2)
    axes.set_xlim(low - margin, high + margin)
    axes.ticklabel_format(axis="x", useOffset=False)
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="x")
    axes.spines["left"].set_visible(False)


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Names at the left of the rows."""
    axes.set_yticks(range(len(names)), labels=[canvas.drawable(canvas.shortened(name, n_letters=30)) for name in names])
    axes.tick_params(axis="y", length=0, labelcolor=canvas.INK, labelsize=9)


def class_differences_figure(
    *,
    classes: Sequence[str],
    differences: Mapping[str, NDArray[np.floating]],
    is_sure: Mapping[str, NDArray[np.bool_]],
    reference: str,
    lower_is_better: bool = False,
) -> Figure:
    """Draw a table of differences from a reference, blue where a system is better and orange where it is worse.

    Numbers stand in bold where the interval does not hold 0.

    Args:
        classes: the rows.
        differences: system -> (classes,), system minus reference; NaN is written as a dash.
        is_sure: system -> (classes,), where the interval does not hold 0.
        reference: what was subtracted.
        lower_is_better: of the figure.

    Raises:
        ValueError: nothing to draw, or shapes that do not fit.

    Example:
        >>> figure = class_differences_figure(classes=["dog"], differences={"power": np.array([0.05])},
        ...     is_sure={"power": np.array([True])}, reference="linear")
        >>> [text.get_text() for text in figure.axes[0].texts]
        ['+0.05']
    """
    table = np.array(list(differences.values())).T  # (classes, systems)
    if table.size == 0 or table.shape[0] != len(classes):
        raise ValueError(f"differences must have one number per class, {len(classes)}, got shape {table.T.shape}")
    finite = np.abs(table[np.isfinite(table)])
    largest = max(0.05, float(finite.max(initial=0.0)))
    with canvas.look():
        figure = canvas.new_figure(
            width_inches=max(4.2, min(12.0, 1.9 + 0.72 * len(differences))),
            height_inches=1.25 + 0.27 * len(classes),
        )
        axes = figure.add_subplot()
        shade = np.nan_to_num(-table if lower_is_better else table) / largest
        axes.imshow(shade, cmap=_better_and_worse(), vmin=-1, vmax=1, aspect="auto")
        for row, of_class in enumerate(table):
            for column, (system, value) in enumerate(zip(differences, of_class, strict=True)):
                axes.text(
                    column, row, "–" if np.isnan(value) else f"{value:+.2f}".replace("-", "−"),
                    ha="center", va="center", fontsize=8,
                    fontweight="bold" if is_sure[system][row] else "normal",
                    color="white" if abs(shade[row, column]) > 0.8 else canvas.INK,
                )  # fmt: skip
        names = [canvas.drawable(canvas.shortened(label, n_letters=30)) for label in classes]
        axes.set_yticks(range(len(classes)), labels=names)
        systems = [canvas.drawable(canvas.shortened(name, n_letters=24)) for name in differences]
        axes.set_xticks(range(len(differences)), labels=systems)
        axes.tick_params(length=0, labelcolor=canvas.INK)
        axes.tick_params(axis="x", top=True, labeltop=True, bottom=False, labelbottom=False)
        if len(differences) > 3:
            for label in axes.get_xticklabels():
                label.set(rotation=40, ha="left", rotation_mode="anchor")
        for side in axes.spines.values():
            side.set_visible(False)
        canvas.settle(figure)
    return figure


def _better_and_worse() -> LinearSegmentedColormap:
    """Orange for worse, white for equal, blue for better."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("better", ["#c04a00", "#f6ddcd", "#ffffff", "#cfe2f1", "#0064ad"])


def parameters_figure(
    *,
    classes: Sequence[str],
    values: Mapping[str, Mapping[int, NDArray[np.floating]]],
    names: Mapping[str, str],
    systems: Sequence[str],
) -> Figure:
    """Draw what each system learned for each class, a panel per system and a dot per seed.

    Args:
        classes: the rows.
        values: system -> seed -> (classes,).
        names: system -> what its parameter is called.
        systems: all of the comparison, in its order, so that each looks as it does in the other pictures.

    Raises:
        ValueError: no system.

    Example:
        >>> figure = parameters_figure(classes=["dog"], values={"power": {0: np.array([1.2])}}, names={"power": "n"},
        ...     systems=["power", "linear"])
        >>> figure.axes[0].get_title(loc="left"), figure.axes[0].get_xlabel()
        ('power', 'n')
    """
    if not values:
        raise ValueError("values must have at least one system, got none")
    looks = canvas.system_looks(systems)
    n_columns = min(3, len(values))
    n_rows = -(-len(values) // n_columns)
    with canvas.look():
        figure = canvas.new_figure(
            width_inches=max(4.2, 1.5 + 2.1 * n_columns), height_inches=n_rows * (0.9 + 0.25 * len(classes))
        )
        grid = figure.add_gridspec(n_rows, n_columns, hspace=0.06, wspace=0.04)
        for index, (name, of_seeds) in enumerate(values.items()):
            axes = figure.add_subplot(grid[index // n_columns, index % n_columns])
            table = np.array(list(of_seeds.values()))  # (seeds, classes)
            rows = np.arange(len(classes))
            for row in rows[::2]:
                axes.axhspan(row - 0.5, row + 0.5, facecolor="#f3f4f6", zorder=0, gid="band")
            axes.plot(
                table.T, rows, linestyle="none", marker=looks[name].marker, markersize=5, color=looks[name].colour,
                markeredgecolor="white", markeredgewidth=0.6, gid=f"values {name}",
            )  # fmt: skip
            axes.set_ylim(len(classes) - 0.5, -0.5)
            axes.set_title(canvas.drawable(name))
            axes.set_xlabel(canvas.drawable(names[name]))
            low, high = float(table.min()), float(table.max())
            margin = max(0.06 * (high - low), (0.2 - (high - low)) / 2)  # equal values are not blown up into a cloud
            axes.set_xlim(low - margin, high + margin)
            axes.ticklabel_format(axis="x", useOffset=False)
            axes.locator_params(axis="x", nbins=4)
            axes.grid(axis="x")
            axes.spines["left"].set_visible(False)
            _name_rows(axes, classes if index % n_columns == 0 else [""] * len(classes))
        canvas.settle(figure)
    return figure
