"""The whole path as a user walks it: tagged clips in, marked events out, with nothing but the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from demo_cases import CLASSES, EASY, SMALL_CONFIG

import earmark
from earmark.labels.strong import read_strong
from earmark.metrics.evaluation import evaluate
from earmark.soundscapes.synthetic import write_soundscapes
from earmark.writers import events_to_tsv


def command(folder: Path, *arguments: str) -> str:
    """Run a command in `folder`, in a process of its own, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "earmark.cli.main", *arguments],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clips with tags, from which everything is made by commands: a run, a model, and found.tsv."""
    folder = tmp_path_factory.mktemp("end-to-end")
    write_soundscapes(folder / "train", n_clips=64, seed=1, settings=EASY)
    (folder / "train/strong.tsv").unlink()  # nobody may look there
    write_soundscapes(folder / "test", n_clips=20, seed=2, settings=EASY)
    (folder / "small.toml").write_text(SMALL_CONFIG, encoding="utf-8")
    command(
        folder, "train", "train/weak.tsv", "--audio", "train/audio", "--out", "runs/first", "--config", "small.toml",
        "--device", "cpu", "--threads", "1",
    )  # fmt: skip
    command(folder, "export", "runs/first", "first.onnx")
    printed = command(folder, "detect", "test/audio", "--model", "first.onnx")
    (folder / "found.tsv").write_text(printed, encoding="utf-8")
    return folder


# Laws


def test_tags_alone_teach_when_it_happens(folder: Path) -> None:
    figures = ["--reference", "test/strong.tsv", "--predicted", "found.tsv", "--reference-tags", "test/weak.tsv"]
    found = json.loads(command(folder, "evaluate", *figures, "--json", "-"))
    assert found["event"]["classes"].keys() == set(CLASSES)
    f1 = found["event"]["macro"]["f1"]
    assert f1 > 0.6

    # By chance: the same events, each clip's given to its neighbour.
    events = read_strong(folder / "found.tsv")
    names = sorted(events)
    moved = {other: events[name] for name, other in [*pairwise(names), (names[-1], names[0])]}
    (folder / "moved.tsv").write_text(events_to_tsv(moved), encoding="utf-8")
    figures[3] = "moved.tsv"
    chance = json.loads(command(folder, "evaluate", *figures, "--json", "-"))
    assert f1 > 3 * chance["event"]["macro"]["f1"]


def test_marking_whole_clips_would_not_do(folder: Path) -> None:
    # What a tagger without a sense of time could say at best: every class of a clip, from its beginning to its end.
    reference = read_strong(folder / "test/strong.tsv")
    whole = {name: [type(event)(0.0, 3.0, event.label) for event in events] for name, events in reference.items()}
    assert evaluate(reference, whole).event.macro.f1 < 0.2


def test_the_library_finds_what_the_command_finds(folder: Path) -> None:
    detector = earmark.load(folder / "first.onnx")
    found = {path.name: detector(path) for path in sorted((folder / "test/audio").iterdir())}
    assert events_to_tsv(found) == (folder / "found.tsv").read_text(encoding="utf-8")


def test_files_for_audacity_and_tags(folder: Path) -> None:
    command(
        folder, "detect", "test/audio", "--model", "first.onnx", "--out", "found", "--format", "tsv,audacity", "--tags"
    )
    names = {path.name for path in (folder / "test/audio").iterdir()}
    expected = {f"{name}{suffix}" for name in names for suffix in (".tsv", ".txt", ".tags.tsv")}
    assert {path.name for path in (folder / "found").iterdir()} == expected
    each = {name: read_strong(folder / "found" / f"{name}.tsv")[name] for name in names}
    assert each == read_strong(folder / "found.tsv")


def test_detection_needs_no_torch(folder: Path) -> None:
    code = (
        "import sys\nsys.modules.update(dict.fromkeys(['torch', 'onnx', 'safetensors', 'matplotlib']))\n"
        "from earmark.cli.main import main\nmain(['detect', 'test/audio', '--model', 'first.onnx'])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (folder / "found.tsv").read_text(encoding="utf-8")
