"""A comparison from label file to figures: what `earmark compare` does, as functions."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import earmark
from earmark import checks, config_file
from earmark.comparing.features import shared_features
from earmark.comparing.measuring import Truth, read_measured
from earmark.comparing.parts import LEARN, NAMES, TEST, Columns, Parts, three_parts
from earmark.comparing.plan import Row, with_clip_frames
from earmark.comparing.results import Outcome, outcome
from earmark.comparing.runs import Standing, run_all
from earmark.comparing.worker import FIGURES, LEARN_TABLE, SPLIT, Job, digest, is_done, read_truths
from earmark.config import Config
from earmark.events import Event
from earmark.files import in_use, write_atomic
from earmark.labels.strong import read_strong
from earmark.labels.weak import classes_to_learn, read_weak
from earmark.training.clips import clip_set
from earmark.training.joining import join
from earmark.training.sources import Sources
from earmark.writers import events_to_tsv

PLAN = "comparison.json"
LEARN_STRONG = "learn-strong.tsv"


@dataclass(frozen=True)
class Asked:
    """What is to be compared, as the user asked for it.

    Args:
        labels: weak-label file or folder per class.
        audio: folder of the recordings.
        out: folder of the comparison.
        rows: the functions.
        seeds: of the runs.
        config: all other settings, the same for every run.
        columns: what belongs together, and which clips are for what.
        strong: table of events that the test clips (and, for decoding, the held-out ones) are measured by.
        learn_strong: whether its events in the clips to learn from are learned from as well.
        device: where the runs go on.
        n_side_by_side: how many at a time.
        resume: go on with the comparison in `out`.
        command: what the user typed, for the report.
    """

    labels: Path
    audio: Path
    out: Path
    rows: tuple[Row, ...]
    seeds: tuple[int, ...]
    config: Config
    columns: Columns
    strong: Path | None
    learn_strong: bool
    device: str
    n_side_by_side: int
    resume: bool
    command: tuple[str, ...]


@dataclass(frozen=True)
class Watch:
    """Whom to tell how far things are.

    Example:
        >>> Watch(on_clip=print, on_plan=print, on_progress=print, on_end=print).on_clip(1, 2)
        1 2
    """

    on_clip: Callable[[int, int], None]  # features: done, of how many
    on_plan: Callable[[int, int], None]  # runs: to do, and done before
    on_progress: Callable[[Mapping[str, Standing]], None]
    on_end: Callable[[str, str | None], None]


@dataclass(frozen=True, eq=False)
class Compared:
    """What a comparison came to.

    Args:
        asked: what it was.
        parts: the clips that could be read, and what each was for.
        outcome: the figures.
        unreadable: what could not be read, and why.
        truth: of the test clips.
    """

    asked: Asked
    parts: Parts
    outcome: Outcome
    unreadable: tuple[str, ...]
    truth: Truth

    def sizes(self) -> dict[str, dict[str, Any]]:
        """Clips, groups and clips of each class of every part."""
        found: dict[str, dict[str, Any]] = {}
        for part, name in enumerate(NAMES):
            of_part = self.parts.of(part)
            counts = (of_part.tags & of_part.known).sum(axis=0).tolist()
            found[name] = {
                "clips": len(of_part.clips),
                "groups": self.parts.n_groups(part),
                "clips_of_class": dict(zip(of_part.classes, counts, strict=True)),
            }
        return found

    def run(self, row: str, seed: int) -> Path:
        """The folder of a run."""
        chosen = next(one for one in self.asked.rows if one.name == row)
        return self.asked.out / "runs" / chosen.folder(seed=seed)


def read_parts(asked: Asked) -> Parts:
    """Return the clips of the label file in three parts, if a comparison can be made of them.

    Raises:
        ValueError: see `three_parts`; or events that do not belong to these clips.
    """
    weak = read_weak(asked.labels)
    clips = clip_set(weak, classes_to_learn(weak, asked.labels), holdout_fraction=0, group_column=asked.columns.group)
    if len(clips.clips) < 10:
        raise ValueError(
            f"{asked.labels}: at least 10 clips are needed, to learn from, to choose by and to test on, got"
            f" {len(clips.clips)} - tag more"
        )
    parts = three_parts(
        clips, asked.columns, held_out_share=asked.config.training.holdout_fraction, seed=asked.config.training.seed
    )
    if parts.n_groups(TEST) < 2:
        raise ValueError(
            "the test part must hold at least 2 groups, got 1: how sure a figure is could not be said - name another"
            " --group column, or more groups for --test"
        )
    if asked.strong is not None:
        _check_strong(asked.strong, parts, read_strong(asked.strong))
    return parts


def compare(asked: Asked, watch: Watch) -> Compared:
    """Train and measure every run that is not done yet, and put all figures together.

    Raises:
        ValueError: wrong input, or an `out` that holds something else.
    """
    parts = read_parts(asked)
    asked.out.mkdir(parents=True, exist_ok=True)
    with in_use(asked.out):
        plan = _plan(asked, parts)
        _claim(asked, plan)
        parts, failures, seconds = shared_features(asked.out, parts, asked.audio, asked.config, on_clip=watch.on_clip)
        frames = asked.config.features.sample_rate / asked.config.features.hop_samples
        frames /= asked.config.model.time_reduction
        asked = replace(asked, rows=with_clip_frames(asked.rows, round(seconds * frames)))
        if asked.learn_strong and asked.strong is not None:
            _write_learn_strong(asked, parts, read_strong(asked.strong))
        jobs = _jobs(asked, parts)
        held_out, test = read_truths(asked.out, asked.config, asked.strong)
        about = digest(held_out, test)
        to_do = {name: job for name, job in jobs.items() if not is_done(Path(job.run), about)}
        watch.on_plan(len(to_do), len(jobs) - len(to_do))
        failed = run_all(
            to_do,
            n_side_by_side=asked.n_side_by_side,
            n_epochs=asked.config.training.epochs,
            on_progress=watch.on_progress,
            on_end=watch.on_end,
        )
        measured = {}
        for row in asked.rows:
            for seed in asked.seeds:
                run = Path(jobs[run_name(row, seed)].run)
                if is_done(run, about):
                    measured[row.name, seed] = read_measured(run / FIGURES)
                else:
                    failed.setdefault(run_name(row, seed), "its process ended without an error, but left no figures")
        found = outcome(
            measured,
            rows=[row.name for row in asked.rows],
            seeds=asked.seeds,
            classes=parts.clips.classes,
            groups=parts.of(TEST).groups,
            unit="clip" if asked.columns.group is None else "group",
            failures=failed,
        )
        if not failed:
            shutil.rmtree(asked.out / "cache", ignore_errors=True)
    return Compared(asked, parts, found, failures, test)


def run_name(row: Row, seed: int) -> str:
    """Return what a run is called.

    Example:
        >>> from earmark.config import PoolingConfig
        >>> run_name(Row("power", PoolingConfig("power")), 2)
        'power seed 2'
    """
    return f"{row.name} seed {seed}"


def missing_in_test(parts: Parts) -> list[str]:
    """Return the classes without a clip in the test part: they have no figure there."""
    test = parts.of(TEST)
    n_clips = (test.tags & test.known).sum(axis=0).tolist()
    return [label for label, n in zip(test.classes, n_clips, strict=True) if n == 0]


def _check_strong(path: Path, parts: Parts, strong: Mapping[str, list[Event]]) -> None:
    """Raise ValueError when events are of other classes or clips."""
    for name, events in strong.items():
        checks.known_labels([event.label for event in events], parts.clips.classes, where=f"{path}: {name}")
    test = parts.of(TEST)
    if not any(clip.filename in strong for clip in test.clips):
        first = next(iter(strong), None)
        raise ValueError(
            f"{path}: must name clips of the test part, got none of its {len(test.clips)} (such as"
            f" {test.clips[0].filename!r}; the table has {first!r}) - mark events in those that"
            " the column 'part' of the comparison calls test, or choose them with --split and --test"
        )


def _write_learn_strong(asked: Asked, parts: Parts, strong: Mapping[str, list[Event]]) -> None:
    """Events of the clips to learn from, and of no others: a run must not meet those of the test."""
    learned = {clip.filename for clip in parts.of(LEARN).clips}
    events = {name: of_file for name, of_file in strong.items() if name in learned}
    if not events:
        raise ValueError(
            f"{asked.strong}: names none of the {len(learned)} recordings to learn from, so --learn-strong would change"
            " nothing - leave it out, or choose the parts with --split"
        )
    write_atomic(asked.out / LEARN_STRONG, events_to_tsv(events))
    join(Sources(asked.out / LEARN_TABLE, asked.audio, asked.out / LEARN_STRONG), asked.config, SPLIT)


def _plan(asked: Asked, parts: Parts) -> dict[str, Any]:
    """What a comparison that is resumed must share with the one it goes on with."""
    rows = [
        (c.filename, c.onset, c.offset, sorted(c.labels), None if c.known is None else sorted(c.known), g, int(p))
        for c, g, p in zip(parts.clips.clips, parts.clips.groups, parts.part, strict=True)
    ]
    # The function and the number of seeds may change: more of them are added to what is there.
    settings = config_file.to_toml(replace(asked.config, pooling=Config().pooling))
    return {
        "earmark": earmark.__version__,
        "clips": hashlib.sha256(repr(rows).encode()).hexdigest(),
        "audio": str(asked.audio.resolve()),
        "settings": settings,
        "learn_strong": asked.learn_strong,
    }


def _claim(asked: Asked, plan: Mapping[str, Any]) -> None:
    """Take the folder for this comparison, or raise ValueError when it holds something else."""
    marker = asked.out / PLAN
    if not marker.exists():
        if any(asked.out.iterdir()):
            raise ValueError(f"--out must be a new or an empty folder, got {asked.out}, which holds something else")
        write_atomic(marker, json.dumps(plan, indent=2) + "\n")
        return
    if not asked.resume:
        raise ValueError(
            f"{asked.out} already holds a comparison - add --resume to go on with it, or choose another --out"
        )
    before = json.loads(marker.read_text(encoding="utf-8"))
    if before["clips"] != plan["clips"]:
        raise ValueError(
            f"{asked.out} holds a comparison on other clips, tags or parts - resume it with the label file, --group,"
            " --split, --held-out and --test it began with, or choose another --out"
        )
    if before["learn_strong"] != plan["learn_strong"]:
        raise ValueError(f"{asked.out} was begun {'with' if before['learn_strong'] else 'without'} --learn-strong")
    if before["settings"] != plan["settings"]:
        lines = zip(before["settings"].splitlines(), plan["settings"].splitlines(), strict=False)
        old, new = next((pair for pair in lines if pair[0] != pair[1]), ("fewer", "more"))
        raise ValueError(
            f"{asked.out} was begun with other settings ({old}, now {new}) - resume it without them, or choose another"
            " --out"
        )


def _jobs(asked: Asked, parts: Parts) -> dict[str, Job]:
    """A job for every run, seed by seed, so that whoever stops early has all functions with the first seeds."""
    jobs = {}
    for seed in asked.seeds:
        for row in asked.rows:
            run = asked.out / "runs" / row.folder(seed=seed)
            job = Job(
                comparison=str(asked.out),
                run=str(run),
                audio=str(asked.audio),
                strong=None if asked.strong is None else str(asked.strong),
                learn_strong=str(asked.out / LEARN_STRONG) if asked.learn_strong else None,
                device=asked.device,
                parent=os.getpid(),
            )
            write_atomic(job.settings, config_file.to_toml(row.config(asked.config, seed=seed)))
            jobs[run_name(row, seed)] = job
    return jobs
