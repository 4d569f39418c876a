from __future__ import annotations

import numpy as np
import pytest

from earmark.soundscapes.waves import (
    Draw,
    Wave,
    added_at,
    audible_part,
    band_noise,
    convolved,
    gliding,
    harmonics,
    power_law_noise,
    quick_length,
    ringing,
    rise_and_fall,
    rms,
    seconds,
)

RATE = 16000


# ---- laws


@pytest.mark.parametrize("span", [(0.0, 1.0), (0.15, 0.85), (0.4, 0.6)])
def test_drawn_values_fill_their_part_of_the_range_and_nothing_else(
    rng: np.random.Generator, span: tuple[float, float]
) -> None:
    draw = Draw(rng, span)
    positions = np.log2([draw.between(100, 400) / 100 for _ in range(500)]) / 2  # two octaves: 0 to 1
    assert span[0] <= positions.min() < span[0] + 0.02
    assert span[1] - 0.02 < positions.max() <= span[1]


def test_whole_numbers_reach_both_ends(rng: np.random.Generator) -> None:
    assert {Draw(rng).whole(2, 5) for _ in range(200)} == {2, 3, 4, 5}


@pytest.mark.parametrize("slope", [-0.5, 0.0, 1.0, 2.0])
def test_the_power_of_coloured_noise_falls_with_its_slope(rng: np.random.Generator, slope: float) -> None:
    noise = power_law_noise(rng, 30 * RATE, RATE, slope=slope)
    power = np.abs(np.fft.rfft(noise)) ** 2
    octaves = np.array([200.0, 400.0, 800.0, 1600.0, 3200.0])
    in_octave = [power[30 * int(low) : 30 * int(2 * low)].mean() for low in octaves]  # bins of 1/30 Hz
    fitted = np.polyfit(np.log2(octaves), np.log2(in_octave), 1)[0]
    assert fitted == pytest.approx(-slope, abs=0.1)
    assert rms(noise) == pytest.approx(1.0)


def test_band_noise_has_half_its_height_half_its_width_away(rng: np.random.Generator) -> None:
    noise = band_noise(rng, 60 * RATE, RATE, centre=1000, octaves=2.0)
    spectrum = np.abs(np.fft.rfft(noise, 60 * RATE))
    # 2 octaves wide: at 500 and 2000 Hz the amplitude is half, the power a quarter.
    middle, low, high = (np.mean(spectrum[60 * (f - 20) : 60 * (f + 20)] ** 2) for f in (1000, 500, 2000))
    assert low / middle == pytest.approx(0.25, rel=0.15)
    assert high / middle == pytest.approx(0.25, rel=0.15)


@pytest.mark.parametrize("n_samples", [1, 2, 15, 16, 17, 1000, 100003, 160000])
def test_quick_lengths_are_even_and_little_longer(n_samples: int) -> None:
    length = quick_length(n_samples)
    assert length % 2 == 0
    assert n_samples <= length <= max(n_samples * 1.125, n_samples + 2)


def test_harmonics_are_the_sum_of_sines(rng: np.random.Generator) -> None:
    phase, levels = rng.uniform(-50, 50, 1000), rng.uniform(size=16)
    slow = sum(level * np.sin((k + 1) * phase) for k, level in enumerate(levels))
    np.testing.assert_allclose(harmonics(phase, levels), slow, atol=1e-9)


def test_convolved_is_convolution(rng: np.random.Generator) -> None:
    pulses, response = rng.normal(size=300), rng.normal(size=40)
    np.testing.assert_allclose(convolved(pulses, response), np.convolve(pulses, response)[:300], atol=1e-9)


def test_added_at_is_one_addition_after_the_other(rng: np.random.Generator) -> None:
    starts, waves = rng.integers(0, 90, 20), rng.normal(size=(20, 15))
    slow = np.zeros(120)
    for start, wave in zip(starts, waves, strict=True):
        slow[start : start + 15] += wave
    np.testing.assert_allclose(added_at(starts, waves, 95), slow[:95])


def test_a_longer_sound_is_cut_to_what_is_allowed(rng: np.random.Generator) -> None:
    assert len(audible_part(rng.normal(size=RATE), RATE, longest=RATE // 2)) == RATE // 2


def test_a_rise_longer_than_the_sound_does_no_harm() -> None:
    envelope = rise_and_fall(100, RATE, attack=0.05, release=0.05)  # 800 samples each
    assert envelope.shape == (100,)
    assert np.all((envelope >= 0) & (envelope <= 1))


# ---- worked numbers


def test_half_the_power_of_brown_noise_lies_where_it_is_heard(rng: np.random.Generator) -> None:
    # Flat below 100 Hz that is 100 parts; above, the integral of (100 / f) ** 2 up to 8000 Hz, 100 - 100 / 80 = 98.75.
    # So 50.3 % lie below; without the flat part it would be nearly all, and an SNR would speak of what nobody hears.
    noise = power_law_noise(rng, 60 * RATE, RATE, slope=2.0)
    power = np.abs(np.fft.rfft(noise)) ** 2  # bins of 1/60 Hz
    assert power[: 60 * 100].sum() / power.sum() == pytest.approx(100 / 198.75, abs=0.03)
    # Wherever the flat part ends, it is half: 1000 parts below 1000 Hz, and 1000 - 1000 / 8 = 875 above.
    noise = power_law_noise(rng, 60 * RATE, RATE, slope=2.0, flat_below=1000.0)
    power = np.abs(np.fft.rfft(noise)) ** 2
    assert power[: 60 * 1000].sum() / power.sum() == pytest.approx(1000 / 1875, abs=0.03)


def test_a_dying_tone_ends_where_it_is_30_db_down() -> None:
    # exp(-t / 0.1) is 30 dB down at 0.1 * ln(10 ** 1.5) = 0.1 * 3.454 = 0.3454 s; the cut lies on steps of 2 ms.
    tone = np.sin(2 * np.pi * 1000 * seconds(RATE, RATE)) * np.exp(-seconds(RATE, RATE) / 0.1)
    silence = np.zeros(RATE // 2)
    assert len(audible_part(np.concatenate([silence, tone, silence]), RATE, longest=3 * RATE)) / RATE == pytest.approx(
        0.3454, abs=0.002
    )


def test_the_fades_are_a_millisecond_and_ten() -> None:
    faded = audible_part(np.ones(RATE), RATE, longest=RATE)
    assert faded[0] < 0.05
    assert faded[-1] < 0.001
    assert np.all(faded[16:-160] == 1.0)  # 1 ms = 16 samples, 10 ms = 160


def test_ringing_falls_by_1_over_e_in_its_decay() -> None:
    tone = ringing(RATE, frequencies=np.array([1000.0]), decays=np.array([0.05]), levels=np.array([2.0]))
    peak_after = np.abs(tone[800:816]).max()  # one period of 16 samples, 0.05 s later
    assert peak_after == pytest.approx(2.0 / np.e, rel=0.02)


def test_the_phase_of_a_steady_tone_turns_once_per_period() -> None:
    phase: Wave = gliding(np.full(RATE, 100.0), RATE)
    assert phase[-1] == pytest.approx(2 * np.pi * 100)


def test_rms_of_a_square_wave_is_its_height() -> None:
    assert rms(np.array([3.0, -3.0, 3.0])) == 3.0


# ---- wrong input: these are inner pieces; what a caller gives is checked in synthetic.py
