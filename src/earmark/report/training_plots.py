"""Pictures of a training run: what it learned, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from earmark import checks
from earmark.report import canvas
from earmark.report.placement import spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class TrainingCurves:
    """What one run wrote down while it learned.

    Args:
        name: the system, for instance ``"power"``.
        steps: (steps,), number of each optimiser step.
        losses: (steps,), training loss at that step.
        epochs: (epochs,), number of each epoch.
        held_out: figure name -> (epochs,), for instance ``{"clip F1": ...}``.
        n_values: (epochs, classes), the pooling parameter after each epoch; None where none is learned.
        kept_epoch: the epoch whose weights were kept, which gets a ring; None draws none.
    """

    name: str
    steps: NDArray[np.integer]
    losses: NDArray[np.floating]
    epochs: NDArray[np.integer]
    held_out: Mapping[str, NDArray[np.floating]] = field(default_factory=dict)
    n_values: NDArray[np.floating] | None = None
    kept_epoch: int | None = None

    def __post_init__(self) -> None:
        per_epoch = {f"held_out[{name!r}]": values for name, values in self.held_out.items()}
        if self.n_values is not None:
            checks.shape("n_values", self.n_values.shape, "(epochs, classes)")
            per_epoch["n_values"] = self.n_values
            if not np.isfinite(self.n_values).all():
                raise ValueError(
                    f"n_values of {self.name!r} must be finite, got NaN or infinity - did the training end with NaN?"
                )
        for argument, values, counts in [
            ("losses", self.losses, self.steps),
            *((name, values, self.epochs) for name, values in per_epoch.items()),
        ]:
            if len(values) != len(counts):
                raise ValueError(
                    f"{argument} of {self.name!r} must have {len(counts)} entries, got {len(values)} "
                    f"- are steps and epochs mixed up?"
                )


def training_figure(runs: Sequence[TrainingCurves], *, classes: Sequence[str]) -> Figure:
    """Draw how runs learned: loss per step, each held-out figure per epoch, and n per class for runs that learn it.

    Runs share the panels of loss and held-out figures, so they can be compared; each run that learns n has a panel
    of its own, with the line n = 1 of linear softmax.

    Args:
        runs: at least one, with different names.
        classes: names of the last axis of `n_values`.

    Raises:
        ValueError: no run, two of one name, or another number of classes in `n_values`.

    Example:
        >>> run = TrainingCurves("power", np.arange(4), np.array([0.7, 0.5, 0.4, 0.3]), np.arange(2),
        ...                      held_out={"clip F1": np.array([0.2, 0.6])}, n_values=np.array([[1.0], [1.2]]))
        >>> [axes.get_title(loc="left") for axes in training_figure([run], classes=["dog"]).axes]
        ['training loss', 'held-out clip F1', 'n per class: power']
    """
    if not runs:
        raise ValueError("runs must have at least one entry, got none")
    looks = canvas.system_looks([run.name for run in runs])
    figures = list(dict.fromkeys(name for run in runs for name in run.held_out))
    learned = [(run, run.n_values) for run in runs if run.n_values is not None and len(run.epochs) > 0]
    for run, n_values in learned:
        if n_values.shape[1] != len(classes):
            raise ValueError(
                f"n_values of {run.name!r} must have {len(classes)} classes on the last axis, "
                f"got {n_values.shape[1]} - is this the run of another model?"
            )
    n_panels = 1 + len(figures) + len(learned)
    n_columns = min(2, n_panels)
    n_rows = -(-n_panels // n_columns)
    with canvas.look():
        figure = canvas.new_figure(
            width_inches=canvas.SHEET_INCHES if n_columns == 2 else 5, height_inches=0.35 + 2.8 * n_rows
        )
        grid = figure.add_gridspec(n_rows, n_columns, hspace=0.09, wspace=0.04)
        panels = [figure.add_subplot(grid[index // n_columns, index % n_columns]) for index in range(n_panels)]
        _draw_losses(panels[0], runs, looks)
        for axes, name in zip(panels[1:], figures, strict=False):
            _draw_held_out(axes, name, runs, looks)
        for axes, (run, n_values) in zip(panels[1 + len(figures) :], learned, strict=True):
            _draw_n(axes, run, n_values, classes)
        canvas.system_legend(figure, looks, with_markers=False)
        canvas.settle(figure)
    return figure


def _draw_losses(axes: Axes, runs: Sequence[TrainingCurves], looks: Mapping[str, canvas.SystemLook]) -> None:
    """Every step faintly, and a running mean boldly, because single steps hide the course."""
    for run in runs:
        system = looks[run.name]
        axes.plot(run.steps, run.losses, color=system.colour, linewidth=0.6, alpha=0.25, gid=f"loss {run.name}")
        width = max(1, len(run.losses) // 25)
        if len(run.losses) >= width:
            mean = np.convolve(run.losses, np.full(width, 1 / width), "valid")
            axes.plot(
                run.steps[width - 1 :],
                mean,
                color=system.colour,
                linestyle=system.dashes,
                linewidth=1.8,
                gid=f"mean loss {run.name}",
            )
    axes.set_title("training loss")
    axes.set_xlabel("step (faint: each step; bold: running mean)")
    axes.set_ylim(bottom=0)
    axes.grid(axis="y")


def _draw_held_out(
    axes: Axes, name: str, runs: Sequence[TrainingCurves], looks: Mapping[str, canvas.SystemLook]
) -> None:
    """One held-out figure of every run that has it, with a ring at the epoch that was kept."""
    from matplotlib.ticker import MaxNLocator

    ringed = False
    for run in (run for run in runs if name in run.held_out):
        system, values = looks[run.name], run.held_out[name]
        axes.plot(
            run.epochs,
            values,
            color=system.colour,
            linestyle=system.dashes,
            linewidth=1.8,
            marker=_epoch_marker(len(values)),
            gid=f"held-out {run.name}",
        )
        for index in np.flatnonzero(run.epochs == run.kept_epoch) if run.kept_epoch is not None else ():
            ringed = True
            axes.plot(
                run.epochs[index],
                values[index],
                marker="o",
                markersize=9,
                markerfacecolor="none",
                markeredgecolor=system.colour,
                markeredgewidth=1.8,
                linestyle="none",
                gid=f"kept {run.name}",
            )
    axes.set_title(f"held-out {canvas.drawable(name)}")
    axes.set_xlabel("epoch (ring: the weights that were kept)" if ringed else "epoch")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="y")


def _draw_n(axes: Axes, run: TrainingCurves, n_values: NDArray[np.floating], classes: Sequence[str]) -> None:
    """The path of n for every class, named at its end."""
    from matplotlib.ticker import MaxNLocator

    class_looks = [canvas.COLOURS[index % len(canvas.COLOURS)] for index in range(len(classes))]
    axes.axhline(1, color=canvas.INK, linewidth=0.9, linestyle=canvas.THIN_DASHES, gid="linear softmax")
    for index, label in enumerate(classes):
        axes.plot(
            run.epochs,
            n_values[:, index],
            color=class_looks[index],
            linewidth=1.5,
            linestyle=canvas.DASHES[index % len(canvas.DASHES)],
            marker=_epoch_marker(len(run.epochs)),
            gid=f"n {label}",
        )
    low, high = min(0.9, float(n_values.min())), max(1.1, float(n_values.max()))
    margin = 0.08 * (high - low)
    low, high = max(0.0, low - margin), high + margin
    axes.set_ylim(low, high)
    ends = n_values[-1]
    heights = spread(ends, gap=(high - low) / 14, low=low, high=high)
    for index, (label, height) in enumerate(zip(classes, heights, strict=True)):
        axes.plot(
            [1, 1.03],
            [ends[index], height],
            transform=axes.get_yaxis_transform(),
            clip_on=False,
            color=class_looks[index],
            linewidth=0.8,
            gid=f"leader {label}",
        )
        axes.text(
            1.04,
            height,
            canvas.drawable(canvas.shortened(label, n_letters=24)),
            color=class_looks[index],
            transform=axes.get_yaxis_transform(),
            fontsize=8,
            va="center",
        )
    if len(run.epochs) > 1:
        axes.set_xlim(run.epochs[0], run.epochs[-1])
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(f"n per class: {canvas.drawable(run.name)}")
    axes.set_xlabel("epoch (dashed: n = 1, linear softmax)")
    axes.grid(axis="y")


def _epoch_marker(n_epochs: int) -> str:
    """Dots while there are few epochs: a line through one point cannot be seen."""
    return "o" if n_epochs <= 3 else "none"
