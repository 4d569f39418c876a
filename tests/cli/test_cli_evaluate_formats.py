"""`earmark evaluate` with labels that are no tables of earmark's."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from cli_cases import done, refused


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two recordings, their label tracks, and predictions in RTTM."""
    for name in ("audio", "tracks"):
        (tmp_path / name).mkdir()
    for name in ("a.wav", "b.wav"):
        soundfile.write(tmp_path / "audio" / name, np.zeros(1000), 100)
    (tmp_path / "tracks/a.wav.txt").write_text("0.5\t1.25\tdog\n")
    (tmp_path / "tracks/b.wav.txt").write_text("")
    lines = ["SPEAKER a 1 0.5 0.75 <NA> <NA> dog <NA> <NA>", "SPEAKER b 1 3 1 <NA> <NA> dog <NA> <NA>"]
    (tmp_path / "found.rttm").write_text("\n".join(lines))
    return tmp_path


def test_tracks_against_rttm(folder: Path) -> None:
    paths = ["--reference", folder / "tracks", "--predicted", folder / "found.rttm", "--audio", folder / "audio"]
    figures = json.loads(done("evaluate", *paths, "--json", "-").stdout)
    # One hit, and one false alarm in the recording without events.
    assert (figures["n_files"], figures["event"]["micro"]["recall"], figures["event"]["micro"]["precision"]) == (
        2,
        1,
        0.5,
    )


def test_a_class_column_of_the_reference(folder: Path) -> None:
    table = folder / "day.txt"
    header = "Selection\tView\tBegin Time (s)\tEnd Time (s)\tBegin File\tCall\tAge\n"
    table.write_text(f"{header}1\tSpectrogram 1\t0.5\t1.25\ta.wav\tdog\told\n")
    paths = ["--reference", table, "--predicted", folder / "tracks"]
    assert "which column holds the class, 'Call' or 'Age'" in refused("evaluate", *paths)
    assert (
        json.loads(done("evaluate", *paths, "--class-column", "Call", "--json", "-").stdout)["event"]["macro"]["f1"]
        == 1
    )


# Wrong input


def test_names_with_and_without_endings(folder: Path) -> None:
    message = refused("evaluate", "--reference", folder / "tracks", "--predicted", folder / "found.rttm")
    assert "found.rttm calls a recording 'a' and" in message
    assert "name the folder of the recordings with --audio" in " ".join(message.split())
