"""`earmark detect`: recordings in, events out."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from earmark.detection.detector import Analysis, Detector

# A full or read-only disk, and a reader who has enough: what follows would fail alike.
_FATAL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EPIPE)


@click.command(name="detect")
@click.argument("audio", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--model", type=click.Path(path_type=Path), required=True, help="An .onnx file of earmark export.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for one file per recording. [default: print]")
@click.option(
    "--format",
    "formats",
    default="tsv",
    show_default=True,
    help="tsv, csv, json, jsonl, audacity, rttm, labelstudio; several with commas.",
)
@click.option("--tags", is_flag=True, help="Also the tags of every span as long as a training clip (needs --out).")
@click.option("--classes", help="Only these, with commas between them. [default: all the model knows]")
@click.option("--min-score", type=float, default=0.0, show_default=True, help="Only events at least this probable.")
@click.option("--threads", default=1, show_default=True, help="Of the network.")
def command(
    audio: tuple[Path, ...],
    model: Path,
    out: Path | None,
    formats: str,
    tags: bool,
    classes: str | None,
    min_score: float,
    threads: int,
) -> None:
    """Mark onset, offset and class of events in AUDIO: files, and folders with everything below them.

    For a model that learned from embeddings, AUDIO are such embeddings in .npy or .npz; the events of a.wav.npy are
    those of a.wav.

    Without --out, events are printed as one TSV table, recording by recording. With it, every recording gets files
    named after it, in the same sub-folder: for site1/kitchen/a.wav, earmark detect site1 --out OUT writes
    OUT/kitchen/a.wav.tsv.
    """
    from earmark.checks import choice, number
    from earmark.detection.detector import load
    from earmark.writers import FORMATS

    names = [choice("--format", name.strip(), FORMATS) for name in formats.split(",")]
    if out is None and (tags or names != ["tsv"]):
        raise ValueError("--tags and formats other than tsv need --out, a folder for their files")
    if out is not None and out.exists() and not out.is_dir():
        raise ValueError(f"--out must be a folder, got the file {out}")
    number("--min-score", min_score, at_least=0, at_most=1, hint="it is a probability, not a percentage")
    detector = load(model, n_threads=int(number("--threads", threads, at_least=1)))
    chosen = frozenset(detector.classes) if classes is None else _chosen_classes(classes, detector)
    wanted = _Wanted(out, tuple(names), tags, chosen, min_score)
    recordings = _recordings(audio, detector)
    if out is not None:
        _make_writable(out)
    failures: list[tuple[Path, str]] = []
    with _progress(len(recordings)) as show:
        for done, (name, path) in enumerate(recordings.items()):
            show(done)
            try:
                _detect(detector, name, path, wanted, with_header=done == len(failures))
            except (OSError, ValueError) as error:
                if isinstance(error, OSError) and error.errno in _FATAL:
                    raise
                failures.append((path, _reason(error, path)))
    _report(failures, len(recordings), out)


def _make_writable(out: Path) -> None:
    """Make the folder of the results; what may not be written into it is told before hours of detection, not after."""
    out.mkdir(parents=True, exist_ok=True)
    if not os.access(out, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(out))


@dataclass(frozen=True)
class _Wanted:
    """What becomes of the events: printed where `out` is None, otherwise written in all `formats`."""

    out: Path | None
    formats: tuple[str, ...]
    with_tags: bool
    classes: frozenset[str]
    min_score: float


def _detect(detector: Detector, name: str, path: Path, wanted: _Wanted, *, with_header: bool) -> None:
    """One recording from file to results; they are out before the next one is read, whatever stops us then."""
    from earmark.labels.cells import clean_filename
    from earmark.writers import events_to_tsv, write_events

    clean_filename(name)  # a line end in it would tear the table
    analysis = detector.analyse(path, with_scores=wanted.with_tags)
    events = [
        event
        for event in detector.events(analysis)
        if event.label in wanted.classes and event.score is not None and event.score >= wanted.min_score
    ]
    if wanted.out is None:
        header, rows = events_to_tsv({name: events}, with_scores=True).split("\n", maxsplit=1)
        click.echo(f"{header}\n{rows}" if with_header else rows, nl=False)
    else:
        for format in wanted.formats:
            write_events(wanted.out / name, events, filename=name, format=format)
        if wanted.with_tags:
            _write_tags(wanted.out, name, detector, analysis, wanted.classes)
    if analysis.note:
        click.echo(f"earmark: {path}: {analysis.note}", err=True)


def _write_tags(out: Path, name: str, detector: Detector, analysis: Analysis, classes: frozenset[str]) -> None:
    """One row per span, with the probability of every class that was asked for."""
    from earmark.files import write_atomic

    columns = [index for index, label in enumerate(detector.classes) if label in classes]
    rows = ["\t".join(["filename", "onset", "offset", *(detector.classes[index] for index in columns)])]
    for span in detector.tags(analysis):
        probabilities = (f"{span.clip_probs[index]:.4f}" for index in columns)
        rows.append("\t".join([name, f"{span.onset:.3f}", f"{span.offset:.3f}", *probabilities]))
    write_atomic(out / f"{name}.tags.tsv", "\n".join(rows) + "\n")


def _chosen_classes(text: str, detector: Detector) -> frozenset[str]:
    """The classes named by --classes, all of which the model knows."""
    from earmark.checks import known_labels
    from earmark.labels.cells import split_labels

    try:
        chosen = split_labels(text)
    except ValueError as error:
        raise ValueError(f"--classes: {error}") from error
    if not chosen:
        raise ValueError(f"--classes must name at least one of {', '.join(detector.classes)}, got {text!r}")
    known_labels(sorted(chosen), detector.classes, where="--classes")
    return chosen


@contextlib.contextmanager
def _progress(n_recordings: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr where that is a terminal; what it yields is told how many recordings are done."""
    if not sys.stderr.isatty():  # and rich, which takes a moment to import, is not needed
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("detecting"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("detecting", total=n_recordings)
        yield lambda done: bars.update(task, completed=done)


def _recordings(audio: tuple[Path, ...], detector: Detector) -> dict[str, Path]:
    """What each recording is called in the output: its path in the folder it was found in, or its file name."""
    from earmark.embeddings import recording_name

    recordings: dict[str, Path] = {}
    for given in audio:
        for path in _found(given, detector):
            # In the spelling of tables, where the two ways to write an umlaut are one.
            name = unicodedata.normalize("NFC", path.relative_to(given).as_posix() if given.is_dir() else path.name)
            name = name if detector.info.n_dims is None else recording_name(name)
            other = recordings.setdefault(name, path)
            if other.resolve() != path.resolve():
                raise ValueError(
                    f"{other} and {path} would both be called {name} in the results, and one would be lost"
                    " - name the folder above them instead, or detect them one by one"
                )
    return recordings


def _found(given: Path, detector: Detector) -> list[Path]:
    """The files a path names that are of the kind the model takes."""
    from earmark.audio import find_audio
    from earmark.embeddings import EMBEDDING_SUFFIXES, find_embeddings, frame_rate_beside

    if detector.info.n_dims is None:
        try:
            return find_audio([given])
        except ValueError as error:
            if given.is_dir() and any(path.suffix.casefold() in EMBEDDING_SUFFIXES for path in given.rglob("*")):
                raise ValueError(f"{error}; it holds arrays of NumPy, but this model expects recordings") from error
            raise
    try:
        found = find_embeddings(given)
    except ValueError as error:
        raise ValueError(f"{error}; this model expects {detector.info.expects()}") from error
    for folder in dict.fromkeys([given if given.is_dir() else given.parent, *(path.parent for path in found)]):
        stated, rate = frame_rate_beside(folder), detector.info.timeline.frames_per_second
        if stated is not None and abs(stated / rate - 1) > 1e-6:
            raise ValueError(
                f"{folder}: states {stated:g} frames per second, but the model learned from {rate:.6g} - were these"
                " embeddings made by the same network, with the same hop?"
            )
    return found


def _reason(error: OSError | ValueError, path: Path) -> str:
    """Why a recording could not be read, or its results not be written."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    # Of a rename the second name is the one somebody asked for; the first is our temporary file.
    name = error.filename if error.filename2 is None else error.filename2
    return error.strerror if name is None or Path(name) == path else f"{error.strerror}: {name}"


def _report(failures: list[tuple[Path, str]], n_recordings: int, out: Path | None) -> None:
    """What was done, and what could not be."""
    if out is not None:
        click.echo(f"{n_recordings - len(failures)} of {n_recordings} recordings detected, results in {out}", err=True)
    for path, reason in failures:
        click.echo(f"earmark: {path}: {reason.removeprefix(f'{path}: ')}", err=True)
    if failures:
        raise SystemExit(1 if len(failures) < n_recordings else 2)
