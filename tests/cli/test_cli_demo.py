from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from cli_cases import HIDDEN, SHOWN, as_terminal, done, earmark, refused
from demo_cases import small_demo

from earmark.cli.demo import command
from earmark.demo import page, steps
from earmark.demo.steps import DemoPlan, DemoResult
from earmark.events import Event
from earmark.metrics.evaluation import evaluate


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, DemoPlan]]:
    """The demo was run already (see demo_cases); what the command asks for is noted, and given from there."""
    noted: list[tuple[Path, DemoPlan]] = []

    def run_demo(
        out: Path,
        *,
        plan: DemoPlan,
        say: Callable[[str], None],
        on_progress: Callable[[Mapping[str, float]], None],
    ) -> DemoResult:
        noted.append((out, plan))
        say("making 400 [of 400] soundscapes")
        on_progress({"power": 0.5, "linear": 1.0})
        time.sleep(0.3)  # until the bars stand there, if there are any
        return small_demo()[1]

    monkeypatch.setattr(steps, "run_demo", run_demo)
    return noted


# Laws


def test_the_whole_plan_in_the_folder_demo(
    asked: list[tuple[Path, DemoPlan]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = done("demo")
    assert asked == [(Path("demo"), DemoPlan())]
    assert len(list(Path("demo/figures").glob("*.png"))) == 6

    assert result.stderr == "making 400 [of 400] soundscapes\ndrawing the report\n"
    *systems, last = result.stdout.splitlines()
    expected = []
    for name, system in small_demo()[1].systems.items():
        event, segment, clip = (counts.macro.f1 for counts in system.evaluation.levels)
        expected.append(f"{name:<8} event F1 {event:.3f}   segment F1 {segment:.3f}   clip F1 {clip:.3f}")
    assert systems == expected
    assert last.startswith("report   demo/report.html   (")
    assert Path("demo/report.html").exists()


def test_the_figures_as_json(asked: list[tuple[Path, DemoPlan]], tmp_path: Path) -> None:
    result = done("demo", "--out", tmp_path, "--json")
    found = json.loads(result.stdout)
    assert list(found) == ["systems", "seconds", "report"]
    assert list(found["systems"]) == ["power", "linear"]
    for name, system in small_demo()[1].systems.items():
        assert found["systems"][name] == {
            "event_f1": system.evaluation.event.macro.f1,
            "segment_f1": system.evaluation.segment.macro.f1,
            "clip_f1": system.evaluation.clip.macro.f1,
        }
    assert 0.3 < found["seconds"] < 60
    assert found["report"] == str(tmp_path / "report.html")
    assert Path(found["report"]).exists()
    assert result.stderr.endswith("drawing the report\n")


def test_what_is_undefined_is_null_in_json(
    asked: list[tuple[Path, DemoPlan]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = {"a.wav": [Event(0, 0, "dog")]}  # dropped on both sides: nothing is left to divide by
    nothing = evaluate(events, events)
    demo = small_demo()[1]
    systems = {name: replace(system, evaluation=nothing) for name, system in demo.systems.items()}
    monkeypatch.setattr(steps, "run_demo", lambda out, *, plan, say, on_progress: replace(demo, systems=systems))
    monkeypatch.setattr(page, "write_report", lambda out, result: out / "report.html")
    found = json.loads(earmark("demo", "--out", tmp_path, "--json").stdout)
    assert found["systems"]["power"] == {"event_f1": None, "segment_f1": None, "clip_f1": None}


def test_lines_stand_above_the_bars_and_not_in_them(
    asked: list[tuple[Path, DemoPlan]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "write_report", lambda out, result: out / "report.html")
    terminal = as_terminal(monkeypatch)
    command.main(["--out", str(tmp_path)], standalone_mode=False)
    sent = terminal.getvalue()
    assert re.search(r"(\n|\x1b\[2K)drawing the report\s*\n", sent)
    assert re.search(r"power.*50%.*linear.*100%", sent, flags=re.DOTALL)
    assert sent.count(HIDDEN) == sent.count(SHOWN) == 1


# Wrong input


def test_it_fails_when_a_detector_is_worse_than_it_should_be(
    asked: list[tuple[Path, DemoPlan]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = replace(small_demo()[1], required_f1=0.99)
    monkeypatch.setattr(steps, "run_demo", lambda out, *, plan, say, on_progress: found)
    result = earmark("demo", "--out", tmp_path)
    assert result.exit_code == 2
    assert (
        "earmark: the demo failed: an event F1 is below 0.99, though this data is the same everywhere" in result.stderr
    )
    assert "event F1 0." in result.stdout  # the figures and the report are there all the same
    assert (tmp_path / "report.html").exists()


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    message = refused("demo", "--out", tmp_path)
    assert message.startswith(
        f"earmark: the demo's folder must be new, empty, or that of an earlier demo, got {tmp_path}"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
