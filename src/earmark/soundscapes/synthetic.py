"""Soundscapes drawn from a seed: sounds over coloured noise, with labels that are exactly true.

They let anyone see the whole path at work without a data set, and let tests know the right answer. Nothing here is
meant to replace recordings.

The level of an event is its signal-to-noise ratio: ``20 * log10(a / b)`` with a the RMS of the event alone from its
onset to its offset (pauses inside it included) and b the RMS of the background alone over the whole clip.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from earmark.checks import known_labels, names, number
from earmark.events import Event
from earmark.files import write_atomic
from earmark.soundscapes.sources import SOURCES
from earmark.soundscapes.waves import Draw, Wave, audible_part, power_law_noise, rms
from earmark.writers import events_to_tsv, weak_to_tsv

_LONGEST_SHARE = 0.8  # an event that filled its clip would have no onset to learn
_HIGHEST_PEAK = 0.98  # below 1, where 16 bits end
_LOWEST_BACKGROUND_DB = -80.0  # 3 steps of 16 bits: what is much fainter is written as silence, with labels
_LARGEST_SNR_DB = 50.0  # a click may peak 24 dB above its RMS: much more, and its background is silence in 16 bits
_STEEPEST_SLOPE = 6.0  # 18 dB per octave; far beyond, the noise's spectrum overflows and is no number


@dataclass(frozen=True)
class SoundscapeSettings:
    """What soundscapes are drawn from. Every pair is (lowest, highest) and every value between is equally likely.

    Args:
        clip_seconds: length of a clip.
        sample_rate: samples per second, at least 16000: the sounds reach up to 7 kHz.
        classes: which of the sounds in `sources.py` there are.
        classes_per_clip: how many different classes a clip holds that is not empty.
        events_per_class: how often a class is heard in a clip that holds it; events that find no more room beside
            the earlier ones are left out.
        empty_share: probability of a clip without any event, 0 to 1.
        snr_db: level of an event over the background.
        background_db: RMS of the background, in dB below full scale, -80 to 0: the gain of the whole clip.
        noise_slope: colour of the background, whose power falls as frequency ** -slope (0 white, 1 pink, 2 brown).
        parameter_span: the part of every parameter's range that is drawn from: (0, 1) is all of it.
        same_class_gap_seconds: least silence between two events of one class.
    """

    clip_seconds: float = 10.0
    sample_rate: int = 16000
    classes: tuple[str, ...] = tuple(SOURCES)
    classes_per_clip: tuple[int, int] = (1, 3)
    events_per_class: tuple[int, int] = (1, 3)
    empty_share: float = 0.05
    snr_db: tuple[float, float] = (10.0, 20.0)
    background_db: tuple[float, float] = (-55.0, -40.0)
    noise_slope: tuple[float, float] = (0.3, 1.5)
    parameter_span: tuple[float, float] = (0.15, 0.85)
    same_class_gap_seconds: float = 0.4

    def __post_init__(self) -> None:
        number("clip_seconds", self.clip_seconds, at_least=0.5, hint="is it in seconds?")
        number("sample_rate", self.sample_rate, at_least=16000, whole=True, hint="is it in samples per second?")
        number("empty_share", self.empty_share, at_least=0, at_most=1, hint="it is a share, not a percentage")
        number("same_class_gap_seconds", self.same_class_gap_seconds, at_least=0)
        if not names("classes", self.classes):
            raise ValueError("classes must name at least one sound, got none")
        known_labels(self.classes, SOURCES, where="classes")
        _check_pair(
            "classes_per_clip",
            self.classes_per_clip,
            at_least=1,
            at_most=len(self.classes),
            whole=True,
            hint=f"number of classes: {len(self.classes)}",
        )
        _check_pair("events_per_class", self.events_per_class, at_least=1, whole=True)
        _check_pair("snr_db", self.snr_db, at_least=-_LARGEST_SNR_DB, at_most=_LARGEST_SNR_DB, hint="is it in dB?")
        _check_pair(
            "background_db",
            self.background_db,
            at_least=_LOWEST_BACKGROUND_DB,
            at_most=0,
            hint="16-bit files hold nothing much fainter than -80 dB, nor anything above 0 dB",
        )
        _check_pair("noise_slope", self.noise_slope, at_least=-_STEEPEST_SLOPE, at_most=_STEEPEST_SLOPE)
        _check_pair("parameter_span", self.parameter_span, at_least=0, at_most=1)


@dataclass(frozen=True)
class PlacedSound:
    """One event's own waveform, at its level in the clip: `samples` begin at sample `first_sample`."""

    event: Event
    first_sample: int
    samples: NDArray[np.float32]


@dataclass(frozen=True)
class Soundscape:
    """A clip, its events sorted by onset, and what it was mixed from: samples = background + every sound."""

    samples: NDArray[np.float32]  # (samples,)
    events: tuple[Event, ...]
    background: NDArray[np.float32]  # (samples,)
    sounds: tuple[PlacedSound, ...]  # in the order of `events`


def held_out(settings: SoundscapeSettings) -> SoundscapeSettings:
    """The same soundscapes with other parameters: what a model that learned from `settings` has not met.

    Every parameter of every sound is drawn from its whole range instead of a part of it, the noise takes more
    colours, and the levels reach a little lower and higher. The seed has to be another one too.

    Example:
        >>> held_out(SoundscapeSettings()).parameter_span
        (0.0, 1.0)
    """
    return replace(
        settings,
        parameter_span=(0.0, 1.0),
        noise_slope=_wider(settings.noise_slope, 0.3, limit=_STEEPEST_SLOPE),
        snr_db=_wider(settings.snr_db, 1.0, limit=_LARGEST_SNR_DB),
    )


def draw_clip(seed: int | tuple[int, ...], settings: SoundscapeSettings) -> Soundscape:
    """Draw one clip; the same seed and settings give the same samples, bit for bit.

    Which classes a clip holds is drawn without regard to what they are, so no class is a sign of another.

    Args:
        seed: one whole number, or several, for instance (seed of the set, number of the clip); none below 0.
        settings: what the clip is drawn from.

    Returns:
        The clip as float32 between -1 and 1, with its events. Every event begins and ends exactly on a sample, and
        events of one class never overlap.

    Raises:
        ValueError: when a seed is negative or not a whole number.

    Example:
        >>> clip = draw_clip((7, 0), SoundscapeSettings(clip_seconds=4.0, classes_per_clip=(2, 2)))
        >>> clip.samples.shape, len({event.label for event in clip.events})
        ((64000,), 2)
    """
    parts = seed if isinstance(seed, tuple) else (seed,)
    rng = np.random.default_rng([int(number("seed", part, at_least=0, whole=True)) for part in parts])
    n_samples = round(settings.clip_seconds * settings.sample_rate)
    background = power_law_noise(rng, n_samples, settings.sample_rate, slope=rng.uniform(*settings.noise_slope))
    background *= _amplitude(rng.uniform(*settings.background_db))
    sounds = [
        sound
        for label in _draw_classes(rng, settings)
        for sound in _draw_sounds(rng, label, settings, background=background)
    ]
    sounds.sort(key=lambda sound: (sound.first_sample, sound.event.label))
    samples = background.copy()
    for sound in sounds:
        samples[sound.first_sample : sound.first_sample + len(sound.samples)] += sound.samples
    # Rarely needed: a few loud events at the same moment. The whole clip gives way, so every ratio stays.
    gain = min(1.0, _HIGHEST_PEAK / float(np.abs(samples).max()))
    return Soundscape(
        samples=(gain * samples).astype(np.float32),
        events=tuple(sound.event for sound in sounds),
        background=(gain * background).astype(np.float32),
        sounds=tuple(replace(sound, samples=np.float32(gain) * sound.samples) for sound in sounds),
    )


def write_soundscapes(folder: Path | str, *, n_clips: int, seed: int, settings: SoundscapeSettings) -> None:
    """Write `n_clips` soundscapes as ``audio/0000.wav`` ... with their tags and events beside them.

    ``weak.tsv`` holds the classes of every clip and ``strong.tsv`` every event; a clip without events stands in both
    with empty fields, because that nothing is heard in it is known. Clip k depends on the seed, the settings and k
    alone, so a larger set begins with the smaller one. The tables come last: where they are, the audio is complete.

    Args:
        folder: where to write; made when it is missing.
        n_clips: how many clips.
        seed: another seed gives another set.
        settings: what the clips are drawn from.

    Raises:
        ValueError: when n_clips is below 1, the seed is negative, or one of them is not a whole number.
        OSError: when the disk is full or the folder may not be written to.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_soundscapes(folder, n_clips=2, seed=1, settings=SoundscapeSettings(clip_seconds=2.0))
        ...     sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*.*"))
        ['audio/0000.wav', 'audio/0001.wav', 'strong.tsv', 'weak.tsv']
    """
    number("n_clips", n_clips, at_least=1, whole=True)
    number("seed", seed, at_least=0, whole=True)
    events: dict[str, tuple[Event, ...]] = {}
    (Path(folder) / "audio").mkdir(parents=True, exist_ok=True)
    for table in ("weak.tsv", "strong.tsv"):
        (Path(folder) / table).unlink(missing_ok=True)  # never old labels beside new audio
    for index in range(int(n_clips)):
        name = f"{index:04d}.wav"
        clip = draw_clip((seed, index), settings)
        write_atomic(Path(folder) / "audio" / name, _wav_bytes(clip.samples, settings.sample_rate))
        events[name] = clip.events
    tags = {name: {event.label for event in found} for name, found in events.items()}
    write_atomic(Path(folder) / "weak.tsv", weak_to_tsv(tags))
    write_atomic(Path(folder) / "strong.tsv", events_to_tsv(events))


def _wav_bytes(samples: NDArray[np.float32], sample_rate: int) -> bytes:
    """A 16-bit WAV file in memory: on a full disk the system's own error is raised, not that of libsndfile."""
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, int(sample_rate), format="WAV", subtype="PCM_16")
    return buffer.getvalue()


def _draw_classes(rng: np.random.Generator, settings: SoundscapeSettings) -> list[str]:
    """The classes of one clip, all equally likely and in random order."""
    if rng.uniform() < settings.empty_share:
        return []
    n_classes = rng.integers(*settings.classes_per_clip, endpoint=True)
    return [settings.classes[index] for index in rng.permutation(len(settings.classes))[:n_classes]]


def _draw_sounds(
    rng: np.random.Generator, label: str, settings: SoundscapeSettings, *, background: Wave
) -> list[PlacedSound]:
    """The events of one class in one clip, as many of the drawn number as find room."""
    rate, n_samples = settings.sample_rate, len(background)
    sounds: list[PlacedSound] = []
    for _ in range(rng.integers(*settings.events_per_class, endpoint=True)):
        wave = SOURCES[label](Draw(rng, settings.parameter_span), rate)
        wave = audible_part(wave, rate, longest=round(_LONGEST_SHARE * n_samples))
        wave *= rms(background) * _amplitude(rng.uniform(*settings.snr_db)) / rms(wave)
        taken = [(sound.first_sample, sound.first_sample + len(sound.samples)) for sound in sounds]
        first = _free_start(rng, len(wave), n_samples, taken, gap=round(settings.same_class_gap_seconds * rate))
        if first is not None:
            event = Event(onset=first / rate, offset=(first + len(wave)) / rate, label=label)
            sounds.append(PlacedSound(event, first, wave.astype(np.float32)))
    return sounds


def _free_start(
    rng: np.random.Generator, length: int, n_samples: int, taken: list[tuple[int, int]], *, gap: int
) -> int | None:
    """A first sample for `length` samples that keep `gap` from all that is taken, every possible one equally likely."""
    edges = [(-gap, -gap), *sorted(taken), (n_samples + gap, n_samples + gap)]
    rooms = [(before[1] + gap, after[0] - gap - length) for before, after in pairwise(edges)]
    rooms = [(lowest, highest) for lowest, highest in rooms if highest >= lowest]
    if not rooms:
        return None
    position = int(rng.integers(sum(highest - lowest + 1 for lowest, highest in rooms)))
    for lowest, highest in rooms:
        if position <= highest - lowest:
            return lowest + position
        position -= highest - lowest + 1
    raise AssertionError("the position was drawn from the rooms")


def _amplitude(decibel: float) -> float:
    """The factor of a level in dB."""
    return float(10 ** (decibel / 20))


def _wider(pair: tuple[float, float], margin: float, *, limit: float) -> tuple[float, float]:
    """The pair with `margin` more on both sides, as far as settings may go."""
    return max(pair[0] - margin, -limit), min(pair[1] + margin, limit)


def _check_pair(
    name: str,
    pair: tuple[float, float],
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    whole: bool = False,
    hint: str = "",
) -> None:
    """Raise ValueError unless `pair` is (lowest, highest) inside the limits."""
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise ValueError(f"{name} must be a pair (lowest, highest), got {pair!r}")
    for value in pair:
        number(name, value, at_least=at_least, at_most=at_most, whole=whole, hint=hint)
    if pair[0] > pair[1]:
        raise ValueError(f"{name} must be (lowest, highest), got {pair!r} - are the two swapped?")
