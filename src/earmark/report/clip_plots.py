"""Pictures of clips: what a detector saw and said in one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from earmark import checks
from earmark.events import Event
from earmark.report import canvas
from earmark.report.spectrogram import draw_spectrogram
from earmark.timeline import Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LANE_HEIGHT = 0.21  # of a lane of detected events, in units of probability


def clip_figure(
    *,
    log_mel: NDArray[np.floating],
    feature_timeline: Timeline,
    frame_probs: Mapping[str, NDArray[np.floating]],
    classes: Sequence[str],
    shown_classes: Sequence[str],
    timeline: Timeline,
    reference: Sequence[Event],
    detected: Mapping[str, Sequence[Event]],
    clip_probs: Mapping[str, NDArray[np.floating]],
    sign_thresholds: Mapping[str, NDArray[np.floating]],
    mel_frequencies: NDArray[np.floating] | None = None,
    title: str = "",
) -> Figure:
    """Draw one clip: its spectrogram, and below it for each shown class what every system thought, frame by frame.

    Curves are the frame probabilities, shaded spans the reference events, bars under the curves the detected events,
    and thin dashed lines theta * y^c: frames above that line are pushed up when the clip's tag is true. Right of its
    bars stand each system's y^c and theta * y^c.

    Args:
        log_mel: (frames, mels), one row per frame of `feature_timeline`.
        feature_timeline: grid of `log_mel`.
        frame_probs: for each system, (frames, classes) on `timeline`.
        classes: all class names, in the order of the last axis.
        shown_classes: classes that get a row, from top to bottom.
        timeline: grid of the probabilities.
        reference: events that are true, of any class.
        detected: for each system, the events it found.
        clip_probs: for each system, y^c with shape (classes,).
        sign_thresholds: for each system, theta * y^c with shape (classes,); NaN where there is none. Not drawn
            outside 0 to 1.
        mel_frequencies: (mels,), centre of each band in Hz, increasing; None labels the bands by number.
        title: written above the spectrogram, for instance the file name.

    Raises:
        ValueError: shapes that do not fit together, a system that is missing in one mapping, an unknown class.

    Example:
        >>> grid = Timeline(sample_rate=16000, hop_samples=640)
        >>> figure = clip_figure(log_mel=np.zeros((25, 8)), feature_timeline=grid, classes=["dog"],
        ...     shown_classes=["dog"], frame_probs={"power": np.full((25, 1), 0.8)}, timeline=grid,
        ...     reference=[Event(0.2, 0.6, "dog")], detected={"power": [Event(0.2, 0.56, "dog", 0.8)]},
        ...     clip_probs={"power": np.array([0.8])}, sign_thresholds={"power": np.array([0.4])})
        >>> [axes.get_title(loc="left") for axes in figure.axes]
        ['spectrogram', 'dog']
    """
    checks.shape("log_mel", log_mel.shape, "(frames, mels)", hint="one clip, without the batch axis")
    checks.known_labels(shown_classes, classes, where="shown_classes")
    checks.known_labels((event.label for event in reference), classes, where="reference")
    if not shown_classes or not frame_probs:
        raise ValueError("shown_classes and frame_probs must not be empty - there would be nothing to draw")
    _check_systems(frame_probs, detected, clip_probs, sign_thresholds, classes=classes)
    looks = canvas.system_looks(list(frame_probs))
    duration_seconds = log_mel.shape[0] * feature_timeline.hop_seconds
    with canvas.look():
        row_inches = 1.1 + 0.18 * len(looks)
        figure = canvas.new_figure(
            width_inches=canvas.SHEET_INCHES, height_inches=2.5 + row_inches * len(shown_classes)
        )
        grid = figure.add_gridspec(1 + len(shown_classes), 1, height_ratios=[1.75] + [row_inches] * len(shown_classes))
        top = figure.add_subplot(grid[0])
        draw_spectrogram(top, log_mel, hop_seconds=feature_timeline.hop_seconds, mel_frequencies=mel_frequencies)
        top.set_title(canvas.drawable(canvas.shortened(title, n_letters=65)) if title else "spectrogram")
        top.tick_params(labelbottom=False)
        for row, label in enumerate(shown_classes, start=1):
            axes = figure.add_subplot(grid[row], sharex=top)
            index = list(classes).index(label)
            axes.set_title(canvas.drawable(label))
            _draw_reference(axes, [event for event in reference if event.label == label])
            _draw_lanes(axes, label, detected, looks)
            for name, system in looks.items():
                centres = (np.arange(len(frame_probs[name])) + 0.5) * timeline.hop_seconds
                axes.plot(
                    centres,
                    frame_probs[name][:, index],
                    color=system.colour,
                    linestyle=system.dashes,
                    linewidth=1.7,
                    gid=f"curve {name}",
                )
            _draw_thresholds(
                axes,
                looks,
                {name: float(clip_probs[name][index]) for name in looks},
                {name: float(sign_thresholds[name][index]) for name in looks},
            )
            axes.tick_params(labelbottom=row == len(shown_classes))
        axes.set_xlabel("seconds")
        canvas.seconds_axis(top, duration_seconds=duration_seconds)
        top.grid(False)
        canvas.system_legend(figure, looks, with_markers=False)
        _explain_marks(figure)
        figure.align_ylabels()
        canvas.settle(figure)
    return figure


def _check_systems(
    frame_probs: Mapping[str, NDArray[np.floating]],
    detected: Mapping[str, Sequence[Event]],
    clip_probs: Mapping[str, NDArray[np.floating]],
    sign_thresholds: Mapping[str, NDArray[np.floating]],
    *,
    classes: Sequence[str],
) -> None:
    """Every system must be in every mapping, with one value per class."""
    for name, probs in frame_probs.items():
        for argument, names in (
            ("detected", set(detected)),
            ("clip_probs", set(clip_probs)),
            ("sign_thresholds", set(sign_thresholds)),
        ):
            if name not in names:
                raise ValueError(
                    f"{argument} must have an entry for every system of frame_probs, got none for {name!r}"
                    f"{checks.did_you_mean(name, names)}"
                )
        checks.known_labels((event.label for event in detected[name]), classes, where=f"detected[{name!r}]")
        checks.shape(f"frame_probs[{name!r}]", probs.shape, "(frames, classes)", hint="one clip, no batch axis")
        for argument, last_axis in (
            (f"frame_probs[{name!r}]", probs.shape[-1]),
            (f"clip_probs[{name!r}]", np.shape(clip_probs[name])[-1]),
            (f"sign_thresholds[{name!r}]", np.shape(sign_thresholds[name])[-1]),
        ):
            if last_axis != len(classes):
                raise ValueError(
                    f"{argument} must have {len(classes)} classes on its last axis, got {last_axis} "
                    f"- are these the probabilities of another model?"
                )


def _draw_reference(axes: Axes, events: Sequence[Event]) -> None:
    """Shade the true events from top to bottom."""
    for event in events:
        axes.axvspan(
            event.onset,
            event.offset,
            facecolor=canvas.SHADE,
            edgecolor="#9aa3ad",
            linewidth=0.8,
            alpha=0.75,
            zorder=0.5,
            gid="reference",
        )


def _draw_lanes(
    axes: Axes, label: str, detected: Mapping[str, Sequence[Event]], looks: Mapping[str, canvas.SystemLook]
) -> None:
    """One thin lane per system under the curves, with a bar for each detected event."""
    centres = {name: -LANE_HEIGHT * (lane + 1) for lane, name in enumerate(looks)}
    for name, centre in centres.items():
        spans = [(event.onset, event.duration) for event in detected[name] if event.label == label]
        axes.broken_barh(
            spans,
            (centre - 0.28 * LANE_HEIGHT, 0.56 * LANE_HEIGHT),
            facecolor=looks[name].colour,
            gid=f"detected {name}",
        )
    axes.axhline(0, color="#b9c0c8", linewidth=0.8)
    axes.set_ylim(-LANE_HEIGHT * (len(looks) + 0.7), 1.05)
    axes.set_yticks([*centres.values(), 0, 0.5, 1], labels=[*map(canvas.drawable, centres), "0", "0.5", "1"])
    axes.set_ylabel("probability", loc="top", fontsize=8, color=canvas.PALE_INK)
    axes.grid(axis="x")


def _draw_thresholds(
    axes: Axes, looks: Mapping[str, canvas.SystemLook], clip_probs: Mapping[str, float], thresholds: Mapping[str, float]
) -> None:
    """A dashed line at theta * y^c for each system that has one, and the figures at the right end of its lane."""
    for lane, (name, system) in enumerate(looks.items(), start=1):
        text = f"yᶜ {clip_probs[name]:.2f}"
        # Beyond 0 and 1 there is no frame whose gradient could change sign; NaN compares as False.
        if 0 <= thresholds[name] <= 1:
            axes.axhline(
                thresholds[name],
                color=system.colour,
                linewidth=1,
                linestyle=canvas.THIN_DASHES,
                gid=f"threshold {name}",
            )
            text = f"{text}  θyᶜ {thresholds[name]:.2f}"
        axes.text(
            1.012,
            -LANE_HEIGHT * lane,
            text,
            transform=axes.get_yaxis_transform(),
            color=system.colour,
            fontsize=8,
            va="center",
        )


def _explain_marks(figure: Figure) -> None:
    """What shading, bars and dashed lines mean, in one line below everything."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=canvas.SHADE, edgecolor="#9aa3ad", label="true event"),
        Line2D([], [], color=canvas.PALE_INK, linewidth=5, solid_capstyle="butt", label="detected event"),
        Line2D(
            [],
            [],
            color=canvas.PALE_INK,
            linewidth=1,
            linestyle=canvas.THIN_DASHES,
            label="θyᶜ: a true tag pushes frames above it up, frames below it down",
        ),
    ]
    figure.legend(
        handles=handles,
        loc="outside lower left",
        ncols=len(handles),
        handlelength=2.4,
        columnspacing=1.4,
        fontsize=8.5,
        labelcolor=canvas.PALE_INK,
        borderaxespad=0.2,
    )
