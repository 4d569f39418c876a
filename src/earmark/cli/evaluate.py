"""`earmark evaluate`: predicted events, or frame scores, against reference events."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from earmark.metrics.collars import Collars
    from earmark.metrics.curves.evaluation import ScoreEvaluation
    from earmark.metrics.evaluation import Evaluation
    from earmark.metrics.uncertainty_report import AnyComparison, AnyUncertainty

PATH = click.Path(path_type=Path)


@dataclass(frozen=True)
class Side:
    """What one system, or its baseline, was found to be: its runs as lists, as frame scores, or both."""

    lists: list[Evaluation] = field(default_factory=list)
    scores: list[ScoreEvaluation] = field(default_factory=list)


@dataclass(frozen=True)
class Options:
    """What is the same for all runs of all systems."""

    reference: Path
    reference_tags: Path | None
    durations: Path | None
    collars: Collars
    segment_seconds: float
    median_seconds: float
    zero_length: str | None
    compatible: str | None


@click.command("evaluate", short_help="Compare predicted events or frame scores with reference events.")
@click.option(
    "--reference",
    required=True,
    metavar="TSV",
    type=PATH,
    help="What is true: filename, onset, offset, event_label. A row with a file name alone: no event there.",
)
@click.option(
    "--predicted",
    multiple=True,
    metavar="TSV",
    type=PATH,
    help="What was found, in the same columns. Several: runs of one system with other seeds.",
)
@click.option(
    "--scores",
    multiple=True,
    metavar="DIR",
    type=PATH,
    help="Frame scores, one TSV per clip: onset, offset, one column per class. Gives curves and PSDS.",
)
@click.option(
    "--baseline", multiple=True, metavar="TSV", type=PATH, help="Predictions to compare with, on these files."
)
@click.option("--baseline-scores", multiple=True, metavar="DIR", type=PATH, help="Frame scores to compare with.")
@click.option("--reference-tags", metavar="TSV", type=PATH, help="Clip labels. [default: derived from the events]")
@click.option("--predicted-tags", metavar="TSV", type=PATH, help="Predicted ones. [default: derived from the events]")
@click.option("--durations", metavar="TSV", type=PATH, help="filename, duration. [default: up to the last event]")
@click.option("--group", metavar="TSV", type=PATH, help="filename, group (patient, site): intervals resample groups.")
@click.option("--intervals", is_flag=True, help="How sure the figures are. [default: with --group or --baseline]")
@click.option("--resamples", type=click.IntRange(min=1), default=1000, show_default=True, help="For intervals.")
@click.option("--collar", type=float, default=0.2, show_default=True, metavar="SECONDS", help="Of onsets and offsets.")
@click.option(
    "--offset-fraction", type=float, default=0.2, show_default=True, help="Or this part of the length, for offsets."
)
@click.option("--segment", type=float, default=1.0, show_default=True, metavar="SECONDS", help="Length of a segment.")
@click.option(
    "--median", type=float, default=0.0, metavar="SECONDS", help="Median filter on the scores. [default: none]"
)
@click.option(
    "--zero-length",
    type=click.Choice(["drop", "keep"]),
    help="Events that end where they begin. [default: drop; keep with --compatible]",
)
@click.option("--compatible", type=click.Choice(["sed_eval"]), help="The figures of lists as this tool gives them.")
@click.option("--json", "json_path", metavar="FILE", help="Write everything as JSON; - : to standard output, no table.")
@click.option("--plot", metavar="DIR", type=PATH, help="Draw curves, PSD-ROC and classes with intervals, as PNG.")
def command(
    reference: Path,
    predicted: tuple[Path, ...],
    scores: tuple[Path, ...],
    baseline: tuple[Path, ...],
    baseline_scores: tuple[Path, ...],
    reference_tags: Path | None,
    predicted_tags: Path | None,
    durations: Path | None,
    group: Path | None,
    intervals: bool,
    resamples: int,
    collar: float,
    offset_fraction: float,
    segment: float,
    median: float,
    zero_length: str | None,
    compatible: str | None,
    json_path: str | None,
    plot: Path | None,
) -> None:
    """Compare predicted events (--predicted), or frame scores at all thresholds (--scores), with reference events.

    \b
    event    onset within 200 ms, offset within 200 ms or 20 % of the event's length
    segment  is the class in this second, yes or no
    clip     is the class in this clip, yes or no
    PSDS     found against false alarms per hour, at all thresholds (needs --scores)
    """
    from earmark.labels.strong import read_groups
    from earmark.metrics.collars import Collars

    _check_usage(predicted, scores, baseline, baseline_scores, predicted_tags, json_path, plot)
    collars = Collars(collar, collar, offset_fraction)
    options = Options(reference, reference_tags, durations, collars, segment, median, zero_length, compatible)
    system, other = _sides(options, (predicted, scores), (baseline, baseline_scores), predicted_tags)
    groups = None if group is None else read_groups(group)
    is_several = max(len(system.lists), len(system.scores)) > 1
    sure: dict[str, dict[str, AnyUncertainty]] = {}
    differences: dict[str, dict[str, AnyComparison]] = {}
    if intervals or group is not None or is_several or plot is not None or baseline or baseline_scores:
        if system.scores:
            click.echo(f"resampling {resamples:,} times ...", err=True)
        sure = _uncertainties(system, groups, resamples)
        differences = _comparisons(system, other, groups, resamples)
    _print(system, sure, differences, json_path)
    if plot is not None:
        from earmark.cli.evaluate_pictures import draw

        for path in draw(plot, system.lists, system.scores, sure):
            click.echo(f"wrote {path}", err=True)


def _check_usage(
    predicted: Sequence[Path],
    scores: Sequence[Path],
    baseline: Sequence[Path],
    baseline_scores: Sequence[Path],
    predicted_tags: Path | None,
    json_path: str | None,
    plot: Path | None,
) -> None:
    """Raise ValueError for options that do not go together."""
    if not predicted and not scores:
        raise ValueError("one of --predicted (events) and --scores (frame scores) must be given - what was found?")
    if baseline and not predicted:
        raise ValueError("--baseline needs --predicted: events are compared with events")
    if baseline_scores and not scores:
        raise ValueError("--baseline-scores needs --scores: frame scores are compared with frame scores")
    if predicted_tags is not None and len(predicted) != 1:
        raise ValueError(f"--predicted-tags goes with one --predicted, got {len(predicted)} - tags of which run?")
    if predicted_tags is not None and baseline:
        raise ValueError("--predicted-tags cannot be compared with --baseline, which has none - leave one of them out")
    if json_path is not None and Path(json_path).is_dir():
        raise ValueError(f"--json must be a file to write, got the folder {json_path}")
    if plot is not None and plot.exists() and not plot.is_dir():
        raise ValueError(f"--plot must be a folder, got the file {plot}")


def _sides(
    options: Options,
    system: tuple[Sequence[Path], Sequence[Path]],
    baseline: tuple[Sequence[Path], Sequence[Path]],
    predicted_tags: Path | None,
) -> tuple[Side, Side]:
    """Every run of the system and of its baseline, all with the same classes."""
    from earmark.labels.strong import read_durations, read_strong, read_tags
    from earmark.metrics.curves import median_filtered, read_scores
    from earmark.metrics.curves.evaluation import evaluate_scores
    from earmark.metrics.evaluation import all_labels, evaluate

    reference = read_strong(options.reference)
    lists = [{path: read_strong(path) for path in paths} for paths in (system[0], baseline[0])]
    true_tags = None if options.reference_tags is None else read_tags(options.reference_tags)
    found_tags = None if predicted_tags is None else read_tags(predicted_tags)
    durations = None if options.durations is None else read_durations(options.durations)
    classes = all_labels([reference, *(events for side in lists for events in side.values())], [true_tags, found_tags])
    sides = []
    for runs, folders in zip(lists, (system[1], baseline[1]), strict=True):
        side = Side()
        for events in runs.values():
            side.lists.append(
                evaluate(
                    reference,
                    events,
                    reference_tags=true_tags,
                    predicted_tags=found_tags,
                    durations=durations,
                    classes=classes,
                    collars=options.collars,
                    segment_seconds=options.segment_seconds,
                    zero_length=options.zero_length,
                    compatible=options.compatible,
                )
            )
        for folder in folders:
            scores = read_scores(folder, files=list(reference))
            if options.median_seconds > 0:
                scores = median_filtered(scores, seconds=options.median_seconds)
            side.scores.append(
                evaluate_scores(
                    scores,
                    reference,
                    reference_tags=true_tags,
                    durations=durations,
                    collars=options.collars,
                    segment_seconds=options.segment_seconds,
                )
            )
        sides.append(side)
    return sides[0], sides[1]


def _uncertainties(system: Side, groups: dict[str, str] | None, resamples: int) -> dict[str, dict[str, AnyUncertainty]]:
    """Intervals of what there is: "lists", "scores"."""
    from earmark.metrics.systems import list_uncertainty, score_uncertainty

    sure: dict[str, dict[str, AnyUncertainty]] = {}
    if system.lists:
        sure["lists"] = {**list_uncertainty(system.lists, groups=groups, n_resamples=resamples)}
    if system.scores:
        sure["scores"] = {**score_uncertainty(system.scores, groups=groups, n_resamples=resamples)}
    return sure


def _comparisons(
    system: Side, other: Side, groups: dict[str, str] | None, resamples: int
) -> dict[str, dict[str, AnyComparison]]:
    """Differences from the baseline, of what both have."""
    from earmark.metrics.systems import list_comparison, score_comparison

    found: dict[str, dict[str, AnyComparison]] = {}
    if other.lists:
        found["lists"] = {**list_comparison(system.lists, other.lists, groups=groups, n_resamples=resamples)}
    if other.scores:
        found["scores"] = {**score_comparison(system.scores, other.scores, groups=groups, n_resamples=resamples)}
    return found


def _print(
    system: Side,
    sure: dict[str, dict[str, AnyUncertainty]],
    differences: dict[str, dict[str, AnyComparison]],
    json_path: str | None,
) -> None:
    """The report, on standard output and as JSON."""
    from earmark.cli.evaluate_report import full_text
    from earmark.files import write_atomic

    if json_path is not None:
        text = json.dumps(_json(system, sure, differences), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        if json_path == "-":
            click.echo(text, nl=False)
            return
        write_atomic(json_path, text)
    # Where nobody's window limits it, every name stays on one line. click leaves the colours out there.
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    click.echo(full_text(system.lists, system.scores, sure, differences, width=width), nl=False)
    if json_path is not None:
        click.echo(f"wrote {json_path}", err=True)


def _json(
    system: Side, sure: dict[str, dict[str, AnyUncertainty]], differences: dict[str, dict[str, AnyComparison]]
) -> dict[str, object]:
    """Everything: the figures of the first run as they are, and under names of their own whatever else there is."""
    from earmark.metrics.curves.evaluation import curves_as_json
    from earmark.metrics.report import as_json
    from earmark.metrics.uncertainty_report import as_json as sure_as_json

    lists, scores = [as_json(run) for run in system.lists], [curves_as_json(run) for run in system.scores]
    result: dict[str, object] = dict(lists[0]) if len(lists) == 1 else {"runs": lists}
    if scores:
        result["scores"] = scores[0] if len(scores) == 1 else {"runs": scores}
    if sure:
        result["intervals"] = {kind: sure_as_json(results) for kind, results in sure.items()}
    if differences:
        result["differences"] = {kind: sure_as_json(results) for kind, results in differences.items()}
    return result
