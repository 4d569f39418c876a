"""Pictures of curves: precision against recall, hits against false alarms, and every class's figures with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from earmark.report import canvas
from earmark.report.placement import spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CurvePoints = tuple[NDArray[np.float64], NDArray[np.float64]]  # x and y, both (points,)
_COLUMNS = 4
_F1_LINES = (0.2, 0.4, 0.6, 0.8)


def precision_recall_figure(
    *,
    curves: Mapping[str, Mapping[str, CurvePoints]],
    notes: Mapping[str, str] | None = None,
) -> Figure:
    """Draw one panel per class: precision against recall, the point with the best F1, and lines of equal F1.

    Args:
        curves: system -> class -> recall and precision at every threshold, from the highest down. A class whose recall
            is NaN has nothing to find, and its panel says so.
        notes: class -> what stands in its panel, for instance its average precision.

    Raises:
        ValueError: no system, no class, or systems with other classes.

    Example:
        >>> points = (np.array([0.0, 0.5, 1.0]), np.array([1.0, 1.0, 0.5]))
        >>> figure = precision_recall_figure(curves={"mine": {"dog": points}}, notes={"dog": "AP 0.75"})
        >>> figure.axes[0].get_title(loc="left"), figure.axes[0].texts[0].get_text()
        ('dog', 'AP 0.75')
    """
    classes = _common_classes(curves)
    looks = canvas.system_looks(list(curves))
    n_columns = min(_COLUMNS, len(classes))
    n_rows = math.ceil(len(classes) / n_columns)
    with canvas.look():
        figure = canvas.new_figure(
            width_inches=max(3.4, canvas.SHEET_INCHES * n_columns / _COLUMNS), height_inches=0.75 + 1.85 * n_rows
        )
        panels = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True)
        for place, axes in enumerate(panels.flat):
            axes.set_visible(place < len(classes))
            # The scale stands below the last panel of each column, also where the row below has no panel there.
            axes.tick_params(labelbottom=len(classes) - n_columns <= place < len(classes))
        for axes, label in zip(panels.flat, classes, strict=False):
            _f1_lines(axes)
            for system, of_class in curves.items():
                _draw_curve(axes, *of_class[label], looks[system], system)
            axes.set_title(canvas.drawable(canvas.shortened(label, n_letters=20)), fontsize=8.5)
            if notes is not None and label in notes:
                _write_note(axes, notes[label], [of_class[label] for of_class in curves.values()])
        figure.supxlabel("recall (grey: lines of equal F1, 0.2 to 0.8)", fontsize=9)
        figure.supylabel("precision", fontsize=9)
        panels[0, 0].set(xlim=(0, 1.02), ylim=(0, 1.04))
        for axes in panels.flat:
            axes.set_xticks([0, 0.5, 1], labels=["0", "0.5", "1"])  # 1.0 and 0.0 of two panels would touch
            axes.set_yticks([0, 0.5, 1], labels=["0", "0.5", "1"])
        if len(curves) > 1:
            canvas.system_legend(figure, looks, with_markers=False)
        canvas.settle(figure)
    return figure


def psd_roc_figure(*, overall: CurvePoints, of_class: Mapping[str, CurvePoints], max_rate: float, unit: str) -> Figure:
    """Draw the curve behind a PSDS: the true positive rate against false alarms, all classes together and each alone.

    The area under the bold line, as a part of the whole picture, is the PSDS.

    Args:
        overall: rates, and effective true positive rates, of all classes together.
        of_class: class -> rates and true positive rates.
        max_rate: false alarms per unit of time up to which the curve counts.
        unit: ``"hour"`` or the like.

    Raises:
        ValueError: no class.

    Example:
        >>> steps = (np.array([0.0, 20.0]), np.array([0.0, 0.5]))
        >>> figure = psd_roc_figure(overall=steps, of_class={"dog": steps}, max_rate=100.0, unit="hour")
        >>> figure.axes[0].get_xlabel()
        'effective false alarms per hour'
    """
    if not of_class:
        raise ValueError("of_class must have at least one class, got none - there would be nothing to draw")
    with canvas.look():
        height_inches = max(4.2, 1.2 + 0.2 * len(of_class))  # so high that the names have room
        figure = canvas.new_figure(width_inches=canvas.SHEET_INCHES, height_inches=height_inches)
        axes = figure.add_subplot()
        ends = {}
        for number, (label, points) in enumerate(of_class.items()):
            rate, hit_rate = _held_up_to(points, max_rate)
            colour = canvas.COLOURS[number % len(canvas.COLOURS)]
            dashes = canvas.DASHES[number // len(canvas.COLOURS) % len(canvas.DASHES)]
            axes.step(rate, hit_rate, where="post", color=colour, linestyle=dashes, linewidth=1.0, alpha=0.8, gid=label)
            ends[label] = (float(hit_rate[-1]), colour)
        rate, hit_rate = _held_up_to(overall, max_rate)
        axes.fill_between(rate, hit_rate, step="post", color=canvas.SHADE, alpha=0.6, zorder=0, linewidth=0)
        axes.step(rate, hit_rate, where="post", color=canvas.INK, linewidth=2.4, gid="overall")
        ends["all classes"] = (float(hit_rate[-1]), canvas.INK)
        _name_ends(axes, ends, max_rate, gap=0.18 / height_inches)
        axes.set(xlim=(0, max_rate), ylim=(0, 1.02))
        axes.set_xlabel(f"effective false alarms per {unit}")
        axes.set_ylabel("true positive rate")
        axes.grid()
        canvas.settle(figure)
    return figure


def class_intervals_figure(
    *,
    values: Mapping[str, Mapping[str, float]],
    intervals: Mapping[str, Mapping[str, tuple[float, float]]],
    note: str,
) -> Figure:
    """Draw one panel per figure of merit with a bar per class and a line for its interval, the mean on top.

    Args:
        values: figure -> class -> value; the first class is drawn apart from the others, as the mean of all. NaN is
            written as a dash.
        intervals: figure -> class -> (low, high); without one there is no line.
        note: what the lines are, for instance "95 % over 40 patients".

    Raises:
        ValueError: no figure, or figures with other classes.

    Example:
        >>> figure = class_intervals_figure(
        ...     values={"event F1": {"mean": 0.5, "dog": 0.4, "cat": 0.6}},
        ...     intervals={"event F1": {"dog": (0.3, 0.5)}}, note="95 % over 12 patients")
        >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
        ['mean', 'dog', 'cat']
    """
    classes = _common_classes({name: dict.fromkeys(of_class) for name, of_class in values.items()})
    rows = np.arange(len(classes)) + np.append(0.0, np.full(len(classes) - 1, 0.35))  # the mean stands apart
    with canvas.look():
        figure = canvas.new_figure(width_inches=canvas.SHEET_INCHES, height_inches=1.1 + 0.24 * len(classes))
        panels = figure.subplots(1, len(values), squeeze=False, sharey=True, sharex=True)[0]
        for axes, (name, of_class) in zip(panels, values.items(), strict=True):
            heights = np.array([of_class[label] for label in classes])
            colours = [canvas.INK] + [canvas.COLOURS[0]] * (len(classes) - 1)
            axes.barh(rows, np.nan_to_num(heights), height=0.66, color=colours, alpha=0.85)
            for row, label, value in zip(rows, classes, heights, strict=True):
                low, high = intervals.get(name, {}).get(label, (np.nan, np.nan))
                if np.isfinite([low, high]).all():
                    axes.plot([low, high], [row, row], color="white", linewidth=3.2, solid_capstyle="butt")
                    axes.plot([low, high], [row, row], color="#d9482b", linewidth=1.4, gid=f"interval {label}")
                axes.annotate(
                    "-" if np.isnan(value) else f"{value:.2f}",
                    (float(np.nanmax([value, high, 0.0])), row),
                    xytext=(3, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=8,
                    fontweight="bold" if row == 0 else "normal",
                )
            title = canvas.drawable(name)
            axes.set_title(title.replace(" ", "\n", 1) if len(title) > 10 else title)  # five panels are no wider
            axes.set_xlim(0, 1.05 + 0.09 * len(values))  # room for a value behind 1, which is more of a narrow panel
            axes.set_xticks([0, 0.5, 1], labels=["0", "0.5", "1"])
            axes.tick_params(axis="y", length=0, labelcolor=canvas.INK)
            axes.grid(axis="x")
        panels[0].set_yticks(rows, labels=[canvas.drawable(canvas.shortened(label, n_letters=30)) for label in classes])
        panels[0].set_ylim(rows[-1] + 0.6, -0.6)
        figure.supxlabel(f"line: {canvas.drawable(note)}", fontsize=8.5, color=canvas.PALE_INK)
        canvas.settle(figure)
    return figure


def _common_classes(systems: Mapping[str, Mapping[str, object]]) -> list[str]:
    """The classes, which must be the same everywhere."""
    first = next(iter(systems.values()), None)
    if not first:
        raise ValueError("there must be at least one system with one class, got none - there would be nothing to draw")
    for name, of_class in systems.items():
        if list(of_class) != list(first):
            raise ValueError(
                f"all must have the same classes, {name!r} has {', '.join(of_class)} instead of {', '.join(first)}"
            )
    return list(first)


def _write_note(axes: Axes, note: str, curves: Sequence[CurvePoints]) -> None:
    """Write below left, where good curves never are, or above right, where bad ones never are."""
    recall, precision = (np.concatenate([points[place] for points in curves]) for place in (0, 1))
    n_below = np.count_nonzero((recall < 0.8) & (precision < 0.2) & (recall + precision > 0))
    n_above = np.count_nonzero((recall > 0.2) & (precision > 0.8))
    x, y, side, end = (0.05, 0.06, "left", "bottom") if n_below <= n_above else (0.97, 0.97, "right", "top")
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85}
    axes.text(x, y, note, ha=side, va=end, fontsize=8, color=canvas.INK, bbox=box)


def _f1_lines(axes: Axes) -> None:
    """Where precision and recall give the same F1."""
    for f1 in _F1_LINES:
        recall = np.linspace(f1 / (2 - f1), 1, 50)
        axes.plot(recall, f1 * recall / (2 * recall - f1), color=canvas.GRID, linewidth=0.8, zorder=0)


def _draw_curve(
    axes: Axes, recall: NDArray[np.float64], precision: NDArray[np.float64], look: canvas.SystemLook, system: str
) -> None:
    """One curve and its best point."""
    if np.isnan(recall).any():
        axes.text(0.5, 0.5, "no events", ha="center", va="center", fontsize=8, color=canvas.PALE_INK)
        return
    axes.plot(recall, precision, color=look.colour, linestyle=look.dashes, linewidth=1.3, gid=f"curve {system}")
    total = precision + recall
    best = int(np.argmax(np.divide(2 * precision * recall, total, out=np.zeros(len(total)), where=total > 0)))
    axes.plot(
        recall[best],
        precision[best],
        marker=look.marker,
        color=look.colour,
        markersize=6.5,
        markeredgecolor="white",
        clip_on=False,
        zorder=3,
        gid=f"best {system}",
    )


def _held_up_to(points: CurvePoints, max_rate: float) -> CurvePoints:
    """A curve of steps that goes on to the end of the picture."""
    rate, hit_rate = points
    return np.append(rate, max_rate), np.append(hit_rate, hit_rate[-1])


def _name_ends(axes: Axes, ends: Mapping[str, tuple[float, str]], max_rate: float, *, gap: float) -> None:
    """Write every curve's name behind its end, apart from each other."""
    heights = spread([height for height, _ in ends.values()], gap=gap, low=0.0, high=1.0)
    for (label, (end, colour)), height in zip(ends.items(), heights, strict=True):
        axes.annotate(
            canvas.drawable(canvas.shortened(label, n_letters=26)),
            (max_rate, end),
            xytext=(1.025, height),
            textcoords=axes.transAxes,
            va="center",
            fontsize=8.5,
            fontweight="bold" if label == "all classes" else "normal",
            color=colour,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.6,
                "shrinkA": 1,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )
