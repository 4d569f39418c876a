from __future__ import annotations

import numpy as np
import pytest
from oracles.curves_cases import scores_of, small_case
from oracles.curves_checks import WITH_AND_WITHOUT_NUMBA
from oracles.curves_slow import detections

from earmark.metrics.curves import score_table
from earmark.metrics.curves.changes import Changes, changes_of, found_changes, joined


def random_changes(rng: np.random.Generator) -> Changes:
    """As many first that nothing is ever lost that was not there."""
    n = int(rng.integers(0, 30))
    hits, wrong = np.pad(rng.integers(-2, 3, (2, n)), ((0, 0), (1, 0)), constant_values=2 * n)
    score = np.append(1.25, rng.integers(-4, 5, n) / 4)
    return changes_of(score, rng.integers(0, 5, n + 1), hits=hits, false_alarms=wrong)


def as_rows(changes: Changes) -> list[tuple[float, int, int, int]]:
    return sorted(zip(changes.score, changes.file_index, changes.hits, changes.false_alarms, strict=True))


# Laws


@pytest.mark.parametrize("use_numba", WITH_AND_WITHOUT_NUMBA)
def test_sums_are_all_changes_at_or_above_a_score(rng: np.random.Generator, use_numba: bool) -> None:
    for _ in range(100):
        changes = random_changes(rng)
        sums = changes.sums(use_numba=use_numba)
        assert sums.score[0] == np.inf
        assert (np.diff(sums.score) < 0).all()
        for threshold in [np.inf, *np.arange(-1.0, 1.4, 0.125)]:
            at = np.flatnonzero(sums.score >= threshold)[-1]
            counts = [int(steps[changes.score >= threshold].sum()) for steps in (changes.hits, changes.false_alarms)]
            assert [sums.hits[at], sums.false_alarms[at]] == counts


@pytest.mark.parametrize("use_numba", WITH_AND_WITHOUT_NUMBA)
def test_no_point_repeats_the_one_before(rng: np.random.Generator, use_numba: bool) -> None:
    for _ in range(100):
        sums = random_changes(rng).sums(use_numba=use_numba)
        assert ((np.diff(sums.hits) != 0) | (np.diff(sums.false_alarms) != 0)).all()


def test_the_order_of_changes_does_not_matter(rng: np.random.Generator) -> None:
    for _ in range(50):
        changes = random_changes(rng)
        order = rng.permutation(len(changes.score))
        other = Changes(*(getattr(changes, name)[order] for name in ("score", "file_index", "hits", "false_alarms")))
        for name in ("score", "hits", "false_alarms"):
            np.testing.assert_array_equal(getattr(changes.sums(), name), getattr(other.sums(), name))


def test_joined_changes_are_all_of_them(rng: np.random.Generator) -> None:
    parts = [random_changes(rng) for _ in range(4)]
    assert as_rows(joined(parts)) == sorted(row for part in parts for row in as_rows(part))


def test_what_is_found_is_as_much_as_decoding_finds(rng: np.random.Generator) -> None:
    for _ in range(150):
        case = small_case(rng)
        for label, changes in zip(case.classes, found_changes(scores_of(case)), strict=True):
            assert not changes.hits.any()
            for threshold in np.arange(-0.6, 1.1, 0.05):
                for index, name in enumerate(case.scores):
                    mine = (changes.file_index == index) & (changes.score >= threshold)
                    assert changes.false_alarms[mine].sum() == len(detections(case, name, label, threshold))


def test_changes_at_or_below_a_score_can_be_left_out(rng: np.random.Generator) -> None:
    for _ in range(50):
        scores = scores_of(small_case(rng))
        above = rng.integers(-4, 11, len(scores.classes)) / 10
        kept = list(found_changes(scores, above=above))
        for changes, fewer, limit in zip(found_changes(scores), kept, above, strict=True):
            assert as_rows(fewer) == [row for row in as_rows(changes) if row[0] > limit]


# Worked numbers


@pytest.mark.parametrize("use_numba", WITH_AND_WITHOUT_NUMBA)
def test_what_one_clip_gains_and_another_loses_is_no_change(use_numba: bool) -> None:
    score = np.array([0.9, 0.5, 0.5, 0.2])
    changes = changes_of(score, [0, 0, 1, 1], hits=[1, -1, 1, 0], false_alarms=[0, 1, -1, 2])
    sums = changes.sums(use_numba=use_numba)
    # At 0.5: -1 + 1 hits and 1 - 1 false alarms.
    assert sums.score.tolist() == [np.inf, 0.9, 0.2]
    assert sums.hits.tolist() == [0, 1, 1]
    assert sums.false_alarms.tolist() == [0, 0, 2]


def test_peaks_appear_and_valleys_join_them() -> None:
    table = score_table({"a": [[0.5], [0.1], [0.5], [0.5]], "b": [[0.6], [0.7]]}, classes=["dog"], hop_seconds=1.0)
    # a: two peaks of 0.5 and the valley between them; b: one peak of 0.7, and the rise of 0.6 to it is nothing new.
    assert as_rows(next(found_changes(table))) == [(0.1, 0, 0, -1), (0.5, 0, 0, 1), (0.5, 0, 0, 1), (0.7, 1, 0, 1)]


def test_what_is_minus_infinite_is_never_found() -> None:
    table = score_table({"a": [[0.1], [0.1], [0.5]], "b": [[0.1]]}, classes=["dog"], hop_seconds=1.0)
    table.values[table.values < 0.5] = -np.inf
    assert as_rows(next(found_changes(table))) == [(0.5, 0, 0, 1)]


def test_no_frames_and_no_changes() -> None:
    table = score_table({"a": np.zeros((0, 2))}, classes=["dog", "cat"], hop_seconds=1.0)
    changes = list(found_changes(table))
    assert [len(one.score) for one in changes] == [0, 0]
    assert (changes[0].sums().score.tolist(), changes[0].sums().hits.tolist()) == ([np.inf], [0])


# Wrong input


def test_numba_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="use_numba=True needs numba"):
        changes_of(np.zeros(1), [0], hits=[1], false_alarms=[0]).sums(use_numba=True)
