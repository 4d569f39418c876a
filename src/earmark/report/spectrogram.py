"""One spectrogram in a pair of axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

MEL_TICKS_HZ = (100, 500, 1000, 2000, 4000, 8000, 16000)


def draw_spectrogram(
    axes: Axes,
    log_mel: NDArray[np.floating],
    *,
    hop_seconds: float,
    mel_frequencies: NDArray[np.floating] | None = None,
    band_name: str = "mel band",
    lowest: float | None = None,
    highest: float | None = None,
) -> AxesImage:
    """Draw log-mel energies, time to the right, low bands at the bottom.

    Args:
        axes: where to draw.
        log_mel: (frames, mels); NaN is left blank.
        hop_seconds: length of a frame.
        mel_frequencies: (mels,), centre of each band in Hz, increasing; None labels the bands by number.
        band_name: what is numbered, for instance ``"dim"`` of embeddings.
        lowest: energy that gets the darkest colour; None means the 2nd percentile.
        highest: energy that gets the brightest colour; None means the 99.8th percentile.
    """
    n_frames, n_mels = log_mel.shape
    finite = log_mel[np.isfinite(log_mel)]
    if finite.size and lowest is None:
        lowest = float(np.percentile(finite, 2))
    if finite.size and highest is None:
        highest = float(np.percentile(finite, 99.8))
    image = axes.imshow(
        log_mel.T,
        origin="lower",
        aspect="auto",
        cmap="magma",
        vmin=lowest,
        vmax=highest,
        interpolation="antialiased",
        extent=(0, n_frames * hop_seconds, 0, n_mels),
    )
    if mel_frequencies is None:
        axes.set_ylabel(band_name)
        return image
    ticks = [hertz for hertz in MEL_TICKS_HZ if mel_frequencies[0] <= hertz <= mel_frequencies[-1]]
    # Band i fills the rows i to i + 1, so its centre frequency lies at i + 0.5.
    places = np.interp(ticks, mel_frequencies, np.arange(n_mels) + 0.5)
    axes.set_yticks(places, labels=[f"{hertz / 1000:g}" for hertz in ticks])
    axes.set_ylabel("kHz")
    return image
