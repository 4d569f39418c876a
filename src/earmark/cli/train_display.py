"""What `earmark train` shows: progress bars, one line per epoch, and the table at the end. All of it on stderr."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from earmark.config import Config
    from earmark.training.run import TrainingResult, Watch


def watch(config: Config, out: Path, tensorboard: bool) -> Watch:
    """Progress bars on stderr: first the clips that are read, then the steps."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    from earmark.training.run import Watch

    columns = (
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f}%"),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.fields[figures]}"),
    )  # fmt: skip
    console = Console(stderr=True)
    bars = Progress(*columns, console=console, disable=not console.is_terminal)
    write_scalars = _tensorboard_writer(out) if tensorboard else None
    tasks: dict[str, TaskID] = {}

    def show(name: str, done: float, total: float, figures: str) -> None:
        if name not in tasks:
            bars.start()
            tasks[name] = bars.add_task(name, total=total, figures=figures)
        bars.update(tasks[name], completed=done, figures=figures)
        if done >= total:
            bars.stop()

    def on_row(row: dict[str, Any]) -> None:
        if row["kind"] == "step":
            show(
                "training", row["epoch"] - 1 + row["of_epoch"], config.training.epochs + 1e-6, f"loss {row['loss']:.3f}"
            )
        else:
            click.echo(_epoch_line(row, config), err=True)
            if row["epoch"] == config.training.epochs:
                bars.stop()
        if write_scalars is not None:
            write_scalars(row)

    return Watch(on_clip=lambda done, total: show("reading clips", done, total, f"{done} of {total}"), on_row=on_row)


def _epoch_line(row: dict[str, Any], config: Config) -> str:
    """One epoch in one line."""
    text = f"epoch {row['epoch']:>3} of {config.training.epochs}"
    if "held_out_loss" in row:
        text += f"   held-out loss {row['held_out_loss']:.3f}   tag F1 {row['held_out_macro_f1']:.3f}"
        text += "   best so far" if row["best_epoch"] == row["epoch"] else ""
    return text


def _tensorboard_writer(out: Path) -> Any:
    """A function that writes the numbers of a log row as TensorBoard scalars."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError as error:
        raise ValueError('--tensorboard needs TensorBoard: pip install "earmark[tensorboard]"') from error
    writer = SummaryWriter(str(out / "tensorboard"))

    def write(row: dict[str, Any]) -> None:
        for name, value in row.items():
            if isinstance(value, float):
                writer.add_scalar(name, value, row["step"])
        writer.flush()

    return write


def report(result: TrainingResult) -> None:
    """What was learned, what could not be read, and what to do next."""
    from rich.console import Console
    from rich.table import Table

    metrics = result.metrics
    parameter = next((name for name in ("n", "alpha") if name in metrics), None)
    table = Table("class", "tag F1 (held out)", title=f"best epoch: {metrics['best_epoch']} of {metrics['epochs']}")
    if parameter is not None:
        table.add_column(parameter)
    for label in metrics["classes"]:
        f1 = metrics["held_out_f1"].get(label)
        row = [label, "-" if f1 is None else f"{f1:.3f}"]
        table.add_row(*row, *([f"{metrics[parameter][label]:.3f}"] if parameter is not None else []))
    Console(stderr=True).print(table)
    if metrics["held_out_clips"] and result.untuned:
        names = ", ".join(result.untuned)
        click.echo(f"earmark: no threshold was tuned for {names}: too few held-out clips with and without", err=True)
    for name, remark in result.notes:
        click.echo(f"earmark: {name}: {remark}", err=True)
    if result.failures:
        click.echo(f"earmark: {len(result.failures)} clips could not be read and were left out:", err=True)
        for where, name, reason in result.failures:
            click.echo(f"  {where}: {name}: {reason}", err=True)
    model = result.folder.with_suffix(".onnx").name
    click.echo(f"next: earmark export {result.folder} {model} && earmark detect RECORDING --model {model}", err=True)
