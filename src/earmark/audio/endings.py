"""What a file's bytes say about its length and its end, where libsndfile keeps silent."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

# "data : 1764000 (should be 881978)" for wav, SSND for aiff: what the header says and what is there.
_HEADER_AND_REALITY = re.compile(r"^ *(?:data|SSND) *: *(\d+) \(should be (\d+)\)", re.MULTILINE)

# How an ogg page begins, and the flags in it of a page that begins or ends a recording.
_OGG_PAGE = re.compile(rb"OggS\x00")
_OGG_BEGINS = 2
_OGG_ENDS = 4

# How flac begins: its name and a STREAMINFO block, perhaps the only one, of 34 bytes.
_FLAC_BEGINNING = re.compile(rb"fLaC[\x00\x80]\x00\x00\x22")

# The first two bytes of a frame of MPEG layer III. In mp3 they come at least every 1441 bytes, the size of the
# largest frame; in any other data about every 11 000.
_MP3_FRAME = re.compile(rb"\xff[\xe2\xe3\xf2\xf3\xfa\xfb]")
_MP3_BYTES_PER_FRAME = 4096

_JOINED = "another recording is joined on behind it and was not read; convert the file once to get all of it"
_CUT_OFF = "its end mark is missing; was the recording or the copy interrupted?"
_DAMAGED = "the file is damaged inside; sound is missing there, and what follows it may come too early"


def frames_in_header(n_frames: int, log: str) -> int:
    """Return the frames a wav or aiff header claims, given those there are and libsndfile's log of the opening.

    Programs that write to a pipe claim 2 or 4 GiB because they cannot know: that claims nothing.

    Example:
        >>> frames_in_header(500, "data : 4000 (should be 1000)")
        2000
        >>> frames_in_header(500, "data : 1000"), frames_in_header(500, "data : 4294967295 (should be 1000)")
        (500, 500)
    """
    found = _HEADER_AND_REALITY.search(log)
    if found is None:
        return n_frames
    claimed_bytes, actual_bytes = int(found[1]), int(found[2])
    if actual_bytes == 0 or any(abs(claimed_bytes - limit) <= 4096 for limit in (2**31, 2**32)):
        return n_frames
    return round(n_frames * claimed_bytes / actual_bytes)


def states_its_length(path: Path) -> bool:
    """Return whether the first frame of an mp3 file is a Xing or Info tag with the number of frames in it.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "a.mp3")
        ...     _ = file.write_bytes(bytes.fromhex("fffb90c0") + bytes(400))
        ...     states_its_length(file)
        False
    """
    return _mp3_tag(path) is not None


def sound_begins(path: Path, container: str) -> int:
    """Return the byte at which decoding may begin: the first frame in mp3, otherwise the beginning of the file.

    libsndfile does not recognise an mp3 that begins in the middle of a frame, unless by the suffix.

    Args:
        path: the file.
        container: libsndfile's name of the format.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "a.mp3")
        ...     _ = file.write_bytes(b"half a frame" + 3 * (bytes.fromhex("fffb90c0") + bytes(413)))
        ...     sound_begins(file, "MP3"), sound_begins(file, "OGG")
        (12, 0)
    """
    return _mp3_frames(path)[0] if container == "MP3" else 0


def is_joined_flac(path: Path) -> bool:
    """Return whether a second flac stream begins inside the file, so that seeking may land anywhere.

    The whole file is searched (about 1 GB/s), but only once per process: spans of it may be read many times.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "a.flac")
        ...     _ = file.write_bytes(2 * (b"fLaC" + bytes.fromhex("80000022") + bytes(50)))
        ...     is_joined_flac(file)
        True
    """
    status = path.stat()
    return _holds_second_flac(path, status.st_size, status.st_mtime_ns)


def why_it_ends(path: Path, container: str) -> str:
    """Return why a file that was decoded to its end without an error is incomplete all the same, or nothing.

    Args:
        path: the file.
        container: name of the format; FLAC, MP3, OGG and wav are looked into.
    """
    if container == "FLAC":
        return _JOINED if is_joined_flac(path) else ""
    if container == "MP3":
        return _JOINED if _mp3_goes_on(path) else ""
    if container == "OGG":
        return _why_ogg_ends(path)
    if container == "wav":
        return _JOINED if _is_joined_wav(path) else ""
    return ""


@lru_cache(maxsize=4096)
def _holds_second_flac(path: Path, size: int, modified_ns: int) -> bool:
    """Whether flac begins twice; size and time are there so that a changed file is searched again."""
    with path.open("rb") as file:
        first = _find(file, _FLAC_BEGINNING, 0)
        return first is not None and _find(file, _FLAC_BEGINNING, first + 1) is not None


def _find(file: BinaryIO, pattern: re.Pattern[bytes], start: int) -> int | None:
    """Where `pattern` comes next, from byte `start` on, or None; reads a megabyte at a time.

    Not through mmap: pages of a mapped file count as memory of the process, and a day of flac has two gigabytes.
    """
    file.seek(start)
    position, kept = start, b""
    while data := file.read(2**20):
        found = pattern.search(kept + data)
        if found is not None:
            return position - len(kept) + found.start()
        position += len(data)
        # One byte less than the longest pattern: it may straddle two reads.
        kept = (kept + data)[-7:]
    return None


def _is_joined_wav(path: Path) -> bool:
    """Whether a second wav file begins where the first one says it ends; libsndfile refuses such files."""
    with path.open("rb") as file:
        size_in_header = int.from_bytes(file.read(8)[4:], "little")
        file.seek(8 + size_in_header)
        return file.read(4) == b"RIFF"


def _why_ogg_ends(path: Path) -> str:
    """What is wrong with the pages of an ogg file; they are walked through, from header to header."""
    position, flags, is_damaged, has_later_pages = 0, 0, False, False
    with path.open("rb") as file:
        while (page := _next_ogg_page(file, position)) is not None:
            is_damaged = is_damaged or page > position
            file.seek(page)
            # 27 bytes of header, then one byte per segment with its length, then the segments.
            header = file.read(27).ljust(27, b"\x00")
            flags, n_segments = header[5], header[26]
            if flags & _OGG_BEGINS and has_later_pages:
                return _JOINED
            has_later_pages = has_later_pages or not flags & _OGG_BEGINS
            position = page + 27 + n_segments + sum(file.read(n_segments))
    if is_damaged:
        return _DAMAGED
    is_complete = flags & _OGG_ENDS and position <= path.stat().st_size
    return "" if is_complete else _CUT_OFF


def _next_ogg_page(file: BinaryIO, position: int) -> int | None:
    """Where the next page begins: at `position`, in a sound file."""
    file.seek(position)
    return position if _OGG_PAGE.match(file.read(5)) else _find(file, _OGG_PAGE, position)


def _mp3_goes_on(path: Path) -> bool:
    """Whether mp3 frames follow where the tag says the recording ends."""
    tag = _mp3_tag(path)
    if tag is None:
        return False
    with path.open("rb") as file:
        file.seek(tag[1])
        rest = file.read(2**20)
    return len(rest) > _MP3_BYTES_PER_FRAME and len(_MP3_FRAME.findall(rest)) > len(rest) / _MP3_BYTES_PER_FRAME


def _mp3_tag(path: Path) -> tuple[int, int] | None:
    """Frames and end of the recording (byte in the file) from the Xing or Info tag; None when it does not say both."""
    start, data = _mp3_frames(path)
    # Behind 4 bytes of frame header and 9, 17 or 32 bytes of side information.
    for position in (13, 21, 36):
        has_frames_and_bytes = data[position + 7 : position + 8] and data[position + 7] & 3 == 3
        if data[position : position + 4] in (b"Xing", b"Info") and has_frames_and_bytes:
            n_frames = int.from_bytes(data[position + 8 : position + 12], "big")
            return n_frames, start + int.from_bytes(data[position + 12 : position + 16], "big")
    return None


def _mp3_frames(path: Path) -> tuple[int, bytes]:
    """Where the first frame begins, and some kilobytes from there on.

    A file that was cut out of a longer one begins in the middle of a frame, where anything may look like a frame. So
    of all that look like one, the first is taken that is alike in version, layer and sample rate to most others.
    """
    with path.open("rb") as file:
        start = 0
        while (head := file.read(10))[:3] == b"ID3":
            # The size of an ID3 tag comes in four bytes of seven bits.
            a, b, c, d = head.ljust(10, b"\x00")[6:]
            start += 10 + (a << 21) + (b << 14) + (c << 7) + d
            file.seek(start)
        data = head + file.read(2**14)
    # The lowest bit says whether the frame has a checksum; the frame with the tag often differs in that.
    kinds = {frame.start(): (frame[0][1] | 1, data[frame.end()] & 0b1100) for frame in _MP3_FRAME.finditer(data[:-1])}
    if not kinds:
        return start, data
    usual, _ = Counter(kinds.values()).most_common(1)[0]
    first = next(position for position, kind in kinds.items() if kind == usual)
    return start + first, data[first:]
