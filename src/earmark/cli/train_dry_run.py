"""What `earmark train --dry-run` shows: what the run would be like, and its first batch as a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from earmark.config import Config
    from earmark.training.dry_run import DryRun
    from earmark.training.sources import Sources, Split


def show(sources: Sources, out: Path, config: Config, split: Split, device: str, *, as_json: bool) -> None:
    """Print what the run would be like and draw its first batch; exit code 1 when there is unreadable audio."""
    from earmark.cli.train_display import SHOWN_NOTES, watching
    from earmark.training.dry_run import dry_run
    from earmark.training.feature_store import located

    picture = out.parent / f"{out.resolve().name}-first-batch.png"
    with watching(config, out, tensorboard=False) as watch:
        found = dry_run(sources, config=config, split=split, device=device, on_file=watch.on_clip)
    _draw_first_batch(found, config, picture)
    if as_json:
        click.echo(json.dumps(_figures(found, config, picture), indent=2, ensure_ascii=False))
    else:
        click.echo(_text(found, config, picture))
    for text in found.remarks:
        click.echo(f"remark        {text}", err=as_json)
    for where, name, remark in found.notes[:SHOWN_NOTES]:
        click.echo(f"only in part  {located(where, name, f'{name}: {remark}')}", err=as_json)
    if len(found.notes) > SHOWN_NOTES:
        click.echo(f"only in part  and {len(found.notes) - SHOWN_NOTES} more clips", err=as_json)
    for failure in found.unreadable:
        click.echo(f"unreadable    {located(*failure)}", err=as_json)
    if found.unreadable:
        raise SystemExit(1)


def _figures(found: DryRun, config: Config, picture: Path) -> dict[str, Any]:
    """For other programs."""
    return {
        "classes": list(found.classes),
        "clips": found.clips,
        "hours": found.hours,
        "kinds": found.kinds,
        "mean_teacher": found.has_teacher,
        "quotas": vars(config.quotas),
        "remarks": list(found.remarks),
        "weights": found.weights,
        "pooling": config.pooling.name,
        "epochs": config.training.epochs,
        "steps_per_epoch": found.steps_per_epoch,
        "seconds_per_step": found.seconds_per_step,
        "reading_seconds": found.reading_seconds,
        "held_out_seconds": found.held_out_seconds,
        "seconds": found.seconds,
        "memory_bytes": found.memory_bytes,
        "unreadable": [
            {"where": where, "filename": name, "reason": reason} for where, name, reason in found.unreadable
        ],
        "notes": [{"where": where, "filename": name, "remark": remark} for where, name, remark in found.notes],
        "first_batch": str(picture),
    }


def _text(found: DryRun, config: Config, picture: Path) -> str:
    """For people."""
    return "\n".join(
        (
            f"classes       {len(found.classes)}: {', '.join(found.classes)}",
            f"clips         {found.clips}, {found.hours:.2f} h",
            *_labels(found, config),
            f"network       {found.weights:,} weights, pooling {config.pooling.name}",
            f"time          about {_duration(found.seconds)}: {_count(config.training.epochs, 'epoch')} of"
            f" {_count(found.steps_per_epoch, 'step')} of about {found.seconds_per_step:.2g} s,"
            f" {_duration(found.held_out_seconds)} for held-out figures and checkpoints,"
            f" {_duration(found.reading_seconds)} for reading the clips; measured on a few batches",
            f"memory        {_memory(found.memory_bytes)}, measured with the largest of the batches of"
            f" {config.training.batch_seconds:g} s of audio (training.batch_seconds) and the longest clip"
            f" ({found.longest_seconds:.1f} s)",
            f"first batch   {picture}",
        )
    )


def _labels(found: DryRun, config: Config) -> tuple[str, ...]:
    """What is known of the training clips, and how they are mixed; nothing when all have tags alone."""
    if list(found.kinds.values())[1:] == [0, 0] and not found.has_teacher:
        return ()
    words = {"weak": "with tags", "strong": "with strong labels", "unlabelled": "without labels"}
    there = [f"{number} {words[kind]}" for kind, number in found.kinds.items() if number]
    quotas = [f"{number} {words[kind]}" for kind, number in vars(config.quotas).items() if number]
    first = found.first_batch.kinds
    mixed = [f"{first.count(kind)} {words[kind]}" for kind in words if kind in first]
    mix = f"quotas of {', '.join(quotas)}" if quotas else f"an automatic mix, the first {', '.join(mixed)}"
    known = found.first_batch.frame_known
    frames = "" if known is None else f"; of all its frames and classes {known.float().mean().item():.0%} are known"
    return (
        f"labels        for training {', '.join(there)}",
        f"batches       {mix}{frames}",
        f"method        {'mean teacher' if found.has_teacher else 'supervised'}",
    )


def _draw_first_batch(found: DryRun, config: Config, picture: Path) -> None:
    """The first batch as a picture."""
    import numpy as np

    from earmark.report.plots import batch_figure, save

    batch = found.first_batch
    mask = np.ones(batch.features.shape[:2], dtype=bool)
    if batch.mask is not None:
        mask = batch.mask.repeat_interleave(config.model.time_reduction, dim=1).numpy()
    figure = batch_figure(
        features=batch.features.numpy(),
        mask=mask,
        tags=found.first_batch_tags,
        filenames=batch.filenames,
        timeline=config.features.timeline,
        band_name="dim" if config.features.is_embeddings else "mel band",
    )
    save(figure, picture)


def _memory(n_bytes: int | None) -> str:
    """Bytes as a person says them."""
    return "unknown" if n_bytes is None else f"{n_bytes / 1e9:.2f} GB"


def _duration(seconds: float) -> str:
    """Seconds as a person says them."""
    if seconds < 90:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _count(number: int, noun: str) -> str:
    """The number and its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
