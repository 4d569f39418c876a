"""Labels of frames move with the features, whatever changes them, and what is not known stays so."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from earmark.config import AugmentConfig
from earmark.timeline import Timeline
from earmark.training.augment import augment, mixup
from earmark.training.batch import Batch

GRID = Timeline(sample_rate=100, hop_samples=10)  # 0.1 s per frame
SHIFT = AugmentConfig(time_shift_seconds=0.5)
MOVING = [
    AugmentConfig(time_shift_seconds=0.5),
    AugmentConfig(mixup=0.5),
    AugmentConfig(time_shift_seconds=0.5, mixup=0.5),
    AugmentConfig(gain_db=6.0, n_mel_masks=1, mel_mask_bands=2),
]

# --- laws ---


@pytest.mark.parametrize("config", MOVING, ids=str)
def test_frame_labels_move_with_the_features(config: AugmentConfig, rng: np.random.Generator) -> None:
    # A feature frame sounds, in two bands of five, exactly where and as loud as its class is there. Known are all
    # frames but those of one class of one clip, whose labels are NaN.
    lengths = (12, 6, 10)
    labels = torch.zeros(3, 12, 2)
    for row, length in enumerate(lengths):
        labels[row, :length] = torch.from_numpy(rng.integers(0, 2, (length // 2, 2)).repeat(2, axis=0)).float()
    energy = torch.full((3, 12, 5), 1e-9)
    energy[:, :, :2] += labels
    known = torch.arange(12)[None, :, None] < torch.tensor(lengths)[:, None, None]
    known = known.expand(3, 12, 2).clone()
    known[1, :, 1] = False
    mask = torch.arange(6) < torch.tensor(lengths)[:, None] // 2
    one = Batch(
        energy.log(), mask, torch.ones(3, 2), torch.ones(3, 2) > 0, ("a", "b", "c"),
        torch.where(known, labels, math.nan), known,
    )  # fmt: skip
    moved_by_halves = 0
    for seed in range(20):
        changed = augment(
            one, config, fill=torch.zeros(5), timeline=GRID, rng=np.random.default_rng(seed), time_reduction=2
        )
        assert changed.frame_tags is not None
        assert changed.frame_known is not None
        assert changed.mask is not None
        sound = changed.features.exp()[:, :, :2]
        if config.n_mel_masks:
            sound = energy[:, :, :2]  # a mask hides the sound, a gain changes it, and the label stays
        sound = sound.unflatten(1, (-1, 2)).mean(dim=2)  # (clips, output frames, classes)
        if config.mixup == 0:
            moved_by_halves += int((sound[changed.frame_known] - 0.5).abs().lt(0.01).sum())
            sound = (sound > 0.49).float()
        if config.time_shift_seconds == 0 or config.mixup == 0:  # with both there is rounding before mixing
            expected = changed.frame_tags[changed.frame_known]
            torch.testing.assert_close(expected, sound[changed.frame_known], atol=1e-4, rtol=0)
        assert not changed.frame_known[~changed.mask].any()
        if config.mixup == 0:  # what is unknown stays so
            assert changed.frame_known.sum() == known.sum() / 2
    assert moved_by_halves > 0 or config.time_shift_seconds == 0 or config.mixup > 0


def test_what_is_known_of_frames_moves_with_the_features(rng: np.random.Generator) -> None:
    # One band sounds where the frames of a class are known.
    known = torch.from_numpy(rng.random((3, 12, 1)) < 0.7)
    energy = torch.full((3, 12, 5), 1e-9)
    energy[:, :, :1] += known
    silent = torch.zeros(3, 12, 1)
    one = Batch(energy.log(), None, torch.ones(3, 1), torch.ones(3, 1) > 0, ("a", "b", "c"), silent, known)
    for seed in range(10):
        shifted = augment(
            one, SHIFT, fill=torch.zeros(5), timeline=GRID, rng=np.random.default_rng(seed), time_reduction=2
        )
        sounds = shifted.features.exp()[:, :, :1].unflatten(1, (-1, 2)).amin(dim=2) > 0.5
        assert shifted.frame_known is not None
        assert torch.equal(shifted.frame_known, sounds)  # an output frame is known when all of it is


def test_clips_are_mixed_with_clips_of_which_as_much_is_known(rng: np.random.Generator) -> None:
    tags_known = torch.tensor([[True], [True], [False], [False], [True], [True]])
    frame_known = torch.zeros(6, 4, 1, dtype=torch.bool)
    frame_known[4:] = True
    one = Batch(
        torch.zeros(6, 4, 5), None, torch.ones(6, 1), tags_known, tuple("abcdef"), torch.ones(6, 4, 1), frame_known
    )
    assert one.kinds == ["weak", "weak", "unlabelled", "unlabelled", "strong", "strong"]
    for seed in range(5):
        mixed = mixup(one, 0.5, np.random.default_rng(seed))
        assert mixed.kinds == one.kinds
        torch.testing.assert_close(mixed.frame_tags[4:], torch.ones(2, 4, 1))  # type: ignore[index]
