"""`earmark evaluate`: predicted events, or frame scores, against reference events."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from earmark.cli.evaluate_systems import Options, Paths, Side, both_sides, comparisons, uncertainties
from earmark.cli.evaluate_usage import check_outputs, check_settings, check_systems

if TYPE_CHECKING:
    from earmark.metrics.uncertainty_report import AnyComparison, AnyUncertainty

PATH = click.Path(path_type=Path)


@click.command("evaluate", short_help="Compare predicted events or frame scores with reference events.")
@click.option(
    "--reference",
    required=True,
    metavar="LABELS",
    type=PATH,
    help="What is true: a table (filename, onset, offset, event_label; a file name alone: no event there), Audacity,"
    " Raven, JAMS, RTTM, Label Studio, or a folder of them.",
)
@click.option(
    "--predicted",
    multiple=True,
    metavar="LABELS",
    type=PATH,
    help="What was found, in any of these. Several: runs of one system with other seeds.",
)
@click.option(
    "--scores",
    multiple=True,
    metavar="DIR",
    type=PATH,
    help="Frame scores, one TSV per clip: onset, offset, one column per class. Gives curves and PSDS.",
)
@click.option(
    "--baseline", multiple=True, metavar="LABELS", type=PATH, help="Predictions to compare with, on these files."
)
@click.option("--baseline-scores", multiple=True, metavar="DIR", type=PATH, help="Frame scores to compare with.")
@click.option("--audio", metavar="DIR", type=PATH, help="The recordings, where labels name them without their endings.")
@click.option("--class-column", metavar="NAME", help="Of the reference's tables. [default: event_label, Species, ...]")
@click.option("--reference-tags", metavar="TSV", type=PATH, help="Clip labels. [default: derived from the events]")
@click.option("--predicted-tags", metavar="TSV", type=PATH, help="Predicted ones. [default: derived from the events]")
@click.option("--durations", metavar="TSV", type=PATH, help="filename, duration. [default: up to the last event]")
@click.option("--group", metavar="TSV", type=PATH, help="filename, group (patient, site): intervals resample groups.")
@click.option(
    "--intervals",
    is_flag=True,
    help="How sure the figures are. [default: with several runs, --group, --baseline, --resamples or --plot]",
)
@click.option("--resamples", type=click.IntRange(min=1), metavar="N", help="For intervals. [default: 1000]")
@click.option("--collar", type=float, default=0.2, show_default=True, metavar="SECONDS", help="Of onsets and offsets.")
@click.option(
    "--offset-fraction", type=float, default=0.2, show_default=True, help="Or this part of the length, for offsets."
)
@click.option(
    "--tolerance", type=float, default=1e-6, show_default=True, metavar="SECONDS", help="0: compare floats as they are."
)
@click.option("--segment", type=float, default=1.0, show_default=True, metavar="SECONDS", help="Length of a segment.")
@click.option("--median", type=float, metavar="SECONDS", help="Median filter on the scores. [default: none]")
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
    audio: Path | None,
    class_column: str | None,
    reference_tags: Path | None,
    predicted_tags: Path | None,
    durations: Path | None,
    group: Path | None,
    intervals: bool,
    resamples: int | None,
    collar: float,
    offset_fraction: float,
    tolerance: float,
    segment: float,
    median: float | None,
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

    check_systems(predicted, scores, baseline, baseline_scores, predicted_tags)
    check_settings(
        has_lists=bool(predicted),
        has_scores=bool(scores),
        median_seconds=median,
        zero_length=zero_length,
        compatible=compatible,
    )
    inputs = (reference, *predicted, *baseline, reference_tags, predicted_tags, durations, group)
    check_outputs(json_path, plot, inputs)
    collars = Collars(collar, collar, offset_fraction, tolerance)
    options = Options(
        reference, reference_tags, durations, collars, segment, median, zero_length, compatible, audio, class_column
    )
    system, other = both_sides(options, Paths(predicted, scores), Paths(baseline, baseline_scores), predicted_tags)
    groups = None if group is None else read_groups(group)
    n_resamples = 1000 if resamples is None else resamples
    is_several = max(len(system.lists), len(system.scores)) > 1
    is_wanted = intervals or group is not None or resamples is not None or is_several
    sure: dict[str, dict[str, AnyUncertainty]] = {}
    differences: dict[str, dict[str, AnyComparison]] = {}
    # Pictures of a single clip are worth having, without intervals.
    if is_wanted or baseline or baseline_scores or (plot is not None and system.n_clips > 1):
        if system.scores:
            click.echo(f"resampling {n_resamples:,} times ...", err=True)
        sure = uncertainties(system, groups, n_resamples)
        differences = comparisons(system, other, groups, n_resamples)
    _print(system, other, sure, differences, json_path)
    if plot is not None:
        from earmark.cli.evaluate_pictures import draw

        pictures = draw(plot, system.scores, sure)
        for path in pictures:
            click.echo(f"wrote {path}", err=True)
        if not pictures:
            click.echo("nothing to draw: pictures of lists show intervals, which need at least 2 clips", err=True)


def _print(
    system: Side,
    baseline: Side,
    sure: dict[str, dict[str, AnyUncertainty]],
    differences: dict[str, dict[str, AnyComparison]],
    json_path: str | None,
) -> None:
    """The report, on standard output and as JSON."""
    from earmark.cli.evaluate_report import full_text
    from earmark.files import write_atomic

    if json_path is not None:
        figures = _json(system, baseline, sure, differences)
        text = json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        if json_path == "-":
            click.echo(text, nl=False)
            return
        write_atomic(json_path, text)
    # Where nobody's window limits it, every name stays on one line. click leaves the colours out there.
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    click.echo(full_text(system, baseline, sure, differences, width=width), nl=False)
    if json_path is not None:
        click.echo(f"wrote {json_path}", err=True)


def _json(
    system: Side,
    baseline: Side,
    sure: dict[str, dict[str, AnyUncertainty]],
    differences: dict[str, dict[str, AnyComparison]],
) -> dict[str, object]:
    """Everything: the figures of the first run as they are, and under names of their own whatever else there is."""
    result = _side_json(system)
    if baseline.lists or baseline.scores:
        result["baseline"] = _side_json(baseline)
    if sure or differences:
        from earmark.metrics.uncertainty_report import as_json

        for name, kinds in (("intervals", sure), ("differences", differences)):
            if kinds:
                result[name] = {kind: as_json(results) for kind, results in kinds.items()}
    return result


def _side_json(side: Side) -> dict[str, object]:
    """All runs of a system; of one run, the figures themselves."""
    from earmark.metrics.report import as_json

    result: dict[str, object] = {}
    lists = [as_json(run) for run in side.lists]
    if lists:
        result = dict(lists[0]) if len(lists) == 1 else {"runs": lists}
    if side.scores:
        from earmark.metrics.curves.evaluation import curves_as_json

        scores = [curves_as_json(run) for run in side.scores]
        result["scores"] = scores[0] if len(scores) == 1 else {"runs": scores}
    return result
