"""Pictures of batches: what the network gets, before training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from earmark import checks
from earmark.report import canvas
from earmark.report.spectrogram import draw_spectrogram
from earmark.timeline import Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 4  # of panels in a batch figure


def batch_figure(
    *,
    features: NDArray[np.floating],
    mask: NDArray[np.bool_],
    tags: Sequence[str],
    filenames: Sequence[str],
    timeline: Timeline,
    mel_frequencies: NDArray[np.floating] | None = None,
    band_name: str = "mel band",
    max_clips: int = 12,
) -> Figure:
    """Draw the clips of a batch as the network gets them, padding hatched, with file name and tags above each.

    Args:
        features: (batch, frames, mels).
        mask: (batch, frames), True where there is sound and False in the padding.
        tags: what is known about each clip, as text; empty for a clip that has none of the classes.
        filenames: one per clip.
        timeline: grid of the features.
        mel_frequencies: (mels,), centre of each band in Hz, increasing; None labels the bands by number.
        band_name: what is numbered, for instance ``"dim"`` of embeddings.
        max_clips: so many clips are drawn; the title says how many more there are.

    Raises:
        ValueError: shapes that do not fit together.

    Example:
        >>> figure = batch_figure(features=np.zeros((2, 50, 8)), mask=np.ones((2, 50), dtype=bool),
        ...     tags=["dog", ""], filenames=["a.wav", "b.wav"], timeline=Timeline(16000, 320))
        >>> [axes.get_title(loc="left") for axes in figure.axes]
        ['a.wav\\ndog', 'b.wav\\n(none of the classes)']
    """
    checks.shape("features", features.shape, "(batch, frames, mels)")
    mask = np.asarray(mask, dtype=bool)  # ~ on zeros and ones would give -1 and -2
    n_clips = len(features)
    if mask.shape != features.shape[:2] or not n_clips == len(tags) == len(filenames) or n_clips == 0:
        raise ValueError(
            f"features, mask, tags and filenames must describe the same clips, at least one, got "
            f"{features.shape}, {mask.shape}, {len(tags)} and {len(filenames)} - is mask per frame?"
        )
    checks.number("max_clips", max_clips, at_least=1)
    n_shown = min(n_clips, max_clips)
    sound = np.where(mask[:, :, None], features, np.nan)  # padding may hold anything: it must not set the colours
    finite = sound[np.isfinite(sound)]
    lowest, highest = np.percentile(finite, [2, 99.8]) if finite.size else (0.0, 1.0)
    n_rows, n_columns = -(-n_shown // COLUMNS), min(n_shown, COLUMNS)
    with canvas.look():
        width_inches = max(5.0, 2.6 * n_columns)
        n_letters = round(13 * width_inches / n_columns)  # 13 letters of the title's size fill an inch
        figure = canvas.new_figure(width_inches=width_inches, height_inches=0.45 + 1.75 * n_rows)
        more = f" of {n_clips}; {n_clips - n_shown} more are not drawn" if n_shown < n_clips else ""
        figure.suptitle(f"{n_shown} {'clip' if n_shown == 1 else 'clips'}{more}", x=0.01, ha="left", fontsize=10)
        panels = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True).flat
        for index, axes in enumerate(panels):
            if index >= n_shown:
                axes.remove()
                continue
            draw_spectrogram(
                axes,
                sound[index],
                hop_seconds=timeline.hop_seconds,
                mel_frequencies=mel_frequencies,
                band_name=band_name,
                lowest=float(lowest),
                highest=float(highest),
            )
            _hatch_padding(axes, mask[index], hop_seconds=timeline.hop_seconds)
            axes.set_title(
                _panel_title(filenames[index], tags[index], n_letters=n_letters), fontsize=7.5, fontweight="normal"
            )
            axes.label_outer()
            if index + n_columns >= n_shown:  # the lowest panel of its column
                axes.tick_params(labelbottom=True)
                axes.set_xlabel("seconds")
        canvas.settle(figure)
    return figure


def _panel_title(filename: str, tags: str, *, n_letters: int) -> str:
    """File name, cut in the middle, and tags, cut at the end, on two lines."""
    tag_text = tags if tags else "(none of the classes)"
    if len(tag_text) > n_letters:
        tag_text = f"{tag_text[: n_letters - 1].rstrip(' ,')}…"
    return "\n".join(map(canvas.drawable, (canvas.shortened(filename, n_letters=n_letters), tag_text)))


def _hatch_padding(axes: Axes, mask: NDArray[np.bool_], *, hop_seconds: float) -> None:
    """Cover every run of frames without sound with hatching."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], ~mask, [False]]).astype(np.int8)))
    for first, end in edges.reshape(-1, 2):
        axes.axvspan(
            first * hop_seconds,
            end * hop_seconds,
            facecolor="#eef0f2",
            edgecolor="#a7aeb7",
            hatch="////",
            linewidth=0,
            gid="padding",
        )
