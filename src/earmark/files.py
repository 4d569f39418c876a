"""Writing files so that neither a kill, nor a full disk, nor a second writer leaves half of one behind."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

TEMPORARY_PREFIX = ".earmark-"


def write_atomic(path: Path | str, content: bytes | str) -> None:
    """Write `content` to `path` completely or not at all: temporary file beside it, fsync, rename.

    Text is written as UTF-8. Whatever stood at `path` stays intact until the new content is safely on disk.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_atomic(Path(folder) / "events.tsv", "filename\\n")
        ...     (Path(folder) / "events.tsv").read_text()
        'filename\\n'
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    write_atomic_with(path, lambda temporary: temporary.write_bytes(data))


def write_atomic_with(path: Path | str, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then fsync it and rename it to `path`.

    For libraries that insist on writing to a path themselves. A write that fails leaves `path` as it was and no
    temporary file behind.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_atomic_with(Path(folder) / "n.txt", lambda temporary: temporary.write_text("1.0"))
        ...     os.listdir(folder)
        ['n.txt']
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with naming(target):
        # A short name of its own: that of the target may be as long as the system allows.
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=TEMPORARY_PREFIX, suffix=".tmp")
        os.close(handle)
        temporary = Path(name)
        try:
            write(temporary)
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            # mkstemp makes private files; an output should have the permissions any new file here would have.
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    _sync_folder(target.parent)


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Give the system's errors the name of the file that was meant: a full disk has none, a temporary file another.

    Example:
        >>> with naming(Path("events.tsv")):
        ...     raise OSError(28, "No space left on device")
        Traceback (most recent call last):
        ...
        OSError: [Errno 28] No space left on device: 'events.tsv'
    """
    try:
        yield
    except OSError as error:
        if error.strerror is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextlib.contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Hold `folder` for this process alone; however the process ends, the system lets go of it.

    Where the system has no such lock (Windows), nothing is held.

    Raises:
        ValueError: another process holds it.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, in_use(Path(folder)):
        ...     with in_use(Path(folder)):
        ...         pass
        Traceback (most recent call last):
        ...
        ValueError: ...: another process is at work in this folder - wait for it, or choose another folder
    """
    try:
        import fcntl
    except ModuleNotFoundError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f"{folder}: another process is at work in this folder - wait for it, or choose another folder"
            ) from None
        yield
    finally:
        os.close(descriptor)


def _umask() -> int:
    """The permission bits new files lack; the system has no way to read it without setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Make the rename itself survive a power cut, where the system can open a folder."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
