"""Pieces of long recordings: one fixed grid, whatever the blocks the sound arrives in."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from earmark.detection.pieces import Window, windows


def recording(n_samples: int) -> NDArray[np.float32]:
    """Samples that say where they stand."""
    return np.arange(n_samples, dtype=np.float32)


def in_blocks(sound: NDArray[np.float32], cuts: list[int]) -> list[NDArray[np.float32]]:
    """The sound cut at some places."""
    return np.split(sound, sorted(cuts))


def pieces(sound: NDArray[np.float32], cuts: list[int], *, piece: int, context: int) -> list[Window]:
    """All pieces of a recording."""
    return list(windows(in_blocks(sound, cuts), piece_samples=piece, context_samples=context))


# --- laws ---


@pytest.mark.parametrize("piece", [1, 4, 7])
@pytest.mark.parametrize("context", [0, 1, 3, 9])
@pytest.mark.parametrize("n_samples", [1, 3, 4, 8, 9, 22])
def test_every_sample_is_kept_once_in_a_piece_of_the_grid(piece: int, context: int, n_samples: int) -> None:
    found = pieces(recording(n_samples), [], piece=piece, context=context)
    kept = [window.samples[window.keep_from : window.keep_to] for window in found]
    np.testing.assert_array_equal(np.concatenate(kept), recording(n_samples))
    assert [part[0] for part in kept] == [number * piece for number in range(len(kept))]
    assert all(len(part) == piece for part in kept[:-1])


@pytest.mark.parametrize("context", [0, 1, 3, 9])
def test_the_context_is_as_long_as_the_recording_allows(context: int) -> None:
    for number, window in enumerate(pieces(recording(22), [], piece=4, context=context)):
        first, end = max(0, 4 * number - context), min(22, 4 * number + 4 + context)
        np.testing.assert_array_equal(window.samples, recording(22)[first:end])


def test_blocks_of_any_size_give_the_same_pieces(rng: np.random.Generator) -> None:
    for _ in range(200):
        n_samples, piece, context = int(rng.integers(1, 60)), int(rng.integers(1, 12)), int(rng.integers(0, 15))
        cuts = rng.integers(0, n_samples + 1, rng.integers(0, 12)).tolist()  # equal cuts make empty blocks
        whole = pieces(recording(n_samples), [], piece=piece, context=context)
        cut = pieces(recording(n_samples), cuts, piece=piece, context=context)
        assert len(cut) == len(whole)
        for one, other in zip(cut, whole, strict=True):
            np.testing.assert_array_equal(one.samples, other.samples)
            assert (one.keep_from, one.keep_to) == (other.keep_from, other.keep_to)


def test_a_piece_comes_as_soon_as_its_context_is_known_and_no_more_is_held() -> None:
    taken = 0
    longest = 0

    def arriving() -> Iterator[NDArray[np.float32]]:
        nonlocal taken
        for sample in recording(1000):
            taken += 1
            yield np.array([sample])

    for number, window in enumerate(windows(arriving(), piece_samples=10, context_samples=3)):
        assert taken == min(1000, 10 * number + 13)
        longest = max(longest, len(window.samples))
    assert longest == 16  # the piece and its context on both sides


def test_a_long_recording_needs_no_more_memory_than_a_piece() -> None:
    block = np.zeros(1000, np.float32)
    tracemalloc.start()
    n_kept = sum(w.keep_to - w.keep_from for w in windows([block] * 1000, piece_samples=5000, context_samples=500))
    most_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_kept == 1_000_000  # 4 MB
    # A piece, its context and a block are 7000 samples of 4 bytes; twice that while the next block is put behind them.
    assert most_bytes < 100_000


# --- worked numbers ---


def test_pieces_of_four_with_a_context_of_one() -> None:
    found = [
        (window.samples.astype(int).tolist(), window.keep_from, window.keep_to)
        for window in pieces(recording(10), [3, 5], piece=4, context=1)
    ]
    assert found == [([0, 1, 2, 3, 4], 0, 4), ([3, 4, 5, 6, 7, 8], 1, 5), ([7, 8, 9], 1, 3)]


# --- wrong input ---


def test_nothing_at_all_has_no_pieces() -> None:
    assert pieces(recording(0), [], piece=4, context=1) == []


def test_frames_of_embeddings_are_cut_as_samples_are(rng: np.random.Generator) -> None:
    frames = rng.normal(size=(57, 3)).astype(np.float32)
    rows = np.arange(57, dtype=np.float32)
    blocks = np.split(frames, [5, 30, 31])
    found = list(windows(blocks, piece_samples=10, context_samples=4))
    expected = list(windows([rows], piece_samples=10, context_samples=4))
    assert len(found) == len(expected) == 6
    for window, of_rows in zip(found, expected, strict=True):
        np.testing.assert_array_equal(window.samples, frames[of_rows.samples.astype(int)])
        assert (window.keep_from, window.keep_to) == (of_rows.keep_from, of_rows.keep_to)
