"""Pictures of label tracks: a recording, and below it the events that somebody or something marked."""

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

_BAR = 0.62  # height of a bar, in lanes
_LANE_INCHES = 0.2


def tracks_figure(
    *,
    log_mel: NDArray[np.floating],
    timeline: Timeline,
    tracks: Mapping[str, Sequence[Event]],
    mel_frequencies: NDArray[np.floating] | None = None,
    title: str = "",
) -> Figure:
    """Draw a recording's spectrogram, and its label tracks below it as an editor of sound shows them.

    Every track has one lane per class, with a bar from onset to offset of each event; a class has the same colour and
    the same place in every track, so that what one track has and another has not is seen at once.

    Args:
        log_mel: (frames, mels), one row per frame of `timeline`.
        timeline: grid of `log_mel`.
        tracks: name of each track -> its events, from top to bottom.
        mel_frequencies: (mels,), centre of each band in Hz, increasing; None labels the bands by number.
        title: written above the spectrogram, for instance the file name.

    Raises:
        ValueError: there is no track, or `log_mel` is not of one clip.

    Example:
        >>> figure = tracks_figure(log_mel=np.zeros((50, 8)), timeline=Timeline(16000, 320), title="a.wav",
        ...     tracks={"found": [Event(0.2, 0.6, "dog")], "by hand": [Event(0.25, 0.6, "dog")]})
        >>> [axes.get_title(loc="left") for axes in figure.axes]
        ['a.wav', 'found', 'by hand']
    """
    checks.shape("log_mel", log_mel.shape, "(frames, mels)", hint="one clip, without the batch axis")
    if not tracks:
        raise ValueError("tracks must have at least one entry, got none - there would be nothing to draw")
    classes = sorted({event.label for events in tracks.values() for event in events})
    with canvas.look():
        track_inches = 0.42 + _LANE_INCHES * max(1, len(classes))
        figure = canvas.new_figure(width_inches=canvas.SHEET_INCHES, height_inches=2.2 + track_inches * len(tracks))
        grid = figure.add_gridspec(1 + len(tracks), 1, height_ratios=[1.7, *[track_inches] * len(tracks)])
        top = figure.add_subplot(grid[0])
        draw_spectrogram(top, log_mel, hop_seconds=timeline.hop_seconds, mel_frequencies=mel_frequencies)
        top.set_title(canvas.drawable(canvas.shortened(title, n_letters=65)) if title else "spectrogram")
        top.tick_params(labelbottom=False)
        for row, (name, events) in enumerate(tracks.items(), start=1):
            axes = figure.add_subplot(grid[row], sharex=top)
            axes.set_title(canvas.drawable(name))
            _draw_track(axes, events, classes)
            axes.tick_params(labelbottom=row == len(tracks))
        axes.set_xlabel("seconds")
        canvas.seconds_axis(top, duration_seconds=log_mel.shape[0] * timeline.hop_seconds)
        top.grid(False)
        canvas.settle(figure)
    return figure


def _draw_track(axes: Axes, events: Sequence[Event], classes: Sequence[str]) -> None:
    """One lane per class, the first at the top."""
    for lane, label in enumerate(classes):
        axes.broken_barh(
            [(event.onset, event.duration) for event in events if event.label == label],
            (lane - _BAR / 2, _BAR),
            facecolor=canvas.COLOURS[lane % len(canvas.COLOURS)],
            gid=f"lane {label}",
        )
    axes.set_ylim(max(1, len(classes)) - 0.4, -0.6)
    axes.set_yticks(
        range(len(classes)), labels=[canvas.drawable(canvas.shortened(label, n_letters=24)) for label in classes]
    )
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
