"""Runs that were never trained: figures made up, so that what follows from them is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from earmark.comparing.measuring import Measured
from earmark.comparing.results import Outcome, outcome

CLASSES = ("cat", "dog")


def made_up(
    table: Mapping[str, Sequence[float]],
    *,
    figure: str = "event_f1",
    n_groups: int = 30,
    n_groups_with_events: int | None = None,
    group_error: float = 0.01,
    own_error: float = 0.004,
    unit: str = "group",
    failures: Mapping[str, str] | None = None,
    missing: Sequence[tuple[str, int]] = (),
) -> Outcome:
    """An outcome in which every function has these values, one per seed, in one figure.

    Resamples move all functions by the same (`group_error`), and each by something of its own (`own_error`).
    """
    rng = np.random.default_rng(1)
    common = group_error * rng.normal(size=400)
    measured = {}
    for row, values in table.items():
        own = own_error * rng.normal(size=400)
        for seed, value in enumerate(values):
            if (row, seed) not in missing:
                resampled = np.tile((value + common + own)[:, None], (1, 3))
                measured[row, seed] = Measured({figure: np.full(3, value)}, {figure: resampled})
    groups = [f"P{index % n_groups}" for index in range(2 * n_groups)]
    return outcome(
        measured,
        rows=list(table),
        seeds=range(len(next(iter(table.values())))),
        classes=CLASSES,
        groups=groups,
        groups_with_events=groups if n_groups_with_events is None else groups[:n_groups_with_events],
        unit=unit,
        failures={} if failures is None else failures,
    )
