"""Weak labels: what a clip contains, not when.

Three ways to write them down, all read by `read_weak`: a table with lists of labels, a table with one label per row,
or a folder per class.
"""

from __future__ import annotations

import filecmp
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

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
    table = read_table(path, list_columns=("event_labels", "known_classes"), example=_EXAMPLE)
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


def classes_to_learn(clips: Sequence[WeakClip], path: Path | str) -> tuple[str, ...]:
    """Return `classes_of` clips that were read from `path`, at least one.

    Raises:
        ValueError: there is no clip, or none that contains a class: nothing can be learned then.

    Example:
        >>> clip = WeakClip("a.wav", frozenset(), None, None, None, {}, "weak.tsv:2")
        >>> classes_to_learn([clip], "weak.tsv")
        Traceback (most recent call last):
        ...
        ValueError: weak.tsv: at least one clip must have a label, got 1 clip and no label - do the labels stand in ...
    """
    name = Path(path).as_posix()
    if not clips:
        raise ValueError(f"{name}: the label file lists no clips - only its first line is there, was it cut off?")
    classes = classes_of(clips)
    if not classes:
        found = f"{len(clips):,} clip{'s' if len(clips) > 1 else ''} and no label"
        columns = ", ".join(repr(column) for column in clips[0].columns)
        elsewhere = "do the labels stand in another column?" + (f" There are also {columns}" if columns else "")
        hint = f"do all of them lie in {NONE_FOLDER}?" if Path(path).is_dir() else elsewhere
        raise ValueError(f"{name}: at least one clip must have a label, got {found} - {hint}")
    return classes


def _read_label_lists(table: Table) -> list[WeakClip]:
    """One clip per row, its labels in a list."""
    clips: dict[_ClipKey, WeakClip] = {}
    first_rows: dict[str, Row] = {}
    for row in table.rows:
        try:
            clip = _clip(table, row, split_labels(table.cell(row, "event_labels")))
        except ValueError as reason:
            raise table.error(row, reason) from None
        key = (clip.filename, clip.onset, clip.offset)
        if key in clips:
            advice = "one row per clip, or a column 'label' with one label per row"
            if any(PurePosixPath(label).suffix.casefold() in AUDIO_SUFFIXES for label in clip.labels):
                advice = "are filename and event_labels swapped?"
            raise table.error(row, f"{clip.filename} was already tagged at {clips[key].where} - {advice}")
        clips[key] = clip
        _note_rows(first_rows, clip, row)
    _refuse_lists(table, list(clips.values()), first_rows)
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
        _note_rows(first_rows, clip, row)
    _refuse_lists(table, list(clips.values()), first_rows)
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
            " - these say what is in a clip, not when; for tagged spans name the column event_labels"
        )


def _note_rows(first_rows: dict[str, Row], clip: WeakClip, row: Row) -> None:
    """Keep the first row in which each class is named."""
    for label in sorted(clip.labels if clip.known is None else clip.labels | clip.known):
        first_rows.setdefault(label, row)


def _refuse_lists(table: Table, clips: Sequence[WeakClip], first_rows: Mapping[str, Row]) -> None:
    """Raise ValueError when what was read as one label is a list of others: it would become a class of its own."""
    has_lists, labels = "label" not in table.columns, classes_of(clips)
    for label, row in first_rows.items():
        # In known_classes, always a list, a name with a comma was quoted: it is meant.
        if not has_lists and label in labels and _is_list(label, ",", first_rows):
            raise table.error(
                row,
                f"the label {label!r} is a list of other labels in this file, but in the column"
                " 'label' a comma belongs to the name - is the column meant to be 'event_labels'?",
            )
        if _is_list(label, "[;|]", first_rows):
            advice = "" if has_lists else " and call the column 'event_labels'"
            raise table.error(
                row, f"the label {label!r} is a list of other labels of this file - separate them with commas{advice}"
            )


def _is_list(label: str, separators: str, known: Container[str]) -> bool:
    """Whether the label falls apart into several others."""
    parts = [part.strip() for part in re.split(separators, label)]
    return len(parts) > 1 and any(parts) and all(part in known for part in parts if part)


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
    clips: dict[str, WeakClip] = {}
    places: dict[str, list[str]] = {}  # of a path inside its class folder: the clips that have it
    for class_folder in class_folders:
        labels = frozenset() if class_folder.name == NONE_FOLDER else frozenset({clean_label(class_folder.name)})
        for file in find_audio([class_folder]):
            name = clean_filename(file.relative_to(folder).as_posix())
            clip = WeakClip(name, labels, None, None, None, {}, file.as_posix())
            twins = places.setdefault(file.relative_to(class_folder).as_posix(), [])
            twin = next((other for other in twins if _is_same_file(Path(clips[other].where), file)), None)
            if twin is None:
                clips[name] = clip
                twins.append(name)
            else:
                clips[twin] = _with_both_classes(clips[twin], clip)
    return list(clips.values())


def _is_same_file(first: Path, second: Path) -> bool:
    """Whether two files hold the same bytes: people tag a recording twice by copying it into a second class folder."""
    try:
        return first.stat().st_size > 0 and filecmp.cmp(first, second, shallow=False)
    except OSError:
        return False  # whoever reads them later says why they cannot be read


def _with_both_classes(first: WeakClip, second: WeakClip) -> WeakClip:
    """One clip of a recording that lies in two class folders."""
    if not first.labels or not second.labels:
        raise ValueError(
            f"{second.where}: the same recording lies in {NONE_FOLDER} and in a class folder, see {first.where}"
            " - does it hold the class or not?"
        )
    return replace(first, labels=first.labels | second.labels)
