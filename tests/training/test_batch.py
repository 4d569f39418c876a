"""One batch: clips padded to the longest, and what is known of each."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from oracles.training_cases import clips_in_memory

from earmark.training.batch import collate

TAGS = [[1, 0], [0, 1], [1, 1], [0, 0]]
KNOWN = [[1, 1], [1, 0], [0, 1], [1, 1]]


def features(rng: np.random.Generator, lengths: tuple[int, ...] = (4, 8, 2, 8)) -> list[NDArray[np.float16]]:
    """Clips of even lengths with three mel bands."""
    return [rng.normal(size=(length, 3)).astype(np.float16) for length in lengths]


# --- laws ---


def test_every_clip_keeps_its_frames_and_its_mask_says_which_they_are(rng: np.random.Generator) -> None:
    arrays = features(rng)
    clips, store = clips_in_memory(arrays, TAGS)
    for indices in ([0, 1, 2], [2, 0], [3, 2, 1, 0], [1, 1, 0]):
        batch = collate(clips, store, indices, time_reduction=2)
        assert batch.features.dtype == torch.float32
        assert batch.mask is not None
        assert batch.mask.dtype == torch.bool
        assert batch.features.shape[1] == 2 * batch.mask.shape[1] == max(len(arrays[i]) for i in indices)
        for row, index in enumerate(indices):
            length = len(arrays[index])
            np.testing.assert_array_equal(batch.features[row, :length], arrays[index])
            assert batch.mask[row].tolist() == [i < length // 2 for i in range(batch.mask.shape[1])]


def test_clips_of_one_length_need_no_mask(rng: np.random.Generator) -> None:
    clips, store = clips_in_memory(features(rng), TAGS)
    for indices in ([1, 3], [0]):
        assert collate(clips, store, indices, time_reduction=2).mask is None


def test_tags_knowledge_and_names_follow_their_clips(rng: np.random.Generator) -> None:
    clips, store = clips_in_memory(features(rng), TAGS, known=KNOWN)
    batch = collate(clips, store, [2, 1], time_reduction=2)
    assert batch.tags.tolist() == [[1.0, 1.0], [0.0, 1.0]]
    assert batch.tags_known.tolist() == [[False, True], [True, False]]
    assert batch.filenames == ("2.wav", "1.wav")
    assert batch.tags.dtype == torch.float32


def test_a_batch_is_a_copy_of_the_store(rng: np.random.Generator) -> None:
    clips, store = clips_in_memory(features(rng), TAGS)
    before = store.frames.copy()
    batch = collate(clips, store, [0, 1], time_reduction=2)
    batch.features.fill_(99.0)
    batch.tags.fill_(99.0)
    np.testing.assert_array_equal(store.frames, before)
    assert clips.tags.tolist() == [[bool(tag) for tag in row] for row in TAGS]


def test_moving_a_batch_moves_all_of_it(rng: np.random.Generator) -> None:
    clips, store = clips_in_memory(features(rng), TAGS)
    for indices in ([0, 1], [1, 3]):
        batch = collate(clips, store, indices, time_reduction=2)
        moved = batch.to(torch.device("meta"))
        tensors = [moved.features, moved.tags, moved.tags_known, *([] if moved.mask is None else [moved.mask])]
        assert {tensor.device.type for tensor in tensors} == {"meta"}
        assert (moved.mask is None) == (batch.mask is None)
        assert moved.filenames == batch.filenames
