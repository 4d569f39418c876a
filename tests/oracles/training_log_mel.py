"""Log-mel features once more: every coefficient a sum of sines and cosines, every filter a triangle drawn by hand.

Plain Python on one frame after the other; nothing is shared with the package.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def log_mel(
    audio: Sequence[float],
    *,
    sample_rate: int,
    window_samples: int,
    hop_samples: int,
    n_mels: int,
    min_hz: float,
    max_hz: float,
    window: str,
    spectrum: str,
    mel_scale: str,
    floor: float,
    framing: str,
) -> list[list[float]]:
    """The features of one clip, frames by mels."""
    frames = []
    for samples in _frames(audio, window_samples, hop_samples, framing):
        shaped = [value * _window(window, i, window_samples) for i, value in enumerate(samples)]
        energies = [_energy(shaped, bin_number) for bin_number in range(window_samples // 2 + 1)]
        values = energies if spectrum == "power" else [math.sqrt(energy) for energy in energies]
        row = []
        for band in range(n_mels):
            heights = [
                _triangle(i * sample_rate / window_samples, band, n_mels, min_hz, max_hz, mel_scale)
                for i in range(len(values))
            ]
            row.append(math.log(max(floor, sum(h * v for h, v in zip(heights, values, strict=True)))))
        frames.append(row)
    return frames


def _frames(audio: Sequence[float], window: int, hop: int, framing: str) -> list[list[float]]:
    """The samples under each window."""
    if framing == "hop":
        # Frame i is centred on the middle of [i * hop, (i + 1) * hop); there is silence around the clip.
        firsts = [i * hop - (window - hop) // 2 for i in range(math.ceil(len(audio) / hop))]
        return [[audio[j] if 0 <= j < len(audio) else 0.0 for j in range(f, f + window)] for f in firsts]
    last = len(audio) - 1
    firsts = [i * hop - window // 2 for i in range(1 + len(audio) // hop)]
    # A mirror at both ends, the end sample itself not repeated.
    return [[audio[last - abs(last - abs(j))] for j in range(f, f + window)] for f in firsts]


def _window(name: str, i: int, length: int) -> float:
    """Hann or Hamming, periodic."""
    constant = {"hann": 0.5, "hamming": 0.54}[name]
    return constant - (1 - constant) * math.cos(2 * math.pi * i / length)


def _energy(samples: Sequence[float], bin_number: int) -> float:
    """The squared magnitude of one coefficient of the discrete Fourier transform, by its definition."""
    angle = 2 * math.pi * bin_number / len(samples)
    real = sum(value * math.cos(angle * i) for i, value in enumerate(samples))
    imaginary = sum(value * math.sin(angle * i) for i, value in enumerate(samples))
    return real * real + imaginary * imaginary


def _triangle(hz: float, band: int, n_mels: int, min_hz: float, max_hz: float, scale: str) -> float:
    """The height of a band's triangle at a frequency."""
    low, high = _mel(min_hz, scale), _mel(max_hz, scale)
    left, peak, right = (_hz(low + (high - low) * (band + k) / (n_mels + 1), scale) for k in range(3))
    if left <= hz <= peak:
        return (hz - left) / (peak - left)
    return (right - hz) / (right - peak) if peak < hz <= right else 0.0


def _mel(hz: float, scale: str) -> float:
    """O'Shaughnessy's formula, or Slaney's: 15 mel up to 1 kHz, and 27 more for every factor of 6.4."""
    if scale == "htk":
        return 1127.01048 * math.log(1 + hz / 700)
    return hz / 1000 * 15 if hz <= 1000 else 15 + 27 * math.log(hz / 1000, 6.4)


def _hz(mel: float, scale: str) -> float:
    """The inverse, found by halving an interval."""
    low, high = 0.0, 1e5
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _mel(middle, scale) < mel else (low, middle)
    return (low + high) / 2
