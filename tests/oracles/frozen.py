"""The established tools' figures, as tests/oracles/tools made them: read, and known to be untouched."""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

FROZEN = Path(__file__).parents[1] / "data" / "oracles"
# The official lists lie beside the checkout where people have them; they are no part of the project.
OFFICIAL_FOLDER = Path(__file__).parents[3] / "shared" / "data"


@cache
def frozen(name: str) -> dict[str, Any]:
    """A file of figures: `made_with`, what `cases` they belong to, and `figures` by case."""
    data = (FROZEN / name).read_bytes()
    assert hashlib.sha256(data).hexdigest() == recorded_sums()[name], f"{name} is not as the tools made it"
    stored: dict[str, Any] = json.loads(gzip.decompress(data) if name.endswith(".gz") else data)
    return stored


def figures_for(name: str, fingerprint: str) -> dict[str, Any]:
    """Case -> figures; checked to belong to the cases as they are now."""
    stored = frozen(name)
    assert stored["cases"] == fingerprint, f"the cases of {name} changed: make the figures again with make oracle"
    figures: dict[str, Any] = stored["figures"]
    return figures


def recorded_sums() -> dict[str, str]:
    """File name -> SHA-256."""
    lines = (FROZEN / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}
