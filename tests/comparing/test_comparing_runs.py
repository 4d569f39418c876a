from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from earmark.comparing import runs
from earmark.comparing.runs import LogTail, Standing, default_jobs, run_all, said
from earmark.comparing.worker import Job

SCRIPTS = {
    "good": "print('fine')",
    "wrong": "import sys; sys.exit('the loss is no longer a finite number')",
    "killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "endless": "import time; time.sleep(600)",
    "silent": "raise SystemExit(3)",
}


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[subprocess.Popen[bytes]]:
    """Instead of runs, short scripts: the first word of a job's name says which; all that were started."""
    started: list[subprocess.Popen[bytes]] = []

    def start(job: Job, *, one_thread: bool) -> subprocess.Popen[bytes]:
        script = SCRIPTS[Path(job.run).name.split("-")[0]]
        with said(job).open("wb") as file:
            started.append(subprocess.Popen([sys.executable, "-S", "-c", script], stdout=file, stderr=file))
        return started[-1]

    monkeypatch.setattr(runs, "_start", start)
    return started


def jobs(folder: Path, *names: str) -> dict[str, Job]:
    return {name: Job(str(folder), str(folder / name), "audio", None, None, "cpu", os.getpid()) for name in names}


def carry_out(
    wanted: Mapping[str, Job], *, n_side_by_side: int = 2
) -> tuple[dict[str, str], list[tuple[str, str | None]], int]:
    """Failures, what was told of each end, and how many there were side by side at most."""
    told: list[tuple[str, str | None]] = []
    most = 0

    def on_progress(standing: Mapping[str, Standing]) -> None:
        nonlocal most
        most = max(most, len(standing))

    failures = run_all(
        wanted,
        n_side_by_side=n_side_by_side,
        n_epochs=2,
        on_progress=on_progress,
        on_end=lambda name, failure: told.append((name, failure)),
    )
    return failures, told, most


# Laws


def test_a_failed_run_never_costs_the_others(scripted: list[subprocess.Popen[bytes]], tmp_path: Path) -> None:
    wanted = jobs(tmp_path, "wrong-1", "killed-1", "silent-1", "good-1", "good-2")
    failures, told, most = carry_out(wanted)
    assert failures == {
        "wrong-1": "the loss is no longer a finite number",
        "killed-1": "its process was killed (signal 9) - is there too little memory? --jobs runs fewer side by side",
        "silent-1": "its process ended with 3 and said nothing",
    }
    assert sorted(name for name, _ in told) == sorted(wanted)
    assert {name for name, failure in told if failure is None} == {"good-1", "good-2"}
    assert most == 2
    assert len(scripted) == 5


def test_no_more_side_by_side_than_asked_for(scripted: list[subprocess.Popen[bytes]], tmp_path: Path) -> None:
    assert carry_out(jobs(tmp_path, "good-1", "good-2"), n_side_by_side=1)[2] == 1


def test_whatever_stops_us_stops_every_run(scripted: list[subprocess.Popen[bytes]], tmp_path: Path) -> None:
    def stop(standing: Mapping[str, Standing]) -> None:
        assert len(standing) == 2
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_all(
            jobs(tmp_path, "endless-1", "endless-2", "good-1"),
            n_side_by_side=2,
            n_epochs=2,
            on_progress=stop,
            on_end=lambda name, failure: None,
        )
    assert len(scripted) == 2  # the third was never begun
    assert all(process.poll() is not None for process in scripted)


def test_a_run_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    # A parent that is gone at once: the orphan must end by itself at its next step.
    worker = (
        "import sys, time; from earmark.comparing.worker import _end_with; parent = int(sys.argv[1])\n"
        "while True: _end_with(parent); time.sleep(0.05)"
    )
    parent = (
        "import os, subprocess, sys, time\n"
        f"process = subprocess.Popen([sys.executable, '-c', {worker!r}, str(os.getpid())])\n"
        "print(process.pid, flush=True); time.sleep(1.0); os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", parent], capture_output=True, text=True, check=True, timeout=60)
    orphan = int(done.stdout)
    deadline = time.monotonic() + 20
    while _is_alive(orphan) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_alive(orphan)


def _is_alive(pid: int) -> bool:
    """Whether a process is there, and not only its entry that nobody has read."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


# Worked numbers


def test_how_far_a_run_is(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    tail = LogTail(log, n_epochs=4)
    assert tail.standing() == Standing(0.0, 0, None)

    def add(*rows: dict[str, object], end: str = "\n") -> None:
        with log.open("a") as file:
            file.write("\n".join(map(json.dumps, rows)) + end)

    add({"kind": "step", "epoch": 1, "of_epoch": 0.5})
    assert tail.standing() == Standing(0.125, 1, None)
    add({"kind": "epoch", "epoch": 1, "held_out_macro_f1": 0.6}, {"kind": "step", "epoch": 2, "of_epoch": 1.0})
    add({"kind": "epoch", "epoch": 2, "held_out_macro_f1": 0.5})
    assert tail.standing() == Standing(0.5, 2, 0.6)
    add({"kind": "step", "epoch": 3, "of_epoch": 0.5}, end="")  # a line that is not whole yet
    assert tail.standing() == Standing(0.5, 2, 0.6)
    add(end="\n")
    assert tail.standing() == Standing(0.625, 3, 0.6)


def test_a_resumed_run_is_not_as_far_as_it_was(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    first, second = (json.dumps({"kind": "step", "epoch": epoch, "of_epoch": 1.0}) + "\n" for epoch in (1, 2))
    log.write_text(first + second)
    tail = LogTail(log, n_epochs=4)
    assert tail.standing().share == 0.5
    log.write_text(first)
    assert tail.standing().share == 0.25


def test_as_many_runs_side_by_side_as_there_are_or_fit() -> None:
    assert default_jobs("cuda", 33) == 6
    assert default_jobs("cuda", 2) == 2
    assert default_jobs("cpu", 1) == 1
