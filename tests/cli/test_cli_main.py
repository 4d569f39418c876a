from __future__ import annotations

import errno
import importlib
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from cli_cases import earmark, make_clips, refused
from click.shell_completion import ShellComplete

from earmark import __version__, cli
from earmark.cli import evaluate
from earmark.cli.main import COMMANDS, main

NOT_COMMANDS = {
    "compare_display", "__init__", "main", "train_display", "train_dry_run", "train_sources",
    "evaluate_pictures", "evaluate_report", "evaluate_systems", "evaluate_usage",
}  # fmt: skip


def command(name: str) -> click.Command:
    found: click.Command = importlib.import_module(f"earmark.cli.{name}").command
    return found


def failing(error: BaseException) -> click.Command:
    """A command that fails."""

    @click.command()
    def fails() -> None:
        raise error

    return fails


def in_python_without(package: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line, in `folder`, where a package is not installed."""
    code = f"import sys; sys.modules[{package!r}] = None\nfrom earmark.cli.main import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


# Laws


def test_every_file_is_a_command_and_every_command_a_file() -> None:
    files = {path.stem for path in Path(str(cli.__file__)).parent.glob("*.py")}
    assert files - NOT_COMMANDS == set(COMMANDS)
    assert {command(name).name for name in COMMANDS} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    options = [parameter for parameter in command(name).params if isinstance(parameter, click.Option)]
    assert [option.name for option in options if not option.help] == []
    result = earmark(name, "-h")
    assert result.exit_code == 0
    assert all(option.opts[0] in result.stdout for option in options)


# Worked numbers


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_names_every_command_and_the_exit_codes(option: str) -> None:
    result = earmark(option)
    assert result.exit_code == 0
    assert all(name in result.stdout for name in COMMANDS)
    assert "0 done; 1 done, but some files failed (or the doctor found something)" in " ".join(result.stdout.split())


def test_version() -> None:
    result = earmark("--version")
    assert (result.exit_code, result.stdout) == (0, f"earmark, version {__version__}\n")


@pytest.mark.parametrize("module", ["earmark", "earmark.cli.main"])
def test_the_module_runs_as_the_command(module: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"earmark, version {__version__}\n")


def test_the_shell_completes_commands_and_options() -> None:
    def completed(typed: list[str], incomplete: str) -> list[str]:
        return [
            item.value for item in ShellComplete(main, {}, "earmark", "COMPLETE").get_completions(typed, incomplete)
        ]

    assert completed([], "e") == ["evaluate", "export"]
    assert completed(["export"], "--piece") == ["--piece-seconds"]
    assert completed(["nonsense"], "tr") == ["train"]


def test_without_a_command_there_is_help() -> None:
    result = earmark()
    assert result.exit_code == 2
    assert "Commands:" in result.stderr


# Wrong input


def test_an_unknown_command() -> None:
    listed = f"(there are: {', '.join(COMMANDS)})"
    assert refused("trian") == f"Error: there is no command 'trian' {listed} - did you mean 'train'?\n"
    assert refused("weather") == f"Error: there is no command 'weather' {listed}\n"


def test_an_unknown_option() -> None:
    assert "No such option '--verbose'" in refused("--verbose")
    assert "No such option '--epochs'" in refused("train", "tags.tsv", "--epochs", "3")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("weak.tsv:17: onset 12.5 is after offset 3.0"), "weak.tsv:17: onset 12.5 is after offset 3.0"),
        (PermissionError(errno.EACCES, "Permission denied", "run/last"), "run/last: Permission denied"),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        # Of a rename: not the temporary file, but the one that was asked for.
        (IsADirectoryError(errno.EISDIR, "Is a directory", ".m.onnx.x.tmp", None, "m.onnx"), "m.onnx: Is a directory"),
        (OSError("the disk went away"), "the disk went away"),
        (
            ModuleNotFoundError("No module named 'torch'", name="torch.nn"),
            "this needs the package 'torch', which is not installed: pip install \"earmark[train]\"",
        ),
        (
            ModuleNotFoundError("No module named 'click'", name="click"),
            "the package 'click' is missing - is the installation complete?",
        ),
    ],
)
def test_an_error_is_one_message(error: Exception, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "command", failing(error))
    assert refused("evaluate") == f"earmark: {message}\n"


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, figures = tmp_path / "events.tsv", tmp_path / "figures.json"
    table.write_text("filename\tonset\toffset\tevent_label\na.wav\t0.5\t1.0\tdog\n")
    figures.write_text("earlier")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("earmark.files.os.fsync", full)
    message = refused("evaluate", "--reference", table, "--predicted", table, "--json", figures)
    assert message == f"earmark: {figures}: No space left on device\n"
    assert figures.read_text() == "earlier"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["events.tsv", "figures.json"]


def test_ctrl_c_is_no_failed_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "command", failing(KeyboardInterrupt()))
    result = earmark("evaluate")
    assert (result.exit_code, result.stderr) == (130, "\nearmark: stopped\n")


def test_a_reader_that_has_enough_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    # As in: earmark detect ... | head
    monkeypatch.setattr(evaluate, "command", failing(BrokenPipeError(errno.EPIPE, "Broken pipe")))
    result = earmark("evaluate")
    assert isinstance(result.exception, SystemExit)
    assert result.stderr == ""


def test_a_mistake_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "command", failing(KeyError("classes")))
    assert isinstance(earmark("evaluate").exception, KeyError)


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("torch", ["train", "weak.tsv", "--out", "run"], "train"),
        ("onnx", ["export", "run", "model.onnx"], "train"),
        ("safetensors", ["export", "run", "model.onnx"], "train"),
        ("matplotlib", ["demo", "--out", "demo"], "plot"),
    ],
)
def test_a_missing_extra_is_named(package: str, arguments: list[str], extra: str, tmp_path: Path) -> None:
    make_clips(tmp_path / "data", n_clips=1)
    done = in_python_without(package, tmp_path / "data", *arguments)
    assert done.returncode == 2
    assert done.stderr == (
        f'earmark: this needs the package {package!r}, which is not installed: pip install "earmark[{extra}]"\n'
    )
