"""Embeddings of a data set: what they have in common, and the store that training reads from."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from oracles.training_cases import changed, weak_clip

from earmark.config import Config, for_embeddings
from earmark.embeddings import reading
from earmark.events import Event
from earmark.training.checking import prepared
from earmark.training.clips import clip_set
from earmark.training.embedding_store import embedding_store
from earmark.training.embeddings import on_frames, settled
from earmark.training.feature_store import FeatureStore
from earmark.training.sources import Sources, Split
from earmark.training.strong_labels import Complete, StrongLabels, frame_labels

RATE = 2.0
CLIPS = [weak_clip(f"{name}.wav", where=f"weak.tsv:{row}") for row, name in enumerate("abc", start=2)]


def arrays(folder: Path, *shapes: tuple[int, int], rate: float | None = RATE) -> Sources:
    """Arrays of the clips a, b, c with these shapes."""
    folder.mkdir(exist_ok=True)
    for clip, shape in zip(CLIPS, shapes, strict=False):
        values = np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape)
        np.save(folder / f"{clip.filename}.npy", values)
    if rate is not None:
        (folder / "features.json").write_text(json.dumps({"frames_per_second": rate}))
    return Sources(folder / "weak.tsv", embeddings=folder)


def with_audio(sources: Sources, *seconds: float) -> Sources:
    """The same with recordings of these lengths."""
    assert sources.embeddings is not None
    audio = sources.embeddings.parent / "audio"
    audio.mkdir()
    for clip, length in zip(CLIPS, seconds, strict=False):
        soundfile.write(audio / clip.filename, np.zeros(round(length * 8000)), 8000)
    return Sources(sources.labels, audio, embeddings=sources.embeddings)


def stored(folder: Path, clips: list, n_dims: int = 2) -> FeatureStore:
    """The store over the arrays in a folder."""
    config = for_embeddings(Config(), frames_per_second=RATE, n_dims=n_dims)
    return embedding_store(folder / "cache", clips, folder, config, on_clip=lambda done: None)


# --- laws ---


@pytest.mark.parametrize(("dtypes", "kept"), [(["f2", "f2", "f2"], "f2"), (["f2", "f4", "f2"], "f4"), (["f8"], "f4")])
def test_values_are_kept_as_they_came(tmp_path: Path, rng: np.random.Generator, dtypes: list[str], kept: str) -> None:
    made = [(500 + rng.random((7, 3))).astype(dtype) for dtype in dtypes]
    for clip, array in zip(CLIPS, made, strict=False):
        np.save(tmp_path / f"{clip.filename}.npy", array)
    store = stored(tmp_path, CLIPS[: len(made)], n_dims=3)
    assert store.frames.dtype == np.dtype(kept)
    for index, array in enumerate(made):
        np.testing.assert_array_equal(store.clip(index), array.astype(kept))


def test_spans_are_cut_at_frames(tmp_path: Path) -> None:
    arrays(tmp_path, (20, 2))
    spans = [weak_clip("a.wav", onset=onset, offset=offset) for onset, offset in ((0.0, 1.0), (1.0, 2.2), (9.4, 99.0))]
    store = stored(tmp_path, spans)
    whole = np.arange(40).reshape(20, 2)
    for index, (first, end) in enumerate(((0, 2), (2, 5), (18, 20))):  # 2.2 s lies in frame 4; 9.4 s in frame 18
        np.testing.assert_array_equal(store.clip(index), whole[first:end])
    ((_, _, remark),) = store.notes  # two frames more than there are would be no loss worth one
    assert remark.startswith("offset 99 s is after the end of the file at 11.00 s")


def test_events_of_a_span_lie_where_its_first_frame_begins() -> None:
    # Frames of 1 s; spans from 1.4 s and from 3.0 s on, an event from 2.0 to 4.0 s of the recording in each.
    clips = clip_set(
        [weak_clip("a.wav", ["dog"], onset=1.4, offset=9.0), weak_clip("b.wav", ["dog"], onset=3.0, offset=9.0)],
        ["dog"],
        holdout_fraction=0,
    )
    whole = StrongLabels((Event(2.0, 4.0, "dog"),), (Complete(), Complete(8.0, 8.5)))
    clips = replace(clips, strong=(whole.within(1.4, 9.0), whole.within(3.0, 9.0)))
    config = for_embeddings(Config(), frames_per_second=1.0, n_dims=2)
    moved = on_frames(clips, config)
    assert moved.strong is not None
    first, second = moved.strong
    assert first is not None
    assert (first.events[0].onset, first.events[0].offset) == pytest.approx((1.0, 3.0))  # from 1 s on
    assert first.complete[0] == Complete()
    assert (first.complete[1].onset, first.complete[1].offset) == pytest.approx((7.0, 7.5))
    assert clips.strong is not None
    assert second == clips.strong[1]
    labels, known = frame_labels(
        first, ["dog"], n_frames=8, timeline=config.features.timeline, time_reduction=config.model.time_reduction
    )
    assert labels.flatten().tolist() == pytest.approx([0, 1, 1, 0, 0, 0, 0, 0], abs=1e-3)
    assert known.all()
    assert on_frames(clips, Config()) is clips


def test_a_run_on_embeddings_learns_spans_where_their_frames_begin(tmp_path: Path) -> None:
    arrays(tmp_path, (12, 2), (12, 2), rate=1.0)
    rows = ["filename\tonset\toffset\tevent_labels", "a.wav\t1.4\t9\tdog", "b.wav\t0\t9\t"]
    (tmp_path / "weak.tsv").write_text("\n".join(rows))
    (tmp_path / "strong.tsv").write_text("filename\tonset\toffset\tevent_label\na.wav\t2\t4\tdog\n")
    sources = Sources(tmp_path / "weak.tsv", strong=tmp_path / "strong.tsv", embeddings=tmp_path)
    joined, config = prepared(sources, changed(Config(), training={"holdout_fraction": 0.0}), Split(), None)
    assert config.features.n_dims == 2
    assert joined.clips.strong is not None
    assert joined.clips.strong[0] is not None
    event = joined.clips.strong[0].events[0]
    assert (event.onset, event.offset) == pytest.approx((1.0, 3.0))  # from 1 s on, where the first frame begins


def test_one_bad_array_does_not_cost_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_BLOCK_VALUES", 10)  # 5 frames: some of them are written before the bad one comes
    arrays(tmp_path, (20, 2), (20, 2))
    damaged = np.zeros((20, 2), np.float32)
    damaged[17, 1] = np.nan
    np.save(tmp_path / "b.wav.npy", damaged)
    late = weak_clip("a.wav", onset=11.0, offset=12.0, where="weak.tsv:9")
    store = stored(tmp_path, [CLIPS[1], CLIPS[2], late, CLIPS[0]])
    assert store.kept == (3,)
    np.testing.assert_array_equal(store.clip(0), np.arange(40).reshape(20, 2))
    reasons = {where: reason for where, _, reason in store.failures}
    assert reasons["weak.tsv:3"].startswith(f"{tmp_path}/b.wav.npy: frame 17 has nan in dim 1")
    assert reasons["weak.tsv:4"].startswith("c.wav: neither c.wav.npy nor c.npy in")
    assert reasons["weak.tsv:9"].startswith(f"{tmp_path}/a.wav.npy: onset 11 s is after the end of the file at 10.00 s")


# --- worked numbers ---


def test_what_is_settled(tmp_path: Path) -> None:
    config, remark = settled(Config(), CLIPS, arrays(tmp_path / "arrays", (20, 5), (41, 5)))
    assert (config.features.frames_per_second, config.features.n_dims, remark) == (2.0, 5, "")
    assert (config.model.channels, config.model.pool_time, config.model.projection_units) == ((), (), 128)
    assert settled(config, CLIPS, arrays(tmp_path / "arrays", (20, 5), (41, 5)))[0] == config


def test_the_recordings_tell_the_frame_rate(tmp_path: Path) -> None:
    sources = with_audio(arrays(tmp_path / "arrays", (20, 5), (41, 5), (9, 5), rate=None), 10.0, 20.4, 4.7)
    config, remark = settled(Config(), CLIPS, sources)
    assert config.features.frames_per_second == 2.0
    assert remark.startswith("the embeddings have 2 frames per second (1.9583 to 2.1103 would")
    assert remark.endswith("add --set features.frames_per_second=...")


# --- wrong input ---


def refused(sources: Sources, config: Config, message: str) -> None:
    """It must be, with this message."""
    with pytest.raises(ValueError, match=re.escape(message)):
        settled(config, CLIPS, sources)


def test_dims_that_differ(tmp_path: Path) -> None:
    refused(arrays(tmp_path, (20, 5), (20, 5), (30, 6)), Config(), "c.wav.npy: has shape (30, 6), but")
    refused(
        arrays(tmp_path, (5, 20), (5, 41), (5, 9)), Config(), "all have 5 on the first; are frames and dims swapped?"
    )
    wanted = for_embeddings(Config(), frames_per_second=RATE, n_dims=5)
    refused(
        arrays(tmp_path, *[(20, 6)] * 3), wanted, "has 6 dims, shape (20, 6), but features.n_dims = 5 - are they of"
    )
    refused(arrays(tmp_path, *[(5, 6)] * 3), wanted, "features.n_dims = 5 - are frames and dims swapped?")


def test_arrays_of_another_length_than_the_audio(tmp_path: Path) -> None:
    sources = with_audio(arrays(tmp_path / "arrays", (20, 5), (41, 5), (9, 5)), 10.0, 20.4, 10.0)
    expected = (
        "c.wav.npy: has 9 frames for 10.00 s of audio; at 2 frames per second there should be about 20 - is the hop"
    )
    refused(sources, Config(), expected)
    (tmp_path / "arrays/features.json").unlink()  # now most recordings tell the rate, and c still does not fit
    refused(sources, Config(), "c.wav.npy: has 9 frames for 10.00 s")


def test_a_rate_that_no_array_has(tmp_path: Path) -> None:
    sources = with_audio(arrays(tmp_path / "arrays", (20, 5), (41, 5), (20, 5), rate=50.0), 10.0, 20.4, 10.0)
    refused(sources, Config(), "a.wav.npy: has 20 frames for 10.00 s of audio; at 50 frames per second there should be")
    refused(sources, Config(), "(and 2 more: b.wav.npy, c.wav.npy) - 2 per second would fit; is the hop another one")


def test_frames_and_dims_swapped_are_told_by_the_audio(tmp_path: Path) -> None:
    sources = with_audio(arrays(tmp_path / "arrays", *[(64, 20)] * 3), 10.0, 10.0, 10.0)
    refused(
        sources, Config(), "has 64 frames for 10.00 s of audio; at 2 frames per second there should be about 20 (and"
    )
    refused(sources, Config(), "its second axis, 20, would fit; are frames and dims swapped? Save array.T")


def test_nothing_tells_the_frame_rate(tmp_path: Path) -> None:
    refused(arrays(tmp_path, (20, 5), rate=None), Config(), "nothing tells how many frames make a second - add --set")
    other = for_embeddings(Config(), frames_per_second=50.0, n_dims=5)
    refused(
        arrays(tmp_path, (20, 5)), other, f"features.frames_per_second is 50, but {tmp_path} states 2 in its features"
    )


def test_one_array_of_another_orientation(tmp_path: Path) -> None:
    refused(arrays(tmp_path, (20, 5), (5, 21), (30, 5)), Config(), "b.wav.npy: has shape (5, 21), but")
    refused(arrays(tmp_path, (20, 5), (5, 21), (30, 5)), Config(), "are frames and dims swapped in this one?")


def test_labels_without_clips(tmp_path: Path) -> None:
    sources = arrays(tmp_path, (20, 5))
    with pytest.raises(ValueError, match=r"weak\.tsv: lists no clips - nothing can be learned from it"):
        settled(Config(), [], sources)


def test_no_array_at_all(tmp_path: Path) -> None:
    refused(
        arrays(tmp_path),
        Config(),
        "none of the 3 recordings has embeddings that can be read; the first: a.wav: neither",
    )
    refused(Sources(tmp_path, embeddings=tmp_path / "none"), Config(), "none: there is no such folder of embeddings")
    refused(
        Sources(tmp_path, tmp_path),
        for_embeddings(Config(), frames_per_second=2.0, n_dims=5),
        "features.frames_per_second = 2 says that this run learns from embeddings, and none are given",
    )
    with pytest.raises(ValueError, match="audio must name the folder of the recordings, got None - or give embeddings"):
        Sources(tmp_path)
