"""Which decoder opens a file, and what to say when none does."""

from __future__ import annotations

from pathlib import Path

from earmark.audio.av_source import AvSource
from earmark.audio.soundfile_source import SoundfileSource

# Both have sample_rate, n_channels, n_frames, chunks(start, stop), position and problem.
Source = SoundfileSource | AvSource


def open_source(path: Path) -> Source:
    """Open a file with libsndfile, and when that cannot read it, with PyAV where it is installed.

    Raises:
        ValueError: neither can read it; with both reasons and the likely cause.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Path(folder, "a.wav").touch()
        ...     open_source(Path(folder, "a.wav"))
        Traceback (most recent call last):
        ...
        ValueError: .../a.wav: is empty - was the recording or the copy interrupted?
    """
    try:
        return SoundfileSource(path)
    except ValueError as error:
        reason = str(error)
    _refuse_what_is_not_audio(path)
    try:
        return AvSource(path)
    except ImportError:
        hint = 'm4a, aac and videos need the [av] extra: pip install "earmark[av]"; otherwise, is the file damaged?'
        raise ValueError(f"{path.as_posix()}: cannot be read as audio ({reason}) - {hint}") from None
    except ValueError as error:
        raise ValueError(
            f"{path.as_posix()}: cannot be read as audio (libsndfile: {reason}; FFmpeg: {error})"
            " - is it audio, and is it complete?"
        ) from None


def _refuse_what_is_not_audio(path: Path) -> None:
    """Raise ValueError with the likely cause for what often stands in the place of audio."""
    if not path.exists():
        raise ValueError(f"{path.as_posix()}: no such file - is the path relative to another folder?")
    if path.is_dir():
        raise ValueError(f"{path.as_posix()}: is a folder, not an audio file")
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except OSError as error:
        raise ValueError(f"{path.as_posix()}: cannot be opened ({error.strerror})") from None
    if not head.strip(b"\x00"):
        cause = "is empty" if not head else "holds only zeros"
        raise ValueError(f"{path.as_posix()}: {cause} - was the recording or the copy interrupted?")
    if head.startswith(b"version https://git-lfs"):
        raise ValueError(f"{path.as_posix()}: is a Git LFS pointer, not the audio itself - run: git lfs pull")
    if head.lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml")):
        raise ValueError(f"{path.as_posix()}: is a web page, not audio - did the download need a login?")
