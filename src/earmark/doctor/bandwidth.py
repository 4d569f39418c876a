"""Sound that ends far below half its sample rate: it was recorded, coded or sent at a lower one."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# Half the usual sample rates: telephones, voice recorders, narrow and wide band codecs.
_EDGES_HERTZ = (4000.0, 5512.5, 6000.0, 8000.0, 11025.0, 12000.0, 16000.0)

_WINDOW_SAMPLES, _MOST_WINDOWS = 4096, 2  # of each block: a few say enough about a band

# 30 dB from below the edge to above it, within half an octave: no room and no microphone does that.
_DROP = 1e-3


def window_power(samples: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the power of a block over frequency: the sum over two windows of it, fewer where it is too short.

    Args:
        samples: (samples,).

    Returns:
        (bins,), 2049 of them from 0 to half the sample rate.

    Example:
        >>> tone = np.sin(2 * np.pi * np.arange(16000) / 16)      # a sixteenth of the sample rate: bin 4096 / 16
        >>> int(window_power(tone.astype(np.float32)).argmax())
        256
    """
    n_windows = min(_MOST_WINDOWS, len(samples) // _WINDOW_SAMPLES)
    if n_windows == 0:
        return np.zeros(_WINDOW_SAMPLES // 2 + 1)
    starts = np.linspace(0, len(samples) - _WINDOW_SAMPLES, n_windows).astype(int)
    windows = np.stack([samples[start : start + _WINDOW_SAMPLES] for start in starts]) * _taper()
    power: NDArray[np.float64] = (np.abs(np.fft.rfft(windows)) ** 2).sum(axis=0)
    return power


@lru_cache
def _taper() -> NDArray[np.float32]:
    """The shape of a window; computing it takes as long as transforming one."""
    return np.hanning(_WINDOW_SAMPLES).astype(np.float32)


def band_edge_hertz(power: NDArray[np.float64], sample_rate: int) -> float:
    """Return the frequency above which there is nothing, if it is one of half the usual rates; otherwise 0.

    Medians over frequency are compared, so that a tone below the edge does not look like one.

    Args:
        power: what `window_power` gave, of one block or the sum over many.
        sample_rate: samples per second.

    Example:
        >>> noise = np.random.default_rng(7).standard_normal(16000)
        >>> band_edge_hertz(window_power(noise), 16000)
        0.0
        >>> spectrum = np.fft.rfft(noise)
        >>> spectrum[4000:] = 0                 # one second, so bin 4000 is 4000 Hz
        >>> band_edge_hertz(window_power(np.fft.irfft(spectrum)), 16000)
        4000.0
    """
    hertz_per_bin = sample_rate / _WINDOW_SAMPLES

    def median(low_hertz: float, high_hertz: float) -> float:
        return float(np.median(power[int(low_hertz / hertz_per_bin) : int(high_hertz / hertz_per_bin)]))

    for edge in _EDGES_HERTZ:
        if edge > 0.8 * sample_rate / 2:
            return 0.0
        level = _DROP * median(0.8 * edge, 0.95 * edge)
        if median(1.05 * edge, 1.25 * edge) < level and median(1.05 * edge, sample_rate / 2) < level:
            return edge
    return 0.0
