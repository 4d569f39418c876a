"""Sound that ends far below half its sample rate: it was recorded, coded or sent at a lower one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Half the usual sample rates: telephones, voice recorders, narrow and wide band codecs.
_EDGES_HERTZ = (4000.0, 5512.5, 6000.0, 8000.0, 11025.0, 12000.0, 16000.0)

_WINDOW_SAMPLES, _MOST_WINDOWS = 4096, 8

# 30 dB from below the edge to above it, within a quarter of an octave: no room and no microphone does that.
_DROP = 1e-3


def band_edge_hertz(samples: NDArray[np.float32], sample_rate: int) -> float:
    """Return the frequency above which there is nothing, if it is one of half the usual rates; otherwise 0.

    Medians over frequency are compared, so that a tone below the edge does not look like one. Sounds of less than
    8 windows of 4096 samples are judged by what there is, those shorter than one window not at all.

    Args:
        samples: (samples,).
        sample_rate: samples per second.

    Example:
        >>> noise = np.random.default_rng(7).standard_normal(16000)
        >>> band_edge_hertz(noise, 16000)
        0.0
        >>> spectrum = np.fft.rfft(noise)
        >>> spectrum[4000:] = 0                 # one second, so bin 4000 is 4000 Hz
        >>> band_edge_hertz(np.fft.irfft(spectrum), 16000)
        4000.0
    """
    n_windows = len(samples) // _WINDOW_SAMPLES
    if n_windows == 0:
        return 0.0
    # Spread evenly over the block.
    starts = np.linspace(0, len(samples) - _WINDOW_SAMPLES, min(n_windows, _MOST_WINDOWS)).astype(int)
    taper = np.hanning(_WINDOW_SAMPLES).astype(np.float32)
    windows = np.stack([samples[start : start + _WINDOW_SAMPLES] for start in starts]) * taper
    power = (np.abs(np.fft.rfft(windows)) ** 2).mean(axis=0)  # (bins,)
    hertz_per_bin = sample_rate / _WINDOW_SAMPLES
    for edge in _EDGES_HERTZ:
        if edge > 0.8 * sample_rate / 2:
            return 0.0
        below = power[int(0.8 * edge / hertz_per_bin) : int(0.95 * edge / hertz_per_bin)]
        just_above = power[int(1.05 * edge / hertz_per_bin) : int(1.25 * edge / hertz_per_bin)]
        above = power[int(1.05 * edge / hertz_per_bin) :]
        level = _DROP * float(np.median(below))
        if level > 0 and float(np.median(just_above)) < level and float(np.median(above)) < level:
            return edge
    return 0.0
