"""Stopping the training loop anywhere and resuming it changes nothing."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracles.training_cases import changed
from run_cases import BUSY, Stopped, bits, files, rows, run_loop, some_data

from earmark.training.checkpoint import load_checkpoint
from earmark.training.drawing import epoch_plan
from earmark.training.log import read_log


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A busy run from beginning to end."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    run_loop(folder, BUSY)
    return folder


# --- laws ---


def test_a_run_leaves_what_it_promises(uninterrupted: Path) -> None:
    assert set(files(uninterrupted)) == {
        "log.jsonl", "pooling.tsv", "last.safetensors", "best.safetensors", "snapshots/epoch-0002.safetensors"
    }  # fmt: skip
    n_rows = len(rows(uninterrupted, "step"))
    assert n_rows > 12  # several steps an epoch, or the laws below would say little
    assert any(len(epoch_plan(some_data(), BUSY, epoch)[0]) == 1 for epoch in (1, 2, 3))


def test_the_same_seed_gives_the_same_run_and_another_one_does_not(uninterrupted: Path, tmp_path: Path) -> None:
    run_loop(tmp_path / "again", BUSY)
    assert files(tmp_path / "again") == files(uninterrupted)
    run_loop(tmp_path / "other", changed(BUSY, training={"seed": 1}))
    assert bits(tmp_path / "other" / "last.safetensors") != bits(uninterrupted / "last.safetensors")


def test_how_often_a_checkpoint_is_written_changes_nothing(uninterrupted: Path, tmp_path: Path) -> None:
    run_loop(tmp_path, changed(BUSY, training={"checkpoint_seconds": 1e9}))
    for name in ("log.jsonl", "pooling.tsv"):
        assert (tmp_path / name).read_bytes() == (uninterrupted / name).read_bytes()
    assert bits(tmp_path / "last.safetensors") == bits(uninterrupted / "last.safetensors")


@pytest.mark.parametrize("checkpoint_seconds", [0.0, 1e9], ids=["after every step", "after every epoch"])
def test_a_run_stopped_after_any_row_and_resumed_is_the_uninterrupted_run(
    checkpoint_seconds: float, tmp_path: Path
) -> None:
    config = changed(BUSY, training={"checkpoint_seconds": checkpoint_seconds, "epochs": 2})
    run_loop(tmp_path / "whole", config)
    n_rows = len(read_log(tmp_path / "whole" / "log.jsonl"))
    for stop_at in range(1, n_rows + 1):
        folder = tmp_path / str(stop_at)
        count = itertools.count(1)

        def stop(row: dict[str, Any], count: Any = count, stop_at: int = stop_at) -> None:
            if next(count) == stop_at:
                raise Stopped

        with pytest.raises(Stopped):
            run_loop(folder, config, on_row=stop)
        run_loop(folder, config)
        assert files(folder) == files(tmp_path / "whole"), f"stopped after row {stop_at}"


def test_a_run_stopped_again_and_again_still_arrives(uninterrupted: Path, tmp_path: Path) -> None:
    def stop_at_third(count: list[int]) -> Callable[[dict[str, Any]], None]:
        def on_row(row: dict[str, Any]) -> None:
            count.append(1)
            if len(count) == 3:
                raise Stopped

        return on_row

    for _ in range(100):
        try:
            run_loop(tmp_path, BUSY, on_row=stop_at_third([]))
        except Stopped:
            continue
        break
    assert files(tmp_path) == files(uninterrupted)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_run_stopped_at_any_of_its_writes_is_the_uninterrupted_run(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Just before and just after each rename: between best and last, between a snapshot and last, inside an epoch.
    config = changed(BUSY, training={"epochs": 2, "checkpoint_seconds": 1e9})
    run_loop(tmp_path / "whole", config)
    replace = Path.replace
    for stop_at in itertools.count(1):
        folder = tmp_path / str(stop_at)
        count = itertools.count(1)

        def stopping(path: Path, target: Path, count: Any = count, stop_at: int = stop_at) -> Path:
            is_last = next(count) == stop_at
            if is_last and moment == "before":
                raise Stopped
            result = replace(path, target)
            if is_last:
                raise Stopped
            return result

        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", stopping)
            try:
                run_loop(folder, config)
                break
            except Stopped:
                pass
        run_loop(folder, config)
        assert files(folder) == files(tmp_path / "whole"), f"stopped {moment} write {stop_at}"
    assert stop_at > 8  # the log, and per epoch the table, best, last; a snapshot


def test_a_full_disk_stops_the_run_and_with_room_again_it_goes_on(
    uninterrupted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync, count = os.fsync, itertools.count(1)

    def full_at_the_twelfth(descriptor: int) -> None:
        if next(count) >= 12:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full_at_the_twelfth)
        with pytest.raises(OSError, match="No space left on device"):
            run_loop(tmp_path, BUSY)
    assert load_checkpoint(tmp_path / "last.safetensors").progress.step > 0
    run_loop(tmp_path, BUSY)
    assert files(tmp_path) == files(uninterrupted)
