from __future__ import annotations

import numpy as np
from oracles.metrics_slow import most_pairs, most_pairs_by_trying

from earmark.metrics.matching import maximum_matching


def neighbours_of(may_pair: np.ndarray) -> dict[int, list[int]]:
    return {row: np.flatnonzero(columns).tolist() for row, columns in enumerate(may_pair) if columns.any()}


# Laws


def test_as_many_pairs_as_by_trying_everything(rng: np.random.Generator) -> None:
    for _ in range(60):
        may_pair = rng.random(rng.integers(1, 5, 2)) < rng.random()
        assert len(maximum_matching(neighbours_of(may_pair))) == most_pairs_by_trying(may_pair.tolist())


def test_as_many_pairs_as_asking_in_turn_in_larger_graphs(rng: np.random.Generator) -> None:
    for n in (10, 30, 60):
        for share in (0.03, 0.06, 0.1, 0.3):
            may_pair = rng.random((n, n)) < share
            assert len(maximum_matching(neighbours_of(may_pair))) == most_pairs(may_pair.tolist())


def test_pairs_are_allowed_and_nobody_is_paired_twice(rng: np.random.Generator) -> None:
    may_pair = rng.random((40, 30)) < 0.1
    partners = maximum_matching(neighbours_of(may_pair))
    assert all(may_pair[left, right] for right, left in partners.items())
    assert len(set(partners.values())) == len(partners)


def test_separate_groups_do_not_influence_each_other(rng: np.random.Generator) -> None:
    first, second = (neighbours_of(rng.random((15, 15)) < 0.15) for _ in range(2))
    moved = {left + 100: [right + 100 for right in rights] for left, rights in second.items()}
    together = maximum_matching({**first, **moved})
    apart = {**maximum_matching(first), **{r + 100: left + 100 for r, left in maximum_matching(second).items()}}
    assert together == apart


# Worked numbers


def test_first_come_first_served_where_all_find_a_place() -> None:
    assert maximum_matching({0: [7, 8], 1: [7, 8]}) == {7: 0, 8: 1}


def test_a_chain_of_moves() -> None:
    # 0 takes 5, 1 takes 6, 2 takes 7; 3 wants 5 alone: all move on by one.
    assert maximum_matching({0: [5, 6], 1: [6, 7], 2: [7, 8], 3: [5]}) == {5: 3, 6: 0, 7: 1, 8: 2}


def test_only_the_shortest_chains_are_followed_at_a_time() -> None:
    # First come: 0 takes 1, 1 takes 5, 2 takes 3; 3 and 4 are left. The shortest chain: 3 takes 1, and 0 moves to 2.
    # Only then 4 takes 3, 2 moves to 2, and 0 on to 4. Had 4 been served in the same round, along a longer chain, then
    # 1 would have had to move from 5 to 0.
    neighbours = {0: [1, 2, 4], 1: [5, 0, 2], 2: [3, 2, 5], 3: [1], 4: [3]}
    assert maximum_matching(neighbours) == {1: 3, 5: 1, 3: 4, 2: 2, 4: 0}


def test_a_chain_longer_than_the_limit_of_recursion() -> None:
    n = 5000
    chain = {left: [left, left + 1] for left in range(n)} | {n: [0]}
    assert len(maximum_matching(chain)) == n + 1


def test_nobody_there() -> None:
    assert maximum_matching({}) == {}
