"""What the steps of a run cost, as it is measured."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest
import torch

from earmark.training import measuring

# --- laws ---


def test_no_figure_is_invented_where_the_system_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)  # as on Windows
    assert measuring.peak_memory_bytes(torch.device("cpu")) is None


# --- worked numbers ---


def test_the_first_step_is_not_timed_and_long_clips_have_their_own_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    # A clock that the steps move on: the first one takes 1000 s, others a second per 100 frames, long ones 3 per 100.
    clock = 0.0
    steps: list[list[int]] = []
    a, b, long = [1], [3], [40]  # a clip is called by its hundreds of frames

    def step(network: Any, teacher: Any, old: Any, optimiser: Any, data: Any, batch: list[int], config: Any) -> int:
        nonlocal clock
        steps.append(batch)
        n_frames = 100 * batch[0]
        clock += 1000 if len(steps) == 1 else n_frames * (0.03 if batch == long else 0.01)
        return n_frames

    monkeypatch.setattr(measuring, "_step", step)
    monkeypatch.setattr(measuring, "new_optimiser", lambda network, config: None)
    monkeypatch.setattr(time, "perf_counter", lambda: clock)
    measured: Any = measuring.step_seconds_per_frame
    assert measured(None, None, None, usual=[b, a], longest=long) == pytest.approx((0.01, 0.03))
    assert steps == [b, a, b, a, long]
    steps.clear()
    assert measured(None, None, None, usual=[a], longest=[]) == pytest.approx((0.01, 0.0))
    assert steps == [a, a, a, a]
    steps.clear()
    assert measured(None, None, None, usual=[], longest=long) == pytest.approx((0.0, 0.03))
    assert steps == [long, long]
