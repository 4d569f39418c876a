"""What the tests of the commands share: small soundscapes, a network that trains in a second, and the command line."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
import soundfile
from click.testing import CliRunner, Result

from earmark.cli.main import main
from earmark.soundscapes.synthetic import SoundscapeSettings, draw_clip
from earmark.writers import weak_to_tsv

# What hides and shows a terminal's cursor.
HIDDEN, SHOWN = "\x1b[?25l", "\x1b[?25h"

CLASSES = ("bark", "chirp", "knock")

# Settings under which a run of two epochs takes less than a second.
TINY = {
    "features.n_mels": "16",
    "features.hop_samples": "400",
    "model.channels": "[8]",
    "model.pool_time": "[2]",
    "model.pool_mel": "[4]",
    "model.rnn_units": "8",
    "training.epochs": "2",
    "training.batch_seconds": "12",
}


class Terminal(io.TextIOWrapper):
    """What a terminal would be sent; with bytes underneath, as stderr has, because click looks for them."""

    def __init__(self) -> None:
        self.sent = io.BytesIO()
        super().__init__(self.sent, encoding="utf-8", errors="backslashreplace", write_through=True)

    def isatty(self) -> bool:
        return True

    def getvalue(self) -> str:
        self.flush()
        return self.sent.getvalue().decode("utf-8")


def as_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Take the place of stderr; not a fixture, since pytest puts its own stderr there after the fixtures."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "110")
    return terminal


def earmark(*arguments: object) -> Result:
    """The command line in this very process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def done(*arguments: object) -> Result:
    """The same for a command that must succeed."""
    result = earmark(*arguments)
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    return result


def refused(*arguments: object) -> str:
    """The same for wrong input: exit code 2 and one message on stderr, which is returned; no traceback, no result."""
    result = earmark(*arguments)
    assert isinstance(result.exception, SystemExit), f"{result.output}\n{result.exception!r}"
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr


def settings(**changes: str) -> list[str]:
    """The tiny settings as options, changed: ``settings(training__epochs="3")``."""
    values = TINY | {name.replace("__", "."): value for name, value in changes.items()}
    return [option for name, value in values.items() for option in ("--set", f"{name}={value}")]


def train(labels: Path, out: Path, *options: object, **changes: str) -> list[object]:
    """The arguments of a tiny training run on one thread; `changes` are those of `settings`."""
    return ["train", labels, "--out", out, "--device", "cpu", "--threads", "1", *settings(**changes), *options]


def make_clips(folder: Path, *, n_clips: int = 12) -> Path:
    """Clips of 2 s in ``folder/audio``: bark, chirp, knock, nothing, bark, ...; returns the table of their tags."""
    (folder / "audio").mkdir(parents=True)
    tags = {}
    for index in range(n_clips):
        label = (*CLASSES, "")[index % 4]
        drawn = SoundscapeSettings(
            clip_seconds=2.0,
            classes=(label,) if label else CLASSES,
            classes_per_clip=(1, 1),
            empty_share=0.0 if label else 1.0,
            snr_db=(20.0, 30.0),
        )
        tags[f"{index:02d}.wav"] = {label} if label else set()
        soundfile.write(folder / "audio" / f"{index:02d}.wav", draw_clip((3, index), drawn).samples, 16000)
    (folder / "weak.tsv").write_text(weak_to_tsv(tags))
    return folder / "weak.tsv"


def make_model(folder: Path) -> Path:
    """A detector that was trained and exported by the commands; it knows little."""
    labels = make_clips(folder / "data")
    done(*train(labels, folder / "run", "--audio", folder / "data" / "audio"))
    done("export", folder / "run", folder / "model.onnx")
    return folder / "model.onnx"
