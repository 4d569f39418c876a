"""Which classes of a label file look like one class in two spellings."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from earmark.labels.spelling import similar_classes
from earmark.labels.weak import WeakClip

# Classes that stand beside each other in real label files, all of them meant.
MEANT = (
    "Bat", "Bus", "Car", "Cat", "Car alarm", "Car passing by", "Train", "Train horn", "Truck", "rain", "hen", "cow",
    "Police car (siren)", "Fire engine, fire truck (siren)", "Male speech", "Female speech", "door_wood_knock",
    "door_wood_creaks", "clock_alarm", "clock_tick", "Parus major", "Parus minor", "song a", "song b", "type 1",
    "type 2",
)  # fmt: skip


def tagged(counts: dict[str, int]) -> list[WeakClip]:
    return [
        WeakClip(f"{name} {i}.wav", frozenset({name}), None, None, None, {}, "")
        for name, count in counts.items()
        for i in range(count)
    ]


# Laws


def n_slips(first: str, second: str) -> int:
    """The fewest letters to add, leave out, replace or swap with their neighbour until one word is the other."""
    cost = {(-1, -1): 0} | {(i, -1): i + 1 for i in range(len(first))} | {(-1, j): j + 1 for j in range(len(second))}
    for i, letter in enumerate(first):
        for j, other in enumerate(second):
            ways = [cost[i - 1, j] + 1, cost[i, j - 1] + 1, cost[i - 1, j - 1] + (letter != other)]
            if i > 0 and j > 0 and (letter, first[i - 1]) == (second[j - 1], other):
                ways.append(cost[i - 2, j - 2] + 1)
            cost[i, j] = min(ways)
    return cost[len(first) - 1, len(second) - 1]


def test_whatever_one_slip_makes_of_a_word_is_seen(rng: np.random.Generator) -> None:
    found = set()
    for _ in range(3000):
        lengths = (rng.integers(3, 7), rng.integers(3, 7))
        rare, meant = ("a" + "".join(rng.choice(list("abc"), size=length)) for length in lengths)
        is_near = n_slips(rare, meant) == 1
        assert similar_classes(tagged({f"Big {meant}": 6, f"Big {rare}": 2})) == (
            [(f"Big {rare}", f"Big {meant}")] if is_near else []
        )
        found.add(is_near)
    assert found == {True, False}


def test_common_classes_are_meant_however_alike() -> None:
    for first, second in permutations(MEANT, 2):
        assert similar_classes(tagged({first: 9, second: 3})) == []


def test_rare_classes_of_real_label_files_are_meant() -> None:
    for first, second in permutations(MEANT, 2):
        assert similar_classes(tagged({first: 9, second: 1})) == []


# Worked numbers


@pytest.mark.parametrize(
    ("counts", "pairs"),
    [
        ({"Dog": 5, "dog": 1}, [("dog", "Dog")]),
        ({"dog": 5, "Dog": 1}, [("Dog", "dog")]),
        ({"Truck horn": 3, "truck_horn": 2}, [("truck_horn", "Truck horn")]),
        ({"Dog": 3, "dog": 2, "DOG": 1}, [("DOG", "Dog"), ("dog", "Dog")]),
        ({"Dog": 1000, "Dgo": 1}, [("Dgo", "Dog")]),
        ({"Speech": 9, "Speach": 1}, [("Speach", "Speech")]),
        ({"Speech": 9, "speach": 1}, [("speach", "Speech")]),
        ({"Dog": 3, "Doog": 1}, [("Doog", "Dog")]),
        ({"Dog": 2, "Doog": 1}, []),  # one in two is not rare enough for a typing error
        ({"Dog": 6, "Doog": 2}, [("Doog", "Dog")]),
        ({"Dog": 9, "Doog": 3}, []),  # nor does one come three times ...
        ({"Dog": 30, "Doog": 3}, [("Doog", "Dog")]),  # ... unless the other is ten times as frequent
        ({"Vacuum_cleaner": 10, "Vacum_claner": 1}, [("Vacum_claner", "Vacuum_cleaner")]),  # two slips
        ({"Vacuum_cleaner": 9, "Vacum_claner": 1}, []),
        ({"Speech": 9, "Spech": 3, "Speach": 1}, [("Speach", "Speech")]),  # of two near ones the frequent one is meant
        ({"type 1": 50, "type 2": 1}, []),  # digits are meant
        ({"Cat": 50, "Car": 1}, []),  # two of three letters are not enough
        ({"train": 9, "rain": 1}, []),  # typing errors hardly ever begin a word
        ({"No": 9, "On": 1}, []),
        ({"Dog barking": 9, "Dgo": 1}, []),  # a word more is another name
        ({"Air horn": 9, "air-hron": 1}, [("air-hron", "Air horn")]),
        ({}, []),
    ],
)
def test_likely_misspellings(counts: dict[str, int], pairs: list[tuple[str, str]]) -> None:
    assert similar_classes(tagged(counts)) == pairs
