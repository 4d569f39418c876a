"""`earmark export`: from a run to one file for detection."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="export")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--piece-seconds", type=float, help="Long recordings are detected in such pieces. [default: 60]")
@click.option(
    "--context-seconds",
    type=float,
    help="Heard on both sides of a piece. [default: 4, or 100 frames of embeddings if that is longer]",
)
def command(run: Path, file: Path, piece_seconds: float | None, context_seconds: float | None) -> None:
    """Turn the best epoch of RUN (a folder of earmark train, or a .safetensors file) into FILE.onnx.

    The file holds features, network, classes and decoding, and needs no torch. Its output is compared with torch
    before it is written. The model of a run that learned from embeddings takes embeddings.
    """
    from earmark import checks
    from earmark.detection.settings import Decoding
    from earmark.models.export import export_onnx
    from earmark.training.checkpoint import load_checkpoint

    if file.suffix != ".onnx":
        raise ValueError(f"FILE must end in .onnx, got {file} - the model is written in that format")
    if file.is_dir():
        raise ValueError(f"FILE must be a file to write, got the folder {file}")
    if piece_seconds is not None:
        checks.number("--piece-seconds", piece_seconds, at_least=1, hint="shorter pieces are all context")
    if context_seconds is not None:
        checks.number("--context-seconds", context_seconds, at_least=0)
    path = _checkpoint_path(run)
    checkpoint = load_checkpoint(path)
    if checkpoint.decoding is None:
        click.echo(f"earmark: {path} {_why_no_decoding(path)}", err=True)
        decoding = Decoding.fixed(checkpoint.network.classes)
    else:
        decoding = Decoding.from_dict(checkpoint.decoding)
    card = dict(checkpoint.card)
    difference = export_onnx(
        file,
        checkpoint.network,
        decoding=decoding,
        clip_seconds=float(str(card["clip_seconds"])),
        card=card,
        piece_seconds=piece_seconds,
        context_seconds=context_seconds,
    )
    size = file.stat().st_size / 1e6
    click.echo(
        f"{file}: {len(checkpoint.network.classes)} classes, {size:.1f} MB, equals torch within {difference:.1e}"
    )


def _why_no_decoding(path: Path) -> str:
    """Why a checkpoint says nothing about decoding, and what that means."""
    fixed = "its model marks whatever is above 0.5, without filters"
    if path.name == "best.safetensors":  # it gets them when the run ends; no other file of a run ever does
        return f"is of a run that has not ended; {fixed}"
    folder = path.parent.parent if path.parent.name == "snapshots" else path.parent
    better = f" - export {folder} for the best epoch, which has them" if (folder / "metrics.json").exists() else ""
    return f"carries no decoding settings; {fixed}{better}"


def _checkpoint_path(run: Path) -> Path:
    """The file to export."""
    if run.is_dir():
        path = run / "best.safetensors"
        if not path.exists():
            raise ValueError(
                f"{run} holds no best.safetensors - is it a folder of earmark train, and has an epoch ended?"
            )
        return path
    if not run.exists():
        raise ValueError(f"{run}: there is no such run - RUN is the folder that earmark train --out wrote")
    if run.suffix != ".safetensors":
        hint = "this one is exported already" if run.suffix == ".onnx" else "is it the wrong file?"
        raise ValueError(f"RUN must be a folder of earmark train or a .safetensors file in it, got {run} - {hint}")
    return run
