from __future__ import annotations

import copy
import re
import shlex
from collections.abc import Mapping, Sequence
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
        self.captions: list[str] = []
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
        if tag == "figcaption":
            self.captions.append("")
        if tag == "img":
            self.alts.append(str(values["alt"]))
        self.sources += [str(values[name]) for name in ("src", "href") if name in values]

    def handle_data(self, data: str) -> None:
        self.text += data
        if str(self.get_starttag_text()).startswith("<figcaption") and data.strip():
            self.captions[-1] += data
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
    others = ["event_f1_by_class.png", "n_against_duration.png", "training.png"]
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


def test_no_caption_says_again_what_another_says(page: Page) -> None:
    out, _, _ = small_demo()
    clips = sorted(path.stem.removeprefix("clip_") for path in (out / "figures").glob("clip_*"))
    assert sorted(page.captions) == [
        "Event F1 class by class, from the shortest sounds to the longest.",
        *(f"Listen to {clip}.wav" for clip in clips),
    ]


def test_the_examples_of_n_are_those_of_the_result(tmp_path: Path) -> None:
    _, result, _ = small_demo()

    def text(values: tuple[float, ...], reference: Mapping[str, Sequence[Event]]) -> str:
        power = result.systems["power"]
        detector = copy.copy(power.detector)
        detector.info = replace(detector.info, pooling_values=values)
        systems = {**result.systems, "power": replace(power, detector=detector)}
        return Page(write_report(tmp_path, replace(result, systems=systems, reference=reference))).text

    # Events of 1.0 s, of 2.5 s and, in the third class, none.
    events = [Event(0.5, 1.5, "chirp"), Event(0.0, 2.5, "engine")]
    reference = {name: events for name in result.reference}
    told = text((0.5, 1.25, 2.0), reference)
    assert "Here glass (n = 2.00) has the largest, chirp (n = 0.50, with events of 1.0 s) the smallest. Linear" in told
    told = text((1.5, 0.25, 1.0), reference)
    assert "chirp (n = 1.50, with events of 1.0 s) has the largest, engine (n = 0.25, with events of 2.5 s)" in told
    assert "for a clip. Linear softmax is n = 1 for all." in text((1.0, 1.0, 1.0), reference)


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
