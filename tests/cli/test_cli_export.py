from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from cli_cases import CLASSES, done, earmark, make_clips, refused, train

from earmark.detection.model_file import open_model
from earmark.detection.settings import Decoding
from earmark.training.checkpoint import load_checkpoint
from earmark.training.log import RunLog


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    folder = tmp_path_factory.mktemp("run")
    labels = make_clips(folder / "data")
    done(*train(labels, folder / "run", "--audio", folder / "data/audio", decoding__threshold="0.75"))
    return folder / "run"


@pytest.fixture
def unfinished(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that was stopped in its second epoch."""
    append = RunLog.append

    def stopped(log: RunLog, row: dict[str, object]) -> None:
        append(log, row)
        if row["step"] == 3:
            raise KeyboardInterrupt

    data = run.parent / "data"
    with monkeypatch.context() as patch:
        patch.setattr(RunLog, "append", stopped)
        options = train(data / "weak.tsv", tmp_path / "unfinished", "--audio", data / "audio")
        assert earmark(*options).exit_code == 130
    return tmp_path / "unfinished"


# Laws


def test_the_file_holds_what_the_run_says(run: Path, tmp_path: Path) -> None:
    result = done("export", run, tmp_path / "new/model.onnx")
    assert result.stderr == ""
    said = rf"{tmp_path}/new/model\.onnx: 3 classes, 0\.\d MB, equals torch within \d\.\de-0[5-9]\n"
    assert re.fullmatch(said, result.stdout)
    info = open_model(tmp_path / "new/model.onnx")[1]
    assert info.classes == CLASSES
    assert info.pooling == "power"
    assert info.card == load_checkpoint(run / "best.safetensors").card
    assert {info.decoding.of(label).threshold for label in CLASSES} == {0.75}
    assert (info.piece_seconds, info.context_seconds, info.clip_seconds) == (60.0, 4.0, 2.0)


def test_a_run_and_its_best_epoch_give_the_same_file(run: Path, tmp_path: Path) -> None:
    done("export", run, tmp_path / "a.onnx")
    done("export", run / "best.safetensors", tmp_path / "b.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_an_export_that_fails_leaves_what_was_there(run: Path, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"earlier")
    (tmp_path / "run").mkdir()
    shutil.copy(run / "config.toml", tmp_path / "run")
    refused("export", tmp_path / "run", tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == b"earlier"


# Worked numbers


def test_pieces_and_context_are_the_users(run: Path, tmp_path: Path) -> None:
    options = ["--piece-seconds", "30", "--context-seconds", "1.5"]
    done("export", run, tmp_path / "model.onnx", *options)
    info = open_model(tmp_path / "model.onnx")[1]
    assert (info.piece_seconds, info.context_seconds) == (30.0, 1.5)


def test_an_unfinished_run_is_exported_with_a_remark(unfinished: Path, tmp_path: Path) -> None:
    result = done("export", unfinished, tmp_path / "model.onnx")
    best = unfinished / "best.safetensors"
    assert result.stderr == (
        f"earmark: {best} is of a run that has not ended; its model marks whatever is above 0.5, without filters\n"
    )
    assert open_model(tmp_path / "model.onnx")[1].decoding == Decoding.fixed(CLASSES)


def test_other_epochs_of_a_finished_run_are_exported_with_a_remark(run: Path, tmp_path: Path) -> None:
    copied = tmp_path / "run"
    (copied / "snapshots").mkdir(parents=True)
    shutil.copy(run / "metrics.json", copied)
    for name in ("last.safetensors", "snapshots/epoch-0001.safetensors"):
        shutil.copy(run / "last.safetensors", copied / name)
        assert done("export", copied / name, tmp_path / "model.onnx").stderr == (
            f"earmark: {copied / name} carries no decoding settings; its model marks whatever is above 0.5, without"
            f" filters - export {copied} for the best epoch, which has them\n"
        )
    assert open_model(tmp_path / "model.onnx")[1].decoding == Decoding.fixed(CLASSES)
    (copied / "metrics.json").unlink()
    assert done("export", copied / "last.safetensors", tmp_path / "model.onnx").stderr == (
        f"earmark: {copied}/last.safetensors carries no decoding settings; its model marks whatever is above 0.5,"
        " without filters\n"
    )


# Wrong input


def test_a_run_before_its_first_epoch(run: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    shutil.copy(run / "config.toml", tmp_path / "run")
    assert refused("export", tmp_path / "run", tmp_path / "model.onnx") == (
        f"earmark: {tmp_path}/run holds no best.safetensors"
        " - is it a folder of earmark train, and has an epoch ended?\n"
    )


def test_wrong_runs(run: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    assert refused("export", tmp_path / "nowhere", model) == (
        f"earmark: {tmp_path}/nowhere: there is no such run - RUN is the folder that earmark train --out wrote\n"
    )
    done("export", run, model)
    rule = "RUN must be a folder of earmark train or a .safetensors file in it, got "
    assert refused("export", model, model) == f"earmark: {rule}{model} - this one is exported already\n"
    table = run.parent / "data/weak.tsv"
    assert refused("export", table, model) == f"earmark: {rule}{table} - is it the wrong file?\n"
    (tmp_path / "cut.safetensors").write_bytes((run / "best.safetensors").read_bytes()[:2000])
    assert f"{tmp_path}/cut.safetensors: is no readable safetensors file (" in refused(
        "export", tmp_path / "cut.safetensors", model
    )


def test_wrong_files(run: Path, tmp_path: Path) -> None:
    assert refused("export", run, "model.pt") == (
        "earmark: FILE must end in .onnx, got model.pt - the model is written in that format\n"
    )
    (tmp_path / "folder.onnx").mkdir()
    assert refused("export", run, tmp_path / "folder.onnx") == (
        f"earmark: FILE must be a file to write, got the folder {tmp_path}/folder.onnx\n"
    )
    assert "Missing argument 'FILE'" in refused("export", run)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--piece-seconds", "0.5", "--piece-seconds must be at least 1, got 0.5 - shorter pieces are all context"),
        ("--piece-seconds", "inf", "--piece-seconds must be a finite number, got inf"),
        ("--context-seconds", "-1", "--context-seconds must be at least 0, got -1.0"),
        ("--context-seconds", "nan", "--context-seconds must be at least 0, got nan"),
        ("--context-seconds", "4s", "Invalid value for '--context-seconds': '4s' is not a valid float."),
    ],
)
def test_wrong_options(option: str, value: str, message: str, run: Path, tmp_path: Path) -> None:
    assert message in refused("export", run, tmp_path / "model.onnx", option, value)
    assert not (tmp_path / "model.onnx").exists()
