from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from earmark.comparing import foreseen
from earmark.comparing.parts import HELD_OUT, LEARN, TEST, Columns, Parts
from earmark.comparing.plan import rows_of
from earmark.comparing.steps import Asked
from earmark.config import Config
from earmark.labels.weak import WeakClip
from earmark.training.clips import clip_set


@pytest.mark.parametrize(("n_side_by_side", "n_rounds", "memory_bytes"), [(1, 4, 100), (3, 2, 300), (9, 1, 400)])
def test_what_one_run_costs_is_what_all_cost(
    monkeypatch: pytest.MonkeyPatch, n_side_by_side: int, n_rounds: int, memory_bytes: int
) -> None:

    def dry_run(*arguments: Any, **options: Any) -> SimpleNamespace:
        return SimpleNamespace(clips=8, reading_seconds=4.0, seconds=34.0, memory_bytes=100)

    monkeypatch.setattr(foreseen, "dry_run", dry_run)
    monkeypatch.setattr(foreseen, "start_seconds", lambda: 5.0)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 7)
    set_to: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", set_to.append)
    rows = [WeakClip(f"{i}.wav", frozenset({"dog"}), None, None, None, {}, "weak.tsv:2") for i in range(10)]
    parts = Parts(clip_set(rows, ["dog"], holdout_fraction=0), np.array([LEARN] * 6 + [HELD_OUT] * 2 + [TEST] * 2))
    asked = Asked(
        labels=Path("weak.tsv"), audio=Path("audio"), embeddings=None, out=Path("out"),
        rows=rows_of("linear,power", Config()), seeds=(0, 1), config=Config(), columns=Columns(), strong=None,
        learn_strong=False, device="cpu", n_side_by_side=n_side_by_side, resume=False, command=(),
    )  # fmt: skip
    found = foreseen.foreseen(asked, parts, on_file=lambda done, total: None)
    assert found.reading_seconds == 5.0  # 4 s for 8 of 10 clips
    assert (found.run_seconds, found.n_rounds, found.memory_bytes) == (35.0, n_rounds, memory_bytes)
    assert found.seconds == 5.0 + n_rounds * 35.0
    assert set_to == [7 if n_side_by_side == 1 else 1, 7]  # as many threads as a run has, and then as before
