"""What becomes of the demo when it is stopped from outside while two processes make its soundscapes."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from earmark.demo import steps
from earmark.demo.processes import run_side_by_side
from earmark.demo.steps import MARKER, DemoPlan
from earmark.soundscapes.synthetic import SoundscapeSettings, write_soundscapes

if sys.platform == "win32":
    pytest.skip("no process groups and no kill on Windows", allow_module_level=True)

# Laws


@pytest.mark.parametrize("is_early", [True, False])
def test_ctrl_c_is_one_word_and_leaves_no_process(tmp_path: Path, is_early: bool) -> None:
    arguments = [sys.executable, "-m", "earmark.cli.main", "demo", "--out", str(tmp_path / "demo")]
    demo = subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_hear_ctrl_c,
    )
    assert demo.stderr is not None
    demo.stderr.readline()  # making 400 soundscapes ...
    if not is_early:
        _wait_for(tmp_path / "demo/soundscapes/test/audio/0001.wav")
    begin = time.monotonic()
    os.killpg(demo.pid, signal.SIGINT)  # as a terminal does: to every process in it
    said, complaints = demo.communicate(timeout=60)
    assert (said, complaints, demo.returncode) == ("", "\nearmark: stopped\n", 130)
    assert time.monotonic() - begin < 10  # the clips that were still to be made are not waited for
    # Nothing half-written, and no table that would say that the set is complete.
    assert not (tmp_path / "demo/soundscapes/train/weak.tsv").exists()
    deadline = time.monotonic() + 10
    while _is_alive(demo.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_alive(demo.pid)


def test_a_cancelled_demo_leaves_no_training_behind(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from earmark.demo import steps; from earmark.cli.main import main;"
        " steps._make_soundscapes = lambda folder, plan: None;"  # they are there already
        f" main(['demo', '--out', {str(tmp_path / 'demo')!r}])"
    )
    write_soundscapes(tmp_path / "demo/soundscapes/train", n_clips=20, seed=1, settings=SoundscapeSettings())
    (tmp_path / "demo" / MARKER).touch()
    demo = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        _wait_for(tmp_path / "demo/runs/linear/log.jsonl")
        demo.terminate()
        assert demo.wait(timeout=60) == 128 + signal.SIGTERM
        assert not _is_alive(demo.pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(demo.pid, signal.SIGKILL)


def test_the_processes_never_hear_ctrl_c(tmp_path: Path) -> None:
    # Blocked from their first moment, and ignored: the one where there are masks, the other everywhere.
    code = (
        "import pathlib, signal; signal.raise_signal(signal.SIGINT); is_blocked = signal.SIGINT in"
        " signal.pthread_sigmask(signal.SIG_BLOCK, ()); is_ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN;"
        " pathlib.Path({!r}).write_text(f'{{is_blocked}} {{is_ignored}}')"
    )
    jobs = [functools.partial(exec, code.format(str(tmp_path / name))) for name in ("a", "b")]
    run_side_by_side(jobs, doing="listening")
    assert [(tmp_path / name).read_text() for name in ("a", "b")] == ["True True"] * 2
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())  # this process hears it again


def _wait_for(path: Path) -> None:
    """Until the file is there, or too long."""
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.02)


def _is_alive(group: int) -> bool:
    """Whether any process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


# Wrong input


def test_a_process_that_is_killed_is_one_message(tmp_path: Path) -> None:
    known = multiprocessing.active_children()

    def kill_one() -> None:
        _wait_for(tmp_path / "train/audio/0000.wav")
        worker = next(child for child in multiprocessing.active_children() if child not in known)
        worker.kill()  # what a system without memory does

    killer = threading.Thread(target=kill_one)
    killer.start()
    with pytest.raises(ValueError, match=r"^a process was killed from outside while making soundscapes - is there too"):
        steps._make_soundscapes(tmp_path, DemoPlan())
    killer.join()
    assert [child for child in multiprocessing.active_children() if child not in known] == []


def test_what_the_system_refuses_is_its_own_error(tmp_path: Path) -> None:
    (tmp_path / "train").write_text("a file where a folder is to be")
    with pytest.raises(OSError, match=r"train") as caught:
        steps._make_soundscapes(tmp_path, DemoPlan())
    assert caught.value.errno is not None
    # The other process is not waited for: it would have made 120 clips.
    assert not (tmp_path / "test/weak.tsv").exists()


def _hear_ctrl_c() -> None:
    """A shell lets what it starts in the background ignore Ctrl-C, and these tests with it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
