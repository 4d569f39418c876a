"""What `earmark train` learns from, found and completed before anything else: recordings, or embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from earmark.config import Config
    from earmark.training.sources import Sources


def audio_folder(labels: Path, audio: Path | None, features: Path | None) -> Path | None:
    """Return where the recordings lie; None where embeddings take their place and nobody said."""
    check_labels(labels)
    return None if audio is None and features is not None else recordings_folder(labels, audio)


def check_labels(labels: Path) -> None:
    """Raise ValueError when there are no labels, or a recording in their place."""
    from earmark.audio import AUDIO_SUFFIXES

    if not labels.exists():
        raise ValueError(f"{labels}: there is no such label file or folder - is the path relative to another folder?")
    if labels.is_file() and labels.suffix.casefold() in AUDIO_SUFFIXES:
        raise ValueError(f"LABELS must be a table of file names and tags, got the recording {labels}")


def recordings_folder(labels: Path, audio: Path | None) -> Path:
    """Return where the recordings lie: where --audio says, or beside the labels."""
    check_labels(labels)
    folder = audio if audio is not None else (labels if labels.is_dir() else labels.parent)
    if not folder.is_dir():
        raise ValueError(f"--audio must be a folder, got {folder} - the folder that holds the recordings")
    return folder


def completed(config: Config, sources: Sources) -> Config:
    """Return the settings with what embeddings tell, where they take the place of audio, and say what was guessed."""
    from earmark.labels.weak import read_weak
    from earmark.training.embeddings import settled

    config, remark = settled(config, read_weak(sources.labels), sources)
    if remark:
        click.echo(f"earmark: {remark}", err=True)
    return config
