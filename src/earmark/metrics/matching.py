"""The largest set of pairs in which nobody is paired twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


def maximum_matching(neighbours: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Pair as many left items as possible with right items, every item at most once (Hopcroft and Karp, 1973).

    First come, first served; then, as long as there is one, along the shortest chains in which a left item without a
    partner takes a neighbour, whose partner takes another one, and so on until a free right item is reached.

    Which of several largest sets comes out depends on the order of `neighbours` alone: sed_eval visits in the same
    order, so its leftovers, from which it counts substitutions, are ours.

    Args:
        neighbours: left item -> the right items it may be paired with.

    Returns:
        right item -> its left partner.

    Example:
        >>> maximum_matching({0: [5, 6], 1: [5]})     # first come gives 5 to 0; then 0 moves on to 6
        {5: 1, 6: 0}
    """
    partner: dict[int, int] = {}
    for left, rights in neighbours.items():
        for right in rights:
            if right not in partner:
                partner[right] = left
                break
    while True:
        chains = _shortest_chains(neighbours, partner)
        if not chains.free_rights:
            return partner
        for right in chains.free_rights:
            _move_on(right, partner, chains)


@dataclass(frozen=True)
class _Chains:
    """The items that chains from left items without a partner can reach, each by its shortest chains."""

    lefts_before: dict[int, list[int]]  # right item -> the left items one step before it
    right_before: dict[int, int | None]  # left item -> the right item one step before it; None where a chain begins
    free_rights: list[int]  # where the shortest chains end


def _shortest_chains(neighbours: Mapping[int, Sequence[int]], partner: Mapping[int, int]) -> _Chains:
    """Breadth first from all left items without a partner at once, until the first free right items."""
    taken = set(partner.values())
    front = [left for left in neighbours if left not in taken]
    chains = _Chains({}, dict.fromkeys(front), [])
    while front and not chains.free_rights:
        reached: dict[int, list[int]] = {}
        for left in front:
            for right in neighbours[left]:
                if right not in chains.lefts_before:
                    reached.setdefault(right, []).append(left)
        chains.lefts_before.update(reached)
        chains.free_rights.extend(right for right in reached if right not in partner)
        front = [partner[right] for right in reached if right in partner]
        chains.right_before.update((partner[right], right) for right in reached if right in partner)
    return chains


def _move_on(free_right: int, partner: dict[int, int], chains: _Chains) -> None:
    """Follow one chain back from its end and let everyone on it move on by one; items used up are no longer found."""
    # A stack of our own: chains in long recordings grow beyond Python's limit of recursion.
    stack: list[tuple[int, Iterator[int]]] = [(free_right, iter(chains.lefts_before.pop(free_right)))]
    lefts: list[int] = []
    while stack:
        left = next((left for left in stack[-1][1] if left in chains.right_before), None)
        if left is None:
            stack.pop()
            del lefts[-1:]
            continue
        right = chains.right_before.pop(left)
        if right is None:
            lefts.append(left)
            partner.update((right, left) for (right, _), left in zip(stack, lefts, strict=True))
            return
        if right in chains.lefts_before:
            lefts.append(left)
            stack.append((right, iter(chains.lefts_before.pop(right))))
