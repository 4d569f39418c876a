"""Ten sounds, from a click of a fifth of a second to water that runs for many, each drawn anew for every event.

Their bands overlap on purpose: what tells them apart is how they move in time. Every function takes a `Draw` and the
sample rate and returns the bare sound at any level; `synthetic.py` cuts, scales and places it. All numbers are the
full ranges of the parameters; frequencies in Hz, times in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from earmark.soundscapes.waves import (
    Draw,
    Wave,
    added_at,
    band_noise,
    convolved,
    gliding,
    harmonics,
    ringing,
    rise_and_fall,
    seconds,
)


def knock(draw: Draw, sample_rate: int) -> Wave:
    """A knuckle on wood: three to five dull strokes, each a few low resonances that die at once."""
    pitch, decay = draw.between(220, 1300), draw.between(0.012, 0.035)
    period, count = draw.between(0.11, 0.18), draw.whole(3, 5)
    ratios = np.array([1.0, 1.7, 2.6]) * draw.rng.uniform(0.9, 1.1, 3)
    stroke = ringing(
        sample_rate, frequencies=pitch * ratios, decays=decay / np.sqrt(ratios), levels=np.array([1.0, 0.6, 0.3])
    )
    return _repeated(draw, stroke, sample_rate, period=period, count=count)


def click(draw: Draw, sample_rate: int) -> Wave:
    """A ratchet: a few dry ticks of noise in quick succession."""
    centre, decay = draw.between(700, 5000), draw.between(0.002, 0.006)
    period, count = draw.between(0.03, 0.06), draw.whole(5, 8)
    n_samples = round(7 * decay * sample_rate)
    tick = band_noise(draw.rng, n_samples, sample_rate, centre=centre, octaves=1.5)
    tick = tick * np.exp(-seconds(n_samples, sample_rate) / decay)
    return _repeated(draw, tick, sample_rate, period=period, count=count)


def bark(draw: Draw, sample_rate: int) -> Wave:
    """A short voiced burst: the pitch jumps up and falls, the throat adds a resonance and roughness."""
    pitch, formant = draw.between(220, 600), draw.between(500, 2400)
    duration, roughness = draw.between(0.3, 0.6), draw.between(0.15, 0.6)
    n_samples = round(duration * sample_rate)
    position = np.linspace(0, 1, n_samples)
    contour = pitch * (0.75 + 0.5 * np.sin(np.pi * position**0.6))
    voice = harmonics(gliding(contour, sample_rate), _resonant_levels(pitch, formant, octaves=1.6, n_levels=12))
    throat = band_noise(draw.rng, n_samples, sample_rate, centre=formant, octaves=1.6)
    sound = voice / np.std(voice) + roughness * throat / np.std(throat)
    return sound * rise_and_fall(n_samples, sample_rate, attack=0.015, release=0.6 * duration)


def glass(draw: Draw, sample_rate: int) -> Wave:
    """Breaking glass: shards that fall one after the other, each a crash of noise and clear notes out of tune."""
    pitch, decay = draw.between(1000, 3000), draw.between(0.03, 0.08)
    duration, shards_per_second = draw.between(0.35, 0.75), draw.between(14, 24)
    starts = _scattered(draw, duration, shards_per_second)
    notes = pitch * draw.rng.uniform(0.7, 2.3, (len(starts), 4))
    shards = np.stack(
        [ringing(sample_rate, frequencies=note, decays=np.full(4, decay), levels=np.ones(4)) for note in notes]
    )
    crash = band_noise(draw.rng, shards.shape[1], sample_rate, centre=1.5 * pitch, octaves=1.5)
    shards += 1.5 * crash / np.std(crash) * np.exp(-seconds(len(crash), sample_rate) / 0.01)
    forces = draw.rng.uniform(0.5, 1.0, (len(starts), 1))
    return added_at(_samples(starts, sample_rate), forces * shards, round(2 * duration * sample_rate))


def chirp(draw: Draw, sample_rate: int) -> Wave:
    """A small bird: three to six pure notes that each sweep upwards."""
    pitch, sweep = draw.between(900, 3500), draw.between(1.25, 2.0)
    length, rest, count = draw.between(0.07, 0.14), draw.between(0.03, 0.06), draw.whole(3, 6)
    n_samples = round(length * sample_rate)
    note = np.sin(gliding(pitch * sweep ** np.linspace(0, 1, n_samples), sample_rate))
    note *= rise_and_fall(n_samples, sample_rate, attack=0.01, release=0.02)
    return _repeated(draw, note, sample_rate, period=length + rest, count=count)


def siren(draw: Draw, sample_rate: int) -> Wave:
    """A tone with two overtones that wails up and down without a pause."""
    pitch, depth = draw.between(500, 2000), draw.between(0.15, 0.4)
    rate, duration = draw.between(0.5, 2.5), draw.between(1.8, 4.5)
    n_samples = round(duration * sample_rate)
    swing = np.sin(2 * np.pi * (rate * seconds(n_samples, sample_rate) + draw.rng.uniform()))
    tone = harmonics(gliding(pitch * np.exp2(depth * swing), sample_rate), np.array([1.0, 0.5, 0.25]))
    return tone * rise_and_fall(n_samples, sample_rate, attack=0.02, release=0.03)


def engine(draw: Draw, sample_rate: int) -> Wave:
    """An idling motor: uneven strokes through a resonant body, slowly gaining or losing speed."""
    strokes_per_second, body = draw.between(14, 40), draw.between(150, 1100)
    gain_in_speed, duration = draw.between(0.75, 1.35), draw.between(3.5, 7.5)
    n_samples = round(duration * sample_rate)
    strokes = np.cumsum(strokes_per_second * gain_in_speed ** np.linspace(0, 1, n_samples)) / sample_rate
    pulses = np.zeros(n_samples)
    at = np.flatnonzero(np.diff(np.floor(strokes + draw.rng.uniform())))
    pulses[at] = draw.rng.uniform(0.5, 1.0, len(at))
    ratios = np.array([1.0, 1.9, 3.1])
    stroke = ringing(sample_rate, frequencies=body * ratios, decays=np.full(3, 0.012), levels=np.array([1.0, 0.6, 0.3]))
    stroke *= draw.rng.uniform(0.5, 1.5, len(stroke))  # the grain of an explosion
    return convolved(pulses, stroke) * rise_and_fall(n_samples, sample_rate, attack=0.03, release=0.05)


def hum(draw: Draw, sample_rate: int) -> Wave:
    """A transformer or a fridge: one steady tone with overtones that hardly moves."""
    pitch, body = draw.between(70, 350), draw.between(200, 1400)
    tremolo, duration = draw.between(0.02, 0.15), draw.between(2.5, 6.5)
    n_samples = round(duration * sample_rate)
    time = seconds(n_samples, sample_rate)
    tone = harmonics(2 * np.pi * pitch * time, _resonant_levels(pitch, body, octaves=2.5, n_levels=16))
    beat = 1 + tremolo * np.sin(2 * np.pi * 3.0 * time)
    return tone * beat * rise_and_fall(n_samples, sample_rate, attack=0.03, release=0.05)


def hiss(draw: Draw, sample_rate: int) -> Wave:
    """Escaping steam: steady noise in one band."""
    centre, octaves, duration = draw.between(700, 5000), draw.between(0.8, 1.6), draw.between(2.0, 6.0)
    n_samples = round(duration * sample_rate)
    noise = band_noise(draw.rng, n_samples, sample_rate, centre=centre, octaves=octaves)
    return noise * rise_and_fall(n_samples, sample_rate, attack=0.03, release=0.05)


def water(draw: Draw, sample_rate: int) -> Wave:
    """A running tap over a full basin: a crowd of small bubbles, each a note that rises as it dies."""
    pitch, bubbles_per_second = draw.between(500, 2400), draw.between(25, 60)
    decay, duration = draw.between(0.008, 0.02), draw.between(4.0, 8.0)
    starts = _scattered(draw, duration, bubbles_per_second)
    time = seconds(round(5 * decay * sample_rate), sample_rate)
    notes = pitch * np.exp2(draw.rng.uniform(-0.7, 0.7, (len(starts), 1)))
    bubbles = np.sin(2 * np.pi * notes * time * (1 + 6.0 * time)) * np.exp(-time / decay)  # (bubbles, samples)
    forces = draw.rng.uniform(0.4, 1.0, (len(starts), 1))
    return added_at(_samples(starts, sample_rate), forces * bubbles, round(duration * sample_rate))


SOURCES: Mapping[str, Callable[[Draw, int], Wave]] = MappingProxyType(
    {source.__name__: source for source in (knock, click, bark, glass, chirp, siren, engine, hum, hiss, water)}
)


def _repeated(draw: Draw, stroke: Wave, sample_rate: int, *, period: float, count: int) -> Wave:
    """`stroke` again and again, `period` seconds apart, as unevenly in time and force as a hand would do it."""
    starts = period * (np.arange(count) + draw.rng.uniform(-0.08, 0.08, count))
    starts -= starts[0]
    forces = draw.rng.uniform(0.7, 1.0, (count, 1))
    return added_at(_samples(starts, sample_rate), forces * stroke, round(period * count * sample_rate) + len(stroke))


def _scattered(draw: Draw, duration: float, per_second: float) -> Wave:
    """Irregular times, one anywhere in each of equal stretches: a crowd that never leaves a long hole."""
    n_times = max(1, round(per_second * duration))
    return (np.arange(n_times) + draw.rng.uniform(0, 1, n_times)) * (duration / n_times)


def _resonant_levels(pitch: float, body: float, *, octaves: float, n_levels: int) -> Wave:
    """Levels of the overtones of `pitch` under a bell-shaped resonance at `body`, over a floor that falls as 1/k."""
    numbers = np.arange(1, n_levels + 1)
    distance = np.log2(pitch * numbers / body) / (octaves / 2)
    return np.exp2(-(distance**2)) + 0.1 / numbers


def _samples(times: Wave, sample_rate: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The sample nearest to each time."""
    return np.round(times * sample_rate).astype(np.int64)
