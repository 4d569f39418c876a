"""Whose the folder of a comparison is: what is resumed must have the data and the settings it began with."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import earmark
from earmark import config_file
from earmark.audio import find_clips
from earmark.comparing.parts import Parts
from earmark.config import Config
from earmark.embeddings import embeddings_of
from earmark.files import write_atomic
from earmark.training.sources import Sources

if TYPE_CHECKING:
    from earmark.comparing.steps import Asked

PLAN = "comparison.json"


def claim(asked: Asked, parts: Parts) -> None:
    """Take the folder for this comparison, or raise ValueError when it holds something else."""
    plan, marker = _plan(asked, parts), asked.out / PLAN
    if not marker.exists():
        if any(asked.out.iterdir()):
            raise ValueError(f"--out must be a new or an empty folder, got {asked.out}, which holds something else")
        write_atomic(marker, json.dumps(plan, indent=2) + "\n")
        return
    if not asked.resume:
        raise ValueError(
            f"{asked.out} already holds a comparison - add --resume to go on with it, or choose another --out"
        )
    before = json.loads(marker.read_text(encoding="utf-8"))
    if before["clips"] != plan["clips"]:
        raise ValueError(
            f"{asked.out} holds a comparison on other clips, tags or parts - resume it with the label file, --group,"
            " --split, --held-out and --test it began with, or choose another --out"
        )
    if before.get("recordings") != plan["recordings"]:
        raise ValueError(
            f"{asked.out} holds a comparison on other recordings: those in {_heard(asked.sources)} have not the same"
            " sizes - resume it with the --audio or --features it began with, or choose another --out"
        )
    if before["learn_strong"] != plan["learn_strong"]:
        raise ValueError(f"{asked.out} was begun {'with' if before['learn_strong'] else 'without'} --learn-strong")
    if before["settings"] != plan["settings"]:
        lines = zip(before["settings"].splitlines(), plan["settings"].splitlines(), strict=False)
        old, new = next((pair for pair in lines if pair[0] != pair[1]), ("fewer", "more"))
        raise ValueError(
            f"{asked.out} was begun with other settings ({old}, now {new}) - resume it without them, or choose another"
            " --out"
        )


def _plan(asked: Asked, parts: Parts) -> dict[str, Any]:
    """What a comparison that is resumed must share with the one it goes on with."""
    rows = [
        (c.filename, c.onset, c.offset, sorted(c.labels), None if c.known is None else sorted(c.known), g, int(p))
        for c, g, p in zip(parts.clips.clips, parts.clips.groups, parts.part, strict=True)
    ]
    # The function and the number of seeds may change: more of them are added to what is there.
    settings = config_file.to_toml(replace(asked.config, pooling=Config().pooling))
    return {
        "earmark": earmark.__version__,
        "clips": hashlib.sha256(repr(rows).encode()).hexdigest(),
        "recordings": _recordings(asked.sources, parts),
        "audio": None if asked.audio is None else str(asked.audio.resolve()),
        "embeddings": None if asked.embeddings is None else str(asked.embeddings.resolve()),
        "settings": settings,
        "learn_strong": asked.learn_strong,
    }


def _heard(sources: Sources) -> Path:
    """The folder of what is learned from: recordings, or embeddings."""
    folder = sources.audio if sources.embeddings is None else sources.embeddings
    assert folder is not None, "one of the two is given"
    return folder


def _recordings(sources: Sources, parts: Parts) -> str:
    """The sizes of all recordings in a few letters: a folder may be moved, what is in it may not change."""
    find = find_clips if sources.embeddings is None else embeddings_of
    files, _ = find(_heard(sources), [clip.filename for clip in parts.clips.clips])
    sizes = sorted((name, file.stat().st_size) for name, file in files.items())
    return hashlib.sha256(repr(sizes).encode()).hexdigest()
