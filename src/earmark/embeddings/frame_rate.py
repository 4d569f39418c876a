"""How many frames of embeddings make a second: as somebody says, or as the recordings' lengths tell."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from earmark import checks

# A window that must fit into the recording costs a frame or two at its end; one centred on its frame adds one.
_FEWER, _MORE = 2.0, 1.0
_SLACK = 0.05  # of a frame: lengths in headers are rounded


@dataclass(frozen=True)
class FrameRate:
    """A frame rate that fits recordings, and between which rates every one would.

    Example:
        >>> FrameRate(2.0, lowest=1.9, highest=2.2).in_words
        '2 frames per second (1.9 to 2.2 would fit as well)'
    """

    frames_per_second: float
    lowest: float
    highest: float

    @property
    def in_words(self) -> str:
        """The rate and how sure it is."""
        others = f"{self.lowest:.5g} to {self.highest:.5g}"
        return f"{self.frames_per_second:.6g} frames per second ({others} would fit as well)"


def frame_rate_beside(folder: Path) -> float | None:
    """Return the frame rate that ``features.json`` or ``features.toml`` in a folder states; None without such a file.

    Raises:
        ValueError: when the file states none, or the two state different ones.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "features.json").write_text('{"frames_per_second": 2.0}')
        ...     frame_rate_beside(Path(folder))
        2.0
    """
    rates = {}
    for name, parse in (("features.json", json.loads), ("features.toml", tomllib.loads)):
        file = folder / name
        if not file.is_file():
            continue
        try:
            values = parse(file.read_text(encoding="utf-8-sig"))
        except (ValueError, OSError) as error:
            raise ValueError(f"{file.as_posix()}: cannot be read ({error})") from error
        if not isinstance(values, dict) or "frames_per_second" not in values:
            raise ValueError(f'{file.as_posix()}: must state the frame rate, as in {{"frames_per_second": 2.0}}')
        hint = "frames of 0.5 s are 2 per second"
        where = f"{file.as_posix()}: frames_per_second"
        rates[name] = float(checks.number(where, values["frames_per_second"], above=0, hint=hint))
    if len(set(rates.values())) > 1:
        raise ValueError(
            f"{folder.as_posix()}: {' and '.join(rates)} state different frame rates - remove the wrong one"
        )
    return next(iter(rates.values()), None)


def fits(n_frames: int, seconds: float, frames_per_second: float) -> bool:
    """Return whether a recording of this length may have so many frames.

    Example:
        >>> fits(19, 10.0, 2.0), fits(20, 10.0, 2.0), fits(25, 10.0, 2.0)
        (True, True, False)
    """
    low, high = _range(n_frames, seconds)
    return low <= frames_per_second <= high


def frame_rate_from(n_frames: Sequence[int], seconds: Sequence[float]) -> FrameRate | None:
    """Return the frame rate that most recordings agree on, given their frames and lengths; None without recordings.

    Of the rates that fit it is the one with the simplest fraction: 2 rather than 2.03.

    Example:
        >>> frame_rate_from([20, 41, 120], [10.0, 20.7, 60.3]).frames_per_second
        2.0
    """
    ranges = [_range(frames, length) for frames, length in zip(n_frames, seconds, strict=True)]
    if not ranges:
        return None
    # Where most ranges overlap: a sweep over their ends, of which those that open come first.
    ends = sorted([(low, 0) for low, _ in ranges] + [(high, 1) for _, high in ranges])
    most = n_open = 0
    best = ranges[0]
    for place, (rate, closes) in enumerate(ends):
        n_open += -1 if closes else 1
        if n_open > most:
            most, best = n_open, (rate, ends[place + 1][0])
    low, high = best
    return FrameRate(float(_simplest(Fraction(low), Fraction(high))), lowest=low, highest=high)


def _range(n_frames: int, seconds: float) -> tuple[float, float]:
    """The frame rates at which a recording of this length has so many frames."""
    if seconds <= 0:
        return 0.0, math.inf
    return max(n_frames - _MORE - _SLACK, _SLACK) / seconds, (n_frames + _FEWER + _SLACK) / seconds


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator from `low` to `high`, both above 0."""
    whole = -(-low.numerator // low.denominator)  # low rounded up
    if whole <= high:
        return Fraction(whole)
    below = whole - 1
    return below + 1 / _simplest(1 / (high - below), 1 / (low - below))
