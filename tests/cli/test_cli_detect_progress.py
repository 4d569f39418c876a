from __future__ import annotations

import contextlib
import errno
import re
from pathlib import Path

import click
import pytest
from cli_cases import HIDDEN, SHOWN, as_terminal, done, make_model
from detect_cases import make_recordings

from earmark.cli.detect import command
from earmark.detection.detector import Detector


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    return make_recordings(tmp_path)


def detect(recordings: Path, model: Path, *options: object) -> None:
    """The command with the streams as they are; click's own runner would bring others, which are no terminal."""
    command.main([str(recordings), "--model", str(model), *map(str, options)], standalone_mode=False)


# Laws


@pytest.mark.parametrize(
    "error",
    [None, KeyboardInterrupt("enough"), OSError(errno.ENOSPC, "enough"), RuntimeError("enough")],
    ids=["its end", "Ctrl-C", "a full disk", "a bug"],
)
def test_a_terminal_has_its_cursor_again_however_detection_ends(
    error: BaseException | None, model: Path, recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyse = Detector.analyse

    def ending(detector: Detector, audio: Path, *, with_scores: bool) -> object:
        if error is not None and audio.name == "a.wav":  # the third of the four
            raise error
        return analyse(detector, audio, with_scores=with_scores)

    monkeypatch.setattr(Detector, "analyse", ending)
    terminal = as_terminal(monkeypatch)
    ends = contextlib.nullcontext() if error is None else pytest.raises((type(error), click.Abort))
    with ends:
        detect(recordings, model, "--out", tmp_path / "out")
    assert terminal.getvalue().count(HIDDEN) == terminal.getvalue().count(SHOWN) > 0


def test_the_bar_counts_the_recordings_and_is_gone_at_the_end(
    model: Path, recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = as_terminal(monkeypatch)
    detect(recordings, model, "--out", tmp_path / "out")
    sent = terminal.getvalue()
    counts = re.findall(r"detecting [^\n\r]*?(\d/\d)", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", sent))
    assert counts[0] == "0/4"
    assert counts[-1] == "3/4"  # while the fourth was heard
    assert counts == sorted(counts)
    # The cursor goes up to the line of the bar and erases it, and there the last line stands.
    assert sent.endswith(f"\x1b[1A\x1b[2K4 of 4 recordings detected, results in {tmp_path}/out\n")


def test_a_bar_on_stderr_leaves_the_table_on_stdout_as_it_is(
    model: Path, recordings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = done("detect", recordings, "--model", model).stdout
    terminal = as_terminal(monkeypatch)
    detect(recordings, model)
    assert capsys.readouterr().out == alone
    assert HIDDEN in terminal.getvalue()
    assert ".wav" not in terminal.getvalue()
