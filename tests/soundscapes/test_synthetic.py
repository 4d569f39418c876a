from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from earmark.soundscapes import synthetic
from earmark.soundscapes.sources import SOURCES
from earmark.soundscapes.synthetic import (
    Soundscape,
    SoundscapeSettings,
    draw_clip,
    held_out,
)

DEFAULT = SoundscapeSettings()
QUICK = SoundscapeSettings(clip_seconds=1.0, classes=("knock", "click", "bark", "chirp"), same_class_gap_seconds=0.1)


def decibel(numerator: np.ndarray, denominator: np.ndarray) -> float:
    """Ratio of two RMS values in dB, in double precision."""
    return float(10 * np.log10(np.mean(numerator.astype(float) ** 2) / np.mean(denominator.astype(float) ** 2)))


def clips(settings: SoundscapeSettings, n_clips: int, seed: int = 5) -> list[Soundscape]:
    return [draw_clip((seed, index), settings) for index in range(n_clips)]


# ---- laws


@pytest.mark.parametrize("settings", [DEFAULT, held_out(DEFAULT), QUICK], ids=["default", "held out", "quick"])
def test_nothing_of_an_event_is_heard_outside_its_label(settings: SoundscapeSettings) -> None:
    for clip in clips(settings, 12):
        inside = np.zeros(len(clip.samples), dtype=bool)
        for event in clip.events:
            inside[round(event.onset * 16000) : round(event.offset * 16000)] = True
        added = clip.samples.astype(float) - clip.background
        assert np.abs(added[~inside]).max(initial=0.0) <= 1e-9


@pytest.mark.parametrize("settings", [DEFAULT, QUICK], ids=["default", "quick"])
def test_a_clip_is_its_background_and_its_sounds(settings: SoundscapeSettings) -> None:
    for clip in clips(settings, 12):
        total = clip.background.astype(float)
        for sound in clip.sounds:
            total[sound.first_sample : sound.first_sample + len(sound.samples)] += sound.samples
        np.testing.assert_allclose(clip.samples, total, atol=1e-6)
        assert tuple(sound.event for sound in clip.sounds) == clip.events
        assert [sound.first_sample / 16000 for sound in clip.sounds] == [event.onset for event in clip.events]
        assert [len(sound.samples) / 16000 for sound in clip.sounds] == pytest.approx(
            [event.duration for event in clip.events]
        )


def test_events_are_sorted_lie_in_the_clip_and_leave_a_gap_to_their_own_kind() -> None:
    settings = replace(DEFAULT, events_per_class=(3, 6))
    for clip in clips(settings, 25):
        assert list(clip.events) == sorted(clip.events, key=lambda event: event.onset)
        last_offset: dict[str, float] = {}
        for event in clip.events:
            assert 0 <= event.onset < event.offset <= 10.0
            assert event.onset - last_offset.get(event.label, -1.0) >= settings.same_class_gap_seconds - 1e-9
            last_offset[event.label] = event.offset


def test_events_of_different_classes_do_overlap() -> None:
    overlaps = [
        first.label != second.label and second.onset < first.offset
        for clip in clips(DEFAULT, 40)
        for first, second in zip(clip.events, clip.events[1:], strict=False)
    ]
    assert 0.1 < np.mean(overlaps) < 0.9


@pytest.mark.parametrize("settings", [DEFAULT, held_out(DEFAULT)], ids=["default", "held out"])
def test_every_event_has_a_level_inside_the_range_over_its_background(settings: SoundscapeSettings) -> None:
    levels = [decibel(sound.samples, clip.background) for clip in clips(settings, 40) for sound in clip.sounds]
    lowest, highest = settings.snr_db
    assert lowest - 0.01 <= min(levels) < lowest + 2
    assert highest - 2 < max(levels) <= highest + 0.01


def test_the_gain_of_the_whole_clip_is_drawn() -> None:
    levels = [decibel(clip.background, np.ones(1)) for clip in clips(QUICK, 60)]
    assert -55.01 <= min(levels) < -52
    assert -43 < max(levels) <= -39.99


def test_a_clip_too_loud_gives_way_as_a_whole() -> None:
    loud = replace(DEFAULT, background_db=(-6.0, -6.0), snr_db=(20.0, 20.0), empty_share=0.0)
    for clip in clips(loud, 8):
        assert np.abs(clip.samples).max() == pytest.approx(0.98)
        for sound in clip.sounds:
            assert decibel(sound.samples, clip.background) == pytest.approx(20.0, abs=0.01)


def test_default_clips_never_reach_full_scale() -> None:
    for clip in clips(DEFAULT, 25):
        assert clip.samples.dtype == np.float32
        assert clip.samples.shape == (160000,)
        assert np.abs(clip.samples).max() < 1.0


def test_no_class_is_a_sign_of_another() -> None:
    settings = replace(QUICK, clip_seconds=0.5, classes_per_clip=(1, 3))
    present = np.array(
        [
            [label in {event.label for event in clip.events} for label in settings.classes]
            for clip in clips(settings, 800)
        ]
    )
    # 95 % of clips hold 1, 2 or 3 of 4 classes, so each stands in 0.95 * 2 / 4 = 47.5 % of them ...
    np.testing.assert_allclose(present.mean(axis=0), 0.475, atol=0.05)
    # ... and any two together in 0.95 * (0 + 1 / 6 + 3 / 6) / 3 = 21 %.
    together = present.T.astype(float) @ present / len(present)
    np.testing.assert_allclose(together[~np.eye(4, dtype=bool)], 0.95 * (0 + 1 / 6 + 3 / 6) / 3, atol=0.05)


def test_the_number_of_classes_and_events_stays_in_its_range() -> None:
    settings = replace(QUICK, clip_seconds=4.0, classes_per_clip=(2, 3), events_per_class=(1, 2), empty_share=0.0)
    for clip in clips(settings, 40):
        labels = [event.label for event in clip.events]
        assert 2 <= len(set(labels)) <= 3
        assert all(1 <= labels.count(label) <= 2 for label in labels)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_share_of_empty_clips(share: float) -> None:
    empty = [not clip.events for clip in clips(replace(QUICK, empty_share=share), 300)]
    assert np.mean(empty) == pytest.approx(share, abs=0.08)


@pytest.mark.parametrize("label", SOURCES)
def test_every_class_fits_into_a_clip_of_half_a_second(label: str) -> None:
    settings = SoundscapeSettings(clip_seconds=0.5, classes=(label,), classes_per_clip=(1, 1), empty_share=0.0)
    for clip in clips(settings, 5):
        assert len(clip.events) >= 1
        assert all(event.duration <= 0.4 for event in clip.events)  # 80 % of the clip


def test_the_faintest_background_is_still_there_in_16_bits() -> None:
    # -80 dB is 10 ** -4 of full scale: 3.3 of 32768 steps. Rounded to whole steps, most samples are not 0.
    faint = replace(QUICK, background_db=(-80.0, -80.0), empty_share=1.0)
    steps = np.round(draw_clip(1, faint).samples * 32768.0)
    assert np.sqrt(np.mean(steps**2)) == pytest.approx(3.29, abs=0.02)
    assert np.mean(steps != 0) > 0.8


def test_a_seed_is_the_same_number_however_it_is_written() -> None:
    assert draw_clip(8.0, QUICK).samples.tobytes() == draw_clip(8, QUICK).samples.tobytes()  # type: ignore[arg-type]
    assert draw_clip((8,), QUICK).samples.tobytes() == draw_clip(8, QUICK).samples.tobytes()


def test_the_same_seed_gives_the_same_bits_and_another_one_another_clip() -> None:
    once, again, other = (draw_clip(seed, QUICK) for seed in ((3, 1), (3, 1), (4, 1)))
    assert once.samples.tobytes() == again.samples.tobytes()
    assert once.events == again.events
    assert once.samples.tobytes() != other.samples.tobytes()
    assert draw_clip(8, QUICK).samples.tobytes() == draw_clip(8, QUICK).samples.tobytes()


def test_held_out_soundscapes_have_other_colours_levels_and_parameters() -> None:
    other = held_out(DEFAULT)
    for name in ("snr_db", "noise_slope", "parameter_span"):
        known, wider = getattr(DEFAULT, name), getattr(other, name)
        assert wider[0] < known[0] < known[1] < wider[1]
    assert (
        replace(other, snr_db=DEFAULT.snr_db, noise_slope=DEFAULT.noise_slope, parameter_span=DEFAULT.parameter_span)
        == DEFAULT
    )
    # The span really reaches the sounds: barks are drawn from 0.3 to 0.6 s, a factor of 2, so in training they are
    # at most 0.3 * 2 ** 0.85 = 0.541 s long.
    barks = replace(DEFAULT, classes=("bark",), classes_per_clip=(1, 1), empty_share=0.0)
    longest = [
        max(event.duration for clip in clips(settings, 60) for event in clip.events)
        for settings in (barks, held_out(barks))
    ]
    assert longest[0] <= 0.541 < longest[1]


@pytest.mark.parametrize(
    ("settings", "slope", "snr"),
    [
        (replace(QUICK, noise_slope=(-6.0, -6.0), snr_db=(-50.0, -50.0)), (-6.0, -5.7), (-50.0, -49.0)),
        (replace(QUICK, noise_slope=(6.0, 6.0), snr_db=(50.0, 50.0)), (5.7, 6.0), (49.0, 50.0)),
    ],
)
def test_the_utmost_settings_are_numbers_and_can_be_held_out(
    settings: SoundscapeSettings, slope: tuple[float, float], snr: tuple[float, float]
) -> None:
    for clip in clips(replace(settings, empty_share=0.0, background_db=(0.0, 0.0)), 3):
        assert clip.events
        assert np.abs(clip.samples).max() == pytest.approx(0.98)
        assert np.sqrt(np.mean(clip.background**2)) > 10 ** (
            synthetic._LOWEST_BACKGROUND_DB / 20
        )  # not lost in 16 bits
    other = held_out(settings)
    assert (other.noise_slope, other.snr_db) == (slope, snr)


def test_the_free_places_are_all_there_are(rng: np.random.Generator) -> None:
    for _ in range(60):
        n_samples, length, gap = (int(rng.integers(*limits)) for limits in ((5, 30), (1, 8), (0, 4)))
        taken: list[tuple[int, int]] = []
        for start in range(0, n_samples, 9):
            if rng.uniform() < 0.5 and start + 3 <= n_samples:
                taken.append((start, start + 3))
        allowed = {
            first
            for first in range(n_samples - length + 1)
            if all(first + length + gap <= begin or end + gap <= first for begin, end in taken)
        }
        drawn = {synthetic._free_start(rng, length, n_samples, taken, gap=gap) for _ in range(30 * n_samples)}
        assert drawn == (allowed if allowed else {None})


# ---- worked numbers


def test_an_event_at_12_db_is_four_times_as_strong_as_its_background() -> None:
    # 20 * log10(3.981) = 12
    settings = replace(DEFAULT, snr_db=(12.0, 12.0), classes=("hiss",), classes_per_clip=(1, 1), empty_share=0.0)
    clip = draw_clip(1, settings)
    sound = clip.sounds[0].samples
    ratio = np.sqrt(np.mean(sound.astype(float) ** 2) / np.mean(clip.background.astype(float) ** 2))
    assert ratio == pytest.approx(3.981, abs=0.001)


# ---- wrong input


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"clip_seconds": 0.1}, "clip_seconds must be at least 0.5, got 0.1 - is it in seconds?"),
        ({"sample_rate": 8000}, "sample_rate must be at least 16000, got 8000"),
        ({"empty_share": 5}, "empty_share must be at least 0 and at most 1, got 5 - it is a share, not a percentage"),
        ({"same_class_gap_seconds": -1.0}, "same_class_gap_seconds must be at least 0, got -1.0"),
        ({"classes": ("bark", "hum", "knok")}, "unknown class 'knok' .* - did you mean 'knock'?"),
        ({"classes": ()}, "classes must name at least one sound, got none"),
        ({"classes": ("bark", "bark")}, "classes must be different names, got 'bark' more than once"),
        ({"classes": "bark"}, "classes must be a list of names, got 'bark' - did you mean ['bark']?"),
        ({"classes": ("bark", 3)}, "classes must be names, got 3 among them"),
        ({"classes": ("bark",)}, "classes_per_clip must be at least 1 and at most 1, got 3 - number of classes: 1"),
        ({"classes_per_clip": (0, 3)}, "classes_per_clip must be at least 1 and at most 10, got 0"),
        ({"events_per_class": (3, 1)}, "events_per_class must be (lowest, highest), got (3, 1) - are the two swapped?"),
        ({"snr_db": (float("nan"), 3.0)}, "snr_db must be at least -50 and at most 50, got nan"),
        (
            {"background_db": (-10.0, 3.0)},
            "background_db must be at least -80 and at most 0, got 3.0 - 16-bit files hold",
        ),
        ({"background_db": (-300.0, -300.0)}, "background_db must be at least -80 and at most 0, got -300.0 - 16-bit"),
        ({"events_per_class": (1.5, 2.5)}, "events_per_class must be a whole number, got 1.5"),
        ({"events_per_class": 3}, "events_per_class must be a pair (lowest, highest), got 3"),
        ({"snr_db": (1.0, 2.0, 3.0)}, "snr_db must be a pair (lowest, highest), got (1.0, 2.0, 3.0)"),
        ({"noise_slope": "01"}, "noise_slope must be a pair (lowest, highest), got '01'"),
        ({"classes_per_clip": (1, 1.5)}, "classes_per_clip must be a whole number, got 1.5"),
        ({"clip_seconds": "10"}, "clip_seconds must be a number, got '10'"),
        ({"sample_rate": 16000.5}, "sample_rate must be a whole number, got 16000.5"),
        ({"noise_slope": (-200.0, 0.0)}, "noise_slope must be at least -6 and at most 6, got -200.0"),
        ({"noise_slope": (0.0, 900.0)}, "noise_slope must be at least -6 and at most 6, got 900.0"),
        ({"snr_db": (10.0, 7000.0)}, "snr_db must be at least -50 and at most 50, got 7000.0 - is it in dB?"),
        ({"snr_db": (-61.0, 10.0)}, "snr_db must be at least -50 and at most 50, got -61.0 - is it in dB?"),
        ({"noise_slope": (1.0, 0.0)}, "noise_slope must be (lowest, highest), got (1.0, 0.0)"),
        ({"parameter_span": (0.0, 1.5)}, "parameter_span must be at least 0 and at most 1, got 1.5"),
    ],
)
def test_wrong_settings_are_named(wrong: dict[str, object], message: str) -> None:
    pattern = re.escape(message).replace(re.escape(".*"), ".*")
    with pytest.raises(ValueError, match=pattern):
        replace(DEFAULT, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        (-1, "seed must be at least 0, got -1"),
        ((3, -2), "seed must be at least 0, got -2"),
        (1.5, "seed must be a whole number, got 1.5"),
        ("a", "seed must be a number, got 'a'"),
        ((1, "a"), "seed must be a number, got 'a'"),
        (True, "seed must be a number, got True"),
        (None, "seed must be a number, got None"),
    ],
)
def test_seeds_are_whole_numbers_from_0_on(seed: int | tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        draw_clip(seed, QUICK)
