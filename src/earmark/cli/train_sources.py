"""What `earmark train` learns from, found and completed before anything else: recordings, or embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from earmark.config import Config


def audio_folder(labels: Path, audio: Path | None, features: Path | None) -> Path | None:
    """Return where the recordings lie; None where embeddings take their place and nobody said."""
    from earmark.audio import AUDIO_SUFFIXES

    if not labels.exists():
        raise ValueError(f"{labels}: there is no such label file or folder - is the path relative to another folder?")
    if labels.is_file() and labels.suffix.casefold() in AUDIO_SUFFIXES:
        raise ValueError(f"LABELS must be a table of file names and tags, got the recording {labels}")
    if audio is None and features is not None:
        return None
    folder = audio if audio is not None else (labels if labels.is_dir() else labels.parent)
    if not folder.is_dir():
        raise ValueError(f"--audio must be a folder, got {folder} - the folder that holds the recordings")
    return folder


def completed(config: Config, labels: Path, audio: Path | None, features: Path | None) -> Config:
    """Return the settings with what the embeddings themselves tell, and say what of it was guessed."""
    if features is None:
        return config
    from earmark.labels.weak import read_weak
    from earmark.training.embeddings import EmbeddingSource, with_embeddings

    if not features.is_dir():
        raise ValueError(f"--features must be a folder, got {features} - the folder that holds the arrays")
    config, remark = with_embeddings(config, read_weak(labels), EmbeddingSource(features, audio))
    if remark:
        click.echo(f"earmark: {remark}", err=True)
    return config
