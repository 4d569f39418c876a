"""A run's diary: every row on its own line, and nothing in it that a resumed run would not write again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from earmark.training.log import RunLog, pooling_table, read_log


def step_row(step: int, epoch: int) -> dict[str, Any]:
    """A row after a step."""
    return {"kind": "step", "step": step, "epoch": epoch, "loss": 1 / (step + 2)}


def epoch_row(step: int, epoch: int) -> dict[str, Any]:
    """A row after an epoch."""
    return {"kind": "epoch", "step": step, "epoch": epoch, "pooling": [0.5 * epoch, 1.0], "best_epoch": epoch}


# Two epochs of two steps and a third one under way.
ROWS = [
    step_row(1, 1), step_row(2, 1), epoch_row(2, 1), step_row(3, 2), step_row(4, 2), epoch_row(4, 2), step_row(5, 3)
]  # fmt: skip


def written(path: Path, rows: list[dict[str, Any]]) -> RunLog:
    """A new log with these rows."""
    log = RunLog(path, resume_step=0, resume_epoch=0)
    for row in rows:
        log.append(row)
    return log


# --- laws ---


def test_rows_come_back_exactly(tmp_path: Path) -> None:
    log = written(tmp_path / "log.jsonl", ROWS)
    assert read_log(tmp_path / "log.jsonl") == log.rows == ROWS
    assert (tmp_path / "log.jsonl").read_text() == "".join(json.dumps(row) + "\n" for row in ROWS)


@pytest.mark.parametrize(
    ("step", "epoch", "kept"),
    [
        (5, 2, 7),  # a checkpoint in the third epoch
        (4, 2, 6),  # the checkpoint after the second epoch
        (4, 1, 5),  # the last step of the second epoch, before its row was written
        (3, 1, 4),
        (2, 1, 3),
        (2, 0, 2),
        (1, 0, 1),
        (0, 0, 0),  # from the beginning
    ],
)
def test_a_resumed_run_drops_what_its_checkpoint_does_not_know(
    step: int, epoch: int, kept: int, tmp_path: Path
) -> None:
    written(tmp_path / "log.jsonl", ROWS)
    log = RunLog(tmp_path / "log.jsonl", resume_step=step, resume_epoch=epoch)
    assert log.rows == read_log(tmp_path / "log.jsonl") == ROWS[:kept]


def test_a_line_cut_short_by_a_kill_is_dropped_and_written_again(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    written(file, ROWS)
    whole = file.read_text()
    for n_characters in range(len(whole) - len(json.dumps(ROWS[-1])), len(whole)):
        file.write_text(whole[:n_characters])
        assert read_log(file) in (ROWS[:-1], ROWS)
        log = RunLog(file, resume_step=4, resume_epoch=2)
        log.append(ROWS[-1])
        assert file.read_text() == whole


def test_rows_are_on_disk_when_they_are_appended(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "log.jsonl", resume_step=0, resume_epoch=0)
    for number, row in enumerate(ROWS):
        log.append(row)
        assert read_log(tmp_path / "log.jsonl") == ROWS[: number + 1]


def test_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert read_log(tmp_path / "none.jsonl") == []
    assert RunLog(tmp_path / "none.jsonl", resume_step=3, resume_epoch=1).rows == []


# --- worked numbers ---


def test_the_table_of_the_pooling_parameter() -> None:
    assert pooling_table(ROWS, ["cat", "dog"], "n") == (
        "epoch\tstep\tclass\tn\n1\t2\tcat\t0.5\n1\t2\tdog\t1\n2\t4\tcat\t1\n2\t4\tdog\t1\n"
    )


def test_epochs_without_a_parameter_are_not_in_the_table() -> None:
    assert pooling_table([{**epoch_row(2, 1), "pooling": None}], ["cat"], "n") == "epoch\tstep\tclass\tn\n"
