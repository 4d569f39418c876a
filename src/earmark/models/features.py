"""Log-mel spectrogram: about as much of the world as a network for sounds needs to see."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from earmark import checks
from earmark.config import FeatureConfig
from earmark.timeline import Timeline


class LogMel(nn.Module):
    r"""Turns audio into the logarithm of its energy in mel bands.

    .. math:: x_{t,m} = \ln \max\Big(\text{floor}, \sum_f W_{f,m} |\mathrm{STFT}_{t,f}|^2\Big)

    The floor is fixed, so a frame depends on the sound around it and never on the rest of the recording (except with
    `dynamic_range_db`, which one of the paper's recipes needs and which no deployed model may have).

    Args:
        config: sample rate, window, hop and bands.

    Example:
        >>> mel = LogMel(FeatureConfig())
        >>> mel(torch.zeros(2, 16000)).shape     # (batch, samples) -> (batch, frames, mels): one second, 20 ms hop
        torch.Size([2, 50, 64])
    """

    window: Tensor
    filterbank: Tensor

    def __init__(self, config: FeatureConfig) -> None:
        super().__init__()
        self.config = config
        self.timeline = Timeline(config.sample_rate, config.hop_samples)
        window_function = torch.hann_window if config.window == "hann" else torch.hamming_window
        self.register_buffer("window", window_function(config.window_samples), persistent=False)
        filterbank = mel_filterbank(
            sample_rate=config.sample_rate,
            fft_samples=config.window_samples,
            n_mels=config.n_mels,
            min_hz=config.min_hz,
            max_hz=config.top_hz,
            scale=config.mel_scale,
        )
        self.register_buffer("filterbank", torch.from_numpy(filterbank).float(), persistent=False)

    def forward(self, audio: Tensor) -> Tensor:
        """Return log-mel frames, (batch, samples) -> (batch, frames, mels).

        With ``framing="hop"`` there are ceil(samples / hop) frames and frame i is centred on the middle of its hop;
        with ``"centred"`` there are 1 + floor(samples / hop), frame i is centred on sample i * hop and the edges are
        mirrored.
        """
        if not isinstance(audio, Tensor):
            raise ValueError(f"audio must be a torch tensor, got {type(audio).__name__} - use torch.as_tensor()")
        checks.shape("audio", audio.shape, "(batch, samples)", hint="did you forget the batch axis?")
        if audio.dtype != torch.float32 or audio.shape[1] == 0:
            raise ValueError(
                f"audio must hold float32 samples, at least one, got {audio.dtype} {tuple(audio.shape)}"
                " - convert it with audio.float(), and divide 16-bit integers by 32768"
            )
        with torch.autocast(audio.device.type, enabled=False):  # half precision has no room for a loud band's energy
            spectrum = _ShortTimeFourier.apply(self._padded(audio), self.window, self.config.hop_samples)
            energy = spectrum.square().sum(dim=-1)  # (batch, frames, bins, 2) -> (batch, frames, bins)
            if self.config.spectrum == "magnitude":
                energy = energy.sqrt()
            log_mel = torch.log(torch.clamp(energy @ self.filterbank, min=self.config.floor))
            if self.config.dynamic_range_db is not None:
                log_mel = self._clipped(log_mel, self.config.dynamic_range_db)
        return log_mel

    def _padded(self, audio: Tensor) -> Tensor:
        """The audio with what the first and last windows reach over its edges."""
        window, hop = self.config.window_samples, self.config.hop_samples
        if self.config.framing == "centred":
            if audio.shape[1] <= window // 2:
                raise ValueError(
                    f"audio must be longer than half a window ({window // 2} samples) for framing 'centred',"
                    f" got {audio.shape[1]} samples"
                )
            return functional.pad(audio, (window // 2, window // 2), mode="reflect")
        left = (window - hop) // 2
        # -n % hop fills the last hop; in this form it also works on the symbolic sizes of an exported graph.
        right = window - hop - left + (hop - audio.shape[1] % hop) % hop
        return functional.pad(audio, (left, right))

    def _clipped(self, log_mel: Tensor, range_db: float) -> Tensor:
        """Everything `range_db` below the clip's own maximum raised to that."""
        decibel = math.log(10) / (10 if self.config.spectrum == "power" else 20)
        loudest = log_mel.amax(dim=(1, 2), keepdim=True)
        return torch.maximum(log_mel, loudest - range_db * decibel)


class _ShortTimeFourier(torch.autograd.Function):
    """torch.stft that exports to ONNX's own STFT operator, 1000 times smaller than a convolution with sines."""

    @staticmethod
    def forward(ctx: object, audio: Tensor, window: Tensor, hop: int) -> Tensor:
        """(batch, samples) -> (batch, frames, bins, 2)."""
        spectrum = torch.stft(audio, window.shape[0], hop, window=window, center=False, return_complex=True)
        return torch.view_as_real(spectrum).transpose(1, 2)

    @staticmethod
    def symbolic(graph: Any, audio: Any, window: Any, hop: int) -> Any:
        """The same as a node of the exported graph."""
        samples = window.type().sizes()[0]
        signal = graph.op("Unsqueeze", audio, graph.op("Constant", value_t=torch.tensor([2])))
        step = graph.op("Constant", value_t=torch.tensor(hop))
        length = graph.op("Constant", value_t=torch.tensor(samples))
        return graph.op("STFT", signal, step, window, length, onesided_i=1)


def mel_filterbank(
    *, sample_rate: int, fft_samples: int, n_mels: int, min_hz: float, max_hz: float, scale: str
) -> NDArray[np.float64]:
    """Return triangular filters, evenly spaced on the mel scale, each with a peak of 1.

    Args:
        sample_rate: in Hz.
        fft_samples: length of the FFT.
        n_mels: number of filters.
        min_hz: lower edge of the lowest filter.
        max_hz: upper edge of the highest filter.
        scale: ``"slaney"`` (linear up to 1 kHz, logarithmic above) or ``"htk"`` (2595 log10(1 + f / 700)).

    Returns:
        (bins, mels) with bins = fft_samples // 2 + 1.

    Raises:
        ValueError: when a filter is narrower than the bins and would always be empty, or a number is no frequency or
            count.

    Example:
        >>> mel_filterbank(sample_rate=16000, fft_samples=1024, n_mels=64, min_hz=0, max_hz=8000, scale="slaney").shape
        (513, 64)
    """
    checks.choice("scale", scale, ("slaney", "htk"))
    checks.number("sample_rate", sample_rate, above=0)
    fft_samples = int(checks.number("fft_samples", fft_samples, at_least=1, whole=True))
    n_mels = int(checks.number("n_mels", n_mels, at_least=1, whole=True))
    for name, hz in (("min_hz", min_hz), ("max_hz", max_hz)):
        if isinstance(hz, bool) or not isinstance(hz, numbers.Real):
            raise ValueError(f"{name} must be a number, got {hz!r}")
    if not 0 <= min_hz < max_hz <= sample_rate / 2:
        raise ValueError(
            f"min_hz and max_hz must satisfy 0 <= min_hz < max_hz <= sample_rate / 2 = {sample_rate / 2:g},"
            f" got {min_hz:g} and {max_hz:g}"
        )
    edges_hz = _mel_to_hz(np.linspace(_hz_to_mel(min_hz, scale), _hz_to_mel(max_hz, scale), n_mels + 2), scale)
    bins_hz = np.arange(fft_samples // 2 + 1) * (sample_rate / fft_samples)
    lower, centre, upper = edges_hz[:-2], edges_hz[1:-1], edges_hz[2:]
    rising = (bins_hz[:, None] - lower) / (centre - lower)  # (bins, mels)
    falling = (upper - bins_hz[:, None]) / (upper - centre)
    filters: NDArray[np.float64] = np.maximum(0.0, np.minimum(rising, falling))
    empty = np.flatnonzero(filters.sum(axis=0) == 0)
    if empty.size:
        raise ValueError(
            f"n_mels = {n_mels} is too many for a window of {fft_samples} samples: band {empty[0]} around"
            f" {centre[empty[0]]:.0f} Hz lies between two FFT bins - use fewer bands or a longer window"
        )
    return filters


def _hz_to_mel(hz: float, scale: str) -> float:
    """One frequency on the mel scale."""
    if scale == "htk":
        return 2595.0 * math.log10(1.0 + hz / 700.0)
    return 3.0 * hz / 200.0 if hz < 1000.0 else 15.0 + 27.0 * math.log(hz / 1000.0) / math.log(6.4)


def _mel_to_hz(mel: NDArray[np.float64], scale: str) -> NDArray[np.float64]:
    """The inverse of `_hz_to_mel`."""
    if scale == "htk":
        return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)
    return np.where(mel < 15.0, 200.0 * mel / 3.0, 1000.0 * np.exp((mel - 15.0) * math.log(6.4) / 27.0))


def mel_centres_hz(config: FeatureConfig) -> NDArray[np.float64]:
    """Return the centre frequency of every mel band in Hz, (mels,).

    Example:
        >>> mel_centres_hz(FeatureConfig(n_mels=3, max_hz=800.0)).round()
        array([200., 400., 600.])
    """
    edges = np.linspace(
        _hz_to_mel(config.min_hz, config.mel_scale), _hz_to_mel(config.top_hz, config.mel_scale), config.n_mels + 2
    )
    return _mel_to_hz(edges, config.mel_scale)[1:-1]
