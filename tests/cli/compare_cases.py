"""A comparison of small runs in this very process: soundscapes of 1 s, two functions, two seeds, one epoch."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_cases import CLASSES, settings

from earmark.comparing import page, runs
from earmark.comparing.runs import said
from earmark.comparing.worker import Job, carry_out
from earmark.soundscapes.synthetic import SoundscapeSettings, write_soundscapes

EASY = SoundscapeSettings(
    clip_seconds=1.0,
    classes=CLASSES,
    classes_per_clip=(1, 2),
    events_per_class=(1, 1),
    empty_share=0.2,
    snr_db=(20.0, 30.0),
)


class InProcess:
    """A run that is over as soon as it was begun; looks like a process."""

    def __init__(self, returncode: int) -> None:
        self.returncode = returncode

    def poll(self) -> int:
        return self.returncode

    def terminate(self) -> None:
        """It has ended already."""

    def wait(self, timeout: float | None = None) -> int:
        return self.returncode


def in_this_process(monkeypatch: pytest.MonkeyPatch, *broken: str, with_page: bool = False) -> list[str]:
    """Let runs go on here; the names of those that were begun are noted, those in `broken` fail.

    The page with its pictures takes longer than the runs, so only who looks at it has it made.
    """
    started: list[str] = []
    if not with_page:
        monkeypatch.setattr(page, "write_report", lambda compared, said: compared.asked.out / "report.html")

    def start(job: Job, *, one_thread: bool) -> InProcess:
        started.append(Path(job.run).name)
        said(job).write_text("the loss is no longer a finite number\n")
        if started[-1] in broken:
            return InProcess(1)
        carry_out(replace(job, parent=0))
        return InProcess(0)

    monkeypatch.setattr(runs, "_start", start)
    monkeypatch.setattr(runs, "_LOOK_SECONDS", 0.0)
    return started


def make_data(folder: Path, *, n_clips: int = 24) -> Path:
    """Clips with tags, events, and a patient for every two of them; returns the label file."""
    write_soundscapes(folder, n_clips=n_clips, seed=3, settings=EASY)
    lines = (folder / "weak.tsv").read_text().splitlines()
    rows = [f"{line}\tP{index // 2:02d}" for index, line in enumerate(lines[1:])]
    (folder / "weak.tsv").write_text("\n".join([f"{lines[0]}\tpatient", *rows]) + "\n")
    return folder / "weak.tsv"


def compare(labels: Path, out: Path, *options: object, seeds: int = 2) -> list[object]:
    """The arguments of a tiny comparison."""
    return [
        "compare", labels, "--audio", labels.parent / "audio", "--out", out, "--device", "cpu", "--seeds", seeds,
        *settings(training__epochs="1"), *options,
    ]  # fmt: skip


def table(path: Path) -> list[dict[str, Any]]:
    """The rows of a TSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))
