"""What `earmark train --tensorboard` writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from cli_cases import CLASSES, done, earmark, make_clips, train

from earmark.training.log import RunLog, read_log


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Twelve clips of two seconds: bark, chirp, knock, nothing, bark, ..."""
    return make_clips(tmp_path / "data")


@pytest.fixture(autouse=True)
def _threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def audio(labels: Path) -> list[object]:
    return ["--audio", labels.parent / "audio"]


def interrupted_after(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Ctrl-C come when a run has written so many rows of its log."""
    append = RunLog.append

    def counted(log: RunLog, row: dict[str, Any]) -> None:
        append(log, row)
        if len(log.rows) == rows:
            raise KeyboardInterrupt

    monkeypatch.setattr(RunLog, "append", counted)


def test_tensorboard_gets_the_numbers_of_the_log(labels: Path, tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    done(*train(labels, tmp_path / "run", *audio(labels), "--tensorboard"))
    events = EventAccumulator(str(tmp_path / "run/tensorboard")).Reload()
    rows = read_log(tmp_path / "run/log.jsonl")
    for place, label in enumerate(CLASSES):
        epochs = [(row["step"], row["pooling"][place]) for row in rows if row["kind"] == "epoch"]
        assert [(event.step, event.value) for event in events.Scalars(f"pooling/{label}")] == [
            (step, pytest.approx(value, rel=1e-6)) for step, value in epochs
        ]
    for name in ("loss", "learning_rate", "held_out_loss", "held_out_macro_f1"):
        expected = [(row["step"], row[name]) for row in rows if name in row]
        assert len(expected) in (2, 4)
        assert [(event.step, event.value) for event in events.Scalars(name)] == [
            (step, pytest.approx(value, rel=1e-6)) for step, value in expected
        ]


@pytest.mark.parametrize("rows_before", [2, 4, 5, 6])
def test_tensorboard_shows_every_step_of_a_resumed_run_once(
    rows_before: int, labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    options = train(labels, tmp_path / "run", *audio(labels), "--tensorboard", training__checkpoint_seconds="1e9")
    with monkeypatch.context() as patch:
        interrupted_after(rows_before, patch)  # an epoch has two steps and a row of its own, then a checkpoint
        assert earmark(*options).exit_code == 130
    done(*options, "--resume")
    events = EventAccumulator(str(tmp_path / "run/tensorboard"), size_guidance={"scalars": 0}).Reload()
    rows = read_log(tmp_path / "run/log.jsonl")
    for name in ("loss", "held_out_loss"):
        assert [event.step for event in events.Scalars(name)] == [row["step"] for row in rows if name in row]
