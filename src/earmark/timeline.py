"""Seconds, samples and frames, converted in one place.

Frame i covers the samples [i * hop_samples, (i + 1) * hop_samples). So an event that fills the frames first..last
begins at ``first * hop`` and ends at ``(last + 1) * hop``, and a recording has ``ceil(samples / hop_samples)`` frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from earmark.checks import number

# A frame rate that is no whole number is written with so many digits at most: 1.0416666666666667 is meant as 25/24.
_LARGEST_DENOMINATOR = 1_000_000
_FINE_RATE = 16000  # ticks per second, at least, of a grid that belongs to no audio


@dataclass(frozen=True)
class Timeline:
    """A grid of frames over a recording.

    Args:
        sample_rate: samples per second.
        hop_samples: samples from one frame to the next.

    Example:
        >>> grid = Timeline(sample_rate=16000, hop_samples=640)
        >>> grid.hop_seconds, grid.frames_per_second
        (0.04, 25.0)
        >>> grid.n_frames(160001)          # the 251st frame holds one sample
        251
        >>> grid.seconds(25), grid.frame(1.03)
        (1.0, 25)
        >>> grid.coarser(2).hop_samples
        1280
    """

    sample_rate: int
    hop_samples: int

    def __post_init__(self) -> None:
        number(
            "sample_rate", self.sample_rate, at_least=1, whole=True, hint="in samples per second, for instance 16000"
        )
        number("hop_samples", self.hop_samples, at_least=1, whole=True, hint="in samples, for instance 320")

    @property
    def hop_seconds(self) -> float:
        """Seconds from one frame to the next."""
        return self.hop_samples / self.sample_rate

    @property
    def frames_per_second(self) -> float:
        """Frames per second."""
        return self.sample_rate / self.hop_samples

    def n_frames(self, n_samples: int) -> int:
        """Frames that hold at least one of the first `n_samples` samples."""
        return -(-n_samples // self.hop_samples)

    def seconds(self, frame: int) -> float:
        """Where `frame` begins, in seconds."""
        return frame * self.hop_samples / self.sample_rate

    def frame(self, seconds: float) -> int:
        """The frame in which a moment lies; a moment on a border belongs to the later frame."""
        # Rounded to whole samples first: 0.3 s / 0.1 s is 2.9999999999999996 in floating point.
        return round(seconds * self.sample_rate) // self.hop_samples

    def half_covered(self, onset_seconds: float, offset_seconds: float) -> tuple[int, int]:
        """The frames of which a stretch of time covers at least half: the first, and the one behind the last.

        Example:
            >>> grid = Timeline(sample_rate=10, hop_samples=10)     # 1 s
            >>> grid.half_covered(0.5, 2.4), grid.half_covered(0.6, 0.9)     # frames 0 and 1; and none
            ((0, 2), (1, 1))
        """
        hop = 2 * self.hop_samples  # in half samples, so that all numbers are whole
        first = -((self.hop_samples - 2 * round(onset_seconds * self.sample_rate)) // hop)
        end = (2 * round(offset_seconds * self.sample_rate) + self.hop_samples) // hop
        return first, max(first, end)

    def coarser(self, factor: int) -> Timeline:
        """The grid after `factor` frames were pooled into one."""
        return Timeline(self.sample_rate, self.hop_samples * factor)

    @classmethod
    def of_frame_rate(cls, frames_per_second: float) -> Timeline:
        """The grid of frames that are not made of our samples, as embeddings of another network are.

        The rate is taken as the fraction it means, so that frame 1,000,000 still begins where it should; the ticks that
        stand for samples are fine enough for any moment.

        Example:
            >>> Timeline.of_frame_rate(2.0)
            Timeline(sample_rate=16000, hop_samples=8000)
            >>> Timeline.of_frame_rate(1 / 0.96)     # 25 frames in 24 s
            Timeline(sample_rate=16000, hop_samples=15360)
            >>> Timeline.of_frame_rate(22050 / 512).seconds(11025)     # 256 s, to the last digit
            256.0
        """
        hint = "frames of 0.5 s are 2 per second"
        number("frames_per_second", frames_per_second, above=1 / 3600, at_most=100_000, hint=hint)
        rate = Fraction(frames_per_second).limit_denominator(_LARGEST_DENOMINATOR)
        finer = -(-_FINE_RATE // rate.numerator)
        return cls(rate.numerator * finer, rate.denominator * finer)
