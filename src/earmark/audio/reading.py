"""From a file to mono float32 samples at the wanted sample rate: all of it, a span, or block by block."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray

from earmark.audio.opening import Source, open_source
from earmark.audio.soundfile_source import OnChannels
from earmark.audio.spans import TOLERANCE_SECONDS, check_span, late_offset, late_onset, meeting_point
from earmark.checks import number

# Decoded on both sides of a span, so that the resampler's filter sees what it would see in the whole file.
_MARGIN_SECONDS = 0.25

# A damaged header may say 1 Hz, and a few seconds would become days.
_MOST_UPSAMPLING = 100

# 60 dB over full scale; 16-bit integers that somebody stored as floats without scaling are 90.
_LOUDEST = 1000.0

# How much less than a span may come out before it is worth a note: label files round to milliseconds, and both ends
# are moved to whole samples.
_SPAN_TOLERANCE_SECONDS = 0.0015


@dataclass(frozen=True)
class Audio:
    """Mono sound.

    Args:
        samples: float32, shape (samples,), nominally from -1 to 1; float files may hold more, and it is kept.
        sample_rate: samples per second.
        note: empty, or what is missing and why, for instance ``only 31.2 of 60.0 s could be decoded: ...``.
    """

    samples: NDArray[np.float32]
    sample_rate: int
    note: str


@dataclass(frozen=True)
class AudioInfo:
    """What a file says about itself.

    Args:
        duration_seconds: length; from the header where it states one, otherwise by decoding the file.
        sample_rate: samples per second in the file.
        n_channels: channels in the file.
    """

    duration_seconds: float
    sample_rate: int
    n_channels: int


def read_audio(path: Path | str, *, sample_rate: int, onset: float = 0.0, offset: float | None = None) -> Audio:
    """Read a file, or a span of it, as mono float32 at `sample_rate`.

    Channels are averaged. A span is read by seeking, and holds the same samples (within 1e-6 for exact formats) as
    the same span of the whole file: ``round(offset * sample_rate) - round(onset * sample_rate)`` of them. A file that
    decodes only in part is used as far as it goes, with a note that says so.

    Args:
        path: any file libsndfile reads (wav, flac, ogg, opus, mp3, aiff, ...); with the [av] extra also m4a, aac and
            the sound of videos.
        sample_rate: of the result, in samples per second.
        onset: where to begin, in seconds.
        offset: where to end, in seconds; None for the end of the file.

    Raises:
        ValueError: nothing usable in the file or in the span, a sample that is not finite, or arguments out of range.

    Example:
        >>> import soundfile, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     soundfile.write(f"{folder}/a.wav", np.zeros((44100, 2)), 44100)
        ...     audio = read_audio(f"{folder}/a.wav", sample_rate=16000, onset=0.5)
        >>> audio.samples.shape, audio.note
        ((8000,), '')
    """
    check_span(onset, offset)
    pieces = list(_pieces(Path(path), _whole("sample_rate", sample_rate), onset, offset))
    return Audio(np.concatenate([piece.samples for piece in pieces]), sample_rate, pieces[-1].note)


def blocks(
    path: Path | str,
    *,
    sample_rate: int,
    block_seconds: float,
    onset: float = 0.0,
    offset: float | None = None,
    on_channels: OnChannels | None = None,
) -> Iterator[Audio]:
    """Yield a file, or a span of it, block by block, so that a day of sound never sits in memory.

    The blocks joined together are bit-identical to what `read_audio` gives, for any `block_seconds`: both resample in
    one stream. Every block but the last has ``round(block_seconds * sample_rate)`` samples.

    The note stands on the last block: whatever is missing is missing behind it.

    Args:
        path: as for `read_audio`.
        sample_rate: of the result, in samples per second.
        block_seconds: length of a block.
        onset, offset: as for `read_audio`.
        on_channels: shown what is decoded before channels are averaged: (frames, channels), any number of frames.

    Raises:
        ValueError: as `read_audio`; for the file when the first block is asked for.

    Example:
        >>> import soundfile, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     soundfile.write(f"{folder}/a.wav", np.zeros(40000), 16000)
        ...     [len(block.samples) for block in blocks(f"{folder}/a.wav", sample_rate=16000, block_seconds=1.0)]
        [16000, 16000, 8000]
    """
    _whole("sample_rate", sample_rate)
    check_span(onset, offset)
    n_samples = round(number("block_seconds", block_seconds, above=0) * sample_rate)
    if n_samples == 0:
        raise ValueError(f"block_seconds must hold at least one sample, got {block_seconds!r} - is it in seconds?")
    return _regrouped(_pieces(Path(path), sample_rate, onset, offset, on_channels), n_samples)


def probe_audio(path: Path | str) -> AudioInfo:
    """Return length, sample rate and channels of a file, from its header where that states them.

    Raises:
        ValueError: the file cannot be read.

    Example:
        >>> import soundfile, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     soundfile.write(f"{folder}/a.wav", np.zeros((22050, 2)), 44100)
        ...     probe_audio(f"{folder}/a.wav")
        AudioInfo(duration_seconds=0.5, sample_rate=44100, n_channels=2)
    """
    with _opened(Path(path)) as source:
        n_frames = source.n_frames
        if n_frames is None:
            n_frames = sum(len(chunk) for chunk in source.chunks(0, None))
        if n_frames == 0:
            raise ValueError(f"{Path(path).as_posix()}: {_why_nothing(source, 0.0)}")
        return AudioInfo(n_frames / source.sample_rate, source.sample_rate, source.n_channels)


@contextmanager
def _opened(path: Path) -> Iterator[Source]:
    """The opened file; whatever the system refuses, now or in the middle of it, is an error about this file."""
    try:
        with open_source(path) as source:
            yield source
    except OSError as error:
        reason = str(error) if error.strerror is None else error.strerror
        raise ValueError(f"{path.as_posix()}: cannot be read ({reason})") from error


def _pieces(
    path: Path, sample_rate: int, onset: float, offset: float | None, on_channels: OnChannels | None = None
) -> Iterator[Audio]:
    """The samples from `onset` to `offset` in pieces of any size; the last piece is empty and holds the note."""
    begin = round(onset * sample_rate)
    end = None if offset is None else round(offset * sample_rate)
    with _opened(path) as source:
        if source.sample_rate * _MOST_UPSAMPLING < sample_rate:
            raise ValueError(
                f"{path.as_posix()}: its sample rate is {source.sample_rate} Hz, too low for {sample_rate}"
                " Hz - is the header damaged?"
            )
        start, position = meeting_point(begin / sample_rate - _MARGIN_SECONDS, source.sample_rate, sample_rate)
        stop = None if end is None else math.ceil((end / sample_rate + _MARGIN_SECONDS) * source.sample_rate)
        n_given = 0
        chunks = _checked(path, source, start, stop, on_channels)
        for samples in _resampled(chunks, source.sample_rate, sample_rate):
            wanted = samples[max(0, begin - position) : None if end is None else max(0, end - position)]
            position += len(samples)
            n_given += len(wanted)
            yield Audio(wanted, sample_rate, "")
        if n_given == 0:
            raise ValueError(f"{path.as_posix()}: {_why_nothing(source, onset)}")
        yield Audio(np.zeros(0, dtype=np.float32), sample_rate, _note(source, onset, offset, n_given / sample_rate))


def check_samples(samples: NDArray[np.floating], *, where: str, sample_rate: int, first: int = 0) -> None:
    """Raise ValueError for samples that no recording has: NaN, infinity, or far beyond full scale.

    Args:
        samples: (samples,).
        where: file or argument, for the message.
        sample_rate: samples per second.
        first: which sample of the recording the first one is.

    Example:
        >>> check_samples(np.array([0.5, -32768.0]), where="audio", sample_rate=16000)
        Traceback (most recent call last):
        ...
        ValueError: audio: its loudest sample is 3.28e+04 where 1 is full scale - are these integers stored as ...
    """
    # One pass when all is well: the largest of NaN and anything is NaN.
    peak = float(np.abs(samples).max(initial=0.0))
    if peak <= _LOUDEST:
        return
    if math.isfinite(peak):
        raise ValueError(
            f"{where}: its loudest sample is {peak:.3g} where 1 is full scale - are these integers stored as floating"
            " point numbers (divide 16-bit ones by 32768), or is the file damaged?"
        )
    seconds = (first + int(np.isfinite(samples).argmin())) / sample_rate
    raise ValueError(
        f"{where}: the sample at {seconds:.3f} s is not a finite number"
        " - was it written by a computation that went wrong?"
    )


def _checked(
    path: Path, source: Source, start: int, stop: int | None, on_channels: OnChannels | None
) -> Iterator[NDArray[np.float32]]:
    """The decoded chunks, after a check of every sample."""
    if source.n_frames is not None and start >= source.n_frames:
        source.position = source.n_frames
        return
    position = start
    for chunk in source.chunks(start, stop, on_channels):
        check_samples(chunk, where=path.as_posix(), sample_rate=source.sample_rate, first=position)
        position += len(chunk)
        yield chunk


def _resampled(
    chunks: Iterable[NDArray[np.float32]], source_rate: int, sample_rate: int
) -> Iterator[NDArray[np.float32]]:
    """The chunks at another rate; the result does not depend on how the samples are cut into chunks."""
    if source_rate == sample_rate:
        yield from chunks
        return
    stream = soxr.ResampleStream(source_rate, sample_rate, num_channels=1, dtype="float32", quality="HQ")
    for chunk in chunks:
        yield stream.resample_chunk(chunk)
    yield stream.resample_chunk(np.zeros(0, dtype=np.float32), last=True)


def _regrouped(pieces: Iterator[Audio], n_samples: int) -> Iterator[Audio]:
    """Pieces of any size as blocks of `n_samples`, the last one shorter and with the note."""
    waiting: list[NDArray[np.float32]] = []
    n_waiting = 0
    for piece in pieces:
        waiting.append(piece.samples)
        n_waiting += len(piece.samples)
        # A full block waits until one more sample is known: it might be the last, and then it holds the note.
        if n_waiting > n_samples:
            joined = np.concatenate(waiting)
            n_blocks = (n_waiting - 1) // n_samples
            for i in range(n_blocks):
                yield Audio(joined[i * n_samples : (i + 1) * n_samples], piece.sample_rate, "")
            waiting = [joined[n_blocks * n_samples :]]
            n_waiting -= n_blocks * n_samples
    yield Audio(np.concatenate(waiting), piece.sample_rate, piece.note)


def _note(source: Source, onset: float, offset: float | None, got: float) -> str:
    """What is missing of the span and why, empty when nothing is; `got` is in seconds."""
    end = f"the file ends at {source.position / source.sample_rate:.2f} s"
    if offset is not None:
        expected, tolerance, reason = offset - onset, _SPAN_TOLERANCE_SECONDS, end
    else:
        claimed = source.position if source.n_frames is None else source.n_frames
        expected, tolerance = claimed / source.sample_rate - onset, TOLERANCE_SECONDS
        reason = f"{end}, before its header says; was the recording or the copy interrupted?"
    if source.problem:
        reason = source.problem
    missing = 0 if source.n_frames is None else (source.n_frames - source.position) / source.sample_rate
    if missing <= TOLERANCE_SECONDS and not source.problem:
        late = late_offset(onset, offset, source.position / source.sample_rate)
        if late:
            return late
    if expected - got > tolerance:
        return f"only {got:.2f} of {expected:.2f} s could be decoded: {reason}"
    return f"{got:.2f} s were decoded, but {reason}" if source.problem and offset is None else ""


def _why_nothing(source: Source, onset: float) -> str:
    """Why not a single sample came out."""
    claimed = source.position if source.n_frames is None else source.n_frames
    seconds = claimed / source.sample_rate
    if source.problem:
        return f"nothing could be decoded from {onset:g} s on: {source.problem}"
    if claimed == 0:
        return "it holds no samples - was the recording or the copy interrupted?"
    if onset < seconds:
        return (
            f"nothing could be decoded from {onset:g} s on, although the header says {seconds:.2f} s"
            " - was the recording or the copy interrupted?"
        )
    return late_onset(onset, seconds)


def _whole(name: str, value: int) -> int:
    """The value, if it is a whole number above 0."""
    number(name, value, above=0, hint="in samples per second, for instance 16000")
    if value != int(value):
        raise ValueError(f"{name} must be a whole number, got {value!r} - in samples per second, for instance 16000")
    return int(value)
