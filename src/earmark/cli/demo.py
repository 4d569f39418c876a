"""`earmark demo`: see the whole path at work, without any data."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from earmark.demo.steps import DemoResult


@click.command(name="demo")
@click.option("--out", type=click.Path(path_type=Path), default=Path("demo"), show_default=True, help="Folder to fill.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON, instead of lines.")
def command(out: Path, as_json: bool) -> None:
    """Learn ten kinds of generated sounds from tags alone, mark them in new soundscapes, and write a report.

    Takes about two minutes on two cores. Fails when a detector is worse than it should be.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from earmark.demo.page import write_report
    from earmark.demo.processes import ended_in_order
    from earmark.demo.steps import SYSTEMS, DemoPlan, run_demo

    begin = time.monotonic()
    console = Console(stderr=True)
    columns = (TextColumn("  {task.description:<8}"), BarColumn(), TextColumn("{task.percentage:3.0f}%"))
    bars = Progress(*columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal)
    with ended_in_order(), bars:
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
    seconds = time.monotonic() - begin
    click.echo(_json(result, report, seconds) if as_json else _lines(result, report, seconds))
    if not result.is_good:
        raise ValueError(
            f"the demo failed: an event F1 is below {result.required_f1}, though this data is the same everywhere"
            " - something in this installation computes differently; please report it with the output of pip freeze"
        )


def _lines(result: DemoResult, report: Path, seconds: float) -> str:
    """A line for each system, and where the report is."""
    lines = [
        f"{name:<8} " + "   ".join(f"{level} F1 {value:.3f}" for level, value in f1.items())
        for name, f1 in _macro_f1(result).items()
    ]
    return "\n".join([*lines, f"report   {report}   ({seconds:.0f} s)"])


def _json(result: DemoResult, report: Path, seconds: float) -> str:
    """The same for programs."""
    systems = {
        name: {f"{level}_f1": None if math.isnan(value) else value for level, value in f1.items()}
        for name, f1 in _macro_f1(result).items()
    }
    content = {"systems": systems, "seconds": round(seconds, 1), "report": str(report)}
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)


def _macro_f1(result: DemoResult) -> dict[str, dict[str, float]]:
    """System -> level -> macro F1."""
    return {
        name: {counts.level: counts.macro.f1 for counts in system.evaluation.levels}
        for name, system in result.systems.items()
    }
