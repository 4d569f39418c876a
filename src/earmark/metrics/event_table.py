"""Events and tags as arrays: what the counting functions count."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

LONGEST_SECONDS = 1e9  # 31 years: what is beyond is no time in seconds, and nanoseconds still fit into 64 bits

SLACK_NANOSECONDS = 500  # an event that reaches less than this into a segment is not in it: float32 is no better


@dataclass(frozen=True, eq=False)
class TagTable:
    """Which classes are in which files: one row per file and class, in any order, none twice.

    Args:
        files: all files, with or without a row.
        classes: all classes, with or without a row.
        file_index: (rows,) position in `files`.
        class_index: (rows,) position in `classes`.

    Raises:
        ValueError: an index outside `files` or `classes`.

    Example:
        >>> table = TagTable(("a.wav", "b.wav"), ("cat", "dog"), np.array([0, 1]), np.array([1, 1]))
        >>> len(table), table.cell     # a dog in both; 0 and 2 would be cats
        (2, array([1, 3]))
    """

    files: tuple[str, ...]
    classes: tuple[str, ...]
    file_index: NDArray[np.int64]
    class_index: NDArray[np.int64]

    def __post_init__(self) -> None:
        for name, index, options in (
            ("file_index", self.file_index, self.files),
            ("class_index", self.class_index, self.classes),
        ):
            if len(index) and not (index.min() >= 0 and index.max() < len(options)):
                raise ValueError(f"{name} must be from 0 to {len(options) - 1}, got {index.min()} to {index.max()}")

    def __len__(self) -> int:
        return len(self.file_index)

    @property
    def cell(self) -> NDArray[np.int64]:
        """One number per pair of file and class: (rows,)."""
        return self.file_index * len(self.classes) + self.class_index


@dataclass(frozen=True, eq=False)
class EventTable(TagTable):
    """Events: one row each, in any order.

    Args:
        onset_seconds: (rows,) from the start of the file.
        offset_seconds: (rows,) not before the onset.

    Raises:
        ValueError: a time that is not finite, negative or above 1e9, or an offset before its onset.

    Example:
        >>> one = np.array([0])
        >>> table = EventTable(("a.wav",), ("dog",), one, one, onset_seconds=one + 0.5, offset_seconds=one + 2.0)
        >>> table.onset_nanoseconds
        array([500000000])
    """

    onset_seconds: NDArray[np.float64]
    offset_seconds: NDArray[np.float64]

    def __post_init__(self) -> None:
        super().__post_init__()
        onset, offset = self.onset_seconds, self.offset_seconds
        if not len(self.file_index) == len(self.class_index) == len(onset) == len(offset):
            raise ValueError(
                f"every event must have a file, a class, an onset and an offset, got "
                f"{len(self.file_index)}, {len(self.class_index)}, {len(onset)} and {len(offset)}"
            )
        # NaN fails these comparisons too. Only when one fails is it worth finding out where and why.
        is_sound = (onset >= 0) & (onset <= offset) & (offset <= LONGEST_SECONDS)
        if not is_sound.all():
            raise ValueError(self._complaint(int(np.argmin(is_sound))))

    @property
    def onset_nanoseconds(self) -> NDArray[np.int64]:
        """Onsets as whole nanoseconds: (rows,)."""
        return nanoseconds(self.onset_seconds)

    @property
    def offset_nanoseconds(self) -> NDArray[np.int64]:
        """Offsets as whole nanoseconds: (rows,)."""
        return nanoseconds(self.offset_seconds)

    def rows(self, keep: NDArray[np.bool_] | NDArray[np.int64]) -> EventTable:
        """Return the table of the rows where `keep` is true, or that it numbers.

        Example:
            >>> two, times = np.array([0, 0]), np.array([1.0, 4.0])
            >>> EventTable(("a.wav",), ("dog",), two, two, times, times + 0.5).rows(times > 2).onset_seconds
            array([4.])
        """
        return replace(
            self,
            file_index=self.file_index[keep],
            class_index=self.class_index[keep],
            onset_seconds=self.onset_seconds[keep],
            offset_seconds=self.offset_seconds[keep],
        )

    def tags(self) -> TagTable:
        """Return which classes occur in which files.

        Example:
            >>> two, times = np.array([0, 0]), np.array([1.0, 4.0])
            >>> len(EventTable(("a.wav",), ("dog",), two, two, times, times + 0.5).tags())     # two events, one tag
            1
        """
        cell, n_classes = np.unique(self.cell), max(1, len(self.classes))
        return TagTable(self.files, self.classes, cell // n_classes, cell % n_classes)

    def _complaint(self, row: int) -> str:
        """What is wrong with the times of one row."""
        onset, offset = float(self.onset_seconds[row]), float(self.offset_seconds[row])
        where = f"{self.files[self.file_index[row]]}: {self.classes[self.class_index[row]]!r}: "
        if not np.isfinite([onset, offset]).all():
            return f"{where}onset and offset must be finite, got {onset} and {offset}"
        if onset < 0:
            return f"{where}onset must be at least 0, got {onset} - do the times count from the start of the file?"
        if onset > offset:
            return f"{where}onset {onset} is after offset {offset} - are the columns swapped?"
        return f"{where}offset must be at most {LONGEST_SECONDS:g}, got {offset} - are the times in seconds?"


def nanoseconds(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return times as whole nanoseconds.

    Sums and frame grids leave 3.0000000000000004 where 3 is meant. A day in double precision is exact to 0.02 ns, so
    rounding to nanoseconds removes that noise and moves nothing that anyone meant. Microseconds would move grids such
    as 365 samples at 22,050 Hz by as much as the tolerance of the comparisons.

    Example:
        >>> nanoseconds(np.array([3.0000000000000004, 0.0165532879818594]))
        array([3000000000,   16553288])
    """
    return np.rint(seconds * 1e9).astype(np.int64)


def reached_segments(
    begin: NDArray[np.int64], end: NDArray[np.int64], segment_seconds: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first segment, and the one after the last, that spans reach into by more than half a microsecond.

    Args:
        begin, end: of the spans, in nanoseconds.
        segment_seconds: length of a segment. It is not rounded: a third of a second is no whole number of nanoseconds.

    Example:
        >>> reached_segments(np.array([1_500_000_000]), np.array([100_000_000_000_000]), 1 / 3)
        (array([4]), array([300000]))
    """
    length = segment_seconds * 1e9
    return (
        np.floor((begin + SLACK_NANOSECONDS) / length).astype(np.int64),
        np.ceil((end - SLACK_NANOSECONDS) / length).astype(np.int64),
    )


def one_form(name: str) -> str:
    """Return a file or class name in one unicode form: some systems write an umlaut as one character, some as two.

    Example:
        >>> len("u\u0308"), len(one_form("u\u0308"))
        (2, 1)
    """
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def check_same_grid(reference: TagTable, predicted: TagTable) -> None:
    """Raise ValueError unless both tables number files and classes alike.

    Example:
        >>> none = np.array([], dtype=np.int64)
        >>> check_same_grid(TagTable((), ("cat", "dog"), none, none), TagTable((), ("dog", "cat"), none, none))
        Traceback (most recent call last):
        ...
        ValueError: reference and predicted must have the same classes in the same order - ...
    """
    for name in ("files", "classes"):
        if getattr(reference, name) != getattr(predicted, name):
            raise ValueError(
                f"reference and predicted must have the same {name} in the same order - encode them "
                "together with event_tables or tag_tables"
            )


def check_line(table: TagTable, group_length: int) -> None:
    """Raise ValueError when all files and classes laid end to end, `group_length` each, do not fit into 64 bits.

    Example:
        >>> none = np.array([], dtype=np.int64)
        >>> check_line(TagTable(("a.wav", "b.wav"), ("dog",), none, none), 2**62)
        Traceback (most recent call last):
        ...
        ValueError: 2 files in 1 classes with events as late as these do not fit into one table - ...
    """
    if len(table.files) * max(1, len(table.classes)) * group_length >= 2**63:
        raise ValueError(
            f"{len(table.files)} files in {len(table.classes)} classes with events as late as these do "
            "not fit into one table - are the times in seconds?"
        )
