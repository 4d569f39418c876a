"""A model and some recordings for it."""

from __future__ import annotations

from pathlib import Path

import pytest
import soundfile
from cli_cases import make_clips, make_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """Two sites, with the same names in both, and one name twice with different endings."""
    clips = [
        soundfile.read(path)[0]
        for path in sorted((make_clips(tmp_path / "clips", n_clips=4).parent / "audio").iterdir())
    ]
    folder = tmp_path / "recordings"
    for name, samples in zip(("hill/a.wav", "hill/a.flac", "lake/day 1/a.wav", "b.wav"), clips, strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(folder / name, samples, 16000)
    return folder
