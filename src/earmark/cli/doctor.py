"""`earmark doctor`: what is wrong with a data set, before it costs a night."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click


@click.command(name="doctor")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option("--audio", type=click.Path(path_type=Path), help="Folder of the recordings. [default: LABELS' folder]")
@click.option("--strong", type=click.Path(path_type=Path), help="Strong labels: events with onset and offset.")
@click.option("--reviewed", type=click.Path(path_type=Path), help="Where they are complete. [default: everywhere]")
@click.option("--group", help="Column that says what belongs together (patient, site, recorder), or a TSV of it.")
@click.option("--split", help="Column that says which split a clip is in.")
@click.option("--workers", type=int, help="Recordings read at the same time. [default: one per core]")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON instead.")
def command(
    labels: Path,
    audio: Path | None,
    strong: Path | None,
    reviewed: Path | None,
    group: str | None,
    split: str | None,
    workers: int | None,
    as_json: bool,
) -> None:
    """Say what is wrong with a data set, and what to do about it, before it costs a night.

    LABELS is what earmark train takes: a TSV or CSV file with the columns filename and event_labels, or a folder with
    one sub-folder per class. Every recording that it names is decoded once, from beginning to end.

    Exit codes: 0 nothing wrong, notes perhaps; 1 errors or warnings; 2 the labels cannot be read.
    """
    from earmark.checks import number
    from earmark.doctor import report
    from earmark.doctor.examination import examine

    folder = audio if audio is not None else (labels if labels.is_dir() else labels.parent)
    if labels.exists() and not folder.is_dir():
        raise ValueError(f"--audio must be a folder, got {folder} - the folder that holds the recordings")
    n_workers = (os.cpu_count() or 1) if workers is None else int(number("--workers", workers, at_least=1))
    with _progress() as show:
        examination = examine(
            labels,
            audio=folder,
            strong=strong,
            reviewed=reviewed,
            split=split,
            group=group,
            workers=n_workers,
            on_file=show,
        )
    if as_json:
        click.echo(json.dumps(report.as_json(examination), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        train = report.training_command(
            examination.data, group=group, split=split, reviewed=None if reviewed is None else reviewed.as_posix()
        )
        click.echo(report.as_text(examination, next_command=train), nl=False)
    if not examination.is_healthy:
        raise SystemExit(1)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr where that is a terminal; what it yields is told how many recordings are done, of how many."""
    if not sys.stderr.isatty():  # and rich, which takes a moment to import, is not needed
        yield lambda done, total: None
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

    columns = (TextColumn("listening"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("listening", total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)
