from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from oracles.frozen import FROZEN, frozen, recorded_sums


def test_every_file_is_as_the_tools_made_it() -> None:
    files = {path.name for path in FROZEN.iterdir()} - {"README.md", "SHA256SUMS"}
    assert files == set(recorded_sums())
    for name, digest in recorded_sums().items():
        assert hashlib.sha256((FROZEN / name).read_bytes()).hexdigest() == digest, name


@pytest.mark.parametrize("name", sorted(recorded_sums()))
def test_every_file_says_which_tools_made_it(name: str) -> None:
    stored = frozen(name)
    assert {tool: stored["made_with"][tool] for tool in ("sed_eval", "sed_scores_eval", "psds_eval")} == {
        "sed_eval": "0.2.1",
        "sed_scores_eval": "0.0.4",
        "psds_eval": "0.5.3",
    }
    assert (Path(__file__).parents[2] / stored["made_by"]).is_file()
    assert stored["figures"]


def test_frozen_data_stays_small() -> None:
    assert sum(path.stat().st_size for path in FROZEN.iterdir()) < 3_000_000
