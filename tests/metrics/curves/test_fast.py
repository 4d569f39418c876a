from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from oracles.curves_checks import needs_numba

from earmark.metrics.curves import changes, fast, runs

SPECIAL = np.array([0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 1.0, np.nextafter(1, 0), -1.0, np.nextafter(-1, 0)])


def stretches(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores with repetitions, the frames of some to look at, and which of those begin a stretch of neighbours."""
    values = rng.integers(-3, 4, rng.integers(1, 40)) / 4
    values[rng.random(len(values)) < 0.05] = -np.inf
    frame = np.flatnonzero(rng.random(len(values)) < 0.9)
    is_new = np.append(True, np.diff(frame) > 1)[: len(frame)] | (rng.random(len(frame)) < 0.1)
    return values, frame, is_new


def steps_to_add(rng: np.random.Generator, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, and steps of hits and false alarms that often cancel; there is never less than nothing."""
    hits, wrong = rng.integers(-1, 2, (2, len(scores))).astype(np.int32)
    if len(scores):
        hits[np.argmax(scores)] = wrong[np.argmax(scores)] = len(scores)
    return scores, hits, wrong


def random_scores(rng: np.random.Generator) -> np.ndarray:
    """Any floating-point numbers, with repetitions."""
    kind = rng.integers(4)
    n = int(rng.integers(0, 40))
    if kind == 0:
        return np.asarray(rng.choice(SPECIAL, n))
    if kind == 1:
        return np.asarray(rng.integers(-5, 6, n) / 5)
    if kind == 2:
        return np.full(n, float(rng.random()))
    return np.asarray(rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n))


def not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the place of numba something that leaves loops as they are, so that they are tested without it too."""
    monkeypatch.setitem(sys.modules, "numba", SimpleNamespace(njit=lambda **options: lambda loop: loop))


# Laws


def same_runs(rng: np.random.Generator, twin: Callable[..., Any], n: int) -> None:
    for _ in range(n):
        arrays = stretches(rng)
        if len(arrays[1]):
            found, expected = ([*zip(*columns, strict=True)] for columns in (twin(*arrays), runs._runs_of(*arrays)))
            assert sorted(found) == sorted(expected)


def same_sums(rng: np.random.Generator, twin: Callable[..., Any], n: int) -> None:
    for _ in range(n):
        arrays = steps_to_add(rng, random_scores(rng))
        for one, other in zip(twin(*arrays), changes._falling_sums(*arrays), strict=True):
            np.testing.assert_array_equal(one, other)


def test_runs_by_a_stack_and_by_halving_are_equal(rng: np.random.Generator) -> None:
    same_runs(rng, fast._runs_of, 300)


def test_sums_by_a_radix_sort_and_by_numpy_are_equal(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    not_compiled(monkeypatch)
    same_sums(rng, fast.compiled_falling_sums.__wrapped__(), 30)


@needs_numba
def test_compiled_runs_are_equal(rng: np.random.Generator) -> None:
    same_runs(rng, fast.compiled_runs(), 300)


@needs_numba
def test_compiled_sums_are_equal(rng: np.random.Generator) -> None:
    same_sums(rng, fast.compiled_falling_sums(), 300)
    arrays = steps_to_add(rng, rng.normal(size=20_000).round(2))
    for one, other in zip(fast.compiled_falling_sums()(*arrays), changes._falling_sums(*arrays), strict=True):
        np.testing.assert_array_equal(one, other)


@needs_numba
def test_what_is_compiled_is_compiled_once() -> None:
    assert fast.compiled_falling_sums() is fast.compiled_falling_sums()
    assert fast.compiled_runs() is fast.compiled_runs()


def test_importing_curves_imports_nothing_heavy() -> None:
    code = "import sys, json, earmark.metrics.curves\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "pandas", "numba", "scipy", "matplotlib"} & set(json.loads(done.stdout))


# Worked numbers


def test_keys_sorted_by_their_highest_bits_or_by_all() -> None:
    keys, steps = np.array([7 << 40, 3, 1, 7 << 40, 2 << 31], np.uint64), np.arange(5)
    by_all, their_steps = fast._radix_sorted(keys.copy(), steps.copy(), 0)
    assert (by_all.tolist(), their_steps.tolist()) == ([1, 3, 2 << 31, 7 << 40, 7 << 40], [2, 1, 4, 0, 3])
    # The bits from number 31 on do not tell 3 from 1: these two stay as they are.
    nearly, their_steps = fast._radix_sorted(keys.copy(), steps.copy(), 31)
    assert (nearly.tolist(), their_steps.tolist()) == ([3, 1, 2 << 31, 7 << 40, 7 << 40], [1, 2, 4, 0, 3])
    assert fast._settle(nearly, their_steps)
    assert (nearly.tolist(), their_steps.tolist()) == ([1, 3, 2 << 31, 7 << 40, 7 << 40], [2, 1, 4, 0, 3])


def test_what_is_far_from_sorted_is_given_up() -> None:
    keys = np.arange(100, 0, -1).astype(np.uint64)
    assert not fast._settle(keys.copy(), np.zeros(100, np.int64))
    assert fast._settle(keys[:9].copy(), np.zeros(9, np.int64))  # 36 moves, not more than four for each
    assert not fast._settle(keys[:10].copy(), np.zeros(10, np.int64))  # 45


def test_scores_that_differ_in_their_last_bits_only(monkeypatch: pytest.MonkeyPatch) -> None:
    # Forty neighbouring numbers that fall in the list: too many exchanges, so all bits are sorted.
    not_compiled(monkeypatch)
    scores = np.array([0.5 + n * 2.0**-52 for n in range(40)])
    steps = np.ones(40, np.int32)
    score, hits, wrong = fast.compiled_falling_sums.__wrapped__()(scores, steps, 2 * steps)
    assert score.tolist() == [np.inf, *scores[::-1].tolist()]
    assert hits.tolist() == list(range(41))
    assert wrong.tolist() == list(range(0, 82, 2))


def test_the_runs_of_two_stretches() -> None:
    values, everything = np.array([0.3, 0.7, 0.7, 0.5, 0.9, 0.2]), np.arange(6)
    first, end, top, bottom = fast._runs_of(values, everything, np.isin(everything, [0, 4]))
    found = sorted(zip(first.tolist(), end.tolist(), top.tolist(), bottom.tolist(), strict=True))
    # The first four frames are one stretch, in which 0.7 0.7 is swallowed at 0.5, and that at 0.3; 0.9 0.2 another one.
    assert found == [(0, 4, 0.3, -np.inf), (1, 3, 0.7, 0.5), (1, 4, 0.5, 0.3), (4, 5, 0.9, 0.2), (4, 6, 0.2, -np.inf)]


def test_numba_if_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for is_there in (True, False):
        monkeypatch.setattr("importlib.util.find_spec", lambda name, there=is_there: "something" if there else None)
        assert (fast.is_wanted(None), fast.is_wanted(False)) == (is_there, False)


# Wrong input


def test_numba_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        ValueError, match=r"use_numba=True needs numba, which is not installed: pip install \"earmark\[fast"
    ):
        fast.is_wanted(True)


@needs_numba
def test_where_nothing_can_be_kept_it_is_compiled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    njit = numba.njit

    def without_a_place(**options: Any) -> Callable[..., Any]:
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return njit(**options)

    monkeypatch.setattr(numba, "njit", without_a_place)
    fast.compiled_runs.cache_clear()
    try:
        first, end, top, _ = fast.compiled_runs()(np.array([0.5]), np.array([0]), np.array([True]))
    finally:
        fast.compiled_runs.cache_clear()
    assert (first.tolist(), end.tolist(), top.tolist()) == ([0], [1], [0.5])
