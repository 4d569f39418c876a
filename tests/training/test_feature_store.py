"""Features on disk: computed once, never of another file, and one bad recording never costs the others."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from numpy.typing import NDArray
from oracles.training_cases import RATE, SMALL, changed, lively_audio, weak_clip

from earmark.config import Config
from earmark.labels.weak import WeakClip
from earmark.models.features import LogMel
from earmark.training import feature_store as module
from earmark.training.feature_store import FeatureStore, clip_features, feature_store, statistics

LENGTHS = (8000, 8001, 320, 1, 20000)  # samples


@pytest.fixture
def audio(tmp_path: Path, rng: np.random.Generator) -> Path:
    """A folder with recordings 0.wav to 4.wav."""
    folder = tmp_path / "audio"
    folder.mkdir()
    for number, length in enumerate(LENGTHS):
        soundfile.write(folder / f"{number}.wav", lively_audio(rng, length), RATE, subtype="FLOAT")
    return folder


def named(*names: str) -> list[WeakClip]:
    """Rows of a label file."""
    return [weak_clip(name, ["dog"], where=f"weak.tsv:{line}") for line, name in enumerate(names, start=2)]


ALL = named("0.wav", "1.wav", "2.wav", "3.wav", "4.wav")


def store_of(
    folder: Path, audio: Path, clips: Sequence[WeakClip] = ALL, config: Config = SMALL
) -> tuple[FeatureStore, int]:
    """The store, and how many clips had to be read for it."""
    calls: list[int] = []
    store = feature_store(folder, clips, audio, config, on_clip=calls.append)
    assert calls in ([], list(range(1, len(clips) + 1)))
    return store, len(calls)


def expected(audio: Path, name: str, *, first: int = 0, end: int | None = None) -> NDArray[np.float16]:
    """The features of a recording or a span of it."""
    samples = soundfile.read(audio / name, dtype="float32")[0][first:end]
    padded = np.pad(samples, (0, -len(samples) % 320))
    features: NDArray[np.float16] = LogMel(SMALL.features)(torch.from_numpy(padded)[None])[0].numpy().astype(np.float16)
    return features


# --- laws ---


def test_every_clip_has_the_features_of_its_recording(tmp_path: Path, audio: Path) -> None:
    store, n_read = store_of(tmp_path / "cache", audio)
    assert (len(store), n_read, store.kept, store.failures, store.notes) == (5, 5, (0, 1, 2, 3, 4), (), ())
    # Whole output frames of 320 samples, two feature frames each.
    assert store.lengths.tolist() == [2 * -(-length // 320) for length in LENGTHS]
    for index in range(5):
        np.testing.assert_array_equal(store.clip(index), expected(audio, f"{index}.wav"))
    assert store.frames.dtype == np.float16
    assert isinstance(store.frames, np.memmap)


def test_spans_of_a_long_recording(tmp_path: Path, audio: Path) -> None:
    clips = [
        weak_clip("4.wav", ["dog"], onset=0.5, offset=1.25),
        weak_clip("4.wav", ["dog"], onset=2.0, offset=2.5),
        weak_clip("4.wav", ["dog"]),
    ]
    store, _ = store_of(tmp_path / "cache", audio, clips)
    np.testing.assert_array_equal(store.clip(0), expected(audio, "4.wav", first=4000, end=10000))
    np.testing.assert_array_equal(store.clip(1), expected(audio, "4.wav", first=16000, end=20000))
    np.testing.assert_array_equal(store.clip(2), expected(audio, "4.wav"))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_many_threads_keep_the_order_and_read_only_a_little_ahead(
    n_threads: int, tmp_path: Path, audio: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clips = [weak_clip("4.wav", ["dog"], onset=i / 100, offset=i / 100 + 0.5) for i in range(100)]
    clips[50] = weak_clip("missing.wav", ["dog"], where="weak.tsv:52")
    started, most_ahead = 0, 0
    read_audio = module.read_audio

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal started
        started += 1
        return read_audio(*arguments, **options)

    def on_clip(done: int) -> None:
        nonlocal most_ahead
        most_ahead = max(most_ahead, started - done)

    monkeypatch.setattr(module, "read_audio", counted)
    monkeypatch.setattr(torch, "get_num_threads", lambda: n_threads)
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)
    store = feature_store(tmp_path / "cache", clips, audio, SMALL, on_clip=on_clip)
    assert most_ahead <= 4 * n_threads
    assert [index for index in range(100) if index not in store.kept] == [50]
    for row, index in enumerate(store.kept):
        np.testing.assert_array_equal(
            store.clip(row), expected(audio, "4.wav", first=80 * index, end=80 * index + 4000)
        )


def test_the_number_of_threads_is_what_it_was(tmp_path: Path, audio: Path) -> None:
    before = torch.get_num_threads()
    store_of(tmp_path / "cache", audio)
    assert torch.get_num_threads() == before


# --- laws: reuse ---


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


# --- worked numbers ---


def test_a_clip_of_a_fixed_number_of_frames_is_filled_up_or_cut(rng: np.random.Generator) -> None:
    audio = lively_audio(rng, 4000)
    for framing, n_samples in (("hop", 50 * 160), ("centred", 49 * 160)):  # centred: one frame more than hops
        config = changed(features={"clip_frames": 50, "framing": framing}).features
        found = clip_features(audio, LogMel(config), time_reduction=2)
        padded = torch.from_numpy(np.pad(audio, (0, n_samples - 4000)))
        assert found.shape == (50, 16)
        torch.testing.assert_close(found, LogMel(config)(padded[None])[0])
        long = clip_features(np.tile(audio, 5), LogMel(config), time_reduction=2)
        torch.testing.assert_close(long, LogMel(config)(torch.from_numpy(np.tile(audio, 5)[:n_samples])[None])[0])


def test_clips_of_their_own_length_are_whole_output_frames(rng: np.random.Generator) -> None:
    for framing in ("hop", "centred"):
        log_mel = LogMel(changed(features={"framing": framing}).features)
        for n_samples, n_frames in ((480, 4), (640, 4), (641, 8), (8000, 52)):  # 640 samples to a frame of four
            assert clip_features(lively_audio(rng, n_samples), log_mel, time_reduction=4).shape == (n_frames, 16)


def test_statistics_of_the_bands(rng: np.random.Generator) -> None:
    frames = rng.normal([-9.0, -2.0, 4.0], [0.5, 3.0, 1.0], (600, 3)).astype(np.float16)
    store = FeatureStore(frames, np.array([0, 100, 250, 600]), (0, 1, 2), (), ())
    mean, deviation = statistics(store, [2, 0])  # the second clip is held out
    chosen = np.concatenate([frames[250:], frames[:100]]).astype(np.float64)
    np.testing.assert_allclose(mean, chosen.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(deviation, chosen.std(axis=0), rtol=1e-5)


def test_a_band_that_never_changes_is_not_blown_up() -> None:
    frames = np.full((50, 2), -16.0, np.float16)
    frames[::2, 1] = -12.0
    mean, deviation = statistics(FeatureStore(frames, np.array([0, 50]), (0,), (), ()), [0])
    assert mean.tolist() == [-16.0, -14.0]
    assert deviation.tolist() == [1.0, 2.0]


# --- wrong input ---


def test_recordings_that_cannot_be_read_are_named_and_left_out(tmp_path: Path, audio: Path) -> None:
    (audio / "1.wav").write_bytes(b"RIFF and then nothing")
    (audio / "3.wav").unlink()
    store, n_read = store_of(tmp_path / "cache", audio)
    assert (store.kept, n_read) == ((0, 2, 4), 5)
    assert [failure[:2] for failure in store.failures] == [("weak.tsv:3", "1.wav"), ("weak.tsv:5", "3.wav")]
    assert "cannot be read as audio" in store.failures[0][2]
    assert "no such file in" in store.failures[1][2]
    np.testing.assert_array_equal(store.clip(2), expected(audio, "4.wav"))


def test_a_recording_cut_short_is_used_as_far_as_it_goes(tmp_path: Path, audio: Path) -> None:
    content = (audio / "4.wav").read_bytes()
    (audio / "4.wav").write_bytes(content[: len(content) // 2])
    store, _ = store_of(tmp_path / "cache", audio)
    assert (len(store), store.failures) == (5, ())
    ((name, remark),) = store.notes
    assert (name, remark[:9]) == ("4.wav", "only 1.25")
    assert store.lengths[4] == 2 * -(-10000 // 320)


def test_a_recording_that_overflows_costs_only_itself(tmp_path: Path, audio: Path) -> None:
    samples = np.zeros(8000, np.float32)
    samples[77] = -1e30
    soundfile.write(audio / "1.wav", samples, RATE, subtype="FLOAT")
    store, _ = store_of(tmp_path / "cache", audio)
    assert store.kept == (0, 2, 3, 4)
    assert "its loudest sample is 1e+30 where 1 is full scale" in store.failures[0][2]
    assert np.isfinite(store.frames).all()


def test_a_clip_too_short_for_its_framing_costs_only_itself(tmp_path: Path, audio: Path) -> None:
    config = changed(features={"framing": "centred", "window_samples": 1024})
    store, _ = store_of(tmp_path / "cache", audio, ALL, config)
    assert store.kept == (0, 1, 4)
    assert "longer than half a window (512 samples)" in store.failures[0][2]


def test_no_readable_recording_at_all(tmp_path: Path, audio: Path) -> None:
    clips = named("a.wav", "b.wav")
    for _ in range(2):  # also when the store is there already
        with pytest.raises(
            ValueError, match=r"none of the 2 clips could be read; the first: weak.tsv:2: a.wav: a.wav: no"
        ):
            store_of(tmp_path / "cache", audio, clips)


def test_the_index_is_plain_json(tmp_path: Path, audio: Path) -> None:
    store_of(tmp_path / "cache", audio)
    index = json.loads((tmp_path / "cache" / "index.json").read_text())
    assert set(index) == {"fingerprint", "starts", "kept", "failures", "notes"}
