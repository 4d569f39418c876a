"""The short table of docs/lung-sounds.md, from the figures that `lung_sounds.py table` left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lung_sounds_systems import SYSTEMS


def print_summary(out: Path) -> None:
    """Print the figures of every system, decoded as tags allow: events on both tests, the rest on new patients."""
    figures = json.loads((out / "figures.json").read_text(encoding="utf-8"))
    inter, intra = figures["inter, as tags allow"], figures["intra, as tags allow"]
    print("| | new patients: event F1 | of the bound | known patients: event F1 | of the bound | segments | clips |")
    print("|---" * 7 + "|")
    for name, row in inter.items():
        others = f"{row['segment'][0]:.3f} | {row['clip'][0]:.3f}"
        print(f"| {SYSTEMS[name].words} | {_cells(row)} | {_cells(intra[name])} | {others} |")


def _cells(row: dict[str, Any]) -> str:
    """0.123 (0.100 to 0.150) | 51 % (33 to 68)."""
    value, low, high = row["event"]
    share, least, most = (100 * number for number in row["event share"])
    return f"{value:.3f} ({low:.3f} to {high:.3f}) | {share:.0f} % ({least:.0f} to {most:.0f})"
