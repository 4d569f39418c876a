"""Which clips make which batch: every class in each, rare ones as often, and never more frames than allowed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from oracles.mixed_batches_slow import mixed_batches_slow

from earmark.training.sampling import batches_by_length, epoch_order, mixed_batches

Cut = Callable[..., list[list[int]]]


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

BATCHERS = [mixed_batches, batches_by_length]


@pytest.mark.parametrize("batches_of", BATCHERS)
@pytest.mark.parametrize("max_frames", [50, 200, 1000])
def test_the_bound_on_padded_frames_is_always_kept(batches_of: Cut, max_frames: int, rng: np.random.Generator) -> None:
    for _ in range(30):
        lengths = np.round(np.exp(rng.uniform(0, 7, 200))).astype(np.int64)
        for batch in batches_of(rng.integers(0, 200, 300), lengths, max_frames=max_frames, max_together=100):
            # A single clip may be longer: it passes in pieces.
            assert len(batch) == 1 or padded_frames(batch, lengths) <= max_frames


@pytest.mark.parametrize("batches_of", BATCHERS)
def test_every_drawn_clip_is_in_exactly_one_batch(batches_of: Cut, rng: np.random.Generator) -> None:
    lengths = rng.integers(1, 300, 100)
    order = rng.integers(0, 100, 2500)  # some wait for longer than a batch looks ahead
    batches = batches_of(order, lengths, max_frames=400, max_together=200)
    assert all(batches)
    assert sorted(clip for batch in batches for clip in batch) == sorted(order.tolist())
    assert batches_of([], lengths, max_frames=400, max_together=200) == []


@pytest.mark.parametrize("batches_of", BATCHERS)
def test_clips_too_long_for_company_are_alone(batches_of: Cut, rng: np.random.Generator) -> None:
    lengths = rng.choice([10, 250, 251, 900], 80)
    batches = batches_of(range(80), lengths, max_frames=2000, max_together=250)
    assert all(len(batch) == 1 or lengths[batch].max() <= 250 for batch in batches)
    assert any(len(batch) > 1 and lengths[batch].max() == 250 for batch in batches)


def test_at_most_sixty_percent_of_a_batch_is_padding(rng: np.random.Generator) -> None:
    for _ in range(20):
        lengths = np.round(np.exp(rng.uniform(np.log(10), np.log(5000), 500))).astype(np.int64)
        for batch in mixed_batches(rng.permutation(500), lengths, max_frames=16000, max_together=10000):
            assert 0.4 * padded_frames(batch, lengths) <= lengths[batch].sum() + 1e-6


def test_every_batch_holds_all_classes_even_when_one_is_always_short(rng: np.random.Generator) -> None:
    # Sorted by length, each batch would hold one class, and the statistics of its normalisation that class alone.
    tags = tags_of(400, 400)
    lengths = np.where(tags[:, 0], rng.integers(60, 100, 800), rng.integers(100, 160, 800))
    order = epoch_order(tags, balance="classes", rng=rng)
    batches = mixed_batches(order, lengths, max_frames=3200, max_together=3000)
    shares = np.array([tags[batch, 0].mean() for batch in batches if len(batch) > 10])
    assert len(shares) > 20
    assert 0.3 < shares.min() < shares.max() < 0.7


def test_looking_costs_little_padding(rng: np.random.Generator) -> None:
    lengths = np.round(np.exp(rng.uniform(np.log(50), np.log(5000), 2000))).astype(np.int64)  # 1 s to 100 s
    batches = batches_by_length(rng.permutation(2000), lengths, max_frames=16000, max_together=10000)
    assert lengths.sum() / sum(padded_frames(batch, lengths) for batch in batches) > 0.95


@pytest.mark.parametrize("kind", ["alike", "any", "long and short", "few"])
def test_the_batches_are_those_of_a_search_through_all_clips(kind: str, rng: np.random.Generator) -> None:
    n_clips = 40 if kind == "few" else 3000
    lengths = {
        "alike": rng.integers(400, 600, n_clips),
        "any": np.round(np.exp(rng.uniform(0, 9, n_clips))).astype(np.int64),
        # Many short clips wait for company behind a few long ones, longer than a batch looks ahead.
        "long and short": np.where(rng.random(n_clips) < 0.1, 5000, 1),
        "few": rng.integers(1, 500, n_clips),
    }[kind]
    order = rng.integers(0, n_clips, n_clips).tolist()  # some clips more than once
    for max_frames, max_together in ((8000, 3000), (20000, 20000), (300, 50)):
        expected = mixed_batches_slow(order, lengths, max_frames=max_frames, max_together=max_together)
        assert mixed_batches(order, lengths, max_frames=max_frames, max_together=max_together) == expected


def test_planning_never_touches_more_than_the_next_clips_however_many_there_are(rng: np.random.Generator) -> None:
    # So its time grows as the number of clips does; seconds would say how busy the machine is.
    for n_clips in (3000, 30_000):
        lengths = rng.integers(50, 500, n_clips)
        assert most_waiting(rng.permutation(n_clips), lengths) == 1002  # the first of a batch, and 1001 it may look at


def most_waiting(order: NDArray[np.int64], lengths: NDArray[np.int64]) -> int:
    """The most clips that `mixed_batches` holds at any line of its work."""
    held = [0]

    def look(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code is not mixed_batches.__code__:
            return None
        held.append(len(frame.f_locals.get("waiting", ())))
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        mixed_batches(order, lengths, max_frames=100_000, max_together=3000)
    finally:
        sys.settrace(before)
    return max(held)


# --- worked numbers ---


def test_batches_in_the_order_of_drawing() -> None:
    lengths = np.array([30, 10, 20, 10, 100, 61, 60])
    # The longest of the next eight begins: 100 and 61, which are above 60, alone; 60 alone, as 2 * 60 > 70; then 30
    # takes 10, but not 20 (3 * 30 > 70); 20 takes the other 10.
    batches = mixed_batches(range(7), lengths, max_frames=70, max_together=60)
    assert batches == [[4], [5], [6], [0, 1], [2, 3]]


def test_clips_that_would_be_mostly_padding_wait() -> None:
    # 100 takes 10 (110 of 200 are real) and another one (120 of 300), but not a third (130 of 400 are less than 40 %);
    # with 90 it is 210 of 400.
    lengths = np.array([100, 10, 10, 10, 90])
    assert mixed_batches(range(5), lengths, max_frames=1000, max_together=1000) == [[0, 1, 2, 4], [3]]


@pytest.mark.parametrize(("n_between", "together"), [(999, True), (1000, False)])
def test_how_far_a_batch_looks(n_between: int, together: bool) -> None:
    # 100 takes a 1 (101 of 200 are real), no other 1 (102 of 300), and 90 (191 of 300) if it stands in reach: among
    # the thousand behind the first that it looked at, which was taken.
    lengths = np.array([100, 1, *[1] * n_between, 90])
    batches = mixed_batches(range(len(lengths)), lengths, max_frames=1000, max_together=1000)
    assert batches[0][:2] == [0, 1]
    assert (len(lengths) - 1 in batches[0]) == together


def test_batches_of_clips_sorted_by_length() -> None:
    lengths = np.array([30, 10, 20, 10, 100, 61, 60])
    # 10 10 20 (3 * 20 <= 70), then 30 (with 60: 120 > 70), 60, and 61 and 100, which are above 60, alone.
    batches = batches_by_length(range(7), lengths, max_frames=70, max_together=60)
    assert batches == [[1, 3, 2], [0], [6], [5], [4]]


@pytest.mark.parametrize("batches_of", BATCHERS)
def test_a_batch_may_be_exactly_full(batches_of: Cut) -> None:
    lengths = np.array([25, 25, 25, 25])
    assert batches_of(range(4), lengths, max_frames=100, max_together=50) == [[0, 1, 2, 3]]
    assert batches_of(range(4), lengths, max_frames=99, max_together=50) == [[0, 1, 2], [3]]
