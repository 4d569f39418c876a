"""Work in processes side by side that a user can stop, and whose end says what happened."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool


def run_side_by_side(jobs: Sequence[Callable[[], object]], *, doing: str) -> None:
    """Run each job in a process of its own, and stop all of them as soon as one fails or somebody stops us.

    Args:
        jobs: functions without arguments that can be pickled, such as `functools.partial` of one of a module.
        doing: what they do, for the message when one is killed.

    Raises:
        ValueError: when a process is killed, by the system for instance when there is no memory left.
        Exception: whatever a job raises.

    Example:
        >>> import functools, tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     jobs = [functools.partial(Path(folder, name).mkdir) for name in ("a", "b")]
        ...     run_side_by_side(jobs, doing="making folders")
        ...     sorted(path.name for path in Path(folder).iterdir())
        ['a', 'b']
    """
    not_ours = multiprocessing.active_children()
    # Spawned, because this process has threads (torch's, the progress bar's), and a fork would copy their locks.
    # Ctrl-C reaches every process of a terminal: only this one answers it, and stops the others.
    workers = ProcessPoolExecutor(
        len(jobs),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )
    try:
        with _children_without_interrupt():
            running = [workers.submit(job) for job in jobs]
        for job in as_completed(running):
            job.result()
    except BaseException as error:
        for process in multiprocessing.active_children():
            if process not in not_ours:
                process.terminate()
        if isinstance(error, BrokenProcessPool):
            raise ValueError(f"a process was killed from outside while {doing} - is there too little memory?") from None
        raise
    finally:
        workers.shutdown(cancel_futures=True)


@contextlib.contextmanager
def ended_in_order() -> Iterator[None]:
    """Let a SIGTERM (a cancelled job, `kill`) end this process as an exception does, so that `finally` is carried out.

    Without it the processes that were started here would work on, without anybody to stop them.

    Example:
        >>> with ended_in_order():
        ...     signal.raise_signal(signal.SIGTERM)
        Traceback (most recent call last):
        ...
        SystemExit: 143
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may choose what signals do
        return
    # 128 and the signal's number: what shells call a command that a signal ended.
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _children_without_interrupt() -> Iterator[None]:
    """Processes that start inside do not hear Ctrl-C from their first moment on; this one hears it afterwards.

    The initializer above comes a tenth of a second later, and is enough where the system (Windows) has no such masks.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
