"""A comparison from label file to figures: what `earmark compare` does, as functions."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from earmark import config_file
from earmark.comparing.claim import claim
from earmark.comparing.events import strong_of, write_learn_strong, write_measure_strong
from earmark.comparing.features import shared_features
from earmark.comparing.measuring import Truth, output_timeline, read_measured
from earmark.comparing.parts import NAMES, TEST, Columns, Parts, three_parts
from earmark.comparing.plan import Row, with_clip_frames
from earmark.comparing.results import Outcome, outcome
from earmark.comparing.runs import Standing, run_all
from earmark.comparing.worker import FIGURES, Job, digest, is_done, read_truths
from earmark.config import Config
from earmark.files import in_use, write_atomic
from earmark.labels.weak import classes_to_learn, read_weak
from earmark.training.clips import clip_set
from earmark.training.sources import Sources


@dataclass(frozen=True)
class Asked:
    """What is to be compared, as the user asked for it.

    Args:
        labels: weak-label file or folder per class.
        audio: folder of the recordings; None where embeddings take their place and nobody said.
        embeddings: folder of arrays to learn from instead of recordings, or None.
        out: folder of the comparison.
        rows: the functions.
        seeds: of the runs.
        config: all other settings, the same for every run.
        columns: what belongs together, and which clips are for what.
        strong: events, in any form, that the test clips (and, for decoding, the held-out ones) are measured by.
        learn_strong: whether its events in the clips to learn from are learned from as well.
        device: where the runs go on.
        n_side_by_side: how many at a time.
        resume: go on with the comparison in `out`.
        command: what the user typed, for the report.
    """

    labels: Path
    audio: Path | None
    embeddings: Path | None
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

    @property
    def sources(self) -> Sources:
        """Labels, and what is heard."""
        return Sources(self.labels, self.audio, embeddings=self.embeddings)


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
    if asked.labels.is_dir() and asked.out.resolve().is_relative_to(asked.labels.resolve()):
        raise ValueError(
            f"--out must not lie in {asked.labels}, whose folders are the classes, got {asked.out} - it would be taken"
            " for a class when the comparison is resumed"
        )
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
        strong_of(asked.strong, asked.audio, parts)
    return parts


def compare(asked: Asked, watch: Watch) -> Compared:
    """Train and measure every run that is not done yet, and put all figures together.

    Raises:
        ValueError: wrong input, or an `out` that holds something else.
    """
    parts = read_parts(asked)
    asked.out.mkdir(parents=True, exist_ok=True)
    with in_use(asked.out):
        claim(asked, parts)
        parts, failures, seconds = shared_features(asked.out, parts, asked.sources, asked.config, on_clip=watch.on_clip)
        n_frames = round(seconds / output_timeline(asked.config).hop_seconds)
        asked = replace(asked, rows=with_clip_frames(asked.rows, n_frames))
        measure_strong, learn_strong = _strong_tables(asked, parts)
        jobs = _jobs(asked, measure_strong, learn_strong)
        held_out, test = read_truths(asked.out, asked.config, measure_strong)
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
            groups_with_events=[test.clips.groups[index] for index in test.with_events],
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


def _strong_tables(asked: Asked, parts: Parts) -> tuple[Path | None, Path | None]:
    """The tables of events that all runs are measured by and that all learn from; None where there are none."""
    if asked.strong is None:
        return None, None
    strong = strong_of(asked.strong, asked.audio, parts)
    learned = write_learn_strong(asked.out, parts, strong, asked.sources, asked.config) if asked.learn_strong else None
    return write_measure_strong(asked.out, parts, strong), learned


def _jobs(asked: Asked, measure_strong: Path | None, learn_strong: Path | None) -> dict[str, Job]:
    """A job for every run, seed by seed, so that whoever stops early has all functions with the first seeds."""
    jobs = {}
    for seed in asked.seeds:
        for row in asked.rows:
            run = asked.out / "runs" / row.folder(seed=seed)
            job = Job(
                comparison=str(asked.out),
                run=str(run),
                audio=None if asked.audio is None else str(asked.audio),
                embeddings=None if asked.embeddings is None else str(asked.embeddings),
                strong=None if measure_strong is None else str(measure_strong),
                learn_strong=None if learn_strong is None else str(learn_strong),
                device=asked.device,
                parent=os.getpid(),
            )
            write_atomic(job.settings, config_file.to_toml(row.config(asked.config, seed=seed)))
            jobs[run_name(row, seed)] = job
    return jobs
