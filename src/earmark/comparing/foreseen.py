"""How long a comparison will take and how much memory it needs, measured on a few batches of one of its runs."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from earmark.comparing.parts import HELD_OUT, LEARN, Parts, parts_table
from earmark.comparing.plan import n_rounds
from earmark.comparing.steps import Asked
from earmark.comparing.worker import LEARN_TABLE, SPLIT
from earmark.files import write_atomic
from earmark.training.dry_run import dry_run


@dataclass(frozen=True)
class Foreseen:
    """What a comparison will cost.

    Args:
        reading_seconds: for the features of all clips, which are computed once.
        run_seconds: for one run, while others go on beside it on a CPU with a core for each.
        n_rounds: how many runs follow each other.
        memory_bytes: of all runs that go on at a time; None where the system does not say.

    Example:
        >>> Foreseen(reading_seconds=10.0, run_seconds=60.0, n_rounds=6, memory_bytes=None).seconds
        370.0
    """

    reading_seconds: float
    run_seconds: float
    n_rounds: int
    memory_bytes: int | None

    @property
    def seconds(self) -> float:
        """For everything but the figures on the test."""
        return self.reading_seconds + self.n_rounds * self.run_seconds


def foreseen(asked: Asked, parts: Parts, *, on_file: Callable[[int, int], None]) -> Foreseen:
    """Return what the comparison will cost, without leaving anything behind.

    Args:
        asked: what is to be compared.
        parts: the clips.
        on_file: told how many of how many files were probed.
    """
    n_runs = len(asked.rows) * len(asked.seeds)
    side_by_side = min(n_runs, asked.n_side_by_side)
    with tempfile.TemporaryDirectory() as folder:
        labels = Path(folder, LEARN_TABLE)
        write_atomic(labels, parts_table(parts, of=(LEARN, HELD_OUT)))
        with _as_in_a_run(is_alone=side_by_side == 1):
            found = dry_run(
                replace(asked.sources, labels=labels), config=asked.config, split=SPLIT, device=asked.device,
                on_file=on_file,
            )  # fmt: skip
    return Foreseen(
        reading_seconds=found.reading_seconds * len(parts.clips.clips) / found.clips,
        run_seconds=start_seconds() + found.seconds - found.reading_seconds,
        n_rounds=n_rounds(n_runs, side_by_side),
        memory_bytes=None if found.memory_bytes is None else side_by_side * found.memory_bytes,
    )


def start_seconds() -> float:
    """How long a process takes until it can train: for a short run the larger part."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import earmark.training.run"], check=True)
    return time.perf_counter() - begin


@contextlib.contextmanager
def _as_in_a_run(*, is_alone: bool) -> Iterator[None]:
    """With as many threads as a run has: one, where others go on beside it."""
    before = torch.get_num_threads()
    torch.set_num_threads(before if is_alone else 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
