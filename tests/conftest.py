"""What every test may ask for: one seeded generator, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

# It imports other programs' readers, which no environment of ours holds; `make oracle` runs it in one that does.
collect_ignore = ["oracles/tools/make_readers.py"]


@pytest.fixture
def rng() -> np.random.Generator:
    """The one source of randomness in tests."""
    return np.random.default_rng(440)
