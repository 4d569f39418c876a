"""The figures of the lung-sound benchmark: every system against the annotators, with intervals over patients and seeds.

Figures are means over seeds. In each resample as many patients as there are are drawn, and runs, as
`earmark.metrics.uncertainty` does it; the share of the upper bound is a ratio inside the same resamples.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from lung_sounds_data import CLASSES, TESTS
from lung_sounds_decoding import NO_TAILS, TAILS, Tails, decoded, decoded_by_change, tags_of, tuned_on_events
from lung_sounds_systems import SYSTEMS, TRIED, Job, config_of, system_of
from lung_sounds_training import read_scores, timeline_of

from earmark.detection.decoding import decode
from earmark.detection.settings import Decoding
from earmark.events import Event
from earmark.files import write_atomic
from earmark.labels.strong import read_durations, read_groups, read_strong
from earmark.metrics import CountsByFile, compare, evaluate, uncertainty
from earmark.metrics.bootstrap import Interval, groups_of, interval_of, run_weights, weight_pieces
from earmark.metrics.curves import SCENARIO_1, ScoredClips, curve_uncertainty, score_table, scored_clips
from earmark.metrics.figures import MACRO
from earmark.metrics.resampled import group_columns, observed, resampled
from earmark.timeline import Timeline

LEVELS = ("event", "segment", "clip")
AS_TAGS_ALLOW, BY_CHANGE, WITH_TAILS = "as tags allow", "by change", "with tails"
TUNED = "with settings from held-out events"
DECODINGS = (AS_TAGS_ALLOW, BY_CHANGE, WITH_TAILS, TUNED)
BASELINE, UPPER_BOUND = "linear", "strong"


@dataclass(frozen=True)
class Runs:
    """All runs of one system on one test: their counts by level, and their scores for PSDS."""

    counts: dict[str, list[CountsByFile]]
    scored: list[ScoredClips]

    def __len__(self) -> int:
        return len(self.scored)


@dataclass(frozen=True)
class Truth:
    """What the annotators marked in one test."""

    events: dict[str, list[Event]]
    durations: dict[str, float]
    patients: dict[str, str]

    @classmethod
    def of(cls, out: Path, part: str) -> Truth:
        """As `prepare` wrote it."""
        return cls(
            read_strong(out / f"{part}.tsv"), read_durations(out / "durations.tsv"), read_groups(out / "patients.tsv")
        )


def write_table(out: Path, docs: Path) -> None:
    """Write docs/lung-sounds-table.md, and all figures as JSON beside the results."""
    parts, figures = [], {}
    for part, words in zip(TESTS, ("New patients (inter)", "Patients trained on (intra)"), strict=True):
        truth = Truth.of(out, part)
        n_patients = len({truth.patients[name] for name in truth.events})
        parts.append(f"## {words}: {len(truth.events)} recordings of {n_patients} patients\n")
        for how in DECODINGS:
            runs = {name: found for name in SYSTEMS if len(found := runs_of(name, out, truth, how=how))}
            missing = {BASELINE, UPPER_BOUND} - set(runs)
            if missing:
                raise ValueError(f"{out / 'results'} must have runs of {' and '.join(sorted(missing))}, got none")
            rows = {name: figures_of(name, runs, truth) for name in runs}
            figures[f"{part}, {how}"] = rows
            parts += [f"### Decoded {how}\n", _table(rows), _class_table(rows)]
            print(part, how, {name: round(row["event"][0], 3) for name, row in rows.items()}, flush=True)
    write_atomic(docs / "lung-sounds-table.md", "\n".join(["# The figures of lung-sounds.md\n", *parts]))
    write_atomic(out / "figures.json", json.dumps(figures, indent=1) + "\n")


def runs_of(name: str, out: Path, truth: Truth, *, how: str) -> Runs:
    """Return the runs of a system that have ended."""
    runs = Runs({level: [] for level in LEVELS}, [])
    for path in sorted((out / "results").glob(f"{name}-[0-9]*.npz")):
        if path.stem.rpartition("-")[0] != name:
            continue
        tags, events, about = found_by(path, out, truth, how=how)
        result = evaluate(truth.events, events, predicted_tags=tags, durations=truth.durations, classes=CLASSES)
        for level, counts in zip(LEVELS, result.by_file, strict=True):
            runs.counts[level].append(counts)
        frames = read_scores(path)[0].only(truth.events).frames
        table = score_table(frames, classes=CLASSES, hop_seconds=float(about["hop_seconds"]))
        runs.scored.append(scored_clips(table, truth.events, durations=truth.durations))
    return runs


def found_by(
    path: Path, out: Path, truth: Truth, *, how: str
) -> tuple[dict[str, set[str]], dict[str, list[Event]], dict[str, Any]]:
    """Return the tags and the events that a run finds in the recordings of a test, and what the run is."""
    scores, about = read_scores(path)
    grid = timeline_of(config_of(Job(about["system"], 0)))
    decoding, tails = Decoding.from_dict(about["decoding"]), NO_TAILS
    if how == TUNED:
        decoding, tails = _tuned(path, out)
    elif how == WITH_TAILS and system_of(about["system"]).strong is None:
        tails = TAILS  # who has learned from events, or from events with tails, knows where they end
    of_test = scores.only(truth.events)
    tags = tags_of(of_test, decoding)
    if how == BY_CHANGE:
        return tags, decoded_by_change(of_test, decoding, grid, truth.durations, tags), about
    return tags, decoded(of_test, decoding, grid, truth.durations, tags, tails), about


@cache
def _tuned(path: Path, out: Path) -> tuple[Decoding, Tails]:
    """The settings that are best on the held-out events; once for both tests."""
    scores, about = read_scores(path)
    grid, durations = timeline_of(config_of(Job(about["system"], 0))), read_durations(out / "durations.tsv")
    truth = read_strong(out / "held-out.tsv")
    return tuned_on_events(scores.only(truth), Decoding.from_dict(about["decoding"]), grid, durations, truth)


def figures_of(name: str, runs: dict[str, Runs], truth: Truth) -> dict[str, Any]:
    """Return a system's figures: value, low and high of each, and what they are against the two it is compared with."""
    own, groups = runs[name], truth.patients
    row: dict[str, Any] = {"n_runs": len(own)}
    for level in LEVELS:
        sure = uncertainty(own.counts[level], groups=groups)
        row[level] = _three(sure.macro["f1"])
        row[f"{level} by class"] = {label: _three(sure.by_class[label]["f1"]) for label in CLASSES}
        row[f"{level} share"] = _three(share_of(own.counts[level], runs[UPPER_BOUND].counts[level], groups))
        if name != BASELINE:
            differs = compare(own.counts[level], runs[BASELINE].counts[level], groups=groups).macro["f1"]
            row[f"{level} against {BASELINE}"] = [differs.value, differs.low, differs.high, differs.p_value]
    row["psds"] = _three(curve_uncertainty(own.scored, scenario=SCENARIO_1, groups=groups).overall["psds"])
    return row


def share_of(
    system: Sequence[CountsByFile], bound: Sequence[CountsByFile], groups: dict[str, str], *, n_resamples: int = 1000
) -> Interval:
    """Return the macro F1 of a system as a share of another's, both in the same resamples of patients."""
    like = system[0]
    drawn = groups_of(like.files, groups)
    values, samples = [], []
    for side, is_bound in ((system, False), (bound, True)):
        columns = group_columns(side, drawn)
        values.append(observed(columns, like)["f1"][MACRO])
        # A system against itself is the same runs on both sides; otherwise runs are drawn for each side apart.
        apart = is_bound and bound is not system
        weights = run_weights(len(side), n_resamples, 0, of_baseline=apart)
        pieces = weight_pieces(drawn.n_groups, n_resamples, 0)
        samples.append(resampled(pieces, weights, columns, like)["f1"][:, MACRO])
    with np.errstate(divide="ignore", invalid="ignore"):
        return interval_of(values[0] / values[1], samples[0] / samples[1])


def print_held_out(out: Path) -> None:
    """Print what every system reaches on the held-out patients, the only ones that choices may be made on."""
    truth = Truth.of(out, "held-out")
    header = f"{'event F1 on held-out patients':<50}{'runs':>5}{'macro':>8}"
    print(header + "".join(f"{label:>12}" for label in CLASSES))
    for how in (AS_TAGS_ALLOW, BY_CHANGE):
        print(f"decoded {how}")
        for name, system in (SYSTEMS | TRIED).items():
            runs = runs_of(name, out, truth, how=how)
            if len(runs):
                sure = uncertainty(runs.counts["event"], groups=truth.patients)
                of_classes = "".join(f"{sure.by_class[label]['f1'].value:12.3f}" for label in CLASSES)
                print(f"{system.words:<50}{len(runs):>5}{sure.macro['f1'].value:>8.3f}{of_classes}")


def print_ceilings(out: Path) -> None:
    """Print what frames that are right everywhere reach, on grids of several widths: events that touch become one."""
    print(f"{'test':<8}{'frame':>8}{'macro':>8}" + "".join(f"{label:>12}" for label in CLASSES))
    for part in TESTS:
        truth = Truth.of(out, part)
        for hop_samples in (80, 160, 320, 640, 1280):
            grid = Timeline(8000, hop_samples)
            found = {
                name: decode(
                    _perfect(events, truth.durations[name], grid),
                    decoding=Decoding.fixed(CLASSES),
                    timeline=grid,
                    duration_seconds=truth.durations[name],
                )
                for name, events in truth.events.items()
            }
            counts = evaluate(truth.events, found, durations=truth.durations, classes=CLASSES).event
            of_classes = "".join(f"{f1:12.3f}" for f1 in counts.f1)
            print(f"{part:<8}{1e3 * grid.hop_seconds:>5.0f} ms{counts.macro.f1:>8.3f}{of_classes}")


def _perfect(events: Sequence[Event], seconds: float, grid: Timeline) -> np.ndarray[Any, np.dtype[np.float64]]:
    """1 in every frame whose middle lies in an event: (frames, classes)."""
    middles = (np.arange(grid.n_frames(round(seconds * grid.sample_rate))) + 0.5) * grid.hop_seconds
    probs = np.zeros((len(middles), len(CLASSES)))
    for event in events:
        probs[(middles >= event.onset) & (middles < event.offset), CLASSES.index(event.label)] = 1.0
    return probs


def _three(interval: Interval) -> list[float]:
    """Value, low, high."""
    return [interval.value, interval.low, interval.high]


def _table(rows: dict[str, dict[str, Any]]) -> str:
    """One row per system, as Markdown."""
    lines = [
        "| learned from | seeds | event F1 | share of the upper bound | against linear"
        " | segment F1 | clip F1 | PSDS 1 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        against = row.get(f"event against {BASELINE}")
        cells = [
            SYSTEMS[name].words,
            str(row["n_runs"]),
            _cell(row["event"]),
            _percent(row["event share"]),
            "" if against is None else _difference(against),
            *(_cell(row[key]) for key in ("segment", "clip", "psds")),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _class_table(rows: dict[str, dict[str, Any]]) -> str:
    """Event F1 of every class, as Markdown."""
    lines = ["| event F1 of | " + " | ".join(CLASSES) + " |", "|---" * (1 + len(CLASSES)) + "|"]
    for name, row in rows.items():
        of_class = (_cell(row["event by class"][label]) for label in CLASSES)
        lines.append(f"| {SYSTEMS[name].words} | " + " | ".join(of_class) + " |")
    return "\n".join(lines) + "\n"


def _cell(figure: list[float]) -> str:
    """0.123 (0.100 to 0.150)."""
    value, low, high = figure
    return f"{value:.3f} ({low:.3f} to {high:.3f})"


def _difference(figure: list[float]) -> str:
    """+0.012 (-0.010 to +0.030), p 0.210."""
    value, low, high, p_value = figure
    return f"{value:+.3f} ({low:+.3f} to {high:+.3f}), p {p_value:.3f}"


def _percent(figure: list[float]) -> str:
    """12 % (10 to 15)."""
    value, low, high = (100 * number for number in figure)
    return f"{value:.0f} % ({low:.0f} to {high:.0f})"
