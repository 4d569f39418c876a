"""What log-mel features refuse, and half precision around them, which must not reach them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from earmark.config import FeatureConfig
from earmark.models.features import LogMel, mel_filterbank

BANK: dict[str, Any] = {
    "sample_rate": 16000, "fft_samples": 1024, "n_mels": 64, "min_hz": 0.0, "max_hz": 8000.0, "scale": "slaney",
}  # fmt: skip

# --- laws ---


@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("settings", [{}, {"spectrum": "magnitude", "dynamic_range_db": 80.0}], ids=str)
def test_autocast_leaves_features_in_float32(
    half: torch.dtype, settings: dict[str, Any], rng: np.random.Generator
) -> None:
    log_mel = LogMel(FeatureConfig(**settings))
    audio = torch.from_numpy(rng.normal(scale=0.3, size=(2, 8000))).float()
    outside = log_mel(audio)
    with torch.autocast("cpu", half):
        inside = log_mel(audio)
    torch.testing.assert_close(inside, outside, atol=0, rtol=0)


# --- wrong input ---


@pytest.mark.parametrize(
    ("audio", "came"),
    [
        (torch.zeros(1, 8000, dtype=torch.int16), r"torch.int16 \(1, 8000\)"),
        (torch.zeros(1, 8000, dtype=torch.float64), r"torch.float64 \(1, 8000\)"),
        (torch.zeros(1, 8000, dtype=torch.float16), r"torch.float16 \(1, 8000\)"),
        (torch.zeros(2, 0), r"torch.float32 \(2, 0\)"),
    ],
)
@pytest.mark.parametrize("framing", ["hop", "centred"])
def test_audio_that_is_not_float32_or_empty_is_refused(audio: Tensor, came: str, framing: str) -> None:
    with pytest.raises(ValueError, match=rf"audio must hold float32 samples, at least one, got {came} - convert it"):
        LogMel(FeatureConfig(framing=framing))(audio)


@pytest.mark.parametrize("audio", [[[0.0] * 8000], np.zeros((1, 8000), dtype=np.float32), None], ids=type)
def test_audio_that_is_no_tensor_is_refused(audio: Any) -> None:
    with pytest.raises(ValueError, match=f"audio must be a torch tensor, got {type(audio).__name__} - use torch.as_te"):
        LogMel(FeatureConfig())(audio)


def test_audio_without_a_batch_axis() -> None:
    with pytest.raises(ValueError, match=r"audio must have shape \(batch, samples\), got \(100,\) - did you forget"):
        LogMel(FeatureConfig())(torch.zeros(100))


def test_audio_too_short_to_mirror() -> None:
    with pytest.raises(ValueError, match=r"longer than half a window \(512 samples\) for framing 'centred', got 512"):
        LogMel(FeatureConfig(framing="centred"))(torch.zeros(1, 512))


def test_too_many_bands_for_the_window() -> None:
    with pytest.raises(
        ValueError, match=r"n_mels = 128 is too many for a window of 256 samples: band \d+ around \d+ Hz"
    ):
        LogMel(FeatureConfig(n_mels=128, window_samples=256, hop_samples=128))


def test_an_unknown_scale_is_refused() -> None:
    with pytest.raises(ValueError, match=r"scale must be one of slaney, htk, got 'slany' - did you mean 'slaney'\?"):
        mel_filterbank(**{**BANK, "scale": "slany"})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("sample_rate", 0, "sample_rate must be above 0, got 0"),
        ("sample_rate", "16000", "sample_rate must be a number, got '16000'"),
        ("fft_samples", 0, "fft_samples must be at least 1, got 0"),
        ("fft_samples", 1023.5, "fft_samples must be a whole number, got 1023.5"),
        ("n_mels", 0, "n_mels must be at least 1, got 0"),
        ("n_mels", 2.5, "n_mels must be a whole number, got 2.5"),
        ("min_hz", None, "min_hz must be a number, got None"),
        ("max_hz", "8000", "max_hz must be a number, got '8000'"),
    ],
)
def test_what_is_no_count_or_frequency_is_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        mel_filterbank(**{**BANK, name: value})


@pytest.mark.parametrize(
    ("min_hz", "max_hz"), [(4000, 4000), (5000, 4000), (-1, 4000), (0, 8001), (float("nan"), 4000), (0, float("nan"))]
)
def test_edges_that_hold_no_band_are_refused(min_hz: float, max_hz: float) -> None:
    message = rf"0 <= min_hz < max_hz <= sample_rate / 2 = 8000, got {min_hz:g} and {max_hz:g}"
    with pytest.raises(ValueError, match=message):
        mel_filterbank(**{**BANK, "min_hz": min_hz, "max_hz": max_hz})
