"""All runs of a comparison, some side by side: a failed one never costs the others, and none outlives its parent."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from earmark.comparing.worker import Job

_GPU_JOBS = 6  # a network of half a million weights leaves most of a GPU idle
_LOOK_SECONDS = 0.3


@dataclass(frozen=True)
class Standing:
    """How far a run is.

    Args:
        share: of its epochs, 0 to 1.
        epoch: under way, or the last one.
        best: the best held-out figure so far; None before the first.

    Example:
        >>> Standing(0.5, 20, 0.71).epoch
        20
    """

    share: float
    epoch: int
    best: float | None


def default_jobs(device: str, n_runs: int) -> int:
    """Return how many runs go on side by side: on a CPU one for each core, of one thread each.

    Runs wait for nothing of each other, so side by side they keep all cores busy; the threads of one small network wait
    for each other at every step.

    Example:
        >>> default_jobs("cuda", 4)
        4
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(n_runs, _GPU_JOBS if device != "cpu" else (1 if cores is None else cores)))


def run_all(
    jobs: Mapping[str, Job],
    *,
    n_side_by_side: int,
    n_epochs: int,
    on_progress: Callable[[Mapping[str, Standing]], None],
    on_end: Callable[[str, str | None], None],
) -> dict[str, str]:
    """Carry out the jobs, in their order, and return why those failed that did: name -> what they said.

    Args:
        jobs: name -> job.
        n_side_by_side: how many at a time.
        n_epochs: of each run, for `on_progress`.
        on_progress: told several times a second how far those are that are under way.
        on_end: told the name of each that has ended, and why it failed or None.
    """
    waiting, failures = list(jobs), {}
    running: dict[str, subprocess.Popen[bytes]] = {}
    logs: dict[str, LogTail] = {}
    try:
        while waiting or running:
            while waiting and len(running) < n_side_by_side:
                name = waiting.pop(0)
                running[name] = _start(jobs[name], one_thread=n_side_by_side > 1)
                logs[name] = LogTail(Path(jobs[name].run) / "log.jsonl", n_epochs)
            time.sleep(_LOOK_SECONDS)
            on_progress({name: logs[name].standing() for name in running})
            for name in [name for name, process in running.items() if process.poll() is not None]:
                code = running.pop(name).returncode
                if code != 0:
                    failures[name] = _why(jobs[name], code)
                on_end(name, failures.get(name))
    finally:  # whatever stops us stops them too
        for process in running.values():
            process.terminate()
        for process in running.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)
            if process.poll() is None:
                process.kill()
                process.wait()
    return failures


class LogTail:
    """A run's log, of which only what is new is read each time.

    Example:
        >>> LogTail(Path("no-such-run/log.jsonl"), n_epochs=40).standing()
        Standing(share=0.0, epoch=0, best=None)
    """

    def __init__(self, path: Path, n_epochs: int) -> None:
        self._path, self._n_epochs = path, n_epochs
        self._read_bytes = 0
        self._standing = Standing(0.0, 0, None)

    def standing(self) -> Standing:
        """How far the run is by now."""
        import json

        try:
            if self._path.stat().st_size < self._read_bytes:  # a resumed run has dropped what it does again
                self._read_bytes, self._standing = 0, Standing(0.0, 0, None)
            with self._path.open("rb") as file:
                file.seek(self._read_bytes)
                new = file.read()
        except OSError:
            return self._standing
        whole = new[: new.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        for line in whole.splitlines():
            row = json.loads(line)
            share, best = self._standing.share, self._standing.best
            if row["kind"] == "step":
                share = (row["epoch"] - 1 + row["of_epoch"]) / self._n_epochs
            elif row.get("held_out_macro_f1") is not None:
                best = row["held_out_macro_f1"] if best is None else max(best, row["held_out_macro_f1"])
            self._standing = Standing(share, int(row["epoch"]), best)
        return self._standing


def _start(job: Job, *, one_thread: bool) -> subprocess.Popen[bytes]:
    """A process for the job. What it says goes into a file beside its run's folder."""
    run = Path(job.run)
    job.write(run.with_name(f"{run.name}.json"))
    environment = dict(os.environ)
    if one_thread:  # several processes of several threads each would be in each other's way
        environment |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "earmark.comparing.worker", str(run.with_name(f"{run.name}.json"))]
    with said(job).open("wb") as file:
        # In a session of its own: Ctrl-C reaches only this process, which stops the others.
        return subprocess.Popen(command, stdout=file, stderr=file, env=environment, start_new_session=True)


def said(job: Job) -> Path:
    """Where a run's process says what goes wrong.

    Example:
        >>> said(Job("out", "out/runs/power-seed-0", "audio", None, None, "cpu", 0)).name
        'power-seed-0.txt'
    """
    run = Path(job.run)
    return run.with_name(f"{run.name}.txt")


def _why(job: Job, code: int) -> str:
    """Why a run failed: its last words, or the signal that ended it."""
    lines: Sequence[str] = said(job).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    if code < 0:
        hint = " - is there too little memory? --jobs runs fewer side by side" if code == -9 else ""
        return f"its process was killed (signal {-code}){hint}"
    last = lines[-1] if lines else f"its process ended with {code} and said nothing"
    if "out of memory" in last.casefold():
        return f"{last} - --jobs runs fewer side by side, --set training.batch_seconds= makes each smaller"
    return last
