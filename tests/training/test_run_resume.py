"""A training run that was stopped anywhere and resumed leaves the same folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from oracles.training_cases import changed, write_tones
from run_cases import QUICK, Stopped, files, trained

from earmark.training import run as module


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of tones with their tags."""
    folder = tmp_path_factory.mktemp("tones")
    write_tones(folder)
    return folder


# --- laws ---


@pytest.mark.parametrize("stop_in", ["feature_store", "new_network", "train_network", "held_out_figures", "rmtree"])
def test_a_run_stopped_anywhere_and_resumed_leaves_the_same_folder(
    stop_in: str, tones: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained(tones, tmp_path / "whole")

    def stopping(*arguments: Any, **options: Any) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(module if stop_in != "rmtree" else shutil, stop_in, stopping)
        with pytest.raises(Stopped):
            trained(tones, tmp_path / "run")
    (tmp_path / "run" / ".earmark-x1y2z3.tmp").write_bytes(b"half a checkpoint")  # what a real kill leaves
    result = trained(tones, tmp_path / "run", resume=True)
    assert files(tmp_path / "run").keys() - {".earmark-x1y2z3.tmp"} == files(tmp_path / "whole").keys()
    whole = files(tmp_path / "whole")
    assert all(files(tmp_path / "run")[name] == content for name, content in whole.items())
    assert result.metrics["steps"] == json.loads(whole["metrics.json"])["steps"]


def test_what_a_kill_in_the_middle_of_a_write_leaves_is_removed(tones: Path, tmp_path: Path) -> None:
    config = changed(QUICK, training={"snapshot_epochs": (1,)})
    trained(tones, tmp_path / "run", config)
    names = set(files(tmp_path / "run"))
    (tmp_path / "run" / ".earmark-x1y2z3.tmp").write_bytes(b"half a checkpoint")
    (tmp_path / "run" / "snapshots" / ".earmark-abc.tmp").write_bytes(b"half a snapshot")
    trained(tones, tmp_path / "run", config, resume=True)
    assert set(files(tmp_path / "run")) == names


def test_a_cache_of_which_a_kill_removed_a_part_is_made_anew(
    tones: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained(tones, tmp_path / "whole")
    monkeypatch.setattr(shutil, "rmtree", lambda folder: None)
    trained(tones, tmp_path / "run")
    monkeypatch.undo()
    (tmp_path / "run" / "cache" / "features.f16").unlink()
    trained(tones, tmp_path / "run", resume=True)
    assert files(tmp_path / "run") == files(tmp_path / "whole")


def test_resuming_a_finished_run_changes_nothing(tones: Path, tmp_path: Path) -> None:
    first = trained(tones, tmp_path / "run")
    before = files(tmp_path / "run")
    again = trained(tones, tmp_path / "run", resume=True)
    assert files(tmp_path / "run") == before
    assert again.metrics == first.metrics


def test_resuming_where_there_is_nothing_begins(tones: Path, tmp_path: Path) -> None:
    trained(tones, tmp_path / "run", resume=True)
    trained(tones, tmp_path / "other")
    assert files(tmp_path / "run") == files(tmp_path / "other")
