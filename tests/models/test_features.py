"""Log-mel features: against librosa's own figures, against a slow second implementation, and against physics."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from oracles import training_log_mel

from earmark.config import Config, FeatureConfig
from earmark.models.crnn import Network
from earmark.models.features import LogMel, mel_centres_hz, mel_filterbank

SMALL = FeatureConfig(sample_rate=8000, n_mels=6, window_samples=64, hop_samples=20, min_hz=100.0, max_hz=3600.0)


def sine(hz: float, *, sample_rate: int = 16000, seconds: float = 0.5, amplitude: float = 0.1) -> torch.Tensor:
    """A tone, (1, samples)."""
    samples = np.arange(round(seconds * sample_rate)) / sample_rate
    return torch.from_numpy(amplitude * np.sin(2 * np.pi * hz * samples)).float()[None]


# --- laws ---


@pytest.mark.parametrize("framing", ["hop", "centred"])
@pytest.mark.parametrize("spectrum", ["power", "magnitude"])
@pytest.mark.parametrize(("window", "mel_scale"), [("hann", "slaney"), ("hamming", "htk")])
def test_the_same_as_the_definition(
    framing: str, spectrum: str, window: str, mel_scale: str, rng: np.random.Generator
) -> None:
    config = dataclasses.replace(
        SMALL, framing=framing, spectrum=spectrum, window=window, mel_scale=mel_scale, floor=1e-5
    )
    for n_samples in (33, 40, 171):
        audio = rng.normal(scale=0.1, size=n_samples)
        audio[n_samples // 2 :] *= 1e-5  # loud, and below the floor
        slow = training_log_mel.log_mel(
            audio.tolist(),
            sample_rate=8000,
            window_samples=64,
            hop_samples=20,
            n_mels=6,
            min_hz=100.0,
            max_hz=3600.0,
            window=window,
            spectrum=spectrum,
            mel_scale=mel_scale,
            floor=1e-5,
            framing=framing,
        )
        found = LogMel(config)(torch.from_numpy(audio).float()[None])[0]
        assert found.shape == (len(slow), 6)
        np.testing.assert_allclose(found.numpy(), slow, atol=2e-4)


@pytest.mark.parametrize("hz", [150.0, 440.0, 1000.0, 1700.0, 3333.0, 7000.0])
@pytest.mark.parametrize("mel_scale", ["slaney", "htk"])
def test_a_tone_is_loudest_in_the_band_of_its_frequency(hz: float, mel_scale: str) -> None:
    config = FeatureConfig(mel_scale=mel_scale)
    middle = LogMel(config)(sine(hz))[0, 5:-5]  # without the edges, where the tone begins and ends
    nearest = int(np.abs(mel_centres_hz(config) - hz).argmin())
    assert (middle.argmax(dim=1) == nearest).all()


@pytest.mark.parametrize(("spectrum", "rise"), [("power", math.log(4)), ("magnitude", math.log(2))])
def test_twice_the_amplitude_is_four_times_the_energy(spectrum: str, rise: float, rng: np.random.Generator) -> None:
    log_mel = LogMel(FeatureConfig(spectrum=spectrum))
    noise = torch.from_numpy(rng.normal(scale=0.1, size=(1, 8000))).float()
    torch.testing.assert_close(log_mel(2 * noise), log_mel(noise) + rise, atol=1e-4, rtol=0)


def test_neither_the_sign_nor_anything_else_in_the_batch_matters(rng: np.random.Generator) -> None:
    log_mel = LogMel(FeatureConfig())
    audio = torch.from_numpy(rng.normal(size=(3, 4000))).float()
    torch.testing.assert_close(log_mel(-audio), log_mel(audio))
    for row in range(3):
        torch.testing.assert_close(log_mel(audio[row : row + 1])[0], log_mel(audio)[row])


def test_a_delay_of_whole_hops_moves_the_frames(rng: np.random.Generator) -> None:
    log_mel = LogMel(FeatureConfig())
    audio = torch.from_numpy(rng.normal(size=(1, 6400))).float()
    delayed = torch.nn.functional.pad(audio, (3 * 320, 0))
    torch.testing.assert_close(log_mel(delayed)[:, 3:], log_mel(audio), atol=1e-4, rtol=0)


@pytest.mark.parametrize("frame", [0, 1, 10, 24])
def test_a_frame_hears_its_own_window_and_nothing_else(frame: int, rng: np.random.Generator) -> None:
    log_mel = LogMel(FeatureConfig())
    audio = torch.from_numpy(rng.normal(size=(1, 25 * 320))).float()
    centre = frame * 320 + 160
    first, end = max(0, centre - 512), centre + 512
    elsewhere = torch.full_like(audio, 1e5)
    elsewhere[:, first:end] = audio[:, first:end]
    # Beside the clip is silence, and that does not change.
    torch.testing.assert_close(log_mel(elsewhere)[:, frame], log_mel(audio)[:, frame], atol=1e-4, rtol=0)
    for sample in (first + 5, min(end, 8000) - 5):
        touched = audio.clone()
        touched[:, sample] += 1e5
        assert (log_mel(touched)[:, frame] - log_mel(audio)[:, frame]).abs().max() > 1e-2


@pytest.mark.parametrize("n_samples", [1, 319, 320, 321, 16000, 16001])
def test_number_of_frames(n_samples: int) -> None:
    log_mel = LogMel(FeatureConfig())
    assert log_mel(torch.zeros(1, n_samples)).shape == (1, log_mel.timeline.n_frames(n_samples), 64)


def test_silence_is_the_fixed_floor_whatever_else_the_clip_holds() -> None:
    log_mel = LogMel(FeatureConfig(floor=1e-6))
    audio = torch.zeros(2, 16000)
    audio[1, :4000] = 1.0  # a loud second beginning
    for clip in log_mel(audio):
        torch.testing.assert_close(clip[20:], torch.full((30, 64), math.log(1e-6)))


def test_only_the_option_ties_a_frame_to_the_rest_of_its_clip() -> None:
    audio = torch.cat([0.001 * sine(440.0), sine(440.0, amplitude=1.0)], dim=1)
    for spectrum, decibel in (("power", math.log(10) / 10), ("magnitude", math.log(10) / 20)):
        plain = LogMel(FeatureConfig(spectrum=spectrum))(audio)
        ranged = LogMel(FeatureConfig(spectrum=spectrum, dynamic_range_db=40.0))(audio)
        lowest = plain.max() - 40 * decibel
        torch.testing.assert_close(ranged, plain.clamp(min=float(lowest)))
        assert (ranged > plain).any()
        log_mel = LogMel(FeatureConfig(spectrum=spectrum, dynamic_range_db=40.0))
        both = log_mel(torch.cat([audio, 0.01 * audio]))
        torch.testing.assert_close(both[0], ranged[0])  # each clip's own maximum
        torch.testing.assert_close(both[1], log_mel(0.01 * audio)[0])


def test_statistics_are_stored_with_the_weights_and_the_tables_are_not() -> None:
    assert set(Network(Config(), ["a"]).state_dict()) >= {"mean", "deviation"}
    assert LogMel(FeatureConfig()).state_dict() == {}


def test_filters_of_neighbours_add_up_to_one_between_the_outer_centres() -> None:
    for scale in ("slaney", "htk"):
        filters = mel_filterbank(sample_rate=16000, fft_samples=1024, n_mels=64, min_hz=0, max_hz=8000, scale=scale)
        centres = mel_centres_hz(FeatureConfig(mel_scale=scale))
        hz = np.arange(513) * 16000 / 1024
        inside = (hz >= centres[0]) & (hz <= centres[-1])
        np.testing.assert_allclose(filters[inside].sum(axis=1), 1.0, atol=1e-12)


# --- worked numbers ---

# librosa 0.11.0 with numpy 2.4.6: librosa.filters.mel(sr, n_fft, n_mels, fmin, fmax, htk=..., norm=None, float64).
# First, middle and last bin of some filters, then the sum over the bank and how many numbers in it are above 0.
_SLANEY_64 = {
    (1, 0): 0.336703710, (3, 0): 0.989888871, (5, 0): 0.316481451, (27, 9): 0.091000165, (30, 9): 0.898888705,
    (32, 9): 0.225481286, (72, 24): 0.009933336, (76, 24): 0.862929459, (79, 24): 0.052275989, (76, 25): 0.137070541,
    (80, 25): 0.792242609, (83, 25): 0.019471056, (155, 40): 0.031246744, (163, 40): 0.918270381,
    (170, 40): 0.038709059, (466, 63): 0.032162988, (489, 63): 0.961304946, (511, 63): 0.041795867,
}  # fmt: skip
_HTK_64 = {
    (6, 3): 0.238417042, (8, 3): 0.765524373, (9, 3): 0.281975549, (19, 9): 0.117199391, (21, 9): 0.913879693,
    (23, 9): 0.316460677, (69, 24): 0.044906232, (73, 24): 0.935655213, (77, 24): 0.205021721, (167, 40): 0.067539446,
    (175, 40): 0.975381182, (183, 40): 0.053760760, (471, 63): 0.026610732, (492, 63): 0.944572639, (512, 63): 0.0,
}  # fmt: skip
_SLANEY_128 = {
    (1, 0): 0.417413863, (3, 0): 0.747758412, (4, 0): 0.330344550, (72, 30): 0.053798103, (74, 30): 0.888625828,
    (76, 30): 0.276546447, (164, 60): 0.141869917, (168, 60): 0.951210901, (172, 60): 0.066817337,
    (971, 127): 0.002052013, (997, 127): 0.995401763, (1023, 127): 0.037202872,
}  # fmt: skip
_HTK_16 = {
    (4, 0): 0.305001071, (6, 0): 0.938769815, (8, 0): 0.247131473, (29, 7): 0.140036805, (34, 7): 0.906501040,
    (39, 7): 0.032960861, (89, 15): 0.072418945, (100, 15): 0.960717345, (111, 15): 0.080059779,
}  # fmt: skip


@pytest.mark.parametrize(
    ("scale", "sample_rate", "fft_samples", "n_mels", "min_hz", "max_hz", "figures", "total", "n_positive"),
    [
        ("slaney", 16000, 1024, 64, 0.0, 8000.0, _SLANEY_64, 498.545770485, 997),
        ("htk", 16000, 1024, 64, 0.0, 8000.0, _HTK_64, 500.474476974, 1000),  # librosa: one more, of 1e-15
        ("slaney", 22050, 2048, 128, 0.0, 11025.0, _SLANEY_128, 1009.310449542, 2018),
        ("htk", 8000, 256, 16, 100.0, 3500.0, _HTK_16, 101.235916223, 202),
    ],
)
def test_the_filterbank_of_librosa(
    scale: str,
    sample_rate: int,
    fft_samples: int,
    n_mels: int,
    min_hz: float,
    max_hz: float,
    figures: dict[tuple[int, int], float],
    total: float,
    n_positive: int,
) -> None:
    filters = mel_filterbank(
        sample_rate=sample_rate, fft_samples=fft_samples, n_mels=n_mels, min_hz=min_hz, max_hz=max_hz, scale=scale
    )
    for (bin_number, band), height in figures.items():
        assert filters[bin_number, band] == pytest.approx(height, abs=2e-9), (bin_number, band)
    assert filters.sum() == pytest.approx(total, abs=1e-6)
    assert (filters > 1e-12).sum() == n_positive


# librosa 0.11.0: mel_frequencies(66, fmin=0, fmax=8000, htk=...), numbers 1, 10, 25, 40 and 64 of 0 to 65.
@pytest.mark.parametrize(
    ("scale", "centres"),
    [
        ("slaney", [46.4057851, 464.05785099, 1179.57407126, 2418.17098624, 7626.15921059]),
        ("htk", [27.67137228, 331.50309229, 1145.13979518, 2600.56292531, 7669.16255331]),
    ],
)
def test_the_centres_of_librosa(scale: str, centres: list[float]) -> None:
    found = mel_centres_hz(FeatureConfig(mel_scale=scale))
    np.testing.assert_allclose(found[[0, 9, 24, 39, 63]], centres, rtol=1e-8)


# librosa 0.11.0: log(max(1e-10, melspectrogram(y, sr=16000, n_fft=1024, hop_length=320, window=..., center=True,
# pad_mode="reflect", power=..., n_mels=64, fmin=0, fmax=8000, htk=False, norm=None))) of the signal in the test.
_LIBROSA_POWER_HANN = {
    (0, 3): 5.611619, (0, 10): 2.011244, (0, 24): 4.093622, (0, 40): -0.232434, (0, 60): -2.344205, (5, 10): 6.211057,
    (25, 3): 2.118914, (25, 10): 2.614231, (25, 24): 3.646337, (25, 40): 0.585354, (25, 60): -1.822667,
}  # fmt: skip
_LIBROSA_MAGNITUDE_HAMMING = {
    (0, 3): 3.313090, (0, 10): 1.550606, (0, 24): 2.675005, (0, 40): 0.907619, (0, 60): 0.331650, (5, 3): -2.607382,
    (5, 10): 3.649110, (5, 24): -4.032977, (5, 40): -5.185284, (5, 60): -5.729478, (12, 3): -3.168542,
    (12, 10): -2.599493, (12, 24): -1.766454, (12, 40): -2.982184, (12, 60): -2.890222, (25, 3): 1.596417,
    (25, 10): 1.854270, (25, 24): 2.447589, (25, 40): 1.315981, (25, 60): 0.592413,
}  # fmt: skip


@pytest.mark.parametrize(
    ("spectrum", "window", "figures"),
    [("power", "hann", _LIBROSA_POWER_HANN), ("magnitude", "hamming", _LIBROSA_MAGNITUDE_HAMMING)],
)
def test_the_features_of_librosa(spectrum: str, window: str, figures: dict[tuple[int, int], float]) -> None:
    t = np.arange(8000) / 16000
    signal = 0.3 * np.sin(2 * np.pi * 1000 * t) + 0.1 * np.sin(2 * np.pi * (200 + 1500 * t) * t)
    log_mel = LogMel(FeatureConfig(framing="centred", spectrum=spectrum, window=window))
    found = log_mel(torch.from_numpy(signal).float()[None])[0]
    assert found.shape == (26, 64)
    for (frame, band), value in figures.items():
        assert found[frame, band].item() == pytest.approx(value, abs=1e-3), (frame, band)


def test_the_centres_lie_between_the_edges() -> None:
    # Below 1 kHz Slaney's scale is linear: four steps of 200 Hz from 200 to 1000.
    assert mel_centres_hz(FeatureConfig(n_mels=3, min_hz=200.0, max_hz=1000.0)).tolist() == pytest.approx(
        [400, 600, 800]
    )
    # 2595 log10(1 + f / 700) is 2595 for 6300 Hz and 5190 for 69,300 Hz; the middle between 0 and 5190 is 6300 Hz.
    htk = FeatureConfig(sample_rate=160_000, n_mels=1, min_hz=0.0, max_hz=69_300.0, mel_scale="htk")
    assert mel_centres_hz(htk).tolist() == pytest.approx([6300])


def test_the_energy_of_a_tone() -> None:
    # 0.1 sin at 1 kHz, bin 64 of a 1024-point FFT. A Hann window sums to 512, so |X| = 0.1 * 512 / 2 = 25.6 there and
    # half of it in both neighbours: 655.36, 163.84, 163.84. Weighted with the filters at these three bins.
    filters = mel_filterbank(sample_rate=16000, fft_samples=1024, n_mels=64, min_hz=0, max_hz=8000, scale="slaney")
    energy = 655.36 * filters[64] + 163.84 * (filters[63] + filters[65])
    band = int(energy.argmax())
    found = LogMel(FeatureConfig())(sine(1000.0))[0, 12, band].item()
    assert found == pytest.approx(math.log(energy[band]), abs=1e-4)
