"""Weak labels: what a clip contains, not when.

Three ways to write them down, all read by `read_weak`: a table with lists of labels, a table with one label per row,
or a folder per class.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from earmark.audio.finding import AUDIO_SUFFIXES, find_audio
from earmark.labels.cells import clean_filename, clean_label, span, split_labels
from earmark.labels.table import Row, Table, check_columns, read_table

# A sub-folder of this name holds the clips of a folder layout that contain none of the classes.
NONE_FOLDER = "_none"

_EXAMPLE = "filename\tevent_labels\na.wav\tDog,Cat"
_OPTIONAL = ("onset", "offset", "known_classes")

# File, onset and offset: what makes two rows rows of one clip.
_ClipKey = tuple[str, float | None, float | None]


@dataclass(frozen=True)
class WeakClip:
    """One tagged clip: a file, or a span of one.

    Args:
        filename: relative to the folder of the audio, NFC, with forward slashes.
        labels: the classes the clip contains; empty when it is known to contain none.
        known: the classes the tagger listened for, `labels` among them; about the others nothing is known. None when
            every class was listened for.
        onset: where the tagged span begins, in seconds; None for the whole file.
        offset: where it ends, in seconds; None for the whole file.
        columns: all other columns, for instance split or patient. A column in which the rows of one clip disagree
            is left out.
        where: file and line, or the path in a folder layout, for messages.
    """

    filename: str
    labels: frozenset[str]
    known: frozenset[str] | None
    onset: float | None
    offset: float | None
    columns: Mapping[str, str]
    where: str


def read_weak(path: Path | str) -> list[WeakClip]:
    r"""Read weak labels from a table or from a folder with one sub-folder per class.

    - A TSV or CSV file with the columns filename and event_labels. A list of labels is separated by commas; a label
      with a comma in it stands in double quotes. An empty list: the clip is known to contain none of the classes.
    - A TSV or CSV file with the columns filename and label, one label per row. Rows of the same file (and span) are
      one clip.
    - A folder: every sub-folder is a class, the audio in it (at any depth) contains that class. The clips in the
      sub-folder ``_none`` contain none of the classes. File names are relative to the folder.

    Optional columns of the tables: onset and offset, in seconds, tag a span of a long file; known_classes
    (comma-separated) are the classes that were listened for, empty for all.

    Raises:
        ValueError: naming file, line number and line, whatever is wrong with them.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "weak.tsv")
        ...     _ = file.write_text('filename\tevent_labels\tsplit\na.wav\t"Air horn, truck horn",Car\ttrain\n')
        ...     clip, = read_weak(file)
        >>> sorted(clip.labels), clip.columns
        (['Air horn, truck horn', 'Car'], {'split': 'train'})
    """
    if Path(path).is_dir():
        return _read_folder(Path(path))
    table = read_table(path, list_columns=("event_labels", "known_classes"))
    if "event_labels" in table.columns and "label" in table.columns:
        raise ValueError(
            f"{table.path}:1: labels must stand in one column, got both 'event_labels' (a list)"
            " and 'label' (one) - remove or rename one of them"
        )
    if "label" in table.columns:
        return _read_label_rows(table)
    _refuse_strong(table)
    check_columns(table, required=("filename", "event_labels"), optional=_OPTIONAL, example=_EXAMPLE)
    return _read_label_lists(table)


def classes_of(clips: Sequence[WeakClip]) -> tuple[str, ...]:
    """Return every class that at least one clip contains, sorted.

    Example:
        >>> clip = WeakClip("a.wav", frozenset({"Dog", "Cat"}), None, None, None, {}, "weak.tsv:2")
        >>> classes_of([clip])
        ('Cat', 'Dog')
    """
    return tuple(sorted(frozenset().union(*(clip.labels for clip in clips))))


def similar_classes(clips: Sequence[WeakClip]) -> list[tuple[str, str]]:
    """Return pairs (likely misspelt, likely meant) of classes that are probably one class.

    Names that differ only in case, white space, hyphens or underscores always count. Names that are merely close
    count when the rarer is at most a tenth as frequent as the other, as typing errors are, and when they differ in
    more than digits (``type 1`` and ``type 2`` are meant).

    Example:
        >>> tags = ["Dog"] * 20 + ["dog"] + ["Doog"]
        >>> similar_classes([WeakClip("", frozenset({tag}), None, None, None, {}, "") for tag in tags])
        [('Doog', 'Dog'), ('dog', 'Dog')]
    """
    counts = Counter(label for clip in clips for label in clip.labels)
    by_frequency = sorted(counts, key=lambda label: (counts[label], label))
    pairs = []
    for rare in sorted(counts):
        # Of two equally frequent spellings the later one in the alphabet counts as meant, so each pair comes once.
        others = [label for label in by_frequency if (counts[label], label) > (counts[rare], rare)]
        same = [label for label in others if _folded(label) == _folded(rare)]
        frequent = [
            label for label in others if counts[label] >= 10 * counts[rare] and _letters(label) != _letters(rare)
        ]
        meant = same[-1:] if same else difflib.get_close_matches(rare, frequent, n=1, cutoff=0.8)
        pairs += [(rare, label) for label in meant]
    return pairs


def _read_label_lists(table: Table) -> list[WeakClip]:
    """One clip per row, its labels in a list."""
    clips: dict[_ClipKey, WeakClip] = {}
    for row in table.rows:
        try:
            clip = _clip(table, row, split_labels(table.cell(row, "event_labels")))
        except ValueError as reason:
            raise table.error(row, reason) from None
        key = (clip.filename, clip.onset, clip.offset)
        if key in clips:
            raise table.error(
                row,
                f"{clip.filename} was already tagged at {clips[key].where} - one row per clip,"
                " or a column 'label' with one label per row",
            )
        clips[key] = clip
    return list(clips.values())


def _read_label_rows(table: Table) -> list[WeakClip]:
    """One label per row; the rows of a clip are united."""
    check_columns(table, required=("filename", "label"), optional=_OPTIONAL, example="filename\tlabel\na.wav\tDog")
    clips: dict[_ClipKey, WeakClip] = {}
    first_rows: dict[str, Row] = {}
    for row in table.rows:
        try:
            text = table.cell(row, "label")
            clip = _clip(table, row, frozenset({clean_label(text)} if text else ()))
            key = (clip.filename, clip.onset, clip.offset)
            clips[key] = _united(clips[key], clip) if key in clips else clip
        except ValueError as reason:
            raise table.error(row, reason) from None
        for label in clip.labels:
            first_rows.setdefault(label, row)
    _refuse_lists(table, first_rows)
    return list(clips.values())


def _clip(table: Table, row: Row, labels: frozenset[str]) -> WeakClip:
    """The clip that one row describes."""
    onset, offset = table.cell(row, "onset"), table.cell(row, "offset")
    times = span(onset, offset) if onset or offset else (None, None)
    if times[0] is not None and times[0] == times[1]:
        raise ValueError(f"the span from {onset} to {offset} s is empty - leave both empty to tag the whole file")
    known = split_labels(table.cell(row, "known_classes"))
    unknown = sorted(labels - known) if known else []
    if unknown:
        raise ValueError(
            f"label {unknown[0]!r} is not among the row's known_classes ({', '.join(sorted(known))})"
            " - add it there, or leave known_classes empty if every class was listened for"
        )
    used = ("filename", "event_labels", "label", *_OPTIONAL)
    others = {name: cell for name, cell in zip(table.columns, row.cells, strict=True) if name not in used}
    return WeakClip(
        clean_filename(table.cell(row, "filename")),
        labels,
        known if known else None,
        times[0],
        times[1],
        others,
        table.where(row),
    )


def _united(first: WeakClip, second: WeakClip) -> WeakClip:
    """One clip from two rows of it."""
    if not first.labels or not second.labels:
        raise ValueError(
            f"{second.filename} has a row without a label (nothing is there) and others, see"
            f" {first.where} - is the label missing?"
        )
    known = None if first.known is None or second.known is None else first.known | second.known
    agreed = {name: value for name, value in first.columns.items() if second.columns.get(name) == value}
    return replace(first, labels=first.labels | second.labels, known=known, columns=agreed)


def _refuse_strong(table: Table) -> None:
    """Raise ValueError for a strong-label file that was given as a weak one."""
    if "event_label" in table.columns and "onset" in table.columns and "event_labels" not in table.columns:
        raise ValueError(
            f"{table.path}:1: onset, offset and event_label mark events, but weak labels are expected here"
            " - strong labels have an option of their own; for tagged spans name the column event_labels"
        )


def _refuse_lists(table: Table, first_rows: Mapping[str, Row]) -> None:
    """Raise ValueError when a column of single labels holds comma-separated lists of other labels in it."""
    for label, row in first_rows.items():
        parts = [part.strip() for part in label.split(",")]
        if len(parts) > 1 and all(part in first_rows for part in parts):
            raise table.error(
                row,
                f"the label {label!r} is a list of other labels in this file, but in the column"
                " 'label' a comma belongs to the name - is the column meant to be 'event_labels'?",
            )


def _read_folder(folder: Path) -> list[WeakClip]:
    """The clips of a folder with one sub-folder per class."""
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    class_folders = [entry for entry in entries if entry.is_dir()]
    loose = [entry for entry in entries if not entry.is_dir() and entry.suffix.casefold() in AUDIO_SUFFIXES]
    if loose:
        raise ValueError(
            f"{loose[0].as_posix()}: audio must lie in a sub-folder named after its class, this file lies"
            f" beside them - clips with none of the classes belong into {NONE_FOLDER}"
        )
    if not class_folders:
        raise ValueError(
            f"{folder.as_posix()}: no sub-folders - expected one per class with its audio inside, for"
            f" instance Dog/a.wav, and {NONE_FOLDER} for clips with none of the classes"
        )
    clips = []
    for class_folder in class_folders:
        labels = frozenset() if class_folder.name == NONE_FOLDER else frozenset({clean_label(class_folder.name)})
        for file in find_audio([class_folder]):
            name = clean_filename(file.relative_to(folder).as_posix())
            clips.append(WeakClip(name, labels, None, None, None, {}, file.as_posix()))
    return clips


def _folded(label: str) -> str:
    """The label without case, white space, hyphens and underscores."""
    return "".join(character for character in label.casefold() if character not in " -_\t\u00a0")


def _letters(label: str) -> str:
    """The label without its digits."""
    return "".join(character for character in _folded(label) if not character.isdigit())
