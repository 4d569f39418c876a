"""The demo step by step, with the same commands and functions a user has."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from earmark.demo.processes import run_side_by_side
from earmark.detection.detector import Analysis, Detector, load
from earmark.detection.tags import has_tag
from earmark.events import Event
from earmark.files import write_atomic
from earmark.labels.strong import read_strong, read_tags
from earmark.metrics.evaluation import Evaluation, evaluate
from earmark.soundscapes.synthetic import SoundscapeSettings, held_out, write_soundscapes
from earmark.training.log import read_log
from earmark.writers import events_to_tsv, write_events

SYSTEMS = ("power", "linear")
MARKER = ".earmark-demo"  # in every folder the demo may write over, because it made it

_TRAINING_SEED, _TEST_SEED = 1, 2


@dataclass(frozen=True)
class DemoPlan:
    """What the demo does; the defaults fit into two minutes on two cores.

    Args:
        n_training_clips: soundscapes to learn from.
        n_test_clips: soundscapes to test on, with other parameters.
        soundscapes: what the training clips are drawn from.
        config: TOML file with the settings of both runs.
        required_f1: the demo fails when the macro event F1 of a system is below this.
    """

    n_training_clips: int = 400
    n_test_clips: int = 120
    soundscapes: SoundscapeSettings = field(default_factory=SoundscapeSettings)
    config: Path = field(default_factory=lambda: Path(__file__).with_name("demo.toml"))
    required_f1: float = 0.55


@dataclass(frozen=True)
class SystemResult:
    """What one pooling function came to.

    Args:
        detector: the exported model.
        analyses: what it says about every frame of each test clip, by file name.
        events: what it marks in them.
        evaluation: how that compares with the truth.
        run: the folder of its training run.
    """

    detector: Detector
    analyses: Mapping[str, Analysis]
    events: Mapping[str, Sequence[Event]]
    evaluation: Evaluation
    run: Path

    @property
    def event_f1(self) -> float:
        """Macro event-based F1."""
        return self.evaluation.event.macro.f1


@dataclass(frozen=True)
class DemoResult:
    """Everything the report tells."""

    reference: Mapping[str, Sequence[Event]]
    systems: Mapping[str, SystemResult]
    test_audio: Path
    seconds: Mapping[str, float]  # what each step took
    required_f1: float

    @property
    def is_good(self) -> bool:
        """Whether every system is as good as the demo promises."""
        return all(system.event_f1 >= self.required_f1 for system in self.systems.values())


def run_demo(
    out: Path,
    *,
    plan: DemoPlan,
    say: Callable[[str], None],
    on_progress: Callable[[Mapping[str, float]], None],
) -> DemoResult:
    """Generate, train, export, detect and evaluate, leaving every file in `out`.

    Args:
        out: the demo's folder: a new one, an empty one, or that of an earlier demo, which is written over.
        plan: how much of everything.
        say: told in one line what happens next.
        on_progress: told, several times a second while training, what share of each run is done.

    Raises:
        ValueError: when `out` holds something else, or a step fails.
    """
    _claim(out)
    seconds = {}
    begin = time.monotonic()

    def timed(name: str) -> None:
        nonlocal begin
        seconds[name], begin = time.monotonic() - begin, time.monotonic()

    say(
        f"making {plan.n_training_clips} soundscapes to learn from,"
        f" and {plan.n_test_clips} with other parameters to test on"
    )
    sounds = out / "soundscapes"
    _make_soundscapes(sounds, plan)
    timed("soundscapes")

    say(f"training {' and '.join(SYSTEMS)} pooling side by side, from tags alone, one thread each")
    runs = {name: out / "runs" / name for name in SYSTEMS}
    _train_side_by_side(sounds / "train", runs, plan.config, on_progress)
    timed("training")

    say("exporting both, marking events in the test clips, comparing them with the truth")
    reference = read_strong(sounds / "test" / "strong.tsv")
    tags = read_tags(sounds / "test" / "weak.tsv")
    systems = {}
    for name, run in runs.items():
        model = out / f"{name}.onnx"
        _earmark("export", str(run), str(model))
        systems[name] = _detect_and_evaluate(name, run, model, sounds / "test" / "audio", reference, tags, out)
    timed("detection")
    return DemoResult(reference, systems, sounds / "test" / "audio", seconds, plan.required_f1)


def _claim(out: Path) -> None:
    """Mark the folder as the demo's own, or raise ValueError when it holds somebody's files.

    The demo writes over runs/ and more, and no name of a folder in it says that the demo made it: the marker does.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"the demo's folder must be a folder, got the file {out}")
    if (out / MARKER).is_file():
        return
    if out.exists() and any(out.iterdir()):
        raise ValueError(
            f"the demo's folder must be new, empty, or that of an earlier demo, got {out}"
            " - the demo would write over what is in it; name another one with --out"
        )
    write_atomic(
        out / MARKER, "Made by `earmark demo`, which writes over everything in this folder when it runs again.\n"
    )


def _make_soundscapes(folder: Path, plan: DemoPlan) -> None:
    """Training and test clips, in two processes."""
    sets = [
        ("train", plan.n_training_clips, _TRAINING_SEED, plan.soundscapes),
        ("test", plan.n_test_clips, _TEST_SEED, held_out(plan.soundscapes)),
    ]
    jobs = [
        functools.partial(write_soundscapes, folder / name, n_clips=n_clips, seed=seed, settings=settings)
        for name, n_clips, seed, settings in sets
    ]
    run_side_by_side(jobs, doing="making soundscapes")


def _train_side_by_side(
    data: Path, runs: Mapping[str, Path], config: Path, on_progress: Callable[[Mapping[str, float]], None]
) -> None:
    """One process and one thread per run: two processes of two threads each would be in each other's way."""
    processes = {}
    try:
        for name, run in runs.items():
            shutil.rmtree(run, ignore_errors=True)
            run.parent.mkdir(parents=True, exist_ok=True)
            arguments = [
                "train", str(data / "weak.tsv"), "--audio", str(data / "audio"), "--out", str(run),
                "--config", str(config), "--pooling", name, "--threads", "1", "--device", "cpu",
            ]  # fmt: skip
            with _said(run).open("w", encoding="utf-8") as said:
                processes[name] = subprocess.Popen(_command(*arguments), stdout=said, stderr=said, env=_one_thread())
        is_running = True
        while is_running:
            time.sleep(0.3)
            is_running = any(process.poll() is None for process in processes.values())
            on_progress({name: _share_done(run) for name, run in runs.items()})
            for name, process in processes.items():
                if process.poll() not in (None, 0):
                    said_by_it = _said(runs[name]).read_text(encoding="utf-8")
                    raise ValueError(f"training {name} pooling failed:\n{said_by_it}")
    finally:  # whatever stops us stops them too
        for process in processes.values():
            process.terminate()
            process.wait()


def _said(run: Path) -> Path:
    """What the command that trains a run had to say."""
    return run.with_name(f"{run.name}.txt")


def _detect_and_evaluate(
    name: str,
    run: Path,
    model: Path,
    audio: Path,
    reference: Mapping[str, Sequence[Event]],
    tags: Mapping[str, frozenset[str]],
    out: Path,
) -> SystemResult:
    """Events of the test clips as files, and the figures."""
    detector = load(model)
    analyses = {filename: detector.analyse(audio / filename) for filename in sorted(reference)}
    events = {filename: detector.events(analysis) for filename, analysis in analyses.items()}
    found_tags = {filename: _tags(detector, analysis) for filename, analysis in analyses.items()}
    write_atomic(out / "detected" / f"{name}.tsv", events_to_tsv(events))
    for filename, found in events.items():
        write_events(out / "detected" / name / filename, found, filename=filename, format="audacity")
    evaluation = evaluate(
        reference,
        events,
        reference_tags=tags,
        predicted_tags=found_tags,
        durations={filename: analysis.duration_seconds for filename, analysis in analyses.items()},
        classes=detector.classes,
    )
    return SystemResult(detector, analyses, events, evaluation, run)


def _tags(detector: Detector, analysis: Analysis) -> frozenset[str]:
    """The tags of a clip: those of any of its spans."""
    probs = [span.clip_probs for span in detector.tags(analysis)]  # (spans, classes)
    is_there = has_tag(probs, decoding=detector.info.decoding).any(axis=0)
    return frozenset(detector.info.decoding.classes[index] for index in np.flatnonzero(is_there))


def _share_done(run: Path) -> float:
    """How much of a run is done, read from its log."""
    rows = [row for row in read_log(run / "log.jsonl") if row["kind"] == "step"]
    if not rows:
        return 0.0
    from earmark.config_file import read_config

    return float(rows[-1]["epoch"] - 1 + rows[-1]["of_epoch"]) / read_config(run / "config.toml").training.epochs


def _earmark(*arguments: str) -> None:
    """Run a command of ours and stop when it fails."""
    done = subprocess.run(_command(*arguments), capture_output=True, text=True, env=_one_thread(), check=False)
    if done.returncode != 0:
        raise ValueError(f"earmark {' '.join(arguments)} failed:\n{done.stderr}")


def _command(*arguments: str) -> list[str]:
    """Our own command line, with this very Python."""
    return [sys.executable, "-m", "earmark.cli.main", *arguments]


def _one_thread() -> dict[str, str]:
    """An environment in which the numeric libraries use one thread."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
