"""Pooling functions compared on embeddings that another network made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_cases import done, earmark, refused
from compare_cases import in_this_process, table
from oracles.embedding_cases import MadeUp, write_embeddings

from earmark.comparing import foreseen
from earmark.config_file import read_config
from earmark.writers import events_to_tsv


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeUp:
    """Twenty arrays with tags and events."""
    return write_embeddings(tmp_path_factory.mktemp("embeddings") / "made", ("bark", "chirp"), n_clips=20, seed=1)


def arguments(made: MadeUp, out: Path, *options: object) -> list[object]:
    """Two runs of a tiny network."""
    settings = ("model.rnn_units=2", "model.projection_units=4", "training.epochs=1")
    return [
        "compare", made.labels, "--features", made.folder, "--out", out, "--pooling", "max", "--seeds", 1,
        "--device", "cpu", *(word for setting in settings for word in ("--set", setting)), *options,
    ]  # fmt: skip


def test_functions_are_compared_on_embeddings(made: MadeUp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strong, out = tmp_path / "strong.tsv", tmp_path / "out"
    strong.write_text(events_to_tsv(made.events))
    broken = made.folder / "003.wav.npy"
    whole = broken.read_bytes()
    broken.write_bytes(whole[:-9])
    started = in_this_process(monkeypatch)
    result = earmark(*arguments(made, out, "--strong", strong, "--json"))
    assert result.exit_code == 1  # one array is left out
    assert started == ["max-seed-0", "linear-seed-0"]
    figures = json.loads(result.stdout)["figures"]
    assert figures["max"]["event_f1"]["mean"]["n_seeds"] == 1
    assert "003.wav" not in {row["filename"] for name in ("learn.tsv", "test.tsv") for row in table(out / name)}
    run = out / "runs" / "max-seed-0"
    assert not (run / "cache").exists()
    assert read_config(run / "config.toml").features.n_dims == 24
    broken.write_bytes(whole)
    assert "other recordings" in refused(*arguments(made, out, "--strong", strong, "--resume"))


def test_nothing_tells_the_rate_of_the_frames(made: MadeUp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreseen, "start_seconds", lambda: 1.0)
    assert json.loads(done(*arguments(made, tmp_path / "out", "--dry-run", "--json")).stdout)["run_seconds"] > 0
    beside = made.folder / "features.json"
    text = beside.read_text()
    beside.unlink()
    assert "features.frames_per_second" in refused(*arguments(made, tmp_path / "out"))
    beside.write_text(text)
