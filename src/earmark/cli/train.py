"""`earmark train`: from tagged clips to a trained detector."""

from __future__ import annotations

import contextlib
import errno
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from earmark.config import Config
    from earmark.labels.weak import WeakClip
    from earmark.training.sources import Sources

_FEW_CLIPS, _SHOWN_FEW = 2, 5


@click.command(name="train")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option("--audio", type=click.Path(path_type=Path), help="Folder of the recordings. [default: LABELS' folder]")
@click.option(
    "--features",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of embeddings, to learn from in place of audio.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for the run.")
@click.option("--strong", type=click.Path(path_type=Path), help="Strong labels (what happens when), of some files.")
@click.option("--reviewed", type=click.Path(path_type=Path), help="Where --strong is complete. [default: its files]")
@click.option("--unlabelled", type=click.Path(path_type=Path), help="Folder of recordings without labels.")
@click.option(
    "--from", "start_from", type=click.Path(path_type=Path), help="Model to continue: a run, or a file in it."
)
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
@click.option("--json", "as_json", is_flag=True, help="Also print the figures as JSON, on stdout.")
@click.option("--tensorboard", is_flag=True, help="Also write the log for TensorBoard.")
def command(
    labels: Path,
    audio: Path | None,
    features: Path | None,
    out: Path,
    strong: Path | None,
    reviewed: Path | None,
    unlabelled: Path | None,
    start_from: Path | None,
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
    as_json: bool,
    tensorboard: bool,
) -> None:
    """Train a detector from tagged clips, and from what else there is: strong labels, recordings without labels.

    LABELS is a TSV or CSV file with the columns filename and event_labels, or a folder with one sub-folder per class.

    With --strong, recordings teach their moments too, those of LABELS or others beside them. In their files all that is
    not marked is taken to be without, unless --reviewed says where, and for which classes, somebody looked: a table
    with the columns filename, onset, offset and classes.

    With --unlabelled, a mean teacher learns from recordings of which nothing is known. How many clips of each kind make
    a batch is found by itself, or told by --set quotas.weak=6 and likewise strong and unlabelled. What all this comes
    to is shown by --dry-run.

    With --features, another network has done the hearing: DIR holds an array of NumPy (frames, dims) for every
    recording, named after it (site/a.wav.npy). Its frame rate is told by --set features.frames_per_second=..., by a
    features.json beside the arrays, {"frames_per_second": 2.0}, or, with --audio, by the recordings' lengths.

    With --from, training goes on from the best epoch of another run, with its features and network. Its classes stay,
    new ones of LABELS are added, and a class that LABELS do not have is neither learned nor unlearned.
    """
    from earmark.cli import train_display, train_dry_run, train_sources
    from earmark.training.run import train
    from earmark.training.sources import Sources, Split

    if held_out_value is not None and split_column is None:
        raise ValueError(f"--held-out {held_out_value} needs --split, the column in which this value stands")
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must be a folder, got the file {out}")
    config = _config(out, config_file, overrides, pooling, start_from, resume)
    folder = train_sources.audio_folder(labels, audio, features)
    _limit_threads(threads)
    sources = Sources(labels, folder, strong, reviewed, unlabelled, features, start_from)
    config = train_sources.completed(config, sources)
    _remark(sources, config)
    split = Split(split_column, held_out_value, group_column)
    if dry_run:
        train_dry_run.show(sources, out, config, split, device, as_json=as_json)
        return
    if resume and (out / "metrics.json").exists():
        click.echo(f"earmark: the run in {out} had already ended; for more epochs begin another", err=True)
    with _explained(out, config), train_display.watching(config, out, tensorboard=tensorboard) as watch:
        result = train(
            labels,
            audio=folder,
            embeddings=features,
            start_from=start_from,
            out=out,
            config=config,
            strong=strong,
            reviewed=reviewed,
            unlabelled=unlabelled,
            split=split,
            device=device,
            resume=resume,
            watch=watch,
        )
    train_display.report(result, config)
    if as_json:
        click.echo(json.dumps(result.metrics, indent=2, ensure_ascii=False))
    if result.failures:
        raise SystemExit(1)


@contextlib.contextmanager
def _explained(out: Path, config: Config) -> Iterator[None]:
    """Say what to do when a run stops before its end, and it is nobody's mistake."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"\nstopped; the same command with --resume goes on from the last checkpoint in {out}", err=True)
        raise SystemExit(130) from None
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise ValueError(
            f"{error.filename}: {error.strerror} - every file that was there is whole; make room, and the same command"
            " with --resume goes on"
        ) from error
    except RuntimeError as error:
        if "memory" not in str(error):
            raise
        raise ValueError(
            f"not enough memory ({str(error).splitlines()[0]}) - lower training.batch_seconds, now"
            f" {config.training.batch_seconds:g}; for clips of many minutes training.piece_seconds, now"
            f" {config.training.piece_seconds:g}"
        ) from error


def _config(
    out: Path,
    config_file: Path | None,
    overrides: tuple[str, ...],
    pooling: str | None,
    start_from: Path | None,
    resume: bool,
) -> Config:
    """The settings of this run; a resumed run has those it began with, one from a model the model's features."""
    from earmark.config_file import read_config
    from earmark.training.continuing import config_of, read_start

    base = None
    if resume and config_file is None and (out / "config.toml").exists():
        config_file = out / "config.toml"
    elif start_from is not None:
        base = config_of(read_start(start_from))
    return read_config(config_file, pooling=pooling, overrides=overrides, base=base)


def _remark(sources: Sources, config: Config) -> None:
    """Say what is allowed, but perhaps not meant, and refuse what can be said better here than further inside."""
    from earmark.config import not_deployable
    from earmark.labels.contradictions import contradictions
    from earmark.labels.spelling import similar_classes
    from earmark.labels.weak import classes_of, classes_to_learn, read_weak

    _refuse_missing_option(config)
    reason = not_deployable(config)
    if reason is not None:
        click.echo(f"earmark: this run will not be exportable for detection: {reason}", err=True)
    labels = sources.labels
    clips = read_weak(labels)
    classes = classes_to_learn(clips, labels) if sources.strong is None else classes_of(clips)
    for first, second in similar_classes(clips):
        click.echo(f"earmark: the classes {first!r} and {second!r} look alike - is one a typing error?", err=True)
    _remark_few(clips, classes if sources.strong is None else ())
    excluding = contradictions(clips)
    if excluding:
        inner, outer, label = excluding[0]
        more = f" ({len(excluding) - 1} more like this)" if len(excluding) > 1 else ""
        click.echo(
            f"earmark: {inner.where} says that {label!r} is in a part of {inner.filename}, and {outer.where}, which"
            f" covers this part, that it is not there{more} - is a tag missing?",
            err=True,
        )
    for label in classes if sources.strong is None else ():
        if all(label in clip.labels or (clip.known is not None and label not in clip.known) for clip in clips):
            click.echo(
                f"earmark: every clip in {labels} has the class {label!r}, or nobody listened for it there, so nothing"
                " shows what it does not sound like - are there clips without it? (a row with empty event_labels, or a"
                " sub-folder _none)",
                err=True,
            )


def _remark_few(clips: Sequence[WeakClip], classes: Sequence[str]) -> None:
    """Name classes of one or two clips, before hours in which they cannot be learned."""
    having = {label: [clip for clip in clips if label in clip.labels] for label in classes}
    few = [f"{label} ({len(of)}, {of[0].where})" for label, of in having.items() if len(of) <= _FEW_CLIPS]
    if few:
        more = f" and {len(few) - _SHOWN_FEW} more" if len(few) > _SHOWN_FEW else ""
        click.echo(
            f"earmark: too few clips to learn from: {', '.join(few[:_SHOWN_FEW])}{more} - tag more clips of these"
            " classes, or leave them out",
            err=True,
        )


def _refuse_missing_option(config: Config) -> None:
    """Raise ValueError when the pooling function needs an option, and say how it is given here."""
    from earmark import pooling

    chosen = config.pooling
    try:
        pooling.create(**vars(chosen), n_classes=1)
    except ValueError as error:
        missing = [entry for entry in vars(chosen) if f"needs {entry!r}" in str(error)]
        if not missing:
            return  # what the network gives it, or what is said well enough when the network is built
        frames = config.features.timeline.frames_per_second / config.model.time_reduction
        hint = f", a second of audio has {frames:g} frames" if missing == ["n_frames"] else ""
        raise ValueError(f"{error} - add --set pooling.{missing[0]}=...{hint}") from None


def _limit_threads(threads: int | None) -> None:
    """As many threads as asked for."""
    if threads is not None:
        import torch

        from earmark.checks import number

        torch.set_num_threads(int(number("--threads", threads, at_least=1)))
