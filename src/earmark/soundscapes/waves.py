"""What the generated sounds are made of: drawn parameters, shaped noise, ringing, pulses, and where a sound ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Wave = NDArray[np.float64]

AUDIBLE_DB = -30.0  # a sound begins and ends where it is this far below its own peak
_BLOCK_SECONDS = 0.002  # the peak is followed in steps of this length
_FADE_IN_SECONDS, _FADE_OUT_SECONDS = 0.001, 0.01  # long enough not to click, short enough not to move the label


@dataclass(frozen=True)
class Draw:
    """Draws the parameters of one event, all from the same part of their ranges.

    A parameter has a fixed full range. `span` says which part of it is used: (0, 1) is all of it and (0.15, 0.85)
    its middle. So training sounds can leave out the edges which held-out sounds then reach.

    Args:
        rng: where the randomness comes from.
        span: lowest and highest position inside every range, each from 0 to 1.

    Example:
        >>> draw = Draw(np.random.default_rng(1), span=(0.5, 0.5))
        >>> round(draw.between(100, 400))       # the middle of two octaves: one octave up
        200
        >>> draw.whole(2, 4)
        3
    """

    rng: np.random.Generator
    span: tuple[float, float] = (0.0, 1.0)

    def between(self, low: float, high: float) -> float:
        """One value from `low` to `high`, evenly on a logarithmic axis, as pitch and duration are heard."""
        return float(low * (high / low) ** self.rng.uniform(*self.span))

    def whole(self, low: int, high: int) -> int:
        """One whole number from `low` to `high`, both included."""
        return min(low + int(self.rng.uniform(*self.span) * (high - low + 1)), high)


def shaped_noise(rng: np.random.Generator, gain: Wave) -> Wave:
    """Gaussian noise with the spectrum `gain` (one factor per bin of rfft), 2 * (bins - 1) samples long."""
    parts = rng.standard_normal((2, len(gain)))
    # The spectrum is drawn as it is needed: half the work of drawing samples and transforming them first.
    return np.fft.irfft(gain * (parts[0] + 1j * parts[1]))


def band_noise(rng: np.random.Generator, n_samples: int, sample_rate: int, *, centre: float, octaves: float) -> Wave:
    """Noise in a bell-shaped band about `centre` (Hz), `octaves` wide at half its height.

    Example:
        >>> noise = band_noise(np.random.default_rng(0), 16000, 16000, centre=1000, octaves=0.5)
        >>> 900 < int(np.argmax(np.abs(np.fft.rfft(noise)))) < 1100      # bins of 1 Hz
        True
    """
    frequencies = np.fft.rfftfreq(quick_length(n_samples), 1 / sample_rate)
    distance = np.log2(np.maximum(frequencies, 1.0) / centre) / (octaves / 2)  # 1 at half height
    return shaped_noise(rng, np.exp2(-(distance**2)))[:n_samples]


def power_law_noise(
    rng: np.random.Generator, n_samples: int, sample_rate: int, *, slope: float, flat_below: float = 100.0
) -> Wave:
    """Noise whose power falls as frequency ** -slope (0 white, 1 pink, 2 brown), with an RMS of 1.

    Below `flat_below` (Hz) the spectrum is flat: otherwise nearly all the power of brown noise would lie where
    nobody hears it, and every signal-to-noise ratio would speak of that.
    """
    frequencies = np.fft.rfftfreq(quick_length(n_samples), 1 / sample_rate)
    noise = shaped_noise(rng, np.maximum(frequencies, flat_below) ** (-slope / 2))[:n_samples]
    return noise / rms(noise)


def quick_length(n_samples: int) -> int:
    """A length a little above `n_samples` (12.5 % at most) whose Fourier transform is fast: 8 to 16 times 2 ** k.

    Example:
        >>> quick_length(100003) == 13 * 8192       # 100003 itself is a prime number
        True
    """
    unit = 1 << max(n_samples.bit_length() - 4, 1)
    return -(-n_samples // unit) * unit


def seconds(n_samples: int, sample_rate: int) -> Wave:
    """The time of every sample, in seconds."""
    return np.arange(n_samples) / sample_rate


def ringing(sample_rate: int, *, frequencies: Wave, decays: Wave, levels: Wave) -> Wave:
    """Struck resonances: sines of `frequencies` (Hz) that fall by 1/e in `decays` (seconds), down to -60 dB."""
    time = seconds(round(7 * float(np.max(decays)) * sample_rate), sample_rate)
    partials = np.sin(2 * np.pi * frequencies[:, None] * time) * np.exp(-time / decays[:, None])  # (partials, samples)
    # Not `levels @ partials`: a matrix product may depend, in its last bit, on the number of threads.
    return np.asarray((levels[:, None] * partials).sum(axis=0))


def gliding(frequency: Wave, sample_rate: int) -> Wave:
    """The phase (radians) of a tone whose frequency (Hz) is given for every sample."""
    return 2 * np.pi * np.cumsum(frequency) / sample_rate


def harmonics(phase: Wave, levels: Wave) -> Wave:
    """A tone with the overtones 1, 2, 3 ... at `levels`.

    Example:
        >>> float(harmonics(np.array([np.pi / 2]), np.array([1.0, 0.5, 0.25]))[0])   # 1 + 0 - 0.25
        0.75
    """
    # sin((k + 1) x) = 2 cos(x) sin(k x) - sin((k - 1) x): two sines are computed, however many overtones there are.
    double_cosine, before, now = 2 * np.cos(phase), np.zeros_like(phase), np.sin(phase)
    total = np.zeros_like(phase)
    for level in levels:
        total += level * now
        before, now = now, double_cosine * now - before
    return total


def added_at(starts: NDArray[np.int64], waves: Wave, n_samples: int) -> Wave:
    """Sum of `waves` (waves, samples), each beginning at its sample in `starts`; what passes `n_samples` is cut.

    Example:
        >>> added_at(np.array([0, 2]), np.array([[1.0, 1.0, 1.0], [5.0, 5.0, 5.0]]), 4).tolist()
        [1.0, 1.0, 6.0, 5.0]
    """
    places = (starts[:, None] + np.arange(waves.shape[1])).ravel()
    total = np.bincount(places, weights=waves.ravel(), minlength=n_samples)[:n_samples]
    return total.astype(np.float64, copy=False)


def convolved(pulses: Wave, response: Wave) -> Wave:
    """`pulses` through a filter with this impulse response, as long as `pulses`."""
    length = quick_length(len(pulses) + len(response))
    spectrum = np.fft.rfft(pulses, length) * np.fft.rfft(response, length)
    return np.fft.irfft(spectrum, length)[: len(pulses)]


def rise_and_fall(n_samples: int, sample_rate: int, *, attack: float, release: float) -> Wave:
    """An envelope: up in `attack` seconds, level, down in `release` seconds, each half a cosine."""
    envelope = np.ones(n_samples)
    up, down = round(attack * sample_rate), round(release * sample_rate)
    envelope[:up] *= _half_cosine(up)[:n_samples]
    envelope[n_samples - down :] *= _half_cosine(down)[::-1][-n_samples:]
    return envelope


def audible_part(sound: Wave, sample_rate: int, *, longest: int) -> Wave:
    """Cut a sound to where it can be heard, so that its label is true, and fade the cuts.

    It begins with the first and ends with the last stretch of 2 ms whose peak is within 30 dB of the sound's own
    peak, and is at most `longest` samples long.
    """
    sound = sound[:longest]
    block = round(_BLOCK_SECONDS * sample_rate)
    peaks = np.abs(np.pad(sound, (0, -len(sound) % block))).reshape(-1, block).max(axis=1)
    audible = np.flatnonzero(peaks >= 10 ** (AUDIBLE_DB / 20) * peaks.max())
    cut = sound[audible[0] * block : (audible[-1] + 1) * block]
    return cut * rise_and_fall(len(cut), sample_rate, attack=_FADE_IN_SECONDS, release=_FADE_OUT_SECONDS)


def rms(wave: Wave) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(wave**2)))


def _half_cosine(n_samples: int) -> Wave:
    """From 0 up to 1."""
    return 0.5 - 0.5 * np.cos(np.pi * (np.arange(n_samples) + 0.5) / max(n_samples, 1))
