"""A folder of label files: one per recording, or a few for many."""

from __future__ import annotations

import os
from pathlib import Path

from earmark.labels.formats.choosing import LABEL_SUFFIXES, Labels, read_events_file
from earmark.labels.formats.naming import recording_of

# What earmark detect --tags writes beside events.
_TAGS_ENDING = ".tags.tsv"


def read_events_folder(folder: Path, *, class_column: str | None = None) -> Labels:
    r"""Return the events of all label files in a folder, at any depth.

    Files with other endings are passed over (recordings may lie beside their labels), hidden ones and tables of tags
    (``.tags.tsv``) too.

    Raises:
        ValueError: no label file, two for one recording, or whatever is wrong with one of them.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.wav.txt").write_text("0.5\t1.25\tdog\n")
        ...     Path(folder, "b.wav.txt").touch()
        ...     read_events_folder(Path(folder)).events
        {'a.wav': [Event(onset=0.5, offset=1.25, label='dog', score=None)], 'b.wav': []}
    """
    merged = Labels({}, {}, set())
    for path in label_files(folder):
        labels = read_events_file(path, name=name_in(folder, path), class_column=class_column)
        for recording, in_file in labels.events.items():
            if recording in merged.events:
                raise ValueError(
                    f"{path.as_posix()}: {recording} has labels in {merged.places[recording]} already"
                    " - keep one file per recording, and one format per folder"
                )
            merged.events[recording] = in_file
            merged.places[recording] = labels.places[recording]
        merged.in_full.update(labels.in_full)
    return merged


def name_in(folder: Path, path: Path) -> str:
    """Return what a label file in a folder says its recording is called: the path, without the labels' endings.

    Example:
        >>> name_in(Path("tracks"), Path("tracks/site 3/a.wav.txt"))
        'site 3/a.wav'
    """
    parent = path.parent.relative_to(folder).as_posix()
    return recording_of(path) if parent == "." else f"{parent}/{recording_of(path)}"


def label_files(folder: Path) -> list[Path]:
    """Return the label files in a folder, sorted.

    Raises:
        ValueError: there are none.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("a.wav", "a.wav.txt", "a.wav.tags.tsv", ".hidden.txt"):
        ...         Path(folder, name).touch()
        ...     [path.name for path in label_files(Path(folder))]
        ['a.wav.txt']
    """
    files = []
    for parent, folders, names in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += [
            Path(parent, name)
            for name in sorted(names)
            if not name.startswith(".")
            and not name.endswith(_TAGS_ENDING)
            and Path(name).suffix.casefold() in LABEL_SUFFIXES
        ]
    if not files:
        raise ValueError(
            f"{folder.as_posix()}: no label files in this folder ({', '.join(sorted(LABEL_SUFFIXES))})"
            " - a folder of recordings per class says what is in them, not when"
        )
    return files
