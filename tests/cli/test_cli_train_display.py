from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_cases import HIDDEN, SHOWN, as_terminal

from earmark.cli.train_display import report, watching
from earmark.config import Config, DecodingConfig, PoolingConfig, TrainingConfig
from earmark.training.run import TrainingResult

TWO_EPOCHS = Config(training=TrainingConfig(epochs=2))


def step(epoch: int, of_epoch: float) -> dict[str, Any]:
    return {"kind": "step", "step": 1, "epoch": epoch, "of_epoch": of_epoch, "loss": 0.25}


def epoch(number: int, best: int, **figures: float | None) -> dict[str, Any]:
    return {"kind": "epoch", "step": 1, "epoch": number, "best_epoch": best, "pooling": None, **figures}


def result(folder: Path, **changes: Any) -> TrainingResult:
    metrics: dict[str, Any] = {
        "classes": ["dog", "owl [far]"],
        "epochs": 2,
        "best_epoch": 1,
        "held_out_clips": 3,
        "held_out_f1": {"dog": 0.75, "owl [far]": 0.5},
        "held_out_best_f1": {"dog": 0.8, "owl [far]": 0.5},
        "pooling_parameter": "n",
        "n": {"dog": 1.25, "owl [far]": 0.125},
    }
    others = {name: changes.pop(name, ()) for name in ("failures", "notes", "untuned")}
    return TrainingResult(folder, metrics | changes, **others)


# Laws


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, None])
def test_a_terminal_has_its_cursor_again_however_training_ends(
    error: type[BaseException] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = as_terminal(monkeypatch)
    with (
        contextlib.nullcontext() if error is None else pytest.raises(error, match="enough"),
        watching(TWO_EPOCHS, Path("run"), tensorboard=False) as watch,
    ):
        watch.on_row(step(1, 0.5))
        if error is not None:
            raise error("enough")
    assert terminal.getvalue().count(HIDDEN) == terminal.getvalue().count(SHOWN) > 0


def test_lines_stand_above_the_bars_and_not_in_them(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = as_terminal(monkeypatch)
    with watching(TWO_EPOCHS, Path("run"), tensorboard=False) as watch:
        watch.on_clip(1, 1)
        watch.on_row(step(1, 1.0))
        watch.on_row(epoch(1, 1, held_out_loss=0.5, held_out_macro_f1=0.25))
        watch.on_row(step(2, 1.0))
    sent = terminal.getvalue()
    # In front of the line stands nothing but what erases the bars.
    assert re.search(
        r"(\n|\x1b\[2K)epoch   1 of 2   held-out loss 0\.500   best tag F1 0\.250   best so far\s*\n", sent
    )
    last = sent[sent.rindex("reading clips") :]
    assert "1 of 1" in last
    assert re.search(r"training.*100%.*loss 0\.250", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", last), flags=re.DOTALL)


def test_without_a_terminal_there_are_lines_only(capsys: pytest.CaptureFixture[str]) -> None:
    with watching(TWO_EPOCHS, Path("run"), tensorboard=False) as watch:
        watch.on_clip(1, 2)
        watch.on_row(step(1, 1.0))
        watch.on_row(epoch(1, 1))
        watch.on_row(epoch(2, 1, held_out_loss=0.5, held_out_macro_f1=0.25))
        watch.on_row(epoch(2, 2, held_out_loss=0.5, held_out_macro_f1=None))  # no class can have one
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.strip().splitlines() == [
        "epoch   1 of 2",
        "epoch   2 of 2   held-out loss 0.500   best tag F1 0.250",
        "epoch   2 of 2   held-out loss 0.500   best tag F1 -   best so far",
    ]


def test_tensorboard_leaves_nothing_of_a_run_that_never_began(tmp_path: Path) -> None:
    with watching(TWO_EPOCHS, tmp_path / "run", tensorboard=True):
        pass
    assert list(tmp_path.iterdir()) == []


# Worked numbers


def test_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(result(tmp_path / "run"), TWO_EPOCHS)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "best epoch: 1 of 2" in captured.err
    rows = [re.sub(r"[│┃]", " ", line).split() for line in captured.err.splitlines()]
    assert ["class", "tag", "F1", "at", "0.5", "at", "its", "best", "n"] in rows
    assert ["dog", "0.750", "0.800", "1.250"] in rows
    assert ["owl", "[far]", "0.500", "0.500", "0.125"] in rows  # brackets are no markup
    assert "no held-out clip" not in captured.err


def test_a_class_that_no_held_out_clip_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(
        result(tmp_path / "run", held_out_f1={"dog": 0.75}, held_out_best_f1={"dog": 0.75}, untuned=("owl [far]",)),
        TWO_EPOCHS,
    )
    shown = capsys.readouterr().err
    assert re.search(r"owl \[far\] +│ - +│ - +│ 0\.125", shown)
    assert "- no held-out clip has this class" in shown
    assert "earmark: no threshold was tuned for owl [far]: too few held-out clips with and without\n" in shown


def test_a_class_that_loses_by_the_common_threshold_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = result(tmp_path / "run", held_out_best_f1={"dog": 0.8, "owl [far]": 0.75})
    report(found, TWO_EPOCHS)
    shown = capsys.readouterr().err
    assert "earmark: owl [far]: better tagged with a threshold of their own;" in shown  # 0.75 - 0.5, dog only 0.05
    assert "train with --set decoding.mode=tuned\n" in shown
    report(found, Config(decoding=DecodingConfig(mode="tuned")))
    shown = capsys.readouterr().err
    assert re.search(r"┃ class +┃ tag F1 ┃ n +┃", shown)  # it has its own threshold already
    assert "of their own" not in shown


def test_without_held_out_clips_nothing_is_said_about_thresholds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report(
        result(tmp_path / "run", held_out_clips=0, held_out_f1={}, held_out_best_f1={}, untuned=("dog",)), TWO_EPOCHS
    )
    shown = capsys.readouterr().err
    assert "threshold" not in shown
    assert "no clip held out" in shown
    assert "has this class" not in shown
    assert "lowest held-out loss" not in shown


@pytest.mark.parametrize(
    ("best_f1", "select", "is_said"), [({}, "f1", True), ({"dog": 0.0}, "f1", False), ({}, "loss", False)]
)
def test_held_out_clips_that_tell_no_epochs_apart(
    best_f1: dict[str, float], select: str, is_said: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = Config(training=TrainingConfig(epochs=2, select=select))
    report(result(tmp_path / "run", held_out_clips=1, held_out_f1={}, held_out_best_f1=best_f1), config)
    shown = capsys.readouterr().err
    assert (
        "the best epoch is the one of the lowest held-out loss: no class has held-out clips with" in shown
    ) == is_said
    assert "1 clip held out" in shown


def test_alpha_is_a_parameter_too_and_there_may_be_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = result(tmp_path / "run")
    found.metrics["pooling_parameter"] = "alpha"
    found.metrics["alpha"] = found.metrics.pop("n")
    report(found, TWO_EPOCHS)
    shown = capsys.readouterr().err
    assert re.search(r"┃ class +┃ tag F1 at 0\.5 ┃ at its best ┃ alpha ┃", shown)
    assert re.search(r"dog +│ 0\.750 +│ 0\.800 +│ 1\.250 +│\n", shown)
    found.metrics["pooling_parameter"] = None
    report(found, TWO_EPOCHS)
    assert re.search(r"dog +│ 0\.750 +│ 0\.800 +│\n", capsys.readouterr().err)


def test_remarks_failures_and_what_to_do_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failures = (("weak.tsv:2", "a.wav", "a.wav: no such file in audio"),)
    notes = (("weak.tsv:3", "b.wav", "only 1.00 of 2.00 s could be decoded"),)
    report(result(Path("runs/cats & dogs.v2"), failures=failures, notes=notes), TWO_EPOCHS)
    assert capsys.readouterr().err.splitlines()[-4:] == [
        "earmark: weak.tsv:3: b.wav: only 1.00 of 2.00 s could be decoded",
        "earmark: 1 clip could not be read and had to be left out:",
        "  weak.tsv:2: a.wav: no such file in audio",
        # To be pasted into a shell, blanks and points in the name of the run included.
        "next: earmark export 'runs/cats & dogs.v2' 'cats & dogs.v2.onnx'"
        " && earmark detect RECORDING --model 'cats & dogs.v2.onnx'",
    ]
    report(result(Path("run"), failures=failures * 2), TWO_EPOCHS)
    assert "earmark: 2 clips could not be read and had to be left out:" in capsys.readouterr().err


def test_in_a_folder_per_class_a_recording_is_named_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = "data/dog/a.wav"
    for reason in (f"{place}: is empty", "dog/a.wav: is empty"):
        failures, notes = ((place, "dog/a.wav", reason),), ((place, "dog/a.wav", "lasts only 0.001 s"),)
        report(result(tmp_path / "run", failures=failures, notes=notes), TWO_EPOCHS)
        shown = capsys.readouterr().err
        assert "\nearmark: data/dog/a.wav: lasts only 0.001 s\n" in shown
        assert "\n  data/dog/a.wav: is empty\n" in shown


def test_many_remarks_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = tuple((f"weak.tsv:{line}", f"{line}.wav", "lasts only 0.001 s") for line in range(2, 14))
    report(result(tmp_path / "run", notes=notes), TWO_EPOCHS)
    shown = capsys.readouterr().err
    assert shown.count("lasts only") == 10
    assert "earmark: and 2 more clips used only in part\n" in shown


def test_power_pooling_that_became_max_pooling_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(result(tmp_path / "run", n={"dog": 53.4, "owl [far]": 49.9}), TWO_EPOCHS)
    assert (
        "earmark: n of dog is 53: nearly max pooling, gradients reach one frame only - a penalty holds it back:"
        " --set pooling.penalty=1e-4\n"
    ) in capsys.readouterr().err
    for changes in ({"n": {"dog": 50.0}}, {"pooling_parameter": "alpha", "alpha": {"dog": 99.0, "owl [far]": 1.0}}):
        found = result(tmp_path / "run", **changes)
        found.metrics["n"] = {**found.metrics["n"], "owl [far]": 1.0}
        report(found, TWO_EPOCHS)
        assert "nearly max pooling" not in capsys.readouterr().err


def test_a_run_in_this_very_folder_has_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "owls").mkdir()
    monkeypatch.chdir(tmp_path / "owls")
    report(result(Path()), TWO_EPOCHS)
    assert "next: earmark export . owls.onnx && " in capsys.readouterr().err


def test_what_cannot_be_exported_is_not_offered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stages = Config(pooling=PoolingConfig(name="hierarchical", inner="power", groups=(5, 5)))
    report(result(tmp_path / "run"), stages)
    assert "next:" not in capsys.readouterr().err


# Wrong input


def test_tensorboard_that_is_not_installed_is_said_before_anything_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with (
        pytest.raises(ValueError, match=r'^--tensorboard needs TensorBoard: pip install "earmark\[tensorboard\]"$'),
        watching(TWO_EPOCHS, Path("run"), tensorboard=True),
    ):
        pass
