"""Kills at random moments lose nothing: benchmarks/kill.py with fewer of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "kill.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")
def test_a_run_killed_at_random_moments_is_the_undisturbed_run() -> None:
    # In a process of its own: one that has trained before must not fork.
    result = subprocess.run(
        [sys.executable, str(BENCHMARK), "--kills", "12"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"^kills +12 in", result.stdout, re.MULTILINE)
    assert re.search(r"^completed runs +[1-9]", result.stdout, re.MULTILINE)
    assert re.search(r"^identical +yes$", result.stdout, re.MULTILINE)
