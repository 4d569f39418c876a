"""Changes to training clips: what they say about the tags stays true, and the padding never takes part."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from torch import Tensor

from earmark.config import AugmentConfig, FeatureConfig
from earmark.models.features import LogMel
from earmark.timeline import Timeline
from earmark.training.augment import augment, gain, masks, mixup, time_shift
from earmark.training.batch import Batch

GRID = Timeline(sample_rate=100, hop_samples=10)  # 0.1 s per frame
LENGTHS = (12, 6, 10)  # of the clips; output frames hold two of them
EVERYTHING = AugmentConfig(
    time_shift_seconds=0.5, mixup=0.5, n_mel_masks=2, mel_mask_bands=2, n_time_masks=1, time_mask_seconds=0.3,
    gain_db=6.0,
)  # fmt: skip


def batch(rng: np.random.Generator, *, padding: float = math.nan, lengths: tuple[int, ...] = LENGTHS) -> Batch:
    """Clips of 5 mel bands, with whatever stands in the padding."""
    features = torch.full((len(lengths), max(lengths), 5), padding)
    for row, length in enumerate(lengths):
        features[row, :length] = torch.from_numpy(rng.normal(-5.0, 2.0, (length, 5)))
    n_output = torch.tensor([length // 2 for length in lengths])
    mask = torch.arange(max(lengths) // 2) < n_output[:, None]
    tags = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])[: len(lengths)]
    known = torch.tensor([[True, True], [True, False], [False, True]])[: len(lengths)]
    names = tuple(f"{row}.wav" for row in range(len(lengths)))
    return Batch(features, mask if len(set(lengths)) > 1 else None, tags, known, names)


def real(one: Batch) -> Tensor:
    """The real frames, joined end to end."""
    mask = torch.ones(one.features.shape[:2], dtype=torch.bool) if one.mask is None else stretched(one.mask)
    return one.features[mask]


def stretched(mask: Tensor) -> Tensor:
    """The mask of feature frames."""
    return mask.repeat_interleave(2, dim=1)


def applied(one: Batch, config: AugmentConfig, seed: int = 3) -> Batch:
    """The batch with the changes of a configuration."""
    return augment(one, config, fill=torch.zeros(5), timeline=GRID, rng=np.random.default_rng(seed))


SINGLE = [
    AugmentConfig(time_shift_seconds=0.5),
    AugmentConfig(mixup=0.5),
    AugmentConfig(n_mel_masks=2, mel_mask_bands=2),
    AugmentConfig(n_time_masks=2, time_mask_seconds=0.3),
    AugmentConfig(gain_db=6.0),
    EVERYTHING,
]

# --- laws ---


def test_nothing_happens_unless_it_is_switched_on(rng: np.random.Generator) -> None:
    one = batch(rng)
    assert applied(one, AugmentConfig()) is one


@pytest.mark.parametrize("config", SINGLE, ids=str)
def test_each_option_does_something_and_the_same_seed_does_the_same(
    config: AugmentConfig, rng: np.random.Generator
) -> None:
    one = batch(rng, padding=0.0)
    changed, again, other = applied(one, config), applied(one, config), applied(one, config, seed=4)
    assert not torch.equal(real(changed), real(one))
    torch.testing.assert_close(changed.features, again.features)
    assert not torch.equal(changed.features, other.features)
    torch.testing.assert_close(changed.tags, again.tags)


@pytest.mark.parametrize("config", SINGLE, ids=str)
def test_padding_is_never_mixed_in_and_the_batch_itself_stays(config: AugmentConfig, rng: np.random.Generator) -> None:
    with_nan = batch(rng, padding=math.nan)
    with_noise = dataclasses.replace(with_nan, features=torch.nan_to_num(with_nan.features, nan=1e6))
    before = with_nan.features.clone()
    one, other = applied(with_nan, config), applied(with_noise, config)
    assert one.mask is not None
    assert torch.isfinite(real(one)).all()
    torch.testing.assert_close(real(one), real(other))
    torch.testing.assert_close(with_nan.features, before, equal_nan=True)
    # The mask remains one run of real frames from the beginning, which the recurrent layer relies on.
    assert (one.mask[:, 1:] <= one.mask[:, :-1]).all()


def test_a_shift_rolls_every_clip_inside_its_own_length(rng: np.random.Generator) -> None:
    one = batch(rng)
    rolled = set()
    for seed in range(40):
        shifted = time_shift(one, 3.0, np.random.default_rng(seed))
        for row, length in enumerate(LENGTHS):
            clip, original = shifted.features[row, :length], one.features[row, :length]
            amounts = [k for k in range(length) if torch.equal(clip, torch.roll(original, k, dims=0))]
            assert len(amounts) == 1
            rolled.add((row, amounts[0]))
            assert torch.isnan(shifted.features[row, length:]).all()
    assert len(rolled) > 15  # in both directions, by many amounts, each clip by its own


def test_a_shift_has_the_deviation_it_is_given(rng: np.random.Generator) -> None:
    one = batch(rng, lengths=(1000,))
    at = []
    for seed in range(300):
        marked = dataclasses.replace(one, features=torch.zeros(1, 1000, 5))
        marked.features[0, 500] = 1.0
        shifted = applied(marked, AugmentConfig(time_shift_seconds=4.0), seed=seed)
        at.append(int(shifted.features[0, :, 0].argmax()) - 500)
    assert np.std(at) == pytest.approx(40.0, rel=0.1)  # 4 s are 40 frames
    assert abs(np.mean(at)) < 8


def test_mixing_a_clip_with_itself_changes_nothing(rng: np.random.Generator) -> None:
    one = batch(rng, lengths=(8,))
    mixed = mixup(one, 0.5, rng)
    torch.testing.assert_close(mixed.features, one.features)
    torch.testing.assert_close(mixed.tags, one.tags)


def test_mixing_silence_in_leaves_the_larger_share(rng: np.random.Generator) -> None:
    loud = torch.full((2, 4, 5), -2.0)
    loud[1] = -200.0
    one = Batch(loud, None, torch.tensor([[1.0], [0.0]]), torch.ones(2, 1, dtype=torch.bool), ("a", "b"))
    for seed in range(30):
        mixed = mixup(one, 0.3, np.random.default_rng(seed))
        for row in range(2):
            # What a clip keeps of the tag is what it keeps of the energy.
            assert mixed.tags[row].item() == pytest.approx(math.exp(mixed.features[row, 0, 0] + 2.0), abs=1e-5)
        assert 0.5 <= mixed.tags[0].item() <= 1.0
        assert 0.0 <= mixed.tags[1].item() <= 0.5


def test_a_class_is_known_of_a_mixture_when_it_is_known_of_both(rng: np.random.Generator) -> None:
    one = batch(rng, padding=0.0)
    partners_seen = set()
    for seed in range(20):
        partner = np.random.default_rng(seed).permutation(3)
        mixed = mixup(one, 0.5, np.random.default_rng(seed))
        assert mixed.mask is not None
        assert one.mask is not None
        for row in range(3):
            other = int(partner[row])
            partners_seen.add((row, other))
            assert mixed.tags_known[row].tolist() == (one.tags_known[row] & one.tags_known[other]).tolist()
            assert mixed.mask[row].sum() == max(one.mask[row].sum(), one.mask[other].sum())
    assert len(partners_seen) == 9


def test_where_only_one_clip_has_sound_the_mixture_is_its_share(rng: np.random.Generator) -> None:
    one = batch(rng)
    for seed in range(10):
        generator = np.random.default_rng(seed)
        partner, drawn = generator.permutation(3), generator.beta(0.5, 0.5, 3)
        mixed = mixup(one, 0.5, np.random.default_rng(seed))
        for row in range(3):
            other = int(partner[row])
            short, long = sorted((LENGTHS[row], LENGTHS[other]))
            share = max(drawn[row], 1 - drawn[row]) if LENGTHS[row] == long else 1 - max(drawn[row], 1 - drawn[row])
            source = one.features[row if LENGTHS[row] == long else other, short:long]
            torch.testing.assert_close(mixed.features[row, short:long], source + math.log(share), atol=1e-3, rtol=0)


def test_masks_hide_whole_bands_and_whole_moments_of_real_sound(rng: np.random.Generator) -> None:
    one, fill = batch(rng), torch.arange(5.0) + 100.0
    config = AugmentConfig(n_mel_masks=1, mel_mask_bands=2, n_time_masks=1, time_mask_seconds=0.3)
    widths, spans = set(), set()
    for seed in range(60):
        generator = np.random.default_rng(seed)
        masked = masks(one, config, fill=fill, longest_time_mask_frames=3, rng=generator)
        for row, length in enumerate(LENGTHS):
            hidden = masked.features[row, :length] == fill
            bands, moments = hidden.all(dim=0), hidden.all(dim=1)
            assert (hidden == (bands[None, :] | moments[:, None])).all()
            assert (hidden | (masked.features[row, :length] == one.features[row, :length])).all()
            widths.add(int(bands.sum()))
            spans.add(int(moments.sum()))
        moments_only = AugmentConfig(n_time_masks=2)
        masked = masks(one, moments_only, fill=fill, longest_time_mask_frames=3, rng=np.random.default_rng(seed))
        assert all(torch.isnan(masked.features[row, length:]).all() for row, length in enumerate(LENGTHS))
    assert widths == {0, 1, 2}
    assert spans == {0, 1, 2, 3}


@pytest.mark.parametrize("spectrum", ["power", "magnitude"])
def test_a_gain_is_what_a_louder_recording_would_give(spectrum: str, rng: np.random.Generator) -> None:
    log_mel = LogMel(FeatureConfig(sample_rate=8000, n_mels=8, window_samples=256, hop_samples=80, spectrum=spectrum))
    audio = torch.from_numpy(rng.normal(scale=0.1, size=(1, 4000))).float()
    one = Batch(log_mel(audio), None, torch.zeros(1, 1), torch.ones(1, 1, dtype=torch.bool), ("a",))
    decibels = np.random.default_rng(3).normal(0.0, 6.0, 1).item()
    louder = augment(
        one, AugmentConfig(gain_db=6.0), fill=torch.zeros(8), timeline=GRID, rng=np.random.default_rng(3),
        spectrum=spectrum,
    )  # fmt: skip
    torch.testing.assert_close(louder.features, log_mel(audio * 10 ** (decibels / 20)), atol=1e-4, rtol=0)


@pytest.mark.parametrize("spectrum", ["power", "magnitude"])
def test_a_mixture_is_what_the_sum_of_the_sounds_would_give(spectrum: str) -> None:
    # Two tones in different bands: where one is, the other is not, so energies add without interference.
    config = FeatureConfig(sample_rate=8000, n_mels=16, window_samples=256, hop_samples=80, spectrum=spectrum)
    seconds = np.arange(4000) / 8000
    tones = [torch.from_numpy(0.3 * np.sin(2 * np.pi * hz * seconds)).float()[None] for hz in (500.0, 3000.0)]
    log_mel = LogMel(config)
    one = Batch(
        torch.cat([log_mel(tone) for tone in tones]), None, torch.eye(2), torch.ones(2, 2, dtype=torch.bool), ("a", "b")
    )
    seed = next(s for s in range(9) if np.random.default_rng(s).permutation(2)[0] == 1)
    mixed = augment(
        one, AugmentConfig(mixup=1.0), fill=torch.zeros(16), timeline=GRID, rng=np.random.default_rng(seed),
        spectrum=spectrum,
    )  # fmt: skip
    share = mixed.tags[0, 0].item()
    expected = log_mel(math.sqrt(share) * tones[0] + math.sqrt(1 - share) * tones[1])
    loud = expected[0, 5:-5] > expected.max() - 3.0
    torch.testing.assert_close(mixed.features[0, 5:-5][loud], expected[0, 5:-5][loud], atol=0.02, rtol=0)


# --- worked numbers ---


def test_a_mixture_by_hand() -> None:
    features = torch.log(torch.tensor([[[1.0, 8.0]], [[4.0, 2.0]]]))  # energies
    one = Batch(features, None, torch.eye(2), torch.ones(2, 2, dtype=torch.bool), ("a", "b"))
    seed = next(s for s in range(9) if np.random.default_rng(s).permutation(2)[0] == 1)
    generator = np.random.default_rng(seed)
    generator.permutation(2)
    drawn = generator.beta(0.4, 0.4, 2)
    share = np.maximum(drawn, 1 - drawn)
    mixed = mixup(one, 0.4, np.random.default_rng(seed))
    # First clip: share * (1, 8) + (1 - share) * (4, 2); and its tags (share, 1 - share).
    a, b = share
    expected = torch.tensor([[[a + (1 - a) * 4, a * 8 + (1 - a) * 2]], [[b * 4 + (1 - b), b * 2 + (1 - b) * 8]]])
    torch.testing.assert_close(mixed.features.exp(), expected.float())
    torch.testing.assert_close(mixed.tags, torch.tensor([[a, 1 - a], [1 - b, b]]).float())


def test_a_gain_by_hand(rng: np.random.Generator) -> None:
    one = batch(rng, padding=0.0)
    decibels = np.random.default_rng(1).normal(0.0, 10.0, 3)
    louder = gain(one, 10.0, np.random.default_rng(1))
    for row in range(3):
        difference = (louder.features[row] - one.features[row]).numpy()
        np.testing.assert_allclose(
            difference, decibels[row] / 10 * math.log(10), atol=1e-5
        )  # 10 dB: ten times the energy
