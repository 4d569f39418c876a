"""`earmark train`: from tagged clips to a trained detector."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from earmark.config import Config
    from earmark.training.dry_run import DryRun
    from earmark.training.run import Split


@click.command(name="train")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option("--audio", type=click.Path(path_type=Path), help="Folder of the recordings. [default: LABELS' folder]")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for the run.")
@click.option("--pooling", help="Pooling function; the same as --set pooling.name=...")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="TOML file with settings.")
@click.option("--set", "overrides", multiple=True, metavar="SECTION.KEY=VALUE", help="One setting; may be repeated.")
@click.option("--group", "group_column", help="Column that says what belongs together: patient, site, recorder.")
@click.option("--split", "split_column", help="Column that says which clips are held out.")
@click.option("--held-out", "held_out_value", help="Its value for held-out clips.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or mps.")
@click.option("--threads", type=int, help="Of the processor. [default: all]")
@click.option("--dry-run", is_flag=True, help="Only show memory, time and the first batch, as a picture.")
@click.option("--resume", is_flag=True, help="Go on with the run in --out, if there is one.")
@click.option("--tensorboard", is_flag=True, help="Also write the log for TensorBoard.")
def command(
    labels: Path,
    audio: Path | None,
    out: Path,
    pooling: str | None,
    config_file: Path | None,
    overrides: tuple[str, ...],
    group_column: str | None,
    split_column: str | None,
    held_out_value: str | None,
    device: str,
    threads: int | None,
    dry_run: bool,
    resume: bool,
    tensorboard: bool,
) -> None:
    """Train a detector from tagged clips.

    LABELS is a TSV or CSV file with the columns filename and event_labels, or a folder with one sub-folder per class.
    """
    from earmark.cli import train_display
    from earmark.config import not_deployable
    from earmark.labels.weak import read_weak, similar_classes
    from earmark.training.run import Split, train

    config = _config(out, config_file, overrides, pooling, resume)
    folder = _audio_folder(labels, audio)
    _limit_threads(threads)
    reason = not_deployable(config)
    if reason is not None:
        click.echo(f"earmark: this run will not be exportable for detection: {reason}", err=True)
    for first, second in similar_classes(read_weak(labels)):
        click.echo(f"earmark: the classes {first!r} and {second!r} look alike - is one a typing error?", err=True)
    split = Split(split_column, held_out_value, group_column)
    if dry_run:
        _dry_run(labels, folder, out, config, split, device)
        return
    watch = train_display.watch(config, out, tensorboard)
    try:
        result = train(
            labels, audio=folder, out=out, config=config, split=split, device=device, resume=resume, watch=watch
        )
    except KeyboardInterrupt:
        click.echo(f"\nstopped; the same command with --resume goes on from the last checkpoint in {out}", err=True)
        raise SystemExit(130) from None
    train_display.report(result)
    if result.failures:
        raise SystemExit(1)


def _config(
    out: Path, config_file: Path | None, overrides: tuple[str, ...], pooling: str | None, resume: bool
) -> Config:
    """The settings of this run; a resumed run has those it began with unless told otherwise."""
    from earmark.config_file import read_config

    if pooling is not None:
        overrides = (*overrides, f"pooling.name={pooling}")
    if resume and config_file is None and not overrides and (out / "config.toml").exists():
        config_file = out / "config.toml"
    return read_config(config_file, overrides=overrides)


def _audio_folder(labels: Path, audio: Path | None) -> Path:
    """Where the recordings lie."""
    if not labels.exists():
        raise ValueError(f"{labels}: there is no such label file or folder")
    folder = audio if audio is not None else (labels if labels.is_dir() else labels.parent)
    if not folder.is_dir():
        raise ValueError(f"--audio must be a folder, got {folder} - the folder that holds the recordings")
    return folder


def _limit_threads(threads: int | None) -> None:
    """As many threads as asked for."""
    if threads is not None:
        import torch

        from earmark.checks import number

        torch.set_num_threads(int(number("--threads", threads, at_least=1)))


def _dry_run(labels: Path, audio: Path, out: Path, config: Config, split: Split, device: str) -> None:
    """Print what the run would be like and draw its first batch."""
    from earmark.training.dry_run import dry_run

    picture = out.with_name(out.name + "-first-batch.png")
    found = dry_run(labels, audio=audio, config=config, split=split, device=device, on_clip=lambda done, total: None)
    _draw_first_batch(found, config, picture)
    seconds = found.steps_per_epoch * config.training.epochs * found.seconds_per_step
    click.echo(f"classes       {len(found.classes)}: {', '.join(found.classes)}")
    click.echo(f"clips         {found.clips}, {found.hours:.2f} h")
    click.echo(f"network       {found.weights:,} weights, pooling {config.pooling.name}")
    click.echo(
        f"time          {_duration(seconds)}: {config.training.epochs} epochs of {found.steps_per_epoch} steps"
        f" of {found.seconds_per_step:.2f} s"
    )
    click.echo(
        f"memory        {found.memory_bytes / 1e9:.2f} GB at most, with batches of"
        f" {config.training.batch_seconds:g} s of audio (training.batch_seconds)"
    )
    click.echo(f"first batch   {picture}")
    for where, name, reason in found.unreadable:
        click.echo(f"unreadable    {where}: {name}: {reason}")
    if found.unreadable:
        raise SystemExit(1)


def _draw_first_batch(found: DryRun, config: Config, picture: Path) -> None:
    """The first batch as a picture."""
    import numpy as np

    from earmark.report.plots import batch_figure, save
    from earmark.timeline import Timeline

    batch = found.first_batch
    mask = np.ones(batch.features.shape[:2], dtype=bool)
    if batch.mask is not None:
        mask = batch.mask.repeat_interleave(config.model.time_reduction, dim=1).numpy()
    figure = batch_figure(
        features=batch.features.numpy(),
        mask=mask,
        tags=found.first_batch_tags,
        filenames=batch.filenames,
        timeline=Timeline(config.features.sample_rate, config.features.hop_samples),
    )
    save(figure, picture)


def _duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
