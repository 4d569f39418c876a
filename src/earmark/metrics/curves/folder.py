"""Score folders, as sed_scores_eval writes and reads them: one table per clip, one row per frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earmark.checks import names
from earmark.metrics.curves.scores import ScoreTable, score_table
from earmark.metrics.event_table import LONGEST_SECONDS, one_form

_EXAMPLE = "onset\toffset\tdog\tcat\n0.0\t0.02\t0.93\t0.01"


def read_scores(folder: Path | str, *, files: Sequence[str] | None = None) -> ScoreTable:
    r"""Read the scores of many clips: one TSV file per clip with the columns onset, offset and one for each class.

    Args:
        folder: sub-folders too; the file `kitchen/a.tsv` or `kitchen/a.wav.tsv` belongs to the clip `kitchen/a.wav`.
        files: the clips of the reference, by whose names the files are found; then other files are not even opened.
            None reads all, and names the clips as the files without ``.tsv``.

    Raises:
        ValueError: naming file, line and what is wrong: other columns, gaps between frames, a score that is no number;
            or a clip of `files` that has no scores.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.tsv").write_text("onset\toffset\tdog\n0.0\t0.5\t0.1\n0.5\t1.0\t0.9\n")
        ...     scores = read_scores(folder, files=["a.wav"])
        >>> scores.files, scores.values, scores.edge_seconds
        (('a.wav',), array([[0.1, 0.9]]), array([0. , 0.5, 1. ]))
    """
    root = Path(folder)
    found = _found(root)
    chosen = found if files is None else _chosen(root, found, files)
    tables: dict[str, NDArray[np.float64]] = {}
    edges: dict[str, NDArray[np.float64]] = {}
    classes: tuple[str, ...] | None = None
    first_path = None
    for name, path in chosen.items():
        labels, edges[name], tables[name] = _read(path)
        if classes is None:
            classes, first_path = labels, path
        if labels != classes:
            raise ValueError(
                f"{path}:1: the classes must be those of {first_path} in the same order ({', '.join(classes)}), got"
                f" {', '.join(labels)} - are the scores of two models in one folder?"
            )
    assert classes is not None
    return score_table(tables, classes=classes, edge_seconds=edges)


def unread_scores(folder: Path | str, *, files: Sequence[str]) -> tuple[str, ...]:
    """Return the tables in a folder that `read_scores` does not read, because they are of none of these clips.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in "ab":
        ...         Path(folder, f"{name}.tsv").touch()
        ...     unread_scores(folder, files=["a.wav"])
        ('b.tsv',)
    """
    root = Path(folder)
    found = _found(root)
    chosen = set(_chosen(root, found, files).values())
    return tuple(path.relative_to(root).as_posix() for path in found.values() if path not in chosen)


def scores_from_frames(frames: Mapping[str, Any]) -> ScoreTable:
    """Return the scores of data frames, as sed_scores_eval has them in memory.

    Args:
        frames: file name -> a data frame of pandas (or anything with `columns` and `to_numpy`) with the columns onset,
            offset and one for each class.

    Raises:
        ValueError: naming the clip: other columns, or gaps between frames.
    """
    tables, edges = {}, {}
    classes: tuple[str, ...] | None = None
    for name, frame in frames.items():
        if not hasattr(frame, "columns") or not hasattr(frame, "to_numpy"):
            raise ValueError(f"scores[{name!r}] must be a data frame, got {type(frame).__name__} - see score_table")
        labels = _labels([str(column) for column in frame.columns], where=f"scores[{name!r}]")
        if classes is None:
            classes = labels
        if labels != classes:
            raise ValueError(f"scores[{name!r}] must have the classes {', '.join(classes)}, got {', '.join(labels)}")
        edges[name], tables[name] = _edges_and_scores(
            np.asarray(frame.to_numpy(), dtype=np.float64), lambda row, name=name: f"scores[{name!r}], row {row}"
        )
    if classes is None:
        raise ValueError("scores must have at least one clip, got none")
    return score_table(tables, classes=classes, edge_seconds=edges)


def _found(root: Path) -> dict[str, Path]:
    """Every table of a folder, by its name without the suffix."""
    if root.is_file():
        raise ValueError(f"{root}: scores must be a folder with one table per clip, got a file - are these events?")
    if not root.is_dir():
        raise ValueError(f"{root}: scores must be a folder with one table per clip, there is no such folder")
    found: dict[str, Path] = {}
    for path in _tables(root):
        name = one_form(path.relative_to(root).as_posix().removesuffix(".tsv"))
        if name in found:
            raise ValueError(f"{path}: the same clip has scores in two files whose names differ in their unicode form")
        found[name] = path
    if not found:
        raise ValueError(f"{root}: scores must be a folder with one .tsv file per clip, there is none in it")
    return found


def _tables(root: Path) -> list[Path]:
    """All tables below a folder, in order; hidden ones are somebody else's."""
    return sorted(
        path for path in root.rglob("*.tsv") if not any(part.startswith(".") for part in path.relative_to(root).parts)
    )


def _chosen(root: Path, found: Mapping[str, Path], files: Sequence[str]) -> dict[str, Path]:
    """The table of every clip of the reference."""
    stems: dict[str, list[str]] = {}
    for name in dict.fromkeys(one_form(name) for name in files):
        stems.setdefault(_without_extension(name), []).append(name)
    chosen = {}
    for stem, same_stem in stems.items():
        for name in same_stem:
            if name in found:
                chosen[name] = found[name]
            elif stem in found and len(same_stem) == 1:
                chosen[name] = found[stem]
            elif stem in found:
                raise ValueError(
                    f"{found[stem]} could be the scores of {same_stem[0]} or of {same_stem[1]}"
                    f" - call it {same_stem[0]}.tsv"
                )
    missing = [name for name in files if one_form(name) not in chosen]
    if missing:
        raise ValueError(
            f"{root}: {len(missing)} of {len(files)} reference clips have no scores (first: {missing[0]!r}; there"
            f" is {next(iter(found.values())).relative_to(root)}) - another folder, or did the detector fail there?"
        )
    return {one_form(name): chosen[one_form(name)] for name in files}


def _without_extension(name: str) -> str:
    """kitchen/a.wav -> kitchen/a"""
    folder, slash, last = name.rpartition("/")
    return f"{folder}{slash}{last.rpartition('.')[0]}" if "." in last else name


def _read(path: Path) -> tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.float64]]:
    """Classes, edges (frames + 1,) and scores (frames, classes) of one file."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: is not UTF-8 text ({error.reason}) - is it a table?") from None
    if not lines:
        raise ValueError(f"{path}: is empty, expected a header and one row per frame, such as\n{_EXAMPLE}")
    header = lines[0].split("\t")
    labels = _labels(header, where=f"{path}:1")
    numbers = [number for number, line in enumerate(lines[1:], start=2) if line.strip()]
    rows = [lines[number - 1] for number in numbers]
    try:
        values = np.loadtxt(rows, delimiter="\t", ndmin=2, comments=None) if rows else np.zeros((0, len(header)))
    except ValueError:
        raise ValueError(_complaint(path, lines, len(header))) from None
    if values.shape[1] != len(header):
        raise ValueError(_complaint(path, lines, len(header)))
    return labels, *_edges_and_scores(values, lambda row: f"{path}:{numbers[row]}")


def _labels(columns: Sequence[str], *, where: str) -> tuple[str, ...]:
    """The classes in a header."""
    if list(columns[:2]) != ["onset", "offset"] or len(columns) < 3:
        raise ValueError(
            f"{where}: the columns must be onset, offset and one for each class, separated by tabs, got"
            f" {', '.join(columns)} - expected something like\n{_EXAMPLE}"
        )
    try:
        return names("classes", [one_form(label) for label in columns[2:]])
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _edges_and_scores(values: NDArray[np.float64], where: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Columns onset, offset, scores -> edges and scores; `where` names a row."""
    onset, offset = values[:, 0], values[:, 1]
    if len(values) == 0:
        return np.zeros(1), values[:, 2:]
    is_wrong = ~((offset > onset) & (onset >= 0) & (offset <= LONGEST_SECONDS))
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        raise ValueError(
            f"{where(row)}: a frame must end after it begins, and not begin before 0, got onset {onset[row]} and"
            f" offset {offset[row]} - are the columns swapped, or the times not in seconds?"
        )
    is_gap = np.abs(onset[1:] - offset[:-1]) > 1e-6
    if is_gap.any():
        row = int(np.argmax(is_gap)) + 1
        raise ValueError(
            f"{where(row)}: every frame must begin where the one before ends, got onset {onset[row]} after offset"
            f" {offset[row - 1]} - is a row missing?"
        )
    scores = values[:, 2:]
    if not np.isfinite(scores).all():
        row, column = np.argwhere(~np.isfinite(scores))[0].tolist()
        raise ValueError(
            f"{where(row)}: scores must be finite numbers, got {scores[row, column]} in column {column + 3} - did the"
            " training or the input go wrong?"
        )
    return np.append(onset, offset[-1]), scores


def _complaint(path: Path, lines: Sequence[str], n_columns: int) -> str:
    """Which row is not made of as many numbers as the header has names."""
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split("\t")
        if not line.strip():
            continue
        if len(cells) != n_columns:
            return f"{path}:{number}: the header has {n_columns} columns, this row {len(cells)}\n{line}"
        for cell in cells:
            try:
                float(cell)
            except ValueError:
                hint = " - is the decimal sign a comma?" if "," in cell else ""
                return f"{path}:{number}: all columns must be numbers, got {cell!r}{hint}\n{line}"
    return f"{path}: cannot be read as a table of numbers"
