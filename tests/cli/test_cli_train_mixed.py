"""`earmark train` with strong labels and recordings without any."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from cli_cases import CLASSES, done, make_clips, refused, train

from earmark.labels.strong import read_strong


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Twelve clips of two seconds, half of them with events of 0.5 s; and three without labels."""
    table = make_clips(tmp_path / "data")
    header, *rows = table.read_text(encoding="utf-8").splitlines()
    strong = ["filename\tonset\toffset\tevent_label"]
    for row in rows[:6]:
        name, tags = row.split("\t")[:2]
        strong += [f"{name}\t0.5\t1\t{tag}" for tag in tags.split(",") if tag] or [f"{name}\t\t\t"]
    (tmp_path / "strong.tsv").write_text("\n".join(strong) + "\n", encoding="utf-8")
    (tmp_path / "more").mkdir()
    for row in rows[9:]:
        name = row.split("\t")[0]
        shutil.move(table.parent / "audio" / name, tmp_path / "more" / Path(name).name)
    table.write_text("\n".join([header, *rows[:9]]) + "\n", encoding="utf-8")
    return table


# --- laws ---


def test_a_dry_run_says_what_is_known_and_a_run_learns_it(labels: Path, tmp_path: Path) -> None:
    more = ["--strong", tmp_path / "strong.tsv", "--unlabelled", tmp_path / "more"]
    options = ["--audio", labels.parent / "audio", *more]
    result = done(*train(labels, tmp_path / "run", *options, "--dry-run"))
    figures = {line[:14].strip(): line[14:] for line in result.stdout.splitlines()}
    kinds = json.loads(done(*train(labels, tmp_path / "run", *options, "--dry-run", "--json")).stdout)["kinds"]
    words = {"weak": "with tags", "strong": "with strong labels", "unlabelled": "without labels"}
    assert figures["labels"] == "for training " + ", ".join(f"{kinds[kind]} {words[kind]}" for kind in words)
    assert kinds["unlabelled"] == 3
    assert "without labels; of all its frames and classes" in figures["batches"]
    assert figures["method"] == "mean teacher"
    quotas = ["--set", "quotas.weak=1", "--set", "quotas.strong=2", "--set", "quotas.unlabelled=1"]
    result = done(*train(labels, tmp_path / "run", *options, *quotas))
    assert "event F1" in result.stderr or "event F1" not in (tmp_path / "run/metrics.json").read_text()
    metrics = json.loads((tmp_path / "run/metrics.json").read_text(encoding="utf-8"))
    assert metrics["kinds"] == kinds
    assert metrics["steps"] == 2 * min(kinds["weak"], kinds["strong"] // 2, 3)
    assert set(metrics["classes"]) == set(CLASSES)


def test_what_was_changed_is_said_before_training(labels: Path, tmp_path: Path) -> None:
    events = read_strong(tmp_path / "strong.tsv")
    name, label = next((name, found[0].label) for name, found in events.items() if found)
    rows = [f"{name}\t0.5\t2.4\t{label}", f"{name}\t0.1\t0.4\t{label}"]
    (tmp_path / "strong.tsv").write_text("\n".join(["filename\tonset\toffset\tevent_label", *rows]) + "\n")
    options = ["--audio", labels.parent / "audio", "--strong", tmp_path / "strong.tsv"]
    result = done(*train(labels, tmp_path / "run", *options))
    assert f"strong.tsv:2: the event from 0.5 to 2.4 s of {name}, which lasts 2 s" in result.stderr


# --- wrong input ---


def test_what_cannot_be_meant_is_refused_before_training(labels: Path, tmp_path: Path) -> None:
    audio = ["--audio", labels.parent / "audio"]
    message = refused(*train(labels, tmp_path / "run", *audio, "--reviewed", tmp_path / "strong.tsv"))
    assert "strong.tsv needs --strong: it says where the strong labels are complete" in message
    quotas = ["--set", "quotas.weak=4", "--set", "quotas.unlabelled=4"]
    message = refused(*train(labels, tmp_path / "run", *audio, *quotas))
    assert "quotas.unlabelled is 4, but there are only 0 unlabelled clips" in message
    message = refused(*train(labels, tmp_path / "run", *audio, "--set", "training.select=events"))
    assert "training.select is 'events', but no held-out clip has strong labels for all classes" in message
    assert not (tmp_path / "run").exists()
