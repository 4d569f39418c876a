"""A training run that was stopped anywhere and resumed leaves the same folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from oracles.training_cases import changed, write_tones
from run_cases import QUICK, Stopped, copied, files, trained

from earmark.training import run as module
from earmark.training import starting
from earmark.training.run import Split, Watch


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of tones with their tags."""
    folder = tmp_path_factory.mktemp("tones")
    write_tones(folder)
    return folder


def stopped_after_an_epoch(folder: Path, out: Path, **options: Any) -> None:
    """A run that ends in the middle, with a checkpoint to resume from."""

    def stop(row: dict[str, Any]) -> None:
        if row["kind"] == "epoch":
            raise Stopped

    with pytest.raises(Stopped):
        trained(folder, out, watch=Watch(on_row=stop), **options)
    assert (out / "last.safetensors").exists()


# --- laws ---


@pytest.mark.parametrize("stop_in", ["read_features", "new_network", "train_network", "held_out_figures", "rmtree"])
def test_a_run_stopped_anywhere_and_resumed_leaves_the_same_folder(
    stop_in: str, tones: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained(tones, tmp_path / "whole")

    def stopping(*arguments: Any, **options: Any) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr({"new_network": starting, "rmtree": shutil}.get(stop_in, module), stop_in, stopping)
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


@pytest.mark.parametrize("resume", [False, True])
def test_a_second_run_in_the_folder_of_one_at_work_is_refused_and_disturbs_nothing(
    resume: bool, tones: Path, tmp_path: Path
) -> None:
    pytest.importorskip("fcntl")
    trained(tones, tmp_path / "whole")
    out, refusals = tmp_path / "run", []

    def begin_another(row: dict[str, Any]) -> None:
        before = files(out)
        with pytest.raises(ValueError, match="another process") as refusal:
            trained(tones, out, resume=resume)
        refusals.append(str(refusal.value))
        assert files(out) == before

    trained(tones, out, watch=Watch(on_row=begin_another))
    message = f"{out}: another process is at work in this folder - wait for it, or choose another folder"
    assert set(refusals) == {message}
    assert files(out) == files(tmp_path / "whole")
    trained(tones, out, resume=True)  # the folder is free again


def test_a_run_is_resumed_with_the_same_recordings_in_another_format(tones: Path, tmp_path: Path) -> None:
    trained(tones, tmp_path / "whole")
    folder, out = copied(tones, tmp_path / "data"), tmp_path / "run"
    stopped_after_an_epoch(folder, out)
    for path in folder.glob("*.wav"):
        samples, rate = soundfile.read(path)
        size = path.stat().st_size
        soundfile.write(path, samples, rate, subtype="PCM_24")  # every 16-bit number is one of 24 bits
        assert path.stat().st_size > size
        np.testing.assert_array_equal(soundfile.read(path)[0], samples)
    trained(folder, out, resume=True)
    assert files(out) == files(tmp_path / "whole")


# --- wrong input ---


def test_other_recordings_of_the_same_names_and_lengths(tones: Path, tmp_path: Path) -> None:
    trained(tones, tmp_path / "whole")
    folder, out = copied(tones, tmp_path / "data"), tmp_path / "run"
    stopped_after_an_epoch(folder, out)
    before = files(out)
    for path in folder.glob("*.wav"):
        samples, rate = soundfile.read(path)
        soundfile.write(path, np.zeros_like(samples), rate, subtype="PCM_16")
    message = (
        r"last.safetensors was trained on other recordings \((24) readable clips of (0\.\d+) h, now \1 of \2 h, or with"
    )
    with pytest.raises(ValueError, match=message):
        trained(folder, out, resume=True)
    after = files(out)
    assert all(after[name] == content for name, content in before.items() if not name.startswith("cache/"))
    shutil.copytree(tones, folder, dirs_exist_ok=True)
    trained(folder, out, resume=True)
    assert files(out) == files(tmp_path / "whole")


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("0.000\t0.800\t", "0.100\t0.800\t"),
        ("0.000\t0.800\t", "0.000\t0.700\t"),
        ("\t\thigh", "\t\tlow"),
        ("\t\thigh", "\t\t"),  # nobody listened for the low tone, and now somebody did
    ],
)
def test_other_spans_or_known_classes(before: str, now: str, tones: Path, tmp_path: Path) -> None:
    folder, out = copied(tones, tmp_path / "data"), tmp_path / "run"
    header, *rows = (tones / "weak.tsv").read_text().splitlines()
    assert rows[0].startswith("000.wav\t\t")  # a clip with none of the classes

    def tag(first: str) -> None:
        lines = [f"{header}\tonset\toffset\tknown_classes", f"{rows[0]}\t{first}"]
        (folder / "weak.tsv").write_text("\n".join([*lines, *(f"{row}\t\t\t" for row in rows[1:])]) + "\n")

    split = Split("split", "test")
    tag(before)
    stopped_after_an_epoch(folder, out, split=split)
    tag(now)
    with pytest.raises(ValueError, match=r"was trained on other labels or held-out clips \(24 clips, now 24\)"):
        trained(folder, out, split=split, resume=True)
    tag(before)
    trained(folder, out, split=split, resume=True)
