from __future__ import annotations

import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from demo_cases import CLASSES, small_demo

from earmark.cli.main import main
from earmark.demo.page import mean_durations, write_report
from earmark.events import Event


class Page(HTMLParser):
    """What stands in the page: rows of tables, pictures, sounds, links, commands and the text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.alts: list[str] = []
        self.sources: list[str] = []
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
        if tag == "img":
            self.alts.append(str(values["alt"]))
        self.sources += [str(values[name]) for name in ("src", "href") if name in values]

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.rows and self.get_starttag_text() is not None and data.strip():
            opened = str(self.get_starttag_text())
            if opened.startswith(("<th", "<td")):
                self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(small_demo()[0] / "report.html")


# Laws


def test_the_table_is_the_evaluation(page: Page) -> None:
    _, result, _ = small_demo()
    assert page.rows[0] == ["pooling", "event F1", "precision", "recall", "segment F1", "clip F1"]
    for row, (name, system) in zip(page.rows[1:3], result.systems.items(), strict=True):
        event, segment, clip = (counts.macro for counts in system.evaluation.levels)
        figures = (event.f1, event.precision, event.recall, segment.f1, clip.f1)
        assert row == [name, *(f"{figure:.3f}" for figure in figures)]
        assert f"event F1, {name}{system.event_f1:.2f}" in page.text.replace("\n", "")


def test_every_picture_is_a_file_too_and_is_described(page: Page) -> None:
    out, _, _ = small_demo()
    files = sorted(path.name for path in (out / "figures").iterdir())
    clips = [name for name in files if re.fullmatch(r"clip_\d{4}\.png", name)]
    others = ["comparison.png", "event_f1_by_class.png", "n_against_duration.png", "training.png"]
    assert files == sorted([*clips, *others])
    assert len(clips) == 3
    assert all((out / "figures" / name).read_bytes().startswith(b"\x89PNG\r\n\x1a\n") for name in files)
    assert len(page.alts) == len(files)
    assert all(len(alt) > 20 for alt in page.alts)


def test_the_page_needs_nothing_from_outside(page: Page) -> None:
    kinds = {source.partition(":")[0] if not source.startswith("#") else "#" for source in page.sources}
    assert kinds == {"data", "#"}
    assert sum(source.startswith("data:audio/wav;base64,") for source in page.sources) == 3


def test_the_commands_on_the_page_work(page: Page) -> None:
    out, _, _ = small_demo()
    commands = [
        shlex.split(line) for line in page.text.splitlines() if line.startswith("earmark ") and str(out) in line
    ]
    assert [command[1] for command in commands] == ["detect", "evaluate"]
    for command in commands:
        done = CliRunner().invoke(main, command[1:])
        assert done.exit_code == 0, done.output


def test_other_clips_in_a_folder_with_a_blank_in_its_name(tmp_path: Path) -> None:
    _, result, _ = small_demo()
    names = sorted(result.reference)
    # Three clips of two classes, the others of one: those are shown, however different the lengths in the others.
    two = [Event(0.5, 1.0, "chirp"), Event(0.5, 1.1, "glass")]
    one = [Event(0.1, 0.2, "chirp"), Event(0.4, 2.9, "chirp")]
    reference = {name: two if name in names[5:8] else one for name in names}
    path = write_report(tmp_path / "my demo", replace(result, reference=reference))
    shown = {picture.name for picture in (tmp_path / "my demo/figures").glob("clip_*")}
    assert shown == {f"clip_{Path(name).stem}.png" for name in names[5:8]}
    command = next(line for line in Page(path).text.splitlines() if line.startswith("earmark detect"))
    assert shlex.split(command)[2] == str(tmp_path / "my demo/soundscapes/test/audio/0000.wav")


# Worked numbers


def test_the_words_of_the_page(page: Page) -> None:
    _, result, _ = small_demo()
    best = max(system.event_f1 for system in result.systems.values())
    assert "Two detectors learned 3 kinds of sound from clips that say what they contain, but not when." in page.text
    assert f"marks events with a macro F1 of {best:.2f}." in page.text
    assert "16 held-out soundscapes, made from another seed" in page.text
    assert "The demo fails when an event F1 is below 0.3." in page.text
    assert "The curves are the probabilities of every 50 ms." in page.text  # 2 * 400 samples at 16 kHz


def test_mean_durations_are_those_of_the_reference() -> None:
    out, result, _ = small_demo()
    lengths: dict[str, list[float]] = {}
    for line in (out / "soundscapes/test/strong.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        _, onset, offset, label = line.split("\t")
        if label:
            lengths.setdefault(label, []).append(float(offset) - float(onset))
    assert mean_durations(result) == pytest.approx([np.mean(lengths[label]) for label in CLASSES])


# Wrong input


def test_a_class_without_test_events_has_no_duration() -> None:
    _, result, _ = small_demo()
    without = {name: [e for e in events if e.label != "glass"] for name, events in result.reference.items()}
    found = mean_durations(replace(result, reference=without))
    assert np.isnan(found).tolist() == [False, False, True]
