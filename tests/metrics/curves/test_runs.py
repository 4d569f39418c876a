from __future__ import annotations

import numpy as np
import pytest
from oracles.curves_checks import WITH_AND_WITHOUT_NUMBA
from oracles.curves_slow import runs_at

from earmark.metrics.curves import runs as runs_module
from earmark.metrics.curves.runs import Runs, find_runs

FIELDS = ("class_index", "first", "end", "top", "bottom")


def all_runs(
    values: np.ndarray, *, keep: np.ndarray | None = None, begins: np.ndarray | None = None, use_numba: bool = False
) -> list[tuple[float, ...]]:
    """Runs as rows, sorted; everything is kept and one clip, unless said."""
    n_frames = values.shape[1]
    keep = np.ones(values.shape, dtype=bool) if keep is None else keep
    begins = np.arange(n_frames) == 0 if begins is None else begins
    frames = [np.flatnonzero(row) for row in keep]
    parts = list(find_runs(values, frames=frames, begins_clip=begins, use_numba=use_numba))
    return sorted(row for part in parts for row in zip(*(getattr(part, name).tolist() for name in FIELDS), strict=True))


def random_frames(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of some classes, what to keep and where clips begin."""
    n_classes, n_frames = int(rng.integers(1, 4)), int(rng.choice([0, 1, 2, 7, 30]))
    values = rng.integers(-3, 4, (n_classes, n_frames)) / 4
    keep = rng.random(values.shape) < rng.choice([0.5, 0.9, 1.0])
    return values, keep, (np.arange(n_frames) == 0) | (rng.random(n_frames) < 0.2)


# Laws


@pytest.mark.parametrize("use_numba", WITH_AND_WITHOUT_NUMBA)
def test_at_every_threshold_those_runs_live_that_decoding_finds(rng: np.random.Generator, use_numba: bool) -> None:
    for _ in range(150):
        values, keep, begins = random_frames(rng)
        found = all_runs(values, keep=keep, begins=begins, use_numba=use_numba)
        for threshold in np.arange(-1.0, 1.1, 0.125):  # at scores and between them
            alive = [(index, first, end) for index, first, end, top, bottom in found if top >= threshold > bottom]
            expected = [
                (index, first, end)
                for index, row in enumerate(values)
                for first, end in runs_at((keep[index] & (row >= threshold)).tolist(), begins.tolist())
            ]
            assert sorted(alive) == expected


@pytest.mark.parametrize("use_numba", WITH_AND_WITHOUT_NUMBA)
def test_no_run_comes_twice(rng: np.random.Generator, use_numba: bool) -> None:
    for _ in range(50):
        values, keep, begins = random_frames(rng)
        found = all_runs(values, keep=keep, begins=begins, use_numba=use_numba)
        assert len({row[:3] for row in found}) == len(found) <= values.size
        assert all(top > bottom for *_, top, bottom in found)


@pytest.mark.parametrize("chunk_frames", [1, 2, 5, 17])
def test_looking_at_few_frames_at_a_time_changes_nothing(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, chunk_frames: int
) -> None:
    for _ in range(40):
        values, keep, begins = random_frames(rng)
        expected = all_runs(values, keep=keep, begins=begins)
        with monkeypatch.context() as patched:
            patched.setattr(runs_module, "_CHUNK_FRAMES", chunk_frames)
            assert all_runs(values, keep=keep, begins=begins) == expected


def test_chunks_are_no_larger_than_they_must_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_module, "_CHUNK_FRAMES", 10)
    values, begins = np.arange(40.0)[None], np.arange(40) % 4 == 0  # ten clips of four frames, two of them at a time
    parts = list(find_runs(values, frames=[np.arange(40)], begins_clip=begins, use_numba=False))
    assert [len(part) for part in parts] == [8] * 5


@pytest.mark.parametrize("use_numba", WITH_AND_WITHOUT_NUMBA)
def test_a_long_staircase_up_and_down(use_numba: bool) -> None:
    # The worst for the search: every frame's neighbours are as far away as they can be.
    rising = np.arange(5000.0)
    assert len(all_runs(rising[None], use_numba=use_numba)) == 5000
    valley = np.concatenate([rising[::-1], rising])
    runs = all_runs(valley[None], use_numba=use_numba)
    assert len(runs) == 9999  # two for every height but the lowest, which is one
    assert (0, 0, 10000, 0.0, -np.inf) in runs
    assert (0, 0, 1, 4999.0, 4998.0) in runs


# Worked numbers


@pytest.mark.parametrize("use_numba", WITH_AND_WITHOUT_NUMBA)
def test_two_peaks_and_a_plateau(use_numba: bool) -> None:
    #           frame 0    1    2    3    4    5
    values = np.array([[0.2, 0.8, 0.8, 0.4, 0.6, 0.2]])
    assert all_runs(values, use_numba=use_numba) == [
        (0, 0, 6, 0.2, -np.inf),  # everything
        (0, 1, 3, 0.8, 0.4),  # the plateau, until it meets ...
        (0, 1, 5, 0.4, 0.2),
        (0, 4, 5, 0.6, 0.4),  # ... the second peak
    ]


@pytest.mark.parametrize("use_numba", WITH_AND_WITHOUT_NUMBA)
def test_no_run_crosses_a_clip_or_what_is_not_kept(use_numba: bool) -> None:
    values = np.full((1, 6), 0.5)
    begins = np.array([True, False, True, False, False, False])
    keep = np.array([[True, True, True, True, False, True]])
    expected = [(0, 0, 2, 0.5, -np.inf), (0, 2, 4, 0.5, -np.inf), (0, 5, 6, 0.5, -np.inf)]
    assert all_runs(values, keep=keep, begins=begins, use_numba=use_numba) == expected


def test_the_last_frame_of_a_class_is_no_neighbour_of_the_first_of_the_next() -> None:
    assert all_runs(np.full((2, 2), 0.5)) == [(0, 0, 2, 0.5, -np.inf), (1, 0, 2, 0.5, -np.inf)]


@pytest.mark.parametrize("use_numba", WITH_AND_WITHOUT_NUMBA)
def test_what_is_minus_infinite_is_never_found(use_numba: bool) -> None:
    assert all_runs(np.array([[-np.inf, 0.5, -np.inf, -np.inf]]), use_numba=use_numba) == [(0, 1, 2, 0.5, -np.inf)]


def test_nothing_to_look_at() -> None:
    assert all_runs(np.zeros((2, 0))) == []
    assert all_runs(np.zeros((2, 3)), keep=np.zeros((2, 3), dtype=bool)) == []


def test_rows_of_runs() -> None:
    numbers = np.arange(3)
    runs = Runs(numbers, numbers + 10, numbers + 11, np.array([0.5, 1.5, 2.5]), np.zeros(3))
    assert len(runs) == 3
    assert runs.rows(np.array([2, 0])).top.tolist() == [2.5, 0.5]
    assert runs.rows(np.array([False, True, False])).first.tolist() == [11]


# Wrong input


def test_numba_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="use_numba=True needs numba, which is not installed: pip install"):
        all_runs(np.zeros((1, 1)), use_numba=True)
