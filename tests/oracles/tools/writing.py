"""Writes figures so that the same figures are the same bytes: JSON, one case per line, floats with all their digits."""

from __future__ import annotations

import gzip
import hashlib
import importlib.metadata
import json
from pathlib import Path
from typing import Any

TOOLS = ("sed_eval", "sed_scores_eval", "psds_eval", "dcase_util", "numpy", "pandas", "scipy", "scikit-learn")
SUMS = "SHA256SUMS"


def write_figures(folder: Path, name: str, figures: dict[str, Any], **head: Any) -> None:
    """`name` ends in .json or .json.gz; one case per line, so that a change shows which case it concerns."""
    made_with = {tool: importlib.metadata.version(tool) for tool in TOOLS}
    lines = ",\n".join(
        f"{json.dumps(case)}: {json.dumps(value, allow_nan=False, separators=(',', ':'))}"
        for case, value in figures.items()
    )
    start = json.dumps({"made_with": made_with, **head}, allow_nan=False)
    text = f'{start[:-1]}, "figures": {{\n{lines}\n}}}}\n'.encode()
    # No time and no name inside the archive: they would change its bytes.
    (folder / name).write_bytes(gzip.compress(text, compresslevel=9, mtime=0) if name.endswith(".gz") else text)


def write_sums(folder: Path) -> None:
    """SHA-256 of every data file, in the form that `sha256sum --check` reads."""
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in data_files(folder)]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def differing(folder: Path, other: Path) -> list[str]:
    """Names of data files whose content differs; what is compressed is compared unpacked, as packers differ."""
    names = sorted({path.name for side in (folder, other) for path in data_files(side)})
    return [name for name in names if _content(folder / name) != _content(other / name)]


def data_files(folder: Path) -> list[Path]:
    """What this module writes, sorted by name."""
    return sorted([*folder.glob("*.json"), *folder.glob("*.json.gz")])


def _content(path: Path) -> bytes | None:
    if not path.exists():
        return None
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
