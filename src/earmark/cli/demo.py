"""`earmark demo`: see the whole path at work, without any data."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import click


@click.command(name="demo")
@click.option("--out", type=click.Path(path_type=Path), default=Path("demo"), show_default=True, help="Folder to fill.")
def command(out: Path) -> None:
    """Learn ten kinds of generated sounds from tags alone, mark them in new soundscapes, and write a report.

    Takes about two minutes on two cores. Fails when a detector is worse than it should be.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from earmark.demo.page import write_report
    from earmark.demo.steps import SYSTEMS, DemoPlan, run_demo

    begin = time.monotonic()
    console = Console(stderr=True)
    columns = (TextColumn("  {task.description:<8}"), BarColumn(), TextColumn("{task.percentage:3.0f}%"))
    with Progress(*columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal) as bars:
        tasks = {name: bars.add_task(name, total=1.0, visible=False) for name in SYSTEMS}

        def on_progress(shares: Mapping[str, float]) -> None:
            for name, share in shares.items():
                bars.update(tasks[name], completed=share, visible=True)

        def say(text: str) -> None:
            # The console's own print: it puts the line above the bars, where others write into them.
            console.print(text, markup=False, highlight=False, soft_wrap=True)

        result = run_demo(out, plan=DemoPlan(), say=say, on_progress=on_progress)
        say("drawing the report")
        report = write_report(out, result)
    for name, system in result.systems.items():
        event, segment, clip = (counts.macro.f1 for counts in system.evaluation.levels)
        click.echo(f"{name:<8} event F1 {event:.3f}   segment F1 {segment:.3f}   clip F1 {clip:.3f}")
    click.echo(f"report   {report}   ({time.monotonic() - begin:.0f} s)")
    if not result.is_good:
        raise ValueError(
            f"the demo failed: an event F1 is below {result.required_f1}, though this data is the same everywhere"
            " - something in this installation computes differently; please report it with the output of pip freeze"
        )
