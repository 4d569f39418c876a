"""Features on disk: those of the recordings, and one bad recording never costs the others."""

from __future__ import annotations

import errno
import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from feature_store_cases import ALL, LENGTHS, expected, named, store_of, write_recordings
from oracles.training_cases import RATE, SMALL, changed, weak_clip

from earmark.training import feature_store as module
from earmark.training.feature_store import FeatureStore, feature_store, located, statistics


@pytest.fixture
def audio(tmp_path: Path, rng: np.random.Generator) -> Path:
    """A folder with recordings 0.wav to 4.wav."""
    return write_recordings(tmp_path / "audio", rng)


# --- laws ---


def test_every_clip_has_the_features_of_its_recording(tmp_path: Path, audio: Path) -> None:
    store, n_read = store_of(tmp_path / "cache", audio)
    assert (len(store), n_read, store.kept, store.failures) == (5, 5, (0, 1, 2, 3, 4), ())
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
    blocks = module.blocks

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal started
        started += 1
        return blocks(*arguments, **options)

    def on_clip(done: int) -> None:
        nonlocal most_ahead
        most_ahead = max(most_ahead, started - done)

    monkeypatch.setattr(module, "blocks", counted)
    monkeypatch.setattr(torch, "get_num_threads", lambda: n_threads)
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)
    store = feature_store(tmp_path / "cache", clips, audio, SMALL, on_clip=on_clip)
    assert most_ahead <= 4 * n_threads
    assert [index for index in range(100) if index not in store.kept] == [50]
    for row, index in enumerate(store.kept):
        np.testing.assert_array_equal(
            store.clip(row), expected(audio, "4.wav", first=80 * index, end=80 * index + 4000)
        )


def stopped(done: int) -> None:
    raise KeyboardInterrupt


def test_the_number_of_threads_is_what_it_was(tmp_path: Path, audio: Path) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)  # the threads that read have one each, and so would this one from then on
    try:
        store_of(tmp_path / "cache", audio)
        assert torch.get_num_threads() == 3
        with pytest.raises(KeyboardInterrupt):
            feature_store(tmp_path / "other", ALL, audio, SMALL, on_clip=stopped)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_the_features_are_on_disk_before_the_index_says_so(
    tmp_path: Path, audio: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    features, index = tmp_path / "cache" / "features.f16", tmp_path / "cache" / "index.json"
    synced = []

    def noted(descriptor: int) -> None:
        file = os.fstat(descriptor)
        if os.path.samestat(file, features.stat()):
            synced.append((file.st_size, index.exists()))

    monkeypatch.setattr(os, "fsync", noted)
    store, _ = store_of(tmp_path / "cache", audio)
    assert synced == [(len(store.frames) * 16 * 2, False)]  # all of it, bands of two bytes


# --- worked numbers ---


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
    where, name, remark = store.notes[-1]
    assert (where, name, remark[:9]) == ("weak.tsv:6", "4.wav", "only 1.25")
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
    assert store.failures[0][2].startswith(f"{audio}/2.wav: audio must be longer than half a window (512 samples)")


def test_every_reason_begins_with_the_recording_and_names_it_once(tmp_path: Path, audio: Path) -> None:
    (audio / "1.wav").write_bytes(b"")
    soundfile.write(audio / "2.wav", np.full(800, np.nan, np.float32), RATE, subtype="FLOAT")
    too_long = 300 * "x" + ".wav"
    late = weak_clip("4.wav", ["dog"], onset=70.0, offset=71.0, where="weak.tsv:7")
    store, _ = store_of(tmp_path / "cache", audio, [*ALL, late, *named(too_long, "missing.wav")])
    assert [name for _, name, _ in store.failures] == ["1.wav", "2.wav", "4.wav", too_long, "missing.wav"]
    for where, name, reason in store.failures:
        path = name if name in (too_long, "missing.wav") else f"{audio.as_posix()}/{name}"
        assert reason.startswith(f"{path}: ")
        assert located(where, name, reason).count(name) == 1
    assert "(File name too long)" in store.failures[3][2]


def test_a_full_disk_is_not_a_recording_that_cannot_be_read(
    tmp_path: Path, audio: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module.tempfile, "SpooledTemporaryFile", lambda **options: Full())
    with pytest.raises(OSError, match="No space left on device"):
        store_of(tmp_path / "cache", audio)
    assert not (tmp_path / "cache" / "index.json").exists()


def test_what_is_odd_about_a_clip_is_noted(tmp_path: Path, audio: Path) -> None:
    clips = [
        *ALL,  # 3.wav has one sample, 2.wav a whole output frame
        weak_clip("4.wav", ["dog"], onset=0.5, offset=4000.0, where="weak.tsv:7"),
        weak_clip("4.wav", ["dog"], onset=0.5, offset=0.51, where="weak.tsv:8"),
    ]
    store, _ = store_of(tmp_path / "cache", audio, clips)
    assert store.notes == (
        ("weak.tsv:5", "3.wav", "lasts only 0.00013 s"),
        ("weak.tsv:7", "4.wav", "offset 4000 s is after the end of the file at 2.50 s - is it in milliseconds?"),
        ("weak.tsv:8", "4.wav", "lasts only 0.01 s"),
    )
    again, n_read = store_of(tmp_path / "cache", audio, clips)
    assert (again.notes, n_read) == (store.notes, 0)
    config = changed(features={"clip_frames": 50})  # 1 s, and a window of 32 ms
    cropped, _ = store_of(tmp_path / "cropped", audio, clips, config)
    assert cropped.notes == (
        ("weak.tsv:5", "3.wav", "lasts only 0.00013 s"),
        ("weak.tsv:6", "4.wav", "only the first 1.00 of 2.50 s are used, as features.clip_frames says"),
        (
            "weak.tsv:7",
            "4.wav",
            "offset 4000 s is after the end of the file at 2.50 s - is it in milliseconds?;"
            " only the first 1.00 of 2.00 s are used, as features.clip_frames says",
        ),
        ("weak.tsv:8", "4.wav", "lasts only 0.01 s"),
    )


def test_no_readable_recording_at_all(tmp_path: Path, audio: Path) -> None:
    clips = named("a.wav", "b.wav")
    for _ in range(2):  # also when the store is there already
        with pytest.raises(ValueError, match=r"none of the 2 clips could be read; the first: weak.tsv:2: a.wav: no"):
            store_of(tmp_path / "cache", audio, clips)


def test_the_index_is_plain_json(tmp_path: Path, audio: Path) -> None:
    store_of(tmp_path / "cache", audio)
    index = json.loads((tmp_path / "cache" / "index.json").read_text())
    assert set(index) == {"fingerprint", "starts", "kept", "failures", "notes"}
