"""docs/own-data.md, walked as a reader would: every file saved, every command run as written, on fewer clips."""

from __future__ import annotations

import re
import runpy
import shlex
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from earmark.cli.main import COMMANDS, main
from earmark.labels import read_reviewed, read_weak

PAGE = Path(__file__).parents[1] / "docs" / "own-data.md"
TEXT = PAGE.read_text(encoding="utf-8")

# What is smaller here than on the page, so that minutes become seconds.
SMALLER = {
    "n_clips=200": "n_clips=24",
    "n_clips=20,": "n_clips=3,",
    "0200.wav": "0024.wav",
    "training.epochs=12": "training.epochs=1",
}


@dataclass(frozen=True)
class Fence:
    """One block: the language behind its opening fence, and what stands in it."""

    language: str
    content: str


FENCES = [Fence(*match) for match in re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)]
COMMAND_LINES = [line for fence in FENCES if fence.language == "" for line in fence.content.splitlines()]


def smaller(text: str) -> str:
    for on_the_page, here in SMALLER.items():
        text = text.replace(on_the_page, here)
    return text


@dataclass(frozen=True)
class Walk:
    """The folder in which the page was walked, and what each command printed."""

    folder: Path
    printed: dict[str, str]


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    folder = tmp_path_factory.mktemp("own-data")
    printed: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for fence in FENCES:
            name = re.match(r"# (\w+\.py)\n", fence.content)
            if fence.language == "python":
                assert name is not None, f"the block does not say under which name to save it: {fence.content}"
                Path(name[1]).write_text(smaller(fence.content), encoding="utf-8")
            for line in fence.content.splitlines() if fence.language == "" else ():
                program, *arguments = shlex.split(smaller(line))
                if program == "python":
                    runpy.run_path(arguments[0])
                elif program == "earmark":
                    result = CliRunner().invoke(main, [*arguments, *_fast(arguments[0])])
                    # The doctor is asked twice: before and after its findings are mended.
                    is_ill = arguments[0] == "doctor" and line not in printed and "corrected" not in line
                    assert result.exit_code == int(is_ill), f"{line}\n{result.output}"
                    printed[line] = printed.get(line, "") + result.output
                else:
                    assert program == "pip", line  # the tests run in what it installs
    return Walk(folder, printed)


def _fast(command: str) -> list[str]:
    """A small network, on one thread; and of the comparison, whose own tests run it, only its plan."""
    network = ["model.channels=[8]", "model.pool_time=[2]", "model.pool_mel=[4]", "model.rnn_units=8"]
    small = ["--device", "cpu", *(word for setting in network for word in ("--set", setting))]
    return {"train": [*small, "--threads", "1"], "compare": [*small, "--dry-run"], "doctor": ["--workers", "1"]}.get(
        command, []
    )


def test_every_command_runs_as_written(walk: Walk) -> None:
    assert len(walk.printed) >= 12
    assert set(COMMANDS) - {line.split()[1] for line in walk.printed} == {"demo"}
    for made in ("first.onnx", "second.onnx", "found/0000.wav.txt", "training.png", "tracks.png"):
        assert (walk.folder / made).stat().st_size > 0, made


def test_the_doctor_finds_what_the_page_says(walk: Walk) -> None:
    said = next(text for line, text in walk.printed.items() if line.startswith("earmark doctor"))
    shown = next(fence.content for fence in FENCES if "class-similar" in fence.content)
    for line in shown.splitlines():
        if line.startswith(("error", "warning", "  ->")):
            assert line in said, line
    assert "nothing is wrong with these data" in said
    assert "next: earmark train garden/weak.tsv --audio garden/audio --out run" in said


def test_tables_look_as_the_page_shows_them(walk: Walk) -> None:
    shown = [fence.content.splitlines() for fence in FENCES if fence.language == "text"]
    compared = next(text for line, text in walk.printed.items() if "--baseline" in line)
    judged = next(text for line, text in walk.printed.items() if "--intervals" in line)
    trained = next(text for line, text in walk.printed.items() if "runs/first" in line and "--dry-run" not in line)
    for head, printed in (("          event ", judged), ("           event ", compared), ("epoch ", trained)):
        block = next(lines for lines in shown if lines[0].startswith(head))
        # The heads of the tables; what stands below depends on the clips.
        for line in block[1:2] if head.startswith(" ") else [line for line in block if line.startswith("┃")]:
            assert line.split() in [other.split() for other in printed.splitlines()], line


def test_tables_that_are_shown_can_be_read(tmp_path: Path) -> None:
    tags, reviewed = (fence.content for fence in FENCES if fence.content.startswith("filename\t"))
    (tmp_path / "weak.tsv").write_text(tags, encoding="utf-8")
    assert [sorted(clip.labels) for clip in read_weak(tmp_path / "weak.tsv")] == [["knock"], ["engine", "knock"], []]
    (tmp_path / "reviewed.tsv").write_text(reviewed, encoding="utf-8")
    knocks, minute = read_reviewed(tmp_path / "reviewed.tsv")
    assert (knocks.onset, knocks.classes) == (None, frozenset({"knock"}))
    assert (minute.offset, minute.classes) == (60.0, None)


def parameters(name: str) -> list[click.Parameter]:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    return command.params


def test_every_option_that_is_named_is_there() -> None:
    there = {option for name in COMMANDS for parameter in parameters(name) for option in parameter.opts}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", TEXT)) <= there


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)", TEXT):
        assert (PAGE.parent / target).exists(), target
