"""How long the metrics take, on made-up clips as many and as full as the DCASE 2019 validation set.

    python benchmarks/metrics.py                        # ours
    python benchmarks/metrics.py --tools PYTHON         # and the established tools, in the same run, with ratios

PYTHON is an interpreter that has sed_eval and sed_scores_eval; `make oracle` makes one. Everything runs in one thread.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from metrics_inputs import (
    CLASSES,
    CLIP_SECONDS,
    N_CLIPS,
    N_EVENTS,
    apart,
    as_lists,
    made_up,
    made_up_scores,
)

from earmark.cli.evaluate import command
from earmark.events import Event
from earmark.metrics import EventTable, count_clips, count_events, count_segments, event_tables
from earmark.metrics.by_file import clip_counts_by_file, event_counts_by_file, segment_counts_by_file
from earmark.metrics.curves import (
    SCENARIO_1,
    SCENARIO_2,
    ScoredClips,
    collar_curves,
    curve_uncertainty,
    psds,
    score_table,
    scored_clips,
    segment_curves,
)
from earmark.metrics.uncertainty import uncertainty

# What evaluation takes at most, in milliseconds; what is with frames is with the extra [fast].
BUDGETS = {
    "event": 2.0,
    "segment": 6.0,
    "clip": 1.0,
    "all three, 100 times the clips": 1000.0,
    "two TSV files to the report": 25.0,
    "intervals of all list figures": 500.0,
    "collar curve and best F1, 157 frames": 60.0,
    "collar curve and best F1, 500 frames": 250.0,
    "PSDS 1, 157 frames": 80.0,
    "PSDS 1, 500 frames": 300.0,
    "PSDS 2, 157 frames": 250.0,
    "PSDS 2, 500 frames": 900.0,
    "intervals of all curves and PSDS": 60_000.0,
}
TOOLS = Path(__file__).with_name("metrics_tools.py")
# In a process of its own, which holds nothing but the scores. (What the system's own count of a process's peak says
# begins with its parent's.) Needs Linux.
MEMORY = """
import json, re, sys
import numpy as np
from earmark import Event
from earmark.metrics.curves import SCENARIO_2, psds, score_table, scored_clips
stored = np.load(f"{sys.argv[1]}/scores.npz")
lists = json.load(open(f"{sys.argv[1]}/lists.json"))
reference = {name: [Event(*row) for row in rows] for name, rows in lists.items()}
classes = sorted({row[2] for rows in lists.values() for row in rows})
table = score_table({name: stored[name] for name in lists}, classes=classes, hop_seconds=0.02)
psds(scored_clips(table, reference), scenario=SCENARIO_2)
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024)
"""


def main() -> None:
    """Time, and print a table."""
    parser = argparse.ArgumentParser(description="How long the metrics take.")
    parser.add_argument("--tools", metavar="PYTHON", help="an interpreter that has the tools: time them on the same")
    parser.add_argument("--repeats", type=int, default=20, help="the fastest of so many runs counts (default: 20)")
    parser.add_argument("--no-intervals", action="store_true", help="leave out the minute of resampling curves")
    arguments = parser.parse_args()

    ours, theirs = list_rows(arguments.tools, arguments.repeats)
    for n_frames in (157, 500):
        rows, tool = curve_rows(n_frames, arguments.tools, arguments.repeats)
        ours |= rows
        theirs |= tool
    if not arguments.no_intervals:
        ours["intervals of all curves and PSDS"] = curve_interval_seconds()

    has_numba = importlib.util.find_spec("numba") is not None
    print(f"{N_CLIPS} clips, {N_EVENTS} reference events, {len(CLASSES)} classes, numba: {has_numba}\n")
    print(f"{'':<44}{'ms':>10}{'budget':>9}{'tool, ms' * bool(theirs):>11}{'ratio' * bool(theirs):>8}".rstrip())
    for name, value in ours.items():
        budget = f"{BUDGETS[name]:9.0f}" if name in BUDGETS else " " * 9
        ratio = f"{theirs[name] * 1e3:11.0f}{theirs[name] / value:8.0f}" if name in theirs else ""
        print(f"{name:<44}{value * 1e3:10.2f}{budget}{ratio}".rstrip())
    growth = ", ".join(f"{level} {ours[f'{level}, 100 times the clips'] / ours[level]:.0f}" for level in LEVELS)
    print(f"\n100 times the clips take so many times as long: {growth}")
    print(f"peak memory of PSDS 2 with 500 frames, scores and all: {peak_megabytes():.0f} MB")


LEVELS = ("event", "segment", "clip")


def list_rows(tools: str | None, repeats: int) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of everything about lists: ours, and the tool's."""
    reference, predicted = made_up(N_CLIPS, N_EVENTS), made_up(N_CLIPS, N_EVENTS, found=True)
    theirs: dict[str, float] = run_tools(tools, (reference, predicted)) if tools is not None else {}
    rows = seconds_of_levels(reference, predicted, repeats=repeats)
    lists = as_lists(reference), as_lists(predicted)
    rows["lists to tables"] = fastest_seconds(lambda: event_tables(*lists), repeats=repeats)
    with tempfile.TemporaryDirectory() as folder:
        rows["two TSV files to the report"] = seconds_of_command(Path(folder), *lists, repeats=repeats)
    by_file = (
        event_counts_by_file(reference, predicted),
        segment_counts_by_file(reference, predicted),
        clip_counts_by_file(reference.tags(), predicted.tags()),
    )
    rows["intervals of all list figures"] = fastest_seconds(
        lambda: [uncertainty(counts) for counts in by_file], repeats=3
    )
    many = 100 * N_CLIPS, 100 * N_EVENTS
    large = seconds_of_levels(made_up(*many), made_up(*many, found=True), repeats=5)
    rows["all three, 100 times the clips"] = sum(large.values())
    return rows | {f"{level}, 100 times the clips": value for level, value in large.items()}, theirs


def curve_rows(n_frames: int, tools: str | None, repeats: int) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds of curves and PSDS: ours, and the tool's, whose values must be the same."""
    reference = apart(made_up(N_CLIPS, N_EVENTS))
    scores = made_up_scores(reference, n_frames)
    hop = CLIP_SECONDS / n_frames
    clips = scored_clips(score_table(scores, classes=CLASSES, hop_seconds=hop), as_lists(reference))
    jobs: dict[str, Callable[[bool | None], float]] = {
        "collar curve and best F1": lambda use: collar_curves(clips, use_numba=use).macro_best.f1,
        "PSDS 1": lambda use: psds(clips, scenario=SCENARIO_1, use_numba=use).value,
        "PSDS 2": lambda use: psds(clips, scenario=SCENARIO_2, use_numba=use).value,
    }
    rows = {}
    repeats = max(3, repeats // 2)
    for name, job in jobs.items():
        job(None)  # compiles what is to be compiled
        rows[f"{name}, {n_frames} frames"] = fastest_seconds(partial(job, None), repeats=repeats)
        rows[f"{name}, {n_frames} frames, without numba"] = fastest_seconds(partial(job, False), repeats=3)
    if tools is None:
        return rows, {}
    stored = {**scores, "hop": np.array(hop), "classes": np.array(CLASSES)}
    tool = run_tools(tools, (reference, reference), stored)
    for name, value in tool["values"].items():
        assert abs(jobs[name](None) - value) < 1e-9, f"{name} is {jobs[name](None)}, the tool says {value}"
    return rows, {f"{name}, {n_frames} frames": value for name, value in tool["seconds"].items()}


def curve_interval_seconds() -> float:
    """Seconds of 1,000 resamples of collar and segment curves and both PSDS, 157 frames."""
    clips = example_clips(157)
    start = time.perf_counter()
    for result in (collar_curves(clips), segment_curves(clips)):
        curve_uncertainty(result)
    for scenario in (SCENARIO_1, SCENARIO_2):
        curve_uncertainty(clips, scenario=scenario)
    return time.perf_counter() - start


def example_clips(n_frames: int) -> ScoredClips:
    """Scores and reference of made-up clips."""
    reference = apart(made_up(N_CLIPS, N_EVENTS))
    table = score_table(made_up_scores(reference, n_frames), classes=CLASSES, hop_seconds=CLIP_SECONDS / n_frames)
    return scored_clips(table, as_lists(reference))


def peak_megabytes() -> float:
    """Peak memory of a process that reads the scores of all clips and computes PSDS 2."""
    with tempfile.TemporaryDirectory() as folder:
        reference = apart(made_up(N_CLIPS, N_EVENTS))
        scores: dict[str, Any] = {**made_up_scores(reference, 500)}
        np.savez(f"{folder}/scores.npz", **scores)
        Path(folder, "lists.json").write_text(json.dumps(rows_of(reference)))
        output = subprocess.run([sys.executable, "-c", MEMORY, folder], check=True, capture_output=True, text=True)
    return float(output.stdout)


def seconds_of_levels(reference: EventTable, predicted: EventTable, *, repeats: int) -> dict[str, float]:
    """Seconds per level, from arrays."""
    true_tags, found_tags = reference.tags(), predicted.tags()
    return {
        "event": fastest_seconds(lambda: count_events(reference, predicted).macro, repeats=repeats),
        "segment": fastest_seconds(lambda: count_segments(reference, predicted).macro, repeats=repeats),
        "clip": fastest_seconds(lambda: count_clips(true_tags, found_tags).macro, repeats=repeats),
    }


def seconds_of_command(
    folder: Path, reference: dict[str, list[Event]], predicted: dict[str, list[Event]], *, repeats: int
) -> float:
    """Seconds of `earmark evaluate` inside this process, the report thrown away as JSON."""
    for name, events in (("reference", reference), ("predicted", predicted)):
        rows = [
            f"{file}\t{event.onset}\t{event.offset}\t{event.label}" if event is not None else f"{file}\t\t\t"
            for file, found in events.items()
            for event in (found if found else [None])
        ]
        (folder / f"{name}.tsv").write_text("\n".join(["filename\tonset\toffset\tevent_label", *rows, ""]))
    options = [f"--{name}={folder / name}.tsv" for name in ("reference", "predicted")]

    def evaluate_quietly() -> None:
        with redirect_stdout(StringIO()):
            command(options, standalone_mode=False)

    return fastest_seconds(evaluate_quietly, repeats=repeats)


def run_tools(python: str, tables: tuple[EventTable, EventTable], scores: dict[str, Any] | None = None) -> Any:
    """What the tools' own process prints about the same lists (and scores)."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "lists.json").write_text(json.dumps([rows_of(table) for table in tables]))
        arguments = [f"{folder}/lists.json"]
        if scores is not None:
            np.savez(f"{folder}/scores.npz", **scores)
            arguments.append(f"{folder}/scores.npz")
        output = subprocess.run([python, str(TOOLS), *arguments], check=True, capture_output=True, text=True).stdout
    return json.loads(output)


def rows_of(table: EventTable) -> dict[str, list[tuple[float, float, str]]]:
    """File name -> rows of onset, offset and label."""
    return {
        name: [(event.onset, event.offset, event.label) for event in events] for name, events in as_lists(table).items()
    }


def fastest_seconds(run: Callable[[], object], *, repeats: int) -> float:
    """The fastest of several runs: whatever else the machine does only ever adds to it."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    main()
