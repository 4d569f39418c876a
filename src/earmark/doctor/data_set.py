"""What is examined: the clips, where their recordings are, and what was heard in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from earmark.doctor.listening import Sound
from earmark.events import Event
from earmark.labels.reviewed import Reviewed
from earmark.labels.weak import WeakClip


@dataclass(frozen=True)
class DataSet:
    """A data set as the doctor sees it, after every file was heard once.

    Args:
        labels: the label file or folder, as it was named.
        clips: the rows of the label file.
        audio: the folder of the recordings.
        paths: file of each recording that labels or events name and that is there.
        sounds: what each of them holds.
        events: strong labels per recording; None where there are none.
        strong: what their file or folder is called; empty where there is none.
        strong_places: the file of it that names each recording.
        reviewed: where, and for which classes, every event is marked; None for everywhere in the files of the events.
        splits: of each clip; None when no column says it.
        groups: of each clip, empty where it is not known; None when nothing says it.
    """

    labels: str
    clips: tuple[WeakClip, ...]
    audio: Path
    paths: Mapping[str, Path]
    sounds: Mapping[str, Sound]
    events: Mapping[str, Sequence[Event]] | None
    strong: str
    strong_places: Mapping[str, str]
    reviewed: tuple[Reviewed, ...] | None
    splits: tuple[str, ...] | None
    groups: tuple[str, ...] | None

    @property
    def heard(self) -> dict[str, Sound]:
        """The recordings that could be read."""
        return {name: sound for name, sound in self.sounds.items() if not sound.problem_code}

    @property
    def places(self) -> dict[str, str]:
        """Where each recording stands: its first row in the label file, otherwise its first event or stretch."""
        places: dict[str, str] = {}
        for clip in self.clips:
            places.setdefault(clip.filename, clip.where)
        for name, events in ({} if self.events is None else self.events).items():
            places.setdefault(name, events[0].where if events else self.strong_places[name])
        for row in () if self.reviewed is None else self.reviewed:
            places.setdefault(row.filename, row.where)
        return places

    def sides_of(self, sides: Sequence[str] | None) -> dict[str, list[str]]:
        """The splits or groups in which each recording stands, in the order of the rows."""
        found: dict[str, list[str]] = {}
        for clip, side in zip(self.clips, sides, strict=True) if sides is not None else ():
            in_file = found.setdefault(clip.filename, [])
            if side and side not in in_file:
                in_file.append(side)
        return found
