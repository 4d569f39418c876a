"""Every recording once, from its first sample to its last: what training would hear, in figures."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from earmark.audio import AudioInfo, blocks, probe_audio
from earmark.audio.opening import open_source
from earmark.doctor.bandwidth import band_edge_hertz, window_power

# -90 dB below full scale: the last bit of 16 is -90.3 dB.
SILENT_PEAK = 10 ** (-90 / 20)

# From here on a sample may be one that was cut off; three in a row are no chance.
_FULL_SCALE, _CLIPPED_RUN = 0.999, 3

# Short enough that a block stays in the processor's cache while it is counted, which takes a third less time.
_BLOCK_SECONDS = 2.0
_FRAMES_PER_SECOND = 200  # in which silence is looked for


@dataclass(frozen=True)
class Sound:
    """What one recording holds, channels averaged unless said otherwise.

    Args:
        problem_code: code of the finding when nothing could be heard, otherwise empty; then all figures are 0.
        problem: why nothing could be heard.
        note: what is missing of it and why, as `earmark.audio` says it.
        seconds: decoded.
        sample_rate: of the file.
        n_channels: of the file.
        peak: largest absolute sample, 1 is full scale.
        swing: half the way from the lowest sample to the highest; 0 when all are one value.
        mean: of all samples.
        clipped_share: share of the samples at full scale, three or more in a row; of the channel that has most.
        dead_channels: those, from 1 on, in which nothing swings above -90 dB.
        silent_seconds: longest stretch below -90 dB.
        band_edge_hertz: where the sound ends far below half the sample rate; 0 when it does not.
        digest: equal for files that decode to the same samples (rounded to 16 bits).
    """

    problem_code: str = ""
    problem: str = ""
    note: str = ""
    seconds: float = 0.0
    sample_rate: int = 0
    n_channels: int = 0
    peak: float = 0.0
    swing: float = 0.0
    mean: float = 0.0
    clipped_share: float = 0.0
    dead_channels: tuple[int, ...] = ()
    silent_seconds: float = 0.0
    band_edge_hertz: float = 0.0
    digest: bytes = b""

    @property
    def is_silent(self) -> bool:
        """Whether nothing in it is above -90 dB, around whatever value its samples lie."""
        return self.swing < SILENT_PEAK


def listen_to_all(
    paths: Mapping[str, Path], *, workers: int, on_file: Callable[[int, int], None] = lambda done, total: None
) -> dict[str, Sound]:
    """Return what each recording holds, by the name it has in `paths`.

    Args:
        paths: name of each recording -> its file.
        workers: threads; decoding and counting happen outside Python's lock.
        on_file: told (recordings done, recordings in all) after each.
    """
    sounds: dict[str, Sound] = {}
    pool = ThreadPoolExecutor(workers)
    try:
        for name, sound in zip(paths, pool.map(listen, paths.values()), strict=True):
            sounds[name] = sound
            on_file(len(sounds), len(paths))
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C, not one file more
    return sounds


def listen(path: Path) -> Sound:
    """Return what one recording holds; a file that cannot be read is a `Sound` that says why.

    Example:
        >>> import soundfile, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     soundfile.write(f"{folder}/a.wav", np.zeros(8000), 16000)
        ...     sound = listen(Path(folder, "a.wav"))
        >>> sound.seconds, sound.is_silent
        (0.5, True)
    """
    try:
        info = probe_audio(path)
        meter, channels = _Meter(info.sample_rate), _ChannelMeter(info.n_channels)
        note = ""
        on_channels = channels.add if info.n_channels > 1 else None
        for block in blocks(path, sample_rate=info.sample_rate, block_seconds=_BLOCK_SECONDS, on_channels=on_channels):
            meter.add(block.samples)
            note = block.note
    except ValueError as error:
        return Sound(problem_code=_problem_code(path), problem=str(error).removeprefix(f"{path.as_posix()}: "))
    sound = meter.sound(info, note)
    return sound if info.n_channels == 1 else channels.added_to(sound, meter.n_samples)


class _Meter:
    """Counts a recording block by block."""

    def __init__(self, sample_rate: int) -> None:
        self._sample_rate = sample_rate
        self._frame = max(1, sample_rate // _FRAMES_PER_SECOND)
        self._hash = hashlib.blake2b(digest_size=16)
        self._low, self._high = math.inf, -math.inf
        self._total = 0.0
        self.n_samples = 0
        self._n_clipped = 0
        self._silence = _LongestRun()
        self._power = window_power(np.zeros(0, np.float32))

    def add(self, samples: NDArray[np.float32]) -> None:
        """Count the next block, (samples,)."""
        magnitude = np.abs(samples)
        peaks = np.maximum.reduceat(magnitude, np.arange(0, len(samples), self._frame))  # (frames,)
        peak = float(peaks.max())
        # Rounded, so that all formats that hold the same 16 bits, or more of them, give the same.
        rounded = np.rint(samples * np.float32(32768))
        self._hash.update((np.clip(rounded, -32768, 32767) if peak >= _FULL_SCALE else rounded).astype(np.int16))
        self._silence.add(peaks < SILENT_PEAK)
        if peak >= _FULL_SCALE:
            self._n_clipped += _in_runs(magnitude >= _FULL_SCALE)
        self._power += window_power(samples)
        self._low, self._high = min(self._low, float(samples.min())), max(self._high, float(samples.max()))
        self._total += float(samples.sum(dtype=np.float64))
        self.n_samples += len(samples)

    def sound(self, info: AudioInfo, note: str) -> Sound:
        """All that was counted."""
        seconds = self.n_samples / self._sample_rate
        return Sound(
            note=note,
            seconds=seconds,
            sample_rate=info.sample_rate,
            n_channels=info.n_channels,
            peak=max(-self._low, self._high),
            swing=(self._high - self._low) / 2,
            mean=self._total / self.n_samples,
            clipped_share=self._n_clipped / self.n_samples,
            silent_seconds=min(seconds, self._silence.longest * self._frame / self._sample_rate),
            band_edge_hertz=band_edge_hertz(self._power, self._sample_rate),
            digest=self._hash.digest(),
        )


class _ChannelMeter:
    """Counts in each channel by itself what the average of all would hide."""

    def __init__(self, n_channels: int) -> None:
        self._low, self._high = np.full(n_channels, np.inf), np.full(n_channels, -np.inf)
        self._n_clipped = np.zeros(n_channels, dtype=np.int64)

    def add(self, decoded: NDArray[np.float32]) -> None:
        """Count the next samples, (frames, channels)."""
        for channel in range(decoded.shape[1]):
            samples = decoded[:, channel].copy()  # minima over so short an axis take longer than the decoding
            low, high = samples.min(), samples.max()
            self._low[channel], self._high[channel] = min(self._low[channel], low), max(self._high[channel], high)
            if max(-low, high) >= _FULL_SCALE:
                self._n_clipped[channel] += _in_runs(np.abs(samples) >= _FULL_SCALE)

    def added_to(self, sound: Sound, n_samples: int) -> Sound:
        """The sound with what its channels are like."""
        is_dead = (self._high - self._low) / 2 < SILENT_PEAK
        dead = tuple(int(channel) + 1 for channel in np.flatnonzero(is_dead))
        return replace(sound, clipped_share=int(self._n_clipped.max()) / n_samples, dead_channels=dead)


class _LongestRun:
    """The longest run of true values in arrays that follow each other."""

    def __init__(self) -> None:
        self.longest = 0
        self._open = 0  # true values at the end of what came so far

    def add(self, values: NDArray[np.bool_]) -> None:
        """Go on with `values`."""
        false = np.flatnonzero(~values)
        if len(false) == 0:
            self._open += len(values)
            self.longest = max(self.longest, self._open)
            return
        inside = int(np.diff(false).max(initial=1)) - 1
        self.longest = max(self.longest, self._open + int(false[0]), inside)
        self._open = len(values) - 1 - int(false[-1])
        self.longest = max(self.longest, self._open)


def _in_runs(values: NDArray[np.bool_]) -> int:
    """How many true values stand in runs of three or more."""
    edges = np.flatnonzero(np.diff(values, prepend=False, append=False))
    lengths = edges[1::2] - edges[::2]
    return int(lengths[lengths >= _CLIPPED_RUN].sum())


def _problem_code(path: Path) -> str:
    """Why a file that `earmark.audio` refuses cannot be used; its message says it, this code is for programs."""
    try:
        if path.is_file() and path.stat().st_size == 0:
            return "audio-empty"
        with open_source(path) as source:
            n_samples, is_finite = 0, True
            for chunk in source.chunks(0, None):
                n_samples += len(chunk)
                is_finite = is_finite and math.isfinite(float(np.abs(chunk).max()))
    except (OSError, ValueError):
        return "audio-empty" if _claims_nothing(path) else "audio-unreadable"
    if n_samples == 0:
        return "audio-empty"
    return "audio-scale" if is_finite else "audio-not-finite"


def _claims_nothing(path: Path) -> bool:
    """Whether it is a sound file without a sample in it."""
    import soundfile

    try:
        return bool(soundfile.info(str(path)).frames == 0)
    except (soundfile.LibsndfileError, OSError, TypeError):
        return False
