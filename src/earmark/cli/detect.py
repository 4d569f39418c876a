"""`earmark detect`: recordings in, events out."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from earmark.detection.detector import Detector
    from earmark.detection.tags import SpanTags
    from earmark.events import Event


@click.command(name="detect")
@click.argument("audio", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--model", type=click.Path(path_type=Path), required=True, help="An .onnx file of earmark export.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for one file per recording. [default: print]")
@click.option("--format", "formats", default="tsv", show_default=True, help="tsv, audacity, or both with a comma.")
@click.option("--tags", is_flag=True, help="Also the tags of every span as long as a training clip (needs --out).")
@click.option("--threads", default=1, show_default=True, help="Of the network.")
def command(audio: tuple[Path, ...], model: Path, out: Path | None, formats: str, tags: bool, threads: int) -> None:
    """Mark onset, offset and class of events in AUDIO: files, and folders with everything below them.

    Without --out, events are printed as one TSV table. With it, every recording gets files named after it, in the same
    sub-folder: for site1/kitchen/a.wav, earmark detect site1 --out OUT writes OUT/kitchen/a.wav.tsv.
    """
    from earmark.checks import choice, number
    from earmark.detection.detector import load
    from earmark.files import write_atomic
    from earmark.labels.cells import clean_filename
    from earmark.writers import FORMATS, events_to_tsv, write_events

    wanted = [choice("--format", name.strip(), FORMATS) for name in formats.split(",")]
    if out is None and (tags or wanted != ["tsv"]):
        raise ValueError("--tags and --format audacity need --out, a folder for their files")
    if out is not None and out.exists() and not out.is_dir():
        raise ValueError(f"--out must be a folder, got the file {out}")
    detector = load(model, n_threads=int(number("--threads", threads, at_least=1)))
    recordings = _recordings(audio)
    events: dict[str, list[Event]] = {}
    failures: list[tuple[Path, str]] = []
    for name, path in recordings.items():
        try:
            clean_filename(name)  # a line end in it would tear the table
            analysis = detector.analyse(path)
        except (OSError, ValueError) as error:
            failures.append((path, _reason(error)))
            continue
        if analysis.note:
            click.echo(f"earmark: {path}: {analysis.note}", err=True)
        found = detector.events(analysis)
        if out is None:
            events[name] = found
        else:
            for wanted_format in wanted:
                write_events(out / name, found, filename=name, format=wanted_format)
            if tags:
                write_atomic(out / f"{name}.tags.tsv", _tags_tsv(name, detector.tags(analysis), detector))
    if out is None and len(failures) < len(recordings):
        click.echo(events_to_tsv(events), nl=False)
    _report(failures, len(recordings), out)


def _recordings(audio: tuple[Path, ...]) -> dict[str, Path]:
    """What each recording is called in the output: its path in the folder it was found in, or its file name."""
    from earmark.audio import find_audio

    recordings: dict[str, Path] = {}
    for given in audio:
        for path in find_audio([given]):
            # In the spelling of tables, where the two ways to write an umlaut are one.
            name = unicodedata.normalize("NFC", path.relative_to(given).as_posix() if given.is_dir() else path.name)
            other = recordings.setdefault(name, path)
            if other.resolve() != path.resolve():
                raise ValueError(
                    f"{other} and {path} would both be called {name} in the results, and one would be lost"
                    " - name the folder above them instead, or detect them one by one"
                )
    return recordings


def _reason(error: OSError | ValueError) -> str:
    """Why a recording could not be read."""
    if isinstance(error, OSError) and error.strerror is not None:
        return error.strerror
    return str(error)


def _tags_tsv(name: str, spans: list[SpanTags], detector: Detector) -> str:
    """One row per span, with the probability of every class."""
    rows = ["\t".join(["filename", "onset", "offset", *detector.classes])]
    for span in spans:
        probabilities = (f"{value:.4f}" for value in span.clip_probs)
        rows.append("\t".join([name, f"{span.onset:.3f}", f"{span.offset:.3f}", *probabilities]))
    return "\n".join(rows) + "\n"


def _report(failures: list[tuple[Path, str]], n_recordings: int, out: Path | None) -> None:
    """What was done, and what could not be."""
    if out is not None:
        click.echo(f"{n_recordings - len(failures)} of {n_recordings} recordings detected, results in {out}", err=True)
    for path, reason in failures:
        click.echo(f"earmark: {path}: {reason.removeprefix(f'{path}: ')}", err=True)
    if failures:
        raise SystemExit(1 if len(failures) < n_recordings else 2)
