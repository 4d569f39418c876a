from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from earmark.comparing.features import shared_features
from earmark.comparing.parts import HELD_OUT, LEARN, TEST, Parts
from earmark.config import Config
from earmark.labels.weak import WeakClip
from earmark.training.clips import clip_set
from earmark.training.feature_store import feature_store
from earmark.training.sources import Sources

NAMES = ("a.wav", "b.wav", "c.wav", "d.wav", "e.wav", "f.wav")


def some_parts() -> Parts:
    """Two clips in each part."""
    rows = [
        WeakClip(name, frozenset({"dog"}), None, None, None, {}, f"weak.tsv:{i + 2}") for i, name in enumerate(NAMES)
    ]
    part = np.array([LEARN, LEARN, HELD_OUT, HELD_OUT, TEST, TEST])
    return Parts(clip_set(rows, ["dog"], holdout_fraction=0), part)


def heard(audio: Path) -> Sources:
    """The recordings of a folder."""
    return Sources(Path("weak.tsv"), audio)


@pytest.fixture
def audio(tmp_path: Path, rng: np.random.Generator) -> Path:
    folder = tmp_path / "audio"
    folder.mkdir()
    for index, name in enumerate(NAMES):
        soundfile.write(folder / name, 0.1 * rng.normal(size=8000 + 1600 * index), 16000)
    return folder


# Laws


def test_what_cannot_be_read_is_left_out_before_any_run_begins(tmp_path: Path, audio: Path) -> None:
    (audio / "d.wav").write_bytes(b"no sound")
    told: list[tuple[int, int]] = []
    parts, unreadable, seconds = shared_features(
        tmp_path / "out", some_parts(), heard(audio), Config(), on_clip=lambda done, total: told.append((done, total))
    )
    assert [clip.filename for clip in parts.clips.clips] == ["a.wav", "b.wav", "c.wav", "e.wav", "f.wav"]
    assert parts.part.tolist() == [LEARN, LEARN, HELD_OUT, TEST, TEST]
    assert len(unreadable) == 1
    assert unreadable[0].startswith("weak.tsv:5: ")
    assert seconds == pytest.approx(0.6, abs=0.05)  # of 0.5, 0.6 and 0.7 s
    assert told[:6] == [(n, 6) for n in range(1, 7)]
    store = feature_store(  # what a run does
        tmp_path / "out" / "cache" / "learn",
        parts.clips.clips[:3],
        audio,
        Config(),
        on_clip=lambda n: None,
        read_only=True,
    )
    assert store.kept == (0, 1, 2)
    assert store.failures == ()


def test_a_run_never_computes_what_others_are_reading(tmp_path: Path, audio: Path) -> None:
    parts, _, _ = shared_features(
        tmp_path / "out", some_parts(), heard(audio), Config(), on_clip=lambda done, total: None
    )
    folder = tmp_path / "out" / "cache" / "learn"
    before = (folder / "features.f16").read_bytes()
    soundfile.write(audio / "a.wav", np.zeros(9000), 16000)
    with pytest.raises(ValueError, match="has not the features of these clips - was a recording changed"):
        feature_store(folder, parts.clips.clips[:4], audio, Config(), on_clip=lambda n: None, read_only=True)
    assert (folder / "features.f16").read_bytes() == before


# Wrong input


def test_other_clips_that_can_be_read_are_another_comparison(tmp_path: Path, audio: Path) -> None:
    sound = (audio / "d.wav").read_bytes()
    (audio / "d.wav").write_bytes(b"no sound")
    shared_features(tmp_path / "out", some_parts(), heard(audio), Config(), on_clip=lambda done, total: None)
    (audio / "d.wav").write_bytes(sound)
    with pytest.raises(
        ValueError, match=r"learn.tsv: the clips that can be read are not those the comparison began with"
    ):
        shared_features(tmp_path / "out", some_parts(), heard(audio), Config(), on_clip=lambda done, total: None)


def test_a_part_of_which_nothing_can_be_read_is_refused(tmp_path: Path, audio: Path) -> None:
    for name in ("c.wav", "d.wav"):
        (audio / name).unlink()
    with pytest.raises(ValueError, match=r"none of the held-out clips could be read \(the first: weak.tsv:4"):
        shared_features(tmp_path / "out", some_parts(), heard(audio), Config(), on_clip=lambda done, total: None)
