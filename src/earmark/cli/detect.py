"""`earmark detect`: recordings in, events out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from earmark.detection.detector import Detector
    from earmark.events import Event


@click.command(name="detect")
@click.argument("audio", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--model", type=click.Path(path_type=Path), required=True, help="An .onnx file of earmark export.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for one file per recording. [default: print]")
@click.option("--format", "formats", default="tsv", show_default=True, help="tsv, audacity, or both with a comma.")
@click.option("--tags", is_flag=True, help="Also the tags of every span as long as a training clip (needs --out).")
@click.option("--threads", default=1, show_default=True, help="Of the network.")
def command(
    audio: tuple[Path, ...], model: Path, out: Path | None, formats: str, tags: bool, threads: int
) -> None:
    """Mark onset, offset and class of events in AUDIO: files, and folders with everything below them.

    Without --out, events are printed as one TSV table. With it, every recording gets files named after it, in the same
    sub-folder: kitchen/a.wav gives OUT/kitchen/a.wav.tsv.
    """
    from earmark.audio import find_audio
    from earmark.checks import choice
    from earmark.detection.detector import load
    from earmark.writers import FORMATS

    wanted = [choice("--format", name.strip(), FORMATS) for name in formats.split(",")]
    if out is None and (tags or wanted != ["tsv"]):
        raise ValueError("--tags and --format audacity need --out, a folder for their files")
    detector = load(model, n_threads=threads)
    recordings = [(path, _name(path, given)) for given in audio for path in find_audio([given])]
    events: dict[str, list[Event]] = {}
    failures: list[tuple[Path, str]] = []
    for path, name in recordings:
        try:
            analysis = detector.analyse(path)
        except ValueError as error:
            failures.append((path, str(error)))
            continue
        if analysis.note:
            click.echo(f"earmark: {path}: {analysis.note}", err=True)
        found = detector.events(analysis)
        if out is None:
            events[name] = found
        else:
            _write(out, name, found, wanted)
            if tags:
                _write_tags(out, name, detector, detector.tags(analysis))
    if out is None and len(failures) < len(recordings):
        from earmark.writers import events_to_tsv

        click.echo(events_to_tsv(events), nl=False)
    _report(failures, len(recordings), out)


def _name(path: Path, given: Path) -> str:
    """What a recording is called in the output: relative to the folder it was found in, or its file name."""
    return path.relative_to(given).as_posix() if given.is_dir() else path.name
