"""How long the metrics take, on made-up clips as many and as full as the DCASE 2019 validation set.

    python benchmarks/metrics.py                        # ours
    python benchmarks/metrics.py --tools PYTHON         # and sed_eval, in the same run, with the ratio

PYTHON is an interpreter that has sed_eval; tests/oracles/metrics_sed_eval.py says how to get one. Its clip-level part
takes half a minute. Everything runs in one thread.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

from earmark.cli.evaluate import command
from earmark.events import Event
from earmark.metrics import EventTable, count_clips, count_events, count_segments, event_tables

N_CLIPS, N_EVENTS, N_CLASSES, CLIP_SECONDS = 1168, 4236, 10, 10.0
# What evaluation takes at most, in milliseconds.
BUDGETS = {
    "event": 2.0,
    "segment": 6.0,
    "clip": 1.0,
    "all three, 100 times the clips": 1000.0,
    "two TSV files to the report": 25.0,
}

# Runs where sed_eval is installed, so it may import nothing of ours: reads lists, prints seconds per level.
TOOL = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import sed_eval
from dcase_util.containers import MetaDataContainer
lists = json.load(open(sys.argv[1]))
classes = sorted({row[2] for side in lists for rows in side.values() for row in rows})
def container(name, rows):
    return MetaDataContainer([{"filename": name, "onset": a, "offset": b, "event_label": c} for a, b, c in rows])
def tags(side):
    return MetaDataContainer([{"filename": name, "tags": sorted({row[2] for row in rows})}
                              for name, rows in side.items()])
pairs = [(container(name, rows), container(name, lists[1][name])) for name, rows in lists[0].items()]
tagged = [tags(side) for side in lists]
seconds = {}
for level, metrics in (
        ("event", sed_eval.sound_event.EventBasedMetrics(classes, t_collar=0.2, percentage_of_length=0.2)),
        ("segment", sed_eval.sound_event.SegmentBasedMetrics(classes, time_resolution=1.0)),
        ("clip", sed_eval.audio_tag.AudioTaggingMetrics(tags=classes))):
    start = time.perf_counter()
    if level == "clip":
        metrics.evaluate(*tagged)
    else:
        for pair in pairs:
            metrics.evaluate(*pair)
    metrics.results()
    seconds[level] = time.perf_counter() - start
print(json.dumps(seconds))
"""


def main() -> None:
    """Time, and print a table."""
    parser = argparse.ArgumentParser(description="How long the metrics take.")
    parser.add_argument("--tools", metavar="PYTHON", help="an interpreter that has sed_eval: time it on the same input")
    parser.add_argument("--repeats", type=int, default=30, help="the fastest of so many runs counts (default: 30)")
    arguments = parser.parse_args()

    reference, predicted = made_up(N_CLIPS, N_EVENTS), made_up(N_CLIPS, N_EVENTS, found=True)
    tool = seconds_of_tool(arguments.tools, reference, predicted) if arguments.tools is not None else {}
    seconds = seconds_of_levels(reference, predicted, repeats=arguments.repeats)
    lists = as_lists(reference), as_lists(predicted)
    others = {"lists to tables": fastest_seconds(lambda: event_tables(*lists), repeats=arguments.repeats)}
    with tempfile.TemporaryDirectory() as folder:
        others["two TSV files to the report"] = seconds_of_command(Path(folder), *lists, repeats=arguments.repeats)
    many = 100 * N_CLIPS, 100 * N_EVENTS
    large = seconds_of_levels(made_up(*many), made_up(*many, found=True), repeats=5)
    others["all three, 100 times the clips"] = sum(large.values())
    others |= {f"{level}, 100 times the clips": value for level, value in large.items()}

    print(f"{N_CLIPS} clips, {N_EVENTS} reference events, {len(predicted)} predicted events, {N_CLASSES} classes\n")
    print(f"{'':<34}{'ms':>9}{'budget':>9}{'sed_eval' * bool(tool):>10}{'ratio' * bool(tool):>8}".rstrip())
    for name, value in (seconds | others).items():
        budget = f"{BUDGETS[name]:9.0f}" if name in BUDGETS else " " * 9
        ratio = f"{tool[name] * 1e3:10.0f}{tool[name] / value:8.0f}" if name in tool else ""
        print(f"{name:<34}{value * 1e3:9.2f}{budget}{ratio}")
    growth = ", ".join(f"{level} {large[level] / seconds[level]:.0f}" for level in seconds)
    print(f"\n100 times the clips take so many times as long: {growth}")


def made_up(n_clips: int, n_events: int, *, found: bool = False) -> EventTable:
    """A reference; with `found`, predictions for it: a fifth dropped, all jittered, some of another class."""
    rng = np.random.default_rng(2019)
    file_index = np.sort(rng.integers(0, n_clips, n_events))
    class_index = rng.integers(0, N_CLASSES, n_events)
    onset = np.round(rng.random(n_events) * 9, 3)
    offset = np.round(np.minimum(CLIP_SECONDS, onset + 0.25 + rng.exponential(1.8, n_events)), 3)
    if found:
        onset = np.clip(np.round(onset + rng.normal(0, 0.15, n_events), 3), 0, 9.9)
        offset = np.maximum(onset + 0.05, np.round(offset + rng.normal(0, 0.15, n_events), 3))
        class_index = np.where(rng.random(n_events) < 0.1, rng.integers(0, N_CLASSES, n_events), class_index)
    keep = rng.random(n_events) > (0.2 if found else 0.0)
    return EventTable(
        tuple(f"{number}.wav" for number in range(n_clips)),
        tuple(f"class {number}" for number in range(N_CLASSES)),
        file_index[keep],
        class_index[keep],
        onset[keep],
        offset[keep].astype(np.float64),
    )


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


def seconds_of_tool(python: str, reference: EventTable, predicted: EventTable) -> dict[str, float]:
    """Seconds per level of sed_eval on the same lists."""
    lists = [
        {name: [(event.onset, event.offset, event.label) for event in events] for name, events in side.items()}
        for side in (as_lists(reference), as_lists(predicted))
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lists.json"
        path.write_text(json.dumps(lists))
        output = subprocess.run([python, "-c", TOOL, str(path)], check=True, capture_output=True, text=True).stdout
    seconds: dict[str, float] = json.loads(output)
    return seconds


def as_lists(table: EventTable) -> dict[str, list[Event]]:
    """File name -> its events."""
    lists: dict[str, list[Event]] = {name: [] for name in table.files}
    for file, label, onset, offset in zip(
        table.file_index.tolist(),
        table.class_index.tolist(),
        table.onset_seconds.tolist(),
        table.offset_seconds.tolist(),
        strict=True,
    ):
        lists[table.files[file]].append(Event(onset, offset, table.classes[label]))
    return lists


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
