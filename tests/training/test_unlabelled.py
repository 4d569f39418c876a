"""Recordings without labels: which, cut how, and what cannot be meant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from oracles.training_cases import RATE, changed, write_tones
from run_cases import QUICK, rows, trained

from earmark.training.checkpoint import load_checkpoint
from earmark.training.joining import join
from earmark.training.sources import Sources, Split
from earmark.training.unlabelled import unlabelled_clips


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings with tags, and beside them a folder of more: a long one, a short one, and one of the tagged ones."""
    folder = tmp_path_factory.mktemp("data") / "tagged"
    write_tones(folder, n_clips=12)
    more = folder.parent / "more"
    (more / "deep").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for name, seconds in (("long", 4.4), ("deep/short", 1.2)):
        noise = 0.01 * rng.normal(size=round(seconds * RATE))
        soundfile.write(more / f"{name}.wav", noise, RATE, subtype="PCM_16")
    (more / "000.wav").symlink_to(folder / "000.wav")
    return folder


# --- laws ---


def test_long_recordings_are_cut_into_equal_clips_and_labelled_ones_left_out(tones: Path) -> None:
    sources = Sources(tones / "weak.tsv", tones, unlabelled=tones.parent / "more")
    clips, remarks = unlabelled_clips(sources, ["000.wav", "001.wav"], clip_seconds=1.5)
    assert {clip.filename for clip in clips} == {"../more/deep/short.wav", "../more/long.wav"}
    spans = [(clip.onset, clip.offset) for clip in clips if clip.filename.endswith("long.wav")]
    np.testing.assert_allclose(np.array(spans), [[0, 4.4 / 3], [4.4 / 3, 8.8 / 3], [8.8 / 3, 4.4]])
    assert [(clip.onset, clip.known) for clip in clips if "short" in clip.filename] == [(None, frozenset())]
    assert remarks == [f"1 of the recordings in {tones.parent / 'more'} have labels and are learned with them"]


def test_nothing_is_known_of_them_and_none_is_held_out(tones: Path) -> None:
    config = changed(training={"unlabelled_seconds": 1.5, "holdout_fraction": 0.5})
    clips = join(Sources(tones / "weak.tsv", tones, unlabelled=tones.parent / "more"), config, Split()).clips
    others = clips.kinds == "unlabelled"
    assert others.sum() == 4
    assert not clips.known[others].any()
    assert not clips.tags[others].any()
    assert not clips.held_out[others].any()
    alone = join(Sources(tones / "weak.tsv", tones), config, Split()).clips
    assert clips.held_out[~others].tolist() == alone.held_out.tolist()


def test_a_run_with_them_has_a_teacher_that_is_deployed_and_both_are_logged(tones: Path, tmp_path: Path) -> None:
    config = changed(QUICK, training={"unlabelled_seconds": 1.5, "holdout_fraction": 0.4})
    result = trained(tones, tmp_path / "run", config, unlabelled=tones.parent / "more")
    assert result.failures == ()
    for row in rows(tmp_path / "run", "step"):
        assert {"tags", "consistency_frames", "consistency_clips"} <= row.keys()
    epochs = rows(tmp_path / "run", "epoch")
    assert all(row["held_out_loss"] != row["student_held_out_loss"] for row in epochs)
    last, best = (load_checkpoint(tmp_path / "run" / f"{name}.safetensors") for name in ("last", "best"))
    assert last.teacher is last.network
    assert last.other is last.student
    assert best.teacher is best.network
    assert best.decoding is not None
    student = trained(
        tones, tmp_path / "student", changed(config, teacher={"deploy": "student"}), unlabelled=tones.parent / "more"
    )
    other = load_checkpoint(tmp_path / "student" / "last.safetensors")
    assert other.student is other.network
    assert "teacher_held_out_loss" in rows(tmp_path / "student", "epoch")[0]
    assert student.metrics["steps"] == result.metrics["steps"]
    for mine, its in zip(last.student.parameters(), other.network.parameters(), strict=True):
        assert np.array_equal(mine.detach().numpy(), its.detach().numpy())  # who is deployed changes no learning


# --- wrong input ---


@pytest.mark.parametrize(
    ("folder", "settings", "message"),
    [
        ("nowhere", {}, r"--unlabelled must be a folder of recordings, got .*nowhere - is the path right"),
        ("empty", {}, r"empty: no audio in this folder"),
        ("tagged", {}, r"every recording in it has labels, .* is it the folder of the labelled ones"),
        ("more", {"method": "supervised"}, r"training.method 'supervised' learns nothing from it"),
    ],
)
def test_folders_that_cannot_be_meant_are_refused(
    folder: str, settings: dict[str, str], message: str, tones: Path
) -> None:
    (tones.parent / "empty").mkdir(exist_ok=True)
    sources = Sources(tones / "weak.tsv", tones, unlabelled=tones.parent / folder)
    with pytest.raises(ValueError, match=message):
        join(sources, changed(training=settings), Split())


def test_a_teacher_without_anything_unlabelled_is_remarked_on(tones: Path) -> None:
    found = join(Sources(tones / "weak.tsv", tones), changed(training={"method": "mean_teacher"}), Split())
    assert found.remarks == (
        "training.method is 'mean_teacher', but nothing is unlabelled: it learns from labelled clips alone",
    )
