"""Which clips make which batch: rare classes as often as common ones, and never more frames than allowed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from earmark.training.sampling import cut_batches, epoch_order


def tags_of(*counts: int, both: int = 0, none: int = 0) -> NDArray[np.bool_]:
    """So many clips of each class alone, then clips of the first two classes, then clips without any."""
    rows = [np.eye(len(counts), dtype=bool)[index] for index, count in enumerate(counts) for _ in range(count)]
    rows += [np.arange(len(counts)) < 2] * both + [np.zeros(len(counts), dtype=bool)] * none
    return np.array(rows)


def padded_frames(batch: list[int], lengths: NDArray[np.int64]) -> int:
    """What a batch costs."""
    return len(batch) * int(lengths[batch].max())


# --- laws: order ---


@pytest.mark.parametrize("balance", ["classes", "none"])
def test_the_same_seed_draws_the_same_and_another_one_does_not(balance: str) -> None:
    tags = tags_of(30, 5, 12, both=3, none=10)
    first, again, other = (
        epoch_order(tags, balance=balance, rng=np.random.default_rng(seed)).tolist()
        for seed in ([1, 2], [1, 2], [1, 3])
    )
    assert first == again != other


def test_without_balance_every_clip_comes_once(rng: np.random.Generator) -> None:
    order = epoch_order(tags_of(20, 3, both=2, none=4), balance="none", rng=rng)
    assert sorted(order) == list(range(29))
    assert order.tolist() != list(range(29))


@pytest.mark.parametrize(("common", "rare", "none"), [(500, 5, 0), (500, 5, 100), (60, 40, 1), (7, 7, 7)])
def test_every_class_and_the_clips_without_any_are_drawn_as_often(
    common: int, rare: int, none: int, rng: np.random.Generator
) -> None:
    tags = tags_of(common, rare, none=none)
    order = epoch_order(tags, balance="classes", rng=rng)
    assert len(order) == len(tags)
    n_streams = 2 + (none > 0)
    drawn = [int(tags[order, 0].sum()), int(tags[order, 1].sum()), int((~tags[order].any(axis=1)).sum())]
    assert all(abs(count - len(tags) / n_streams) <= 1 for count in drawn[:n_streams])


def test_any_stretch_of_the_epoch_is_balanced(rng: np.random.Generator) -> None:
    tags = tags_of(300, 3, 30, none=60)
    order = epoch_order(tags, balance="classes", rng=rng)
    for begin in range(0, len(order) - 8, 4):  # rounds of four streams
        assert tags[order[begin : begin + 4]].sum(axis=0).tolist() == [1, 1, 1]


def test_a_class_is_walked_through_before_a_clip_comes_again(rng: np.random.Generator) -> None:
    tags = tags_of(50, 7)
    rare = [clip for clip in epoch_order(tags, balance="classes", rng=rng).tolist() if clip >= 50]
    assert len(rare) == 28 or len(rare) == 29
    for begin in range(0, 28, 7):
        assert sorted(rare[begin : begin + 7]) == list(range(50, 57))
    assert rare[:7] != rare[7:14]  # each pass in a new order


def test_a_clip_with_two_tags_stands_in_two_streams(rng: np.random.Generator) -> None:
    tags = tags_of(9, 9, both=1)
    counts = np.bincount(epoch_order(tags, balance="classes", rng=rng), minlength=19)
    assert counts.sum() == 19
    many = np.zeros(19, int)
    for seed in range(300):
        many += np.bincount(epoch_order(tags, balance="classes", rng=np.random.default_rng(seed)), minlength=19)
    # 19 draws of ten clips per stream: 0.95 for a clip in one stream, 1.9 for the one in both.
    assert many[:18].mean() / 300 == pytest.approx(0.95, abs=0.02)
    assert many[18] / 300 == pytest.approx(1.9, abs=0.1)


def test_a_class_without_a_clip_has_no_stream(rng: np.random.Generator) -> None:
    tags = tags_of(4, 0, 4)
    order = epoch_order(tags, balance="classes", rng=rng)
    assert tags[order].sum(axis=0).tolist() == [4, 0, 4]


# --- laws: batches ---


@pytest.mark.parametrize("max_frames", [50, 200, 1000])
def test_the_bound_on_padded_frames_is_always_kept(max_frames: int, rng: np.random.Generator) -> None:
    for _ in range(30):
        lengths = np.round(np.exp(rng.uniform(0, 7, 200))).astype(np.int64)
        order = rng.integers(0, 200, 300)
        for generator in (rng, None):
            for batch in cut_batches(order, lengths, max_frames=max_frames, max_together=100, rng=generator):
                # A single clip may be longer: it passes in pieces.
                assert len(batch) == 1 or padded_frames(batch, lengths) <= max_frames


def test_every_drawn_clip_is_in_exactly_one_batch(rng: np.random.Generator) -> None:
    lengths = rng.integers(1, 300, 100)
    order = rng.integers(0, 100, 150)
    for generator in (rng, None):
        batches = cut_batches(order, lengths, max_frames=400, max_together=200, rng=generator)
        assert all(batches)
        assert sorted(clip for batch in batches for clip in batch) == sorted(order.tolist())


def test_clips_too_long_for_company_are_alone(rng: np.random.Generator) -> None:
    lengths = rng.choice([10, 250, 251, 900], 80)
    for batch in cut_batches(range(80), lengths, max_frames=2000, max_together=250, rng=rng):
        assert len(batch) == 1 or lengths[batch].max() <= 250


def test_little_padding_is_left(rng: np.random.Generator) -> None:
    lengths = np.round(np.exp(rng.uniform(np.log(50), np.log(5000), 2000))).astype(np.int64)  # 1 s to 100 s
    batches = cut_batches(rng.permutation(2000), lengths, max_frames=16000, max_together=10000, rng=rng)
    padded = sum(padded_frames(batch, lengths) for batch in batches)
    assert lengths.sum() / padded > 0.75
    longest_first = [int(lengths[batch].max()) for batch in batches]
    assert longest_first != sorted(longest_first)  # but the batches come in random order


def test_batches_are_the_same_for_the_same_generator() -> None:
    lengths = np.random.default_rng(0).integers(1, 300, 100)
    first, again = (
        cut_batches(range(100), lengths, max_frames=900, max_together=200, rng=np.random.default_rng(1)) for _ in "12"
    )
    assert first == again


# --- worked numbers ---


def test_batches_of_clips_sorted_by_length() -> None:
    lengths = np.array([30, 10, 20, 10, 100, 61, 60])
    # 10 10 20 (3 * 20 <= 70), then 30 (with 60: 120 > 70), 60, and 61 and 100, which are above 60, alone.
    batches = cut_batches(range(7), lengths, max_frames=70, max_together=60, rng=None)
    assert batches == [[1, 3, 2], [0], [6], [5], [4]]


def test_a_batch_may_be_exactly_full() -> None:
    lengths = np.array([25, 25, 25, 25])
    assert cut_batches(range(4), lengths, max_frames=100, max_together=50, rng=None) == [[0, 1, 2, 3]]
    assert cut_batches(range(4), lengths, max_frames=99, max_together=50, rng=None) == [[0, 1, 2], [3]]
