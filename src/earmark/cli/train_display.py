"""What `earmark train` shows: progress bars, one line per epoch, and the table at the end. All of it on stderr."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table

    from earmark.config import Config
    from earmark.training.run import TrainingResult, Watch

# Spans that end a moment after their recording are common, and each gives a remark.
SHOWN_NOTES = 10
_WORTH_TUNING = 0.1  # of F1; smaller differences on a few held-out clips mean little
_NEARLY_MAX = 50.0  # n of power pooling; from there on a clip's probability is that of its loudest frame


@contextlib.contextmanager
def watching(config: Config, out: Path, *, tensorboard: bool) -> Iterator[Watch]:
    """Progress bars on stderr, for the clips that are read and for the steps; gone again however training ends."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    from earmark.training.run import Watch

    columns = (
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f}%"),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), TextColumn("{task.fields[figures]}"),
    )  # fmt: skip
    console = Console(stderr=True)
    write_scalars = _tensorboard_writer(out) if tensorboard else None
    tasks: dict[str, TaskID] = {}

    def show(name: str, done: float, total: float, figures: str) -> None:
        if name not in tasks:
            tasks[name] = bars.add_task(name, total=total, figures=figures)
        bars.update(tasks[name], completed=done, figures=figures)

    def on_row(row: dict[str, Any]) -> None:
        if row["kind"] == "step":
            show("training", row["epoch"] - 1 + row["of_epoch"], config.training.epochs, f"loss {row['loss']:.3f}")
        else:
            # The console's own print: it puts the line above the bars, where others write into them.
            console.print(_epoch_line(row, config), markup=False, highlight=False, soft_wrap=True)
        if write_scalars is not None:
            write_scalars(row)

    def on_remark(text: str) -> None:
        console.print(f"earmark: {text}", markup=False, highlight=False, soft_wrap=True)

    # Left by its end or by an error alike: a bar that is never stopped leaves a terminal without a cursor.
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        yield Watch(lambda done, total: show("reading clips", done, total, f"{done} of {total}"), on_row, on_remark)


def _epoch_line(row: dict[str, Any], config: Config) -> str:
    """One epoch in one line."""
    text = f"epoch {row['epoch']:>3} of {config.training.epochs}"
    if "held_out_loss" in row:
        f1 = row["held_out_macro_f1"]
        text += f"   held-out loss {row['held_out_loss']:.3f}   best tag F1 {'-' if f1 is None else f'{f1:.3f}'}"
        event_f1 = row.get("held_out_macro_event_f1")
        text += "" if event_f1 is None else f"   event F1 {event_f1:.3f}"
        text += "   best so far" if row["best_epoch"] == row["epoch"] else ""
    return text


def _tensorboard_writer(out: Path) -> Any:
    """A function that writes the numbers of a log row as TensorBoard scalars."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError as error:
        raise ValueError('--tensorboard needs TensorBoard: pip install "earmark[tensorboard]"') from error
    writer: SummaryWriter | None = None

    def write(row: dict[str, Any]) -> None:
        nonlocal writer
        if writer is None:  # not before there is a row: a run that is refused should leave nothing behind
            # What was written of later steps before a kill comes again: TensorBoard is told to forget it. Before the
            # row of an epoch stand the rows of its steps, the last of which has the same number.
            repeated_from = row["step"] + (1 if row["kind"] == "epoch" else 0)
            writer = SummaryWriter(str(out / "tensorboard"), purge_step=repeated_from)
        scalars = {name: value for name, value in row.items() if isinstance(value, float)}
        for name, value in {**scalars, **_pooling_scalars(out, row)}.items():
            writer.add_scalar(name, value, row["step"])
        writer.flush()

    return write


def _pooling_scalars(out: Path, row: dict[str, Any]) -> dict[str, float]:
    """The pooling parameter of every class after an epoch; which class is which stands in the run's table of them."""
    table = out / "pooling.tsv"
    if row["kind"] != "epoch" or row["pooling"] is None or not table.exists():
        return {}
    lines = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()[1:]]
    classes = [label for epoch, _, label, _ in lines if int(epoch) == row["epoch"]]
    return {f"pooling/{label}": float(value) for label, value in zip(classes, row["pooling"], strict=True)}


def report(result: TrainingResult, config: Config) -> None:
    """What was learned, what could not be read, and what to do next."""
    from rich.console import Console

    from earmark.config import not_deployable
    from earmark.training.feature_store import located

    metrics = result.metrics
    # Tuned thresholds are the best ones; a common one may leave a class far below what it could reach.
    could_be_better = config.decoding.mode != "tuned" and bool(metrics["held_out_clips"])
    Console(stderr=True).print(_table(metrics, config.decoding.threshold if could_be_better else None))
    if could_be_better:
        _advise_tuning(metrics)
    if metrics["held_out_clips"] and result.untuned:
        names = ", ".join(result.untuned)
        click.echo(f"earmark: no threshold was tuned for {names}: too few held-out clips with and without", err=True)
    if metrics["held_out_clips"] and not metrics["held_out_best_f1"] and config.training.select == "f1":
        click.echo(
            "earmark: the best epoch is the one of the lowest held-out loss: no class has held-out clips with it and"
            " without it, so no F1 tells the epochs apart - hold out more clips",
            err=True,
        )
    _advise_penalty(metrics)
    for where, name, remark in result.notes[:SHOWN_NOTES]:
        click.echo(f"earmark: {located(where, name, f'{name}: {remark}')}", err=True)
    if len(result.notes) > SHOWN_NOTES:
        click.echo(f"earmark: and {len(result.notes) - SHOWN_NOTES} more clips used only in part", err=True)
    if result.failures:
        clips = "clip" if len(result.failures) == 1 else "clips"
        click.echo(f"earmark: {len(result.failures)} {clips} could not be read and had to be left out:", err=True)
        for failure in result.failures:
            click.echo(f"  {located(*failure)}", err=True)
    if not_deployable(config) is None:
        click.echo(f"next: {_next_commands(result.folder)}", err=True)


def _table(metrics: dict[str, Any], common_threshold: float | None) -> Table:
    """One row per class: its F1 as the model decides, the best it could be, and its pooling parameter."""
    from rich.table import Table
    from rich.text import Text

    parameter = metrics["pooling_parameter"]
    f1_columns = {"tag F1": "held_out_f1"}
    if common_threshold is not None:
        f1_columns = {f"tag F1 at {common_threshold:g}": "held_out_f1", "at its best": "held_out_best_f1"}
    if "held_out_event_f1" in metrics:
        f1_columns["event F1"] = "held_out_event_f1"
    n_held_out = metrics["held_out_clips"]
    held_out = f"{n_held_out} clip{'s' * (n_held_out != 1)} held out" if n_held_out else "no clip held out"
    title = f"best epoch: {metrics['best_epoch']} of {metrics['epochs']}\n{held_out}"
    table = Table("class", *f1_columns, *([] if parameter is None else [parameter]), title=title)
    if n_held_out and len(metrics["held_out_f1"]) < len(metrics["classes"]):
        table.caption = "- no held-out clip has this class"
    for label in metrics["classes"]:
        found = [metrics[key].get(label) for key in f1_columns.values()]
        learned = [] if parameter is None else [f"{metrics[parameter][label]:.3f}"]
        # Text, because [brackets] in a label would be taken for markup.
        table.add_row(Text(label), *("-" if f1 is None else f"{f1:.3f}" for f1 in found), *learned)
    return table


def _advise_tuning(metrics: dict[str, Any]) -> None:
    """Name the classes that lose by the common threshold."""
    losers = [
        label
        for label, best in metrics["held_out_best_f1"].items()
        if best - metrics["held_out_f1"].get(label, best) > _WORTH_TUNING
    ]
    if losers:
        click.echo(
            f"earmark: {', '.join(losers)}: better tagged with a threshold of their own; to have one chosen per class"
            " on the held-out clips, train with --set decoding.mode=tuned",
            err=True,
        )


def _advise_penalty(metrics: dict[str, Any]) -> None:
    """Name the classes whose power pooling has become maximum pooling."""
    if metrics["pooling_parameter"] != "n":
        return
    nearly_max = [f"n of {label} is {n:.0f}" for label, n in metrics["n"].items() if n > _NEARLY_MAX]
    if nearly_max:
        click.echo(
            f"earmark: {', '.join(nearly_max)}: nearly max pooling, gradients reach one frame only - a penalty holds"
            " it back: --set pooling.penalty=1e-4",
            err=True,
        )


def _next_commands(run: Path) -> str:
    """What to type after training."""
    folder, model = shlex.quote(str(run)), shlex.quote(f"{run.resolve().name}.onnx")
    return f"earmark export {folder} {model} && earmark detect RECORDING --model {model}"
