"""Decoding with PyAV (the [av] extra), for what libsndfile cannot open: m4a, aac, videos, damaged headers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earmark.audio import endings
from earmark.audio.soundfile_source import OnChannels

# Decoded and thrown away before a span, so that the decoder has settled when the span begins.
_SETTLE_SECONDS = 0.2


class AvSource:
    """One file, opened by PyAV; the first audio track in it.

    Attributes:
        sample_rate: of the track.
        n_channels: of the track.
        n_frames: samples per channel that the file claims to have; None when only decoding tells.
        position: how far `chunks` has come, as the index of the next frame.
        problem: after `chunks` came to its end: why there is no more, empty when nothing is known to be missing.

    Raises:
        ImportError: PyAV is not installed.
        ValueError: PyAV cannot read the file.
    """

    def __init__(self, path: Path) -> None:
        import av

        self._av: ModuleType = av
        self._path = path
        self.position = 0
        self.problem = ""
        try:
            self._container = av.open(os.fspath(path))
        except (av.FFmpegError, OSError) as error:
            raise ValueError(_reason(error)) from None
        try:
            self._first = self._first_frame()
        except ValueError:
            self.close()
            raise
        # From the decoded frame and not from the header, which names half the rate for HE-AAC.
        self.sample_rate: int = self._first.sample_rate
        self.n_channels: int = len(self._first.layout.channels)
        # mp4 and m4a hold an index of exact times; other containers estimate their length and seek roughly.
        self._has_index = "mp4" in self._container.format.name and self._first.pts is not None
        self.n_frames = self._claimed_frames()

    def __enter__(self) -> AvSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._container.close()

    def chunks(
        self, start: int, stop: int | None, on_channels: OnChannels | None = None
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the mono samples from frame `start` to frame `stop`, or to the end; once per source.

        `on_channels` is shown each chunk before its channels are averaged, (frames, channels), and must not keep it.
        """
        for frame in self._frames_from(start):
            decoded = frame.to_ndarray()  # (channels, frames)
            wanted = decoded[:, max(0, start - self.position) : None if stop is None else max(0, stop - self.position)]
            self.position += decoded.shape[1]
            if wanted.shape[1] > 0:
                if on_channels is not None:
                    on_channels(wanted.T)
                yield wanted.mean(axis=0, dtype=np.float32)
            if stop is not None and self.position >= stop:
                return
        if not self.problem and stop is None:
            self.problem = endings.why_it_ends(self._path, self._container.format.name)

    def _frames_from(self, start: int) -> Iterator[Any]:
        """Decoded frames as planar float32, from `start` or earlier on."""
        to_float = self._av.AudioResampler(format="fltp")
        seconds = start / self.sample_rate - _SETTLE_SECONDS
        try:
            first = self._after_seek(seconds) if self._has_index and seconds > 0 else self._first
            if self.position > start:
                # A damaged index: what comes now belongs to a later moment.
                self.problem = "its index is damaged, so that seeking fails"
                return
            yield from to_float.resample(first)
            for frame in self._decoder:
                yield from to_float.resample(frame)
        except (self._av.FFmpegError, ValueError) as error:
            # ValueError: nothing behind a seek, or the format changes in the middle of the track.
            self.problem = _reason(error)

    def _after_seek(self, seconds: float) -> Any:
        """The first decoded frame after a seek to `seconds`, or to somewhat earlier; sets `position`."""
        self._container.seek(self._first.pts + int(seconds / self._first.time_base), stream=self._stream)
        self._decoder = self._container.decode(self._stream)
        frame = next(self._decoder, None)
        if frame is None or frame.pts is None:
            raise ValueError(f"nothing follows a seek to {seconds:.2f} s")
        self.position = round(float((frame.pts - self._first.pts) * frame.time_base) * self.sample_rate)
        return frame

    def _first_frame(self) -> Any:
        """The first decoded frame; leaves the decoder behind it."""
        if not self._container.streams.audio:
            raise ValueError("there is no sound in it")
        self._stream = self._container.streams.audio[0]
        self._decoder = self._container.decode(self._stream)
        try:
            return next(self._decoder)
        except StopIteration:
            raise ValueError("its audio track is empty") from None
        except self._av.FFmpegError as error:
            raise ValueError(_reason(error)) from None

    def _claimed_frames(self) -> int | None:
        """The length in the index, None when there is no exact one."""
        duration, time_base = self._stream.duration, self._stream.time_base
        if not self._has_index or duration is None or time_base is None or duration <= 0:
            return None
        return round(float(duration * time_base) * self.sample_rate)


def _reason(error: Exception) -> str:
    """FFmpeg's words without its numbers."""
    words = getattr(error, "strerror", None)
    return str(error) if words is None else words
