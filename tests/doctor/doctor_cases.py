"""A data set of 500 small recordings with nothing wrong in it, and a place to plant what is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from earmark.doctor import Finding, examine

CLASSES = ("bark", "chirp", "knock", "")
RATE, SECONDS = 8000, 0.2
WEAK_COLUMNS = ("filename", "onset", "offset", "event_labels", "split", "patient")
STRONG_COLUMNS = ("filename", "onset", "offset", "event_label")


def noise(number: int, seconds: float = SECONDS, rate: int = RATE) -> NDArray[np.float32]:
    """A sound that no other number has: (samples,)."""
    samples = np.random.default_rng(number).standard_normal(round(seconds * rate)) * 0.1
    return samples.astype(np.float32)


@dataclass
class Made:
    """A data set on disk: ``weak.tsv``, ``strong.tsv`` and ``audio/000.wav`` ...

    Args:
        folder: where it lies.
        rows: of weak.tsv, column by column; row i stands in line i + 2.
        events: of strong.tsv, likewise.
    """

    folder: Path
    rows: list[dict[str, str]] = field(default_factory=list)
    events: list[dict[str, str]] = field(default_factory=list)

    @property
    def weak(self) -> Path:
        return self.folder / "weak.tsv"

    @property
    def strong(self) -> Path:
        return self.folder / "strong.tsv"

    @property
    def audio(self) -> Path:
        return self.folder / "audio"

    def file(self, index: int) -> Path:
        """The recording of a row, as it was made."""
        return self.audio / f"{index:03d}.wav"

    def put(self, index: int, samples: NDArray[np.float32], *, rate: int = RATE, subtype: str = "PCM_16") -> None:
        """Let the recording of a row hold something else."""
        soundfile.write(self.file(index), samples, rate, subtype=subtype)

    def add_event(self, index: int, onset: float, offset: float, label: str) -> str:
        """One more event of a row's recording; returns where it stands."""
        self.events.append(
            {"filename": f"{index:03d}.wav", "onset": f"{onset:g}", "offset": f"{offset:g}", "event_label": label}
        )
        return f"strong.tsv:{len(self.events) + 1}"

    def add_row(self, index: int, **cells: str) -> str:
        """One more row, like row `index` but for `cells`; returns where it stands."""
        self.rows.append(self.rows[index] | cells)
        return row(len(self.rows) - 1)

    def drop_events(self, index: int) -> None:
        """No strong labels for the recording of a row; its lines become blank, so that the others keep theirs."""
        for i, event in enumerate(self.events):
            if event.get("filename") == f"{index:03d}.wav":
                self.events[i] = {}

    def write(self) -> None:
        """Write both tables."""
        for path, columns, lines in (
            (self.weak, WEAK_COLUMNS, self.rows),
            (self.strong, STRONG_COLUMNS, self.events),
        ):
            text = ["\t".join(columns)]
            text += ["\t".join(line.get(column, "") for column in columns) if line else "" for line in lines]
            path.write_text("\n".join(text) + "\n", encoding="utf-8")


def row(index: int) -> str:
    """Where row `index` of the weak labels stands."""
    return f"weak.tsv:{index + 2}"


def make(folder: Path, n_clips: int = 500) -> Made:
    """A clean data set: four kinds of clips in turn, ten clips per patient, every fifth patient for testing."""
    made = Made(folder)
    made.audio.mkdir(parents=True)
    for i in range(n_clips):
        label, patient = CLASSES[i % 4], i // 10
        made.rows.append(
            {
                "filename": f"{i:03d}.wav",
                "event_labels": label,
                "split": "test" if patient % 5 == 4 else "train",
                "patient": f"p{patient}",
            }
        )
        made.put(i, noise(i))
        if label:
            made.add_event(i, 0.05, 0.15, label)
        else:
            made.events.append({"filename": f"{i:03d}.wav"})
    made.write()
    return made


def findings(made: Made, **options: object) -> tuple[Finding, ...]:
    """What is found in a data set, with everything that could be told of it."""
    told = {"strong": made.strong, "split": "split", "group": "patient", "workers": 2} | options
    return examine(made.weak, audio=made.audio, **told).findings  # type: ignore[arg-type]
