"""What a run learns from: tags, strong labels and where they are complete, recordings (or embeddings), a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sources:
    """The files and folders of a run.

    Args:
        labels: weak-label file, or a folder with one sub-folder per class.
        audio: folder of the recordings; None only where embeddings take their place and need not be checked.
        strong: strong-label file. Alone it means that its files are complete: all that is not marked is without.
        reviewed: where, and for which classes, the strong labels are complete; outside only what is marked is known.
        unlabelled: folder of recordings of which nothing is known.
        embeddings: folder of arrays (frames, dims) to learn from instead of sound, one per recording, named after it.
        start_from: a model to continue, the folder of a run or a .safetensors in it.

    Example:
        >>> Sources(Path("weak.tsv"), Path("audio")).strong is None
        True
    """

    labels: Path
    audio: Path | None = None
    strong: Path | None = None
    reviewed: Path | None = None
    unlabelled: Path | None = None
    embeddings: Path | None = None
    start_from: Path | None = None

    def __post_init__(self) -> None:
        if self.audio is None and self.embeddings is None:
            raise ValueError(
                "audio must name the folder of the recordings, got None - or give embeddings to learn from"
            )
        if self.unlabelled is not None and self.embeddings is not None:
            raise ValueError(
                f"--unlabelled {self.unlabelled} names recordings, and this run learns from embeddings - leave it out"
            )
        if self.reviewed is not None and self.strong is None:
            raise ValueError(
                f"--reviewed {self.reviewed} needs --strong: it says where the strong labels are complete"
                " - which file has them?"
            )


@dataclass(frozen=True)
class Split:
    """How clips are held out: by a column with a value, by groups, or (all None) by a hash of the file name.

    Example:
        >>> Split(column="split", held_out_value="test").group_column is None
        True
    """

    column: str | None = None
    held_out_value: str | None = None
    group_column: str | None = None
