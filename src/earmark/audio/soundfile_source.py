"""Decoding with libsndfile: wav, flac, ogg, opus, mp3, aiff and more.

libsndfile can be wrong about how much sound a file holds, without a word. This file knows the cases:

- mp3 that does not state its length (it was streamed or cut): the length is guessed from the first bit rate, and
  nothing beyond the guess is decoded. Read through a pipe, where libsndfile does not guess.
- ogg whose length is reported as about 2**63 (streamed or joined): the same remedy.
- a decoder that fails in the middle of a read: the exception hides the samples before the failure.
- seeking in joined flac files lands in the second recording: read from the beginning instead.

What ends too early without an error is told by `endings`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import numpy as np
import soundfile as sf
from numpy.typing import NDArray

from earmark.audio import endings

# Shown what is decoded before channels are averaged, (frames, channels); must not keep it.
OnChannels = Callable[[NDArray[np.float32]], None]

# Frames decoded at a time: many enough to be fast, few enough to stay in the processor's cache.
CHUNK_FRAMES = 65536

# An unknown length is reported as 2**63 - 1 frames, give or take some padding.
_UNKNOWN_FRAMES = 2**62


class SoundfileSource:
    """One file, opened by libsndfile.

    Attributes:
        sample_rate: of the file.
        n_channels: of the file.
        n_frames: samples per channel that the file claims to have; None when only decoding tells.
        position: how far `chunks` has come, as the index of the next frame.
        problem: after `chunks` came to its end: why there is no more, empty when nothing is known to be missing.

    Raises:
        ValueError: libsndfile cannot read the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = _open(path)
        self.sample_rate: int = self._file.samplerate
        self.n_channels: int = self._file.channels
        self.n_frames: int | None = self._claimed_frames()
        self.position = 0
        self.problem = ""
        if self.n_frames == 0 or (self.n_frames is None and self._file.format == "FLAC"):
            self.close()
            raise ValueError("its header states no length - was the recording or the copy interrupted?")

    def __enter__(self) -> SoundfileSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def chunks(
        self, start: int, stop: int | None, on_channels: OnChannels | None = None
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the mono samples from frame `start` to frame `stop`, or to the end; once per source.

        `on_channels` is shown each chunk before its channels are averaged, (frames, channels), and must not keep it.
        """
        self._on_channels = on_channels
        if self.n_frames is None:
            yield from self._decode_piped(start, stop)
        else:
            self.position = self._seek(start)
            # Reading on behind the last frame can end in an error, although nothing is missing.
            end = self._file.frames
            yield from self._decode(self._file, start, end if stop is None else min(stop, end))
        if not self.problem and stop is None:
            self.problem = endings.why_it_ends(self._path, self._file.format)

    def _decode_piped(self, start: int, stop: int | None) -> Iterator[NDArray[np.float32]]:
        """Decode from the beginning, without libsndfile's knowing where the file ends."""
        failures: list[OSError] = []
        with _piped(self._path, endings.sound_begins(self._path, self._file.format), failures) as descriptor:
            try:
                piped = sf.SoundFile(descriptor, closefd=False)
            except sf.LibsndfileError as error:
                self.problem = _reason(error)
                return
            with piped:
                yield from self._decode(piped, start, stop)
        if failures:
            self.problem = f"the file cannot be read any further ({failures[0].strerror})"

    def _decode(self, file: sf.SoundFile, start: int, stop: int | None) -> Iterator[NDArray[np.float32]]:
        """Decode on from `position`, and yield what lies between `start` and `stop`."""
        buffer = np.empty((CHUNK_FRAMES, self.n_channels), dtype=np.float32)  # (frames, channels)
        while stop is None or self.position < stop:
            out = buffer if stop is None else buffer[: stop - self.position]
            n_decoded = self._read(file, out)
            wanted = out[max(0, start - self.position) : n_decoded]
            self.position += n_decoded
            if len(wanted) > 0:
                if self._on_channels is not None:
                    self._on_channels(wanted)
                yield _mean_over_channels(wanted)
            if n_decoded == 0 or self.problem:
                return

    def _read(self, file: sf.SoundFile, out: NDArray[np.float32]) -> int:
        """Fill `out` and return how many frames were decoded, also when the decoder failed after some."""
        out[:, -1] = np.nan
        try:
            return len(file.read(out=out))
        except sf.LibsndfileError as error:
            self.problem = _reason(error)
            # The frames before the failure are in `out`, but nobody says how many: up to the first NaN.
            missing = np.isnan(out[:, -1])
            return int(missing.argmax()) if missing.any() else len(out)

    def _seek(self, start: int) -> int:
        """Go to frame `start` if that is safe, and return where the file stands."""
        if start == 0 or (self._file.format == "FLAC" and endings.is_joined_flac(self._path)):
            return 0
        try:
            self._file.seek(start)
        except sf.LibsndfileError:
            # A damaged file: from the beginning one gets at least as far as the damage.
            self.close()
            self._file = _open(self._path)
            return 0
        return start

    def _claimed_frames(self) -> int | None:
        """The length in the header, None when there is none to rely on."""
        if self._file.frames >= _UNKNOWN_FRAMES:
            return None
        if self._file.format == "MP3" and not endings.states_its_length(self._path):
            return None
        return endings.frames_in_header(self._file.frames, self._file.extra_info)


def _mean_over_channels(decoded: NDArray[np.float32]) -> NDArray[np.float32]:
    """(frames, channels) -> (frames,); always a copy, because the buffer behind `decoded` is used again."""
    mono = decoded[:, 0].copy()
    # Column by column: np.mean over so short an axis takes longer than the decoding.
    for channel in range(1, decoded.shape[1]):
        mono += decoded[:, channel]
    return mono if decoded.shape[1] == 1 else mono / np.float32(decoded.shape[1])


def _open(path: Path) -> sf.SoundFile:
    """The opened file, or a ValueError with libsndfile's reason."""
    try:
        return sf.SoundFile(os.fspath(path))
    except sf.LibsndfileError as error:
        raise ValueError(_reason(error)) from None
    except TypeError:
        # soundfile asks for sample rate and channels when a file is called .raw.
        raise ValueError("raw samples do not say their sample rate - convert the file to wav") from None


@contextmanager
def _piped(path: Path, first_byte: int, failures: list[OSError]) -> Iterator[int]:
    """The reading end of a pipe through which a thread sends the file; `failures` receives why it could not."""
    reading_end, writing_end = os.pipe()
    feeder = threading.Thread(target=_feed, args=(path, first_byte, writing_end, failures), daemon=True)
    feeder.start()
    try:
        yield reading_end
    finally:
        # Closing this end first makes a feeder that waits for space give up.
        os.close(reading_end)
        feeder.join()


def _feed(path: Path, first_byte: int, descriptor: int, failures: list[OSError]) -> None:
    """Write the file from `first_byte` on to `descriptor`, until the reader has enough."""
    try:
        with os.fdopen(descriptor, "wb") as pipe, path.open("rb") as file:
            file.seek(first_byte)
            while data := file.read(2**16):
                pipe.write(data)
    except BrokenPipeError:
        return
    except OSError as error:
        failures.append(error)


def _reason(error: sf.LibsndfileError) -> str:
    """libsndfile's own words, where it has some that say what is meant."""
    words = error.error_string.strip().removeprefix("Error : ").rstrip(" .")
    # 7 calls an unrecognised mp3 a missing file, 29 is "unspecified".
    is_misleading = not words or error.code in (7, 29)
    return f"the decoder failed, libsndfile error {error.code}" if is_misleading else words
