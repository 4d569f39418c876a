"""What `earmark compare` shows: the plan, how far the runs are, and the table at the end. All of it on stderr."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.table import Table

    from earmark.comparing.parts import Parts
    from earmark.comparing.runs import Standing
    from earmark.comparing.steps import Asked, Compared, Watch

SHOWN_FAILURES = 10


def show_plan(asked: Asked, parts: Parts, *, added_linear: bool) -> None:
    """Say which clips are for what, what will be trained, and what is missing."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from earmark.cli.train_dry_run import _count
    from earmark.comparing.parts import HELD_OUT, LEARN, NAMES, TEST
    from earmark.comparing.steps import missing_in_test

    table = Table("part", "clips", *(["groups"] if asked.columns.group is not None else []), "for")
    purposes = ("learning", "choosing the epoch and the thresholds", "the figures; nothing is chosen by it")
    for part in (LEARN, HELD_OUT, TEST):
        groups = [str(parts.n_groups(part))] if asked.columns.group is not None else []
        table.add_row(NAMES[part], str(len(parts.indices(part))), *groups, purposes[part])
    console = Console(stderr=True)
    console.print(table)
    names = ", ".join(row.name for row in asked.rows)
    n_runs = len(asked.rows) * len(asked.seeds)
    seeds = f"seed{'s' * (len(asked.seeds) > 1)} {', '.join(map(str, asked.seeds))}"
    # Text, because [brackets] in a name would be taken for markup.
    console.print(
        Text(
            f"{n_runs} runs of {_count(asked.config.training.epochs, 'epoch')}, {asked.n_side_by_side} side by side on"
            f" {asked.device}: {names}; {seeds}"
        ),
        soft_wrap=True,
    )
    if added_linear:
        click.echo("earmark: linear was added: the others are compared with it", err=True)
    missing = missing_in_test(parts)
    if missing:
        click.echo(
            f"earmark: the test part has no clip with {', '.join(missing)}, so there is no figure for"
            f" {'it' if len(missing) == 1 else 'them'} - tag more, or choose the test with --split and --test",
            err=True,
        )


def show_foreseen(asked: Asked, parts: Parts, *, as_json: bool) -> None:
    """Say how long it will take and how much memory it needs."""
    from earmark.cli.train_dry_run import _count, _duration, _memory
    from earmark.comparing.foreseen import foreseen
    from earmark.comparing.parts import NAMES

    with watching(asked) as watch:
        found = foreseen(asked, parts, on_file=watch.on_clip)
    n_runs = len(asked.rows) * len(asked.seeds)
    click.echo(
        f"about {_duration(found.seconds)}: {_duration(found.reading_seconds)} for reading the clips, then"
        f" {_count(found.n_rounds, 'round')} of {min(n_runs, asked.n_side_by_side)} side by side,"
        f" {_duration(found.run_seconds)} each, as a few batches of linear tell; the figures on the test come on top"
        f"\nmemory {_memory(found.memory_bytes)} for all that go on at a time",
        err=True,
    )
    if as_json:
        content = {
            "parts": {name: len(parts.indices(part)) for part, name in enumerate(NAMES)},
            "pooling": [row.name for row in asked.rows],
            "seeds": list(asked.seeds),
            "jobs": min(n_runs, asked.n_side_by_side),
            "device": asked.device,
            **asdict(found),
            "seconds": found.seconds,
        }
        click.echo(json.dumps(content, indent=2, ensure_ascii=False))


@contextlib.contextmanager
def watching(asked: Asked) -> Iterator[Watch]:
    """Progress on stderr: bars where it is a terminal, a line per run that ended everywhere."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.text import Text

    from earmark.comparing.steps import Watch

    console = Console(stderr=True)
    n_runs, begin = 0, time.monotonic()
    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.percentage:3.0f}%"),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(elapsed_when_finished=False),
        TextColumn("{task.fields[figures]}", markup=False),
    )  # fmt: skip
    tasks: dict[str, TaskID] = {}
    best: dict[str, float | None] = {}
    ended: set[str] = set()

    def show(name: str, done: float, total: float, figures: str) -> None:
        if name not in tasks:
            tasks[name] = bars.add_task(name, total=total, figures=figures)
        bars.update(tasks[name], completed=done, total=total, figures=figures)

    def on_plan(n_to_do: int, n_done: int) -> None:
        nonlocal n_runs, begin
        n_runs, begin = n_to_do, time.monotonic()
        if n_done:
            console.print(Text(f"{n_done} runs were done before"), soft_wrap=True)

    def on_clip(done: int, total: int) -> None:
        show("reading clips", done, total, f"{done} of {total}")

    def on_progress(standing: Mapping[str, Standing]) -> None:
        shares = sum(one.share for one in standing.values())
        show("all runs", len(ended) + shares, n_runs, f"{len(ended)} of {n_runs} ended")
        for name, one in standing.items():
            best[name] = one.best
            figure = "" if one.best is None else f", best tag F1 {one.best:.3f}"
            show(name, one.share, 1.0, f"epoch {one.epoch} of {asked.config.training.epochs}{figure}")

    def on_end(name: str, failure: str | None) -> None:
        ended.add(name)
        if name in tasks:
            bars.remove_task(tasks.pop(name))
        figure = best.get(name)
        text = "done" if figure is None else f"done, best held-out tag F1 {figure:.3f}"
        seconds = time.monotonic() - begin
        line = (
            f"{name}: {text if failure is None else f'failed: {failure}'}   ({len(ended)} of {n_runs}, {seconds:.0f} s)"
        )
        console.print(Text(line), soft_wrap=True)

    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        yield Watch(on_clip, on_plan, on_progress, on_end)


def report(compared: Compared, page: Path) -> None:
    """The table, the advice, what failed, and where everything is."""
    from rich.console import Console

    from earmark.comparing.advice import advice

    found = compared.outcome
    console = Console(stderr=True)
    if found.names:
        console.print(main_table(compared))
        if len(found.names) > 1:
            console.print(_overview(compared))
    click.echo(advice(found).text, err=True)
    for name, why in found.failures.items():
        click.echo(f"earmark: {name} failed: {why}", err=True)
    if found.failures:
        click.echo("earmark: the same command with --resume does the failed runs again, and only those", err=True)
    for line in compared.unreadable[:SHOWN_FAILURES]:
        click.echo(f"earmark: left out, could not be read: {line}", err=True)
    if len(compared.unreadable) > SHOWN_FAILURES:
        click.echo(f"earmark: and {len(compared.unreadable) - SHOWN_FAILURES} more", err=True)
    click.echo(f"report   {page}", err=True)


def main_table(compared: Compared) -> Table:
    """The figure that decides."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from earmark.comparing.advice import over
    from earmark.comparing.results import TITLES
    from earmark.comparing.tables import IN_TERMINAL, main_rows

    found = compared.outcome
    title = f"{TITLES[found.main]}, mean over {over(found)}, intervals of 95 %"
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), title_justify="left")
    for column, heading in IN_TERMINAL.items():
        table.add_column(heading, justify="left" if column == 0 else "right", no_wrap=True)
    for row in main_rows(found, found.main):
        table.add_row(*(Text(row[column]) for column in IN_TERMINAL))
    return table


def _overview(compared: Compared) -> Table:
    """All figures."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from earmark.comparing.tables import overview_rows

    header, rows = overview_rows(compared.outcome)
    title = "all figures, mean over seeds (* the best)"
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0), title_justify="left")
    for column, name in enumerate(header):
        table.add_column(name, justify="right" if column else "left", no_wrap=column == 0)
    for row in rows:
        table.add_row(*map(Text, row))
    return table
