from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from earmark.soundscapes import sources
from earmark.soundscapes.sources import SOURCES
from earmark.soundscapes.waves import Draw, Wave, audible_part

RATE = 16000
SHORT = ("knock", "click", "bark", "glass", "chirp")
LONG = ("siren", "engine", "hum", "hiss", "water")
N_DRAWN = 30


@dataclass(frozen=True)
class RecordingDraw(Draw):
    """Notes where in its range every parameter of an event was drawn: 0 the low end, 1 the high one."""

    positions: list[float] = field(default_factory=list)

    def between(self, low: float, high: float) -> float:
        value = super().between(low, high)
        self.positions.append(np.log(value / low) / np.log(high / low))
        return value


def sounds(rng: np.random.Generator, label: str) -> list[Wave]:
    """Many events of one class, cut to what can be heard."""
    draw = Draw(rng, (0.15, 0.85))
    return [audible_part(SOURCES[label](draw, RATE), RATE, longest=8 * RATE) for _ in range(N_DRAWN)]


def mean_octave(sound: Wave) -> float:
    """Where the energy of the first two seconds lies, in octaves above 100 Hz: a band and nothing of time."""
    power = np.abs(np.fft.rfft(sound, 32768)) ** 2
    octaves = np.log2(np.maximum(np.fft.rfftfreq(32768, 1 / RATE), 50) / 100)
    return float((octaves * power).sum() / power.sum())


def movement(sound: Wave) -> tuple[float, ...]:
    """How a sound moves: its length, its loudest moment over its mean, and how long its spectrum stays the same."""
    frames = np.lib.stride_tricks.sliding_window_view(np.pad(sound, 256), 512)[::320] * np.hanning(512)
    spectra = np.abs(np.fft.rfft(frames)) + 1e-12
    loudness = np.sqrt((spectra**2).sum(axis=1))
    shapes = spectra / np.linalg.norm(spectra, axis=1, keepdims=True)
    alike = [float(np.mean((shapes[:-lag] * shapes[lag:]).sum(axis=1))) for lag in (1, 4)]
    flatness = np.exp(np.log(spectra).mean(axis=1)) / spectra.mean(axis=1)
    return (
        float(np.log(len(sound))),
        float(np.log(loudness.max() / loudness.mean())),
        float(np.std(loudness) / loudness.mean()),
        *alike,
        float(flatness.mean()),
    )


def nearest_mean_accuracy(train: dict[str, NDArray[np.float64]], test: dict[str, NDArray[np.float64]]) -> float:
    """Share of events that lie nearest to the mean of their own class, features scaled to the same spread."""
    scale = np.concatenate(list(train.values())).std(axis=0)
    means = np.stack([train[label].mean(axis=0) for label in train]) / scale
    hits = [
        np.linalg.norm(means - event / scale, axis=1).argmin() == index
        for index, label in enumerate(train)
        for event in test[label]
    ]
    return float(np.mean(hits))


# ---- laws


def test_there_are_ten_and_every_one_is_named_after_its_function() -> None:
    assert len(SOURCES) >= 10
    assert all(label == source.__name__ and source.__doc__ for label, source in SOURCES.items())
    assert set(SOURCES) == {*SHORT, *LONG}


@pytest.mark.parametrize("label", SOURCES)
def test_a_sound_is_heard_at_its_onset_and_up_to_its_offset(rng: np.random.Generator, label: str) -> None:
    for sound in sounds(rng, label):
        assert np.all(np.isfinite(sound))
        peak = np.abs(sound).max()
        first_30_ms, last_50_ms = np.abs(sound[:480]).max(), np.abs(sound[-800:]).max()
        assert first_30_ms >= 0.1 * peak
        assert last_50_ms >= 10 ** (-30 / 20) * peak


@pytest.mark.parametrize("label", LONG)
def test_textures_start_and_stop_clearly(rng: np.random.Generator, label: str) -> None:
    for sound in sounds(rng, label):
        level = np.sqrt(np.mean(sound**2))
        assert np.sqrt(np.mean(sound[:1600] ** 2)) > 0.25 * level  # the first and the last 100 ms
        assert np.sqrt(np.mean(sound[-1600:] ** 2)) > 0.15 * level


@pytest.mark.parametrize("label", SOURCES)
def test_no_sound_pauses_longer_than_events_of_one_class_are_apart(rng: np.random.Generator, label: str) -> None:
    for sound in sounds(rng, label):
        loud = np.flatnonzero(np.abs(sound) > 10 ** (-30 / 20) * np.abs(sound).max())
        assert np.diff(loud).max() / RATE < 0.25


def test_every_class_has_its_own_length_short_or_long(rng: np.random.Generator) -> None:
    mean_seconds = {label: np.mean([len(sound) for sound in sounds(rng, label)]) / RATE for label in SOURCES}
    assert all(0.2 <= mean_seconds[label] <= 0.65 for label in SHORT)
    assert all(2.5 <= mean_seconds[label] <= 8.0 for label in LONG)
    assert min(abs(np.log(mean_seconds[a] / mean_seconds[b])) for a, b in combinations(SOURCES, 2)) > 0.01


@pytest.mark.parametrize("label", SOURCES)
def test_every_event_has_its_own_parameters(rng: np.random.Generator, label: str) -> None:
    drawn = sounds(rng, label)
    assert len({len(sound) for sound in drawn}) > N_DRAWN / 2
    assert np.std([mean_octave(sound) for sound in drawn]) > 0.2


@pytest.mark.parametrize("label", SOURCES)
def test_the_middle_of_the_ranges_leaves_values_out_that_the_whole_reaches(
    rng: np.random.Generator, label: str
) -> None:
    def positions(span: tuple[float, float]) -> NDArray[np.float64]:
        draws = [RecordingDraw(rng, span) for _ in range(60)]
        for draw in draws:
            SOURCES[label](draw, RATE)
        return np.array([draw.positions for draw in draws])  # (events, parameters)

    middle, whole = positions((0.15, 0.85)), positions((0.0, 1.0))
    assert middle.shape[1] >= 3
    assert middle.min() >= 0.15 - 1e-9
    assert middle.max() <= 0.85 + 1e-9
    assert np.all(whole.min(axis=0) < 0.14)  # every single parameter, at both ends
    assert np.all(whole.max(axis=0) > 0.86)


def test_bands_are_shared_by_many_classes(rng: np.random.Generator) -> None:
    octaves = {label: [mean_octave(sound) for sound in sounds(rng, label)] for label in SOURCES}
    usual = {label: np.quantile(values, [0.1, 0.9]) for label, values in octaves.items()}
    # Every class shares the middle of its band with at least two others: three in one band, wherever one looks.
    for label, (low, high) in usual.items():
        middle = (low + high) / 2
        sharing = [other for other, (lowest, highest) in usual.items() if lowest <= middle <= highest]
        assert len(sharing) >= 3, (label, sharing)
    # And one band holds half of them.
    assert max(sum(low <= band <= high for low, high in usual.values()) for band in np.arange(0, 6, 0.1)) >= 5


def test_the_mean_band_does_not_tell_the_classes_apart_but_movement_in_time_does(rng: np.random.Generator) -> None:
    drawn = {label: sounds(rng, label) for label in SOURCES}

    def accuracy(feature: Callable[[Wave], float | tuple[float, ...]]) -> float:
        values = {label: np.array([feature(sound) for sound in drawn[label]]).reshape(N_DRAWN, -1) for label in SOURCES}
        half = N_DRAWN // 2
        return nearest_mean_accuracy({k: v[:half] for k, v in values.items()}, {k: v[half:] for k, v in values.items()})

    assert accuracy(mean_octave) < 0.4  # chance is 0.1
    assert accuracy(movement) > 0.8


# ---- worked numbers


@pytest.mark.parametrize(("position", "gain_in_speed"), [(0.0, 0.75), (1.0, 1.35)])
def test_an_engine_loses_or_gains_speed(monkeypatch: pytest.MonkeyPatch, position: float, gain_in_speed: float) -> None:
    """The time between strokes at the end, against that at the beginning, is what was drawn."""
    strokes: list[NDArray[np.int64]] = []

    def noted(pulses: Wave, response: Wave) -> Wave:
        strokes.append(np.flatnonzero(pulses))
        return pulses

    monkeypatch.setattr(sources, "convolved", noted)
    sources.engine(Draw(np.random.default_rng(3), (position, position)), RATE)
    between = np.diff(strokes[0])  # at the low end 14 strokes per second for 3.5 s, at the high one 40 for 7.5 s
    n_strokes = len(between)
    ratio = between[:3].mean() / between[-3:].mean()
    # Three strokes from each end are about this much short of the whole course.
    assert ratio == pytest.approx(gain_in_speed ** (1 - 3 / n_strokes), rel=0.02)


def test_strokes_keep_their_period() -> None:
    # The middle of the range (0.11 s, 0.18 s) is sqrt(0.11 * 0.18) = 0.1407 s, and each stroke is up to 8 % off.
    sound = SOURCES["knock"](Draw(np.random.default_rng(5), (0.5, 0.5)), RATE)
    loud = np.flatnonzero(np.abs(sound) > 0.3 * np.abs(sound).max()) / RATE
    strokes = loud[np.flatnonzero(np.diff(loud, prepend=-1.0) > 0.05)]
    assert len(strokes) == 4  # the middle of 3, 4, 5
    assert np.all(np.abs(np.diff(strokes) - 0.1407) <= 0.16 * 0.1407 + 0.002)


# ---- wrong input: sources are called by synthetic.py, which checks the settings
