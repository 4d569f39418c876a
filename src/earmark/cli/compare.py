"""`earmark compare`: every pooling function on the same data with the same seeds, and which one to take."""

from __future__ import annotations

import contextlib
import errno
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from earmark.cli.train import _remark
from earmark.cli.train_sources import audio_folder, completed

if TYPE_CHECKING:
    from earmark.comparing.steps import Compared
    from earmark.config import Config


@click.command(name="compare")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option("--audio", type=click.Path(path_type=Path), help="Folder of the recordings. [default: LABELS' folder]")
@click.option("--features", type=click.Path(path_type=Path), help="Folder of embeddings to learn from, not from audio.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for the comparison.")
@click.option("--pooling", default="all", show_default=True, help="all, or names: linear,power:penalty=1e-4,max")
@click.option("--seeds", "n_seeds", type=int, default=3, show_default=True, help="Runs of each function.")
@click.option("--group", "group_column", help="Column that says what belongs together: patient, site, recorder.")
@click.option("--split", "split_column", help="Column that says which clips are held out, and which are the test.")
@click.option("--held-out", "held_out_value", help="Its value for clips that epoch and thresholds are chosen by.")
@click.option("--test", "test_value", help="Its value for test clips, by which nothing is chosen.")
@click.option("--strong", type=click.Path(path_type=Path), help="Events in test (and held-out) clips.")
@click.option("--learn-strong", is_flag=True, help="Also learn from its events in the clips to learn from.")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="TOML file with settings.")
@click.option("--set", "overrides", multiple=True, metavar="SECTION.KEY=VALUE", help="One setting; may be repeated.")
@click.option("--jobs", "n_jobs", type=int, help="Runs side by side. [default: one per core; 6 on a GPU]")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or mps.")
@click.option("--resume", is_flag=True, help="Go on with the comparison in --out; more functions or seeds are added.")
@click.option("--dry-run", is_flag=True, help="Only show the parts, the runs and how long they will take.")
@click.option("--json", "as_json", is_flag=True, help="Also print the results as JSON, on stdout.")
def command(
    labels: Path,
    audio: Path | None,
    features: Path | None,
    out: Path,
    pooling: str,
    n_seeds: int,
    group_column: str | None,
    split_column: str | None,
    held_out_value: str | None,
    test_value: str | None,
    strong: Path | None,
    learn_strong: bool,
    config_file: Path | None,
    overrides: tuple[str, ...],
    n_jobs: int | None,
    device: str,
    resume: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Train every pooling function on the same clips with the same seeds, and say which one to take.

    LABELS is a TSV or CSV file with the columns filename and event_labels, or a folder with one sub-folder per class.
    A part of the clips is the test: nothing is learned from it, and neither epoch nor threshold is chosen by it.
    """
    from earmark.checks import number
    from earmark.cli import compare_display
    from earmark.comparing.parts import Columns
    from earmark.comparing.plan import rows_of, seeds_of
    from earmark.comparing.runs import default_jobs
    from earmark.comparing.steps import Asked, compare, read_parts
    from earmark.config import PoolingConfig
    from earmark.demo.processes import ended_in_order
    from earmark.training.device import choose_device
    from earmark.training.sources import Sources

    for option, value in (("--held-out", held_out_value), ("--test", test_value)):
        if value is not None and split_column is None:
            raise ValueError(f"{option} {value} needs --split, the column in which this value stands")
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must be a folder, got the file {out}")
    if learn_strong and strong is None:
        raise ValueError("--learn-strong needs --strong, the table of the events to learn from")
    folder = audio_folder(labels, audio, features)
    config = completed(_config(config_file, overrides), Sources(labels, folder, embeddings=features))
    rows, seeds = rows_of(pooling, config), seeds_of(n_seeds, config)
    chosen_device = choose_device(device).type
    n_runs = len(rows) * len(seeds)
    if n_jobs is None:
        n_jobs = default_jobs(chosen_device, n_runs)
    asked = Asked(
        labels=labels,
        audio=folder,
        embeddings=features,
        out=out,
        rows=rows,
        seeds=seeds,
        config=config,
        columns=Columns(group_column, split_column, held_out_value, test_value),
        strong=strong,
        learn_strong=learn_strong,
        device=chosen_device,
        n_side_by_side=int(number("--jobs", n_jobs, at_least=1)),
        resume=resume,
        command=_typed(click.get_current_context()),
    )
    _remark(asked.sources, replace(config, pooling=PoolingConfig()))  # each row has its own
    parts = read_parts(asked)
    compare_display.show_plan(asked, parts, added_linear=_adds_linear(pooling, config))
    if dry_run:
        compare_display.show_foreseen(asked, parts, as_json=as_json)
        return
    with _explained(out):
        with ended_in_order(), compare_display.watching(asked) as watch:
            compared = compare(asked, watch)
        report = _write(compared)
    compare_display.report(compared, report)
    if as_json:
        click.echo((out / "results.json").read_text(encoding="utf-8"), nl=False)
    if compared.outcome.failures or compared.unreadable:
        raise SystemExit(1)


@contextlib.contextmanager
def _explained(out: Path) -> Iterator[None]:
    """Say how to go on when a comparison stops before its end, and it is nobody's mistake."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"\nstopped; the same command with --resume goes on with the runs in {out}", err=True)
        raise SystemExit(130) from None
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise ValueError(
            f"{error.filename}: {error.strerror} - the runs that have ended are whole; make room, and the same command"
            " with --resume goes on"
        ) from error


def _config(config_file: Path | None, overrides: tuple[str, ...]) -> Config:
    """The settings of all runs; the pooling function is not among them."""
    from earmark.config_file import read_config

    for override in overrides:
        if override.strip().startswith("pooling."):
            key = override.partition("=")[0].strip().removeprefix("pooling.")
            raise ValueError(
                f"--set {override}: settings of one function stand behind its name here, for instance"
                f" --pooling linear,power:{'penalty=1e-4' if key == 'name' else override.partition('.')[2]}"
            )
    return read_config(config_file, overrides=overrides)


def _typed(context: click.Context) -> tuple[str, ...]:
    """The command as it can be typed again: what has its default value is left out."""
    words = ["earmark", "compare"]
    for parameter in context.command.params:
        value = context.params[str(parameter.name)]
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif value is True:
            words.append(parameter.opts[0])
        elif isinstance(value, tuple):
            words += [word for one in value for word in (parameter.opts[0], str(one))]
        elif value is not None and value is not False and value != parameter.default:
            words += [parameter.opts[0], str(value)]
    return tuple(words)


def _adds_linear(pooling: str, config: Config) -> bool:
    """Whether linear softmax was not asked for, and stands there all the same."""
    from earmark.comparing.plan import BASELINE, rows_of

    names = [entry.strip() for entry in pooling.split(",")]
    return names != ["all"] and BASELINE not in names and BASELINE in [row.name for row in rows_of(pooling, config)]


def _write(compared: Compared) -> Path:
    """Leave all results in the folder, and return the page."""
    from earmark.comparing.advice import advice
    from earmark.comparing.page import write_report
    from earmark.comparing.results import as_json
    from earmark.comparing.tables import as_markdown, as_tsv
    from earmark.files import write_atomic

    out, found = compared.asked.out, compared.outcome
    said = advice(found)
    content = {
        "advice": {"pooling": said.row, "sentence": said.sentence, "cautions": list(said.cautions)},
        **as_json(found),
        "parts": compared.sizes(),
        "unreadable": list(compared.unreadable),
    }
    write_atomic(out / "results.json", json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    write_atomic(out / "comparison.tsv", as_tsv(found))
    write_atomic(out / "comparison.md", as_markdown(found, said.text))
    return write_report(compared, said)
