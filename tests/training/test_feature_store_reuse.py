"""When features on disk are used again, and when they are computed anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from feature_store_cases import ALL, named, store_of, write_recordings
from oracles.training_cases import RATE, SMALL, changed, lively_audio, weak_clip

from earmark.training import feature_store as module
from earmark.training.feature_store import feature_store


@pytest.fixture
def audio(tmp_path: Path, rng: np.random.Generator) -> Path:
    """A folder with recordings 0.wav to 4.wav."""
    return write_recordings(tmp_path / "audio", rng)


class Undecodable:
    """Reads clips, but for some."""

    def __init__(self, read: Callable[..., Any], *names: str, reason: str = "no decoder") -> None:
        self.read, self.names, self.reason = read, names, reason

    def __call__(self, file: Path, *others: Any) -> Any:
        if file.name in self.names:
            raise ValueError(self.reason)
        return self.read(file, *others)


# --- laws ---


def test_an_unchanged_data_set_is_not_read_again(tmp_path: Path, audio: Path) -> None:
    clips = [*ALL, *named("missing.wav")]
    first, n_read = store_of(tmp_path / "cache", audio, clips)
    again, n_read_again = store_of(tmp_path / "cache", audio, clips)
    assert (n_read, n_read_again) == (6, 0)
    np.testing.assert_array_equal(again.frames, first.frames)
    assert (again.kept, again.failures, again.notes) == (first.kept, first.failures, first.notes)
    np.testing.assert_array_equal(again.starts, first.starts)


def test_labels_and_training_settings_do_not_matter_to_features(tmp_path: Path, audio: Path) -> None:
    store_of(tmp_path / "cache", audio)
    retagged = [weak_clip(clip.filename, ["cat"]) for clip in ALL]
    config = changed(training={"seed": 9}, pooling={"name": "max"}, model={"rnn_units": 3})
    assert store_of(tmp_path / "cache", audio, retagged, config)[1] == 0


@pytest.mark.parametrize(
    "sections",
    [
        {"features": {"n_mels": 8}},
        {"features": {"floor": 1e-5}},
        {"features": {"clip_frames": 50}},
        {"model": {"pool_time": (2, 2)}},
    ],
    ids=str,
)
def test_other_settings_make_other_features(sections: dict[str, dict[str, Any]], tmp_path: Path, audio: Path) -> None:
    store_of(tmp_path / "cache", audio)
    config = changed(SMALL, **sections)
    found, n_read = store_of(tmp_path / "cache", audio, ALL, config)
    assert n_read == 5
    fresh, _ = store_of(tmp_path / "fresh", audio, ALL, config)
    np.testing.assert_array_equal(found.frames, fresh.frames)


def test_other_clips_or_recordings_make_other_features(tmp_path: Path, audio: Path, rng: np.random.Generator) -> None:
    store_of(tmp_path / "cache", audio)
    for clips in (ALL[::-1], ALL[:3], [*ALL[:4], weak_clip("4.wav", ["dog"], onset=1.0, offset=2.0)]):
        store_of(tmp_path / "cache", audio)
        found, n_read = store_of(tmp_path / "cache", audio, clips)
        assert n_read == len(clips) == len(found)
    store_of(tmp_path / "cache", audio)

    soundfile.write(audio / "2.wav", lively_audio(rng, 640), RATE, subtype="FLOAT")  # another size
    found, n_read = store_of(tmp_path / "cache", audio)
    assert (n_read, found.lengths[2]) == (5, 4)
    size = (audio / "2.wav").stat().st_size
    soundfile.write(audio / "2.wav", lively_audio(rng, 640), RATE, subtype="FLOAT")
    os.utime(audio / "2.wav", ns=(1, 1))  # the same size at another time
    assert (audio / "2.wav").stat().st_size == size
    assert store_of(tmp_path / "cache", audio)[1] == 5


def test_a_recording_that_appears_is_read(tmp_path: Path, audio: Path) -> None:
    (audio / "2.wav").rename(audio / "later.wav")
    store, _ = store_of(tmp_path / "cache", audio)
    assert store.kept == (0, 1, 3, 4)
    (audio / "later.wav").rename(audio / "2.wav")
    assert store_of(tmp_path / "cache", audio)[0].kept == (0, 1, 2, 3, 4)


def test_failures_of_last_time_are_tried_again(tmp_path: Path, audio: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = (audio / "1.wav").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(module, "_read_clip", Undecodable(module._read_clip, "1.wav", "3.wav"))
        first, _ = store_of(tmp_path / "cache", audio)
        assert [reason for _, _, reason in first.failures] == [f"{audio}/{n}.wav: no decoder" for n in (1, 3)]
        # All of them still fail: only they were looked at, and the reasons are those of today.
        patch.setattr(module, "_read_clip", Undecodable(module._read_clip, "1.wav", "3.wav", reason="bad luck"))
        again, n_read = store_of(tmp_path / "cache", audio)
        assert (n_read, again.kept) == (0, (0, 2, 4))
        assert [reason for _, _, reason in again.failures] == [f"{audio}/{n}.wav: bad luck" for n in (1, 3)]
        np.testing.assert_array_equal(again.frames, first.frames)
    # The files are what they were, but now there is a decoder.
    assert (audio / "1.wav").read_bytes() == whole
    found, n_read = store_of(tmp_path / "cache", audio)
    assert (found.kept, found.failures, n_read) == ((0, 1, 2, 3, 4), (), 5)
    assert store_of(tmp_path / "cache", audio)[1] == 0


def test_one_failure_that_can_be_read_by_now_is_enough(
    tmp_path: Path, audio: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(module, "_read_clip", Undecodable(module._read_clip, "1.wav", "3.wav"))
        store_of(tmp_path / "cache", audio)
    monkeypatch.setattr(module, "_read_clip", Undecodable(module._read_clip, "1.wav"))
    found, n_read = store_of(tmp_path / "cache", audio)
    assert (found.kept, n_read) == ((0, 2, 3, 4), 5)


def test_a_failure_names_the_folder_of_today(tmp_path: Path) -> None:
    for name in ("empty 1", "empty 2"):
        (tmp_path / name).mkdir()
        with pytest.raises(ValueError, match=rf"the first: weak.tsv:2: 0.wav: no such file in .*/{name}"):
            store_of(tmp_path / "cache", tmp_path / name)


@pytest.mark.parametrize("damage", ["no index", "half an index", "no features", "fewer features", "more features"])
def test_an_interrupted_build_is_made_anew(damage: str, tmp_path: Path, audio: Path) -> None:
    whole, _ = store_of(tmp_path / "cache", audio)
    frames = np.array(whole.frames)
    index, features = tmp_path / "cache" / "index.json", tmp_path / "cache" / "features.f16"
    if damage == "no index":
        index.unlink()
    elif damage == "half an index":
        index.write_text(index.read_text()[:-20])
    elif damage == "no features":
        features.unlink()
    else:
        content = features.read_bytes()
        features.unlink()  # the other store still maps the old file
        features.write_bytes(content[:-32] if damage == "fewer features" else content + content[:32])
    again, n_read = store_of(tmp_path / "cache", audio)
    assert n_read == 5
    np.testing.assert_array_equal(again.frames, frames)


def test_a_build_that_stops_half_way_leaves_no_store(tmp_path: Path, audio: Path) -> None:
    store_of(tmp_path / "cache", audio, ALL[:2])  # an older one

    def stop(done: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        feature_store(tmp_path / "cache", ALL, audio, SMALL, on_clip=stop)
    assert not (tmp_path / "cache" / "index.json").exists()
    assert store_of(tmp_path / "cache", audio)[1] == 5
