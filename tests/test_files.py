from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from earmark import files
from earmark.files import in_use, write_atomic, write_atomic_with


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# Laws


def test_what_is_written_is_there_and_nothing_else(tmp_path: Path) -> None:
    for content in ("", "one\r\ntwo\n", "Käfer\n", "x" * 100_000):
        write_atomic(tmp_path / "a.txt", content)
        assert (tmp_path / "a.txt").read_bytes() == content.encode("utf-8")
    write_atomic(tmp_path / "a.txt", b"\x00\xff")
    assert (tmp_path / "a.txt").read_bytes() == b"\x00\xff"
    assert names(tmp_path) == ["a.txt"]


def test_a_write_that_fails_half_way_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")

    def half(temporary: Path) -> None:
        temporary.write_text("ne")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match=r"No space left on device: '.*/a\.txt'"):  # the file that was asked for
        write_atomic_with(tmp_path / "a.txt", half)
    assert (tmp_path / "a.txt").read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_an_interrupted_write_leaves_no_temporary_file(tmp_path: Path) -> None:
    def interrupt(temporary: Path) -> None:
        temporary.write_text("ne")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomic_with(tmp_path / "a.txt", interrupt)
    assert names(tmp_path) == []


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    """Two writers and a reader at the same time: every state that is seen is one that was written."""
    target = tmp_path / "a.txt"
    contents = {"a" * 200_000, "b" * 100_000}
    write_atomic(target, "a" * 200_000)

    def write(text: str) -> None:
        for _ in range(20):
            write_atomic(target, text)

    writers = [threading.Thread(target=write, args=(text,)) for text in contents]
    for writer in writers:
        writer.start()
    seen = set()
    while any(writer.is_alive() for writer in writers):
        seen.add(target.read_text())
    for writer in writers:
        writer.join()
    assert seen <= contents
    assert names(tmp_path) == ["a.txt"]


def test_content_is_on_disk_before_it_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut after the rename must not find an empty file: fsync of the file, rename, fsync of the folder."""
    order: list[str] = []
    real_fsync, real_replace = os.fsync, Path.replace

    def fsync(descriptor: int) -> None:
        order.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        real_fsync(descriptor)

    def replace(self: Path, target: Path) -> Path:
        order.append("rename")
        return real_replace(self, target)

    monkeypatch.setattr(files.os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    write_atomic(tmp_path / "a.txt", "new")
    assert order == ["file", "rename", "folder"]


def test_a_folder_in_use_is_refused_until_it_is_free_again(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from earmark.files import in_use\n"
        "with in_use(pathlib.Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen([sys.executable, "-c", code, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert other.stdout.readline() == b"held\n"
    with (
        pytest.raises(ValueError, match="another process is at work in this folder - wait for it, or choose another"),
        in_use(tmp_path),
    ):
        pass
    other.kill()  # kill -9: nothing of it is left behind
    other.communicate()
    with in_use(tmp_path):
        assert names(tmp_path) == []


# Worked numbers


def test_the_longest_name_a_file_can_have(tmp_path: Path) -> None:
    write_atomic(tmp_path / ("n" * 255), "new")
    assert names(tmp_path) == ["n" * 255]


def test_folders_are_made(tmp_path: Path) -> None:
    write_atomic(tmp_path / "deep" / "er" / "a.txt", "new")
    assert (tmp_path / "deep" / "er" / "a.txt").read_text() == "new"


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_atomic(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "usual").stat().st_mode


# Wrong input


def test_a_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(OSError, match=r"a\.txt"):
        write_atomic(tmp_path / "a.txt", "new")
    assert names(tmp_path) == ["a.txt"]
