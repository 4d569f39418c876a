"""SPRSound as tables that earmark reads: tags to learn from, events to test on, and who the patients are.

The annotators' seven kinds of sound become three classes, because the test recordings lack most of the rare ones.
Recordings that they found too poor to annotate are left out: neither positive nor negative. So is one that is in a
test, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from earmark.events import Event
from earmark.files import write_atomic
from earmark.labels.strong import read_strong
from earmark.labels.table import check_columns, read_table
from earmark.writers import events_to_tsv

CLASSES = ("continuous", "crackles", "normal")
CLASSES_OF_LABEL = {
    "Normal": ("normal",),
    "Wheeze": ("continuous",),
    "Rhonchi": ("continuous",),
    "Stridor": ("continuous",),
    "Fine Crackle": ("crackles",),
    "Coarse Crackle": ("crackles",),
    "Wheeze+Crackle": ("continuous", "crackles"),
}
NOT_ANNOTATED = "Poor Quality"
# Of the training part, but sample for sample the same as 41279835_14.1_0_p1_2050.opus of `intra` (`earmark doctor` says
# so), and annotated differently.
ALSO_IN_A_TEST = frozenset({"41279835_14.1_0_p1_2945.opus"})
HELD_OUT_PERCENT = 20  # of the patients of the training part
STRONG_PERCENTS = (5, 20, 100)  # of the training recordings, with events besides tags
TESTS = ("inter", "intra")  # new patients; other recordings of patients that were trained on


@dataclass(frozen=True)
class Recording:
    """One recording of one patient.

    Args:
        filename: in the folder of the audio.
        part: ``"train"``, ``"held-out"``, ``"inter"`` or ``"intra"``.
        patient: who.
        seconds: its length.
        events: all of them, in classes.
    """

    filename: str
    part: str
    patient: str
    seconds: float
    events: tuple[Event, ...]

    @property
    def tags(self) -> tuple[str, ...]:
        """The classes it contains, sorted."""
        return tuple(sorted({event.label for event in self.events}))


def percentile(name: str, purpose: str) -> float:
    """Return a number from 0 to 100 that is the same everywhere and always: the SHA-256 of purpose and name.

    Example:
        >>> 0 <= percentile("40512331", "held out") < 100
        True
    """
    digest = hashlib.sha256(f"{purpose}/{name}".encode()).digest()
    return int.from_bytes(digest[:4], "big") * 100 / 2**32


def read_recordings(data: Path) -> list[Recording]:
    """Return the annotated recordings of a folder with files.tsv and events.tsv."""
    columns = ("filename", "split", "record_label", "patient", "duration")
    table = read_table(data / "files.tsv", example="\t".join(columns))
    check_columns(table, required=columns, example="\t".join(columns))
    events = read_strong(data / "events.tsv")
    return [
        Recording(filename, _part(split, patient), patient, float(seconds), _in_classes(events.get(filename, [])))
        for filename, split, record_label, patient, seconds in zip(*map(table.column, columns), strict=True)
        if record_label != NOT_ANNOTATED and filename not in ALSO_IN_A_TEST
    ]


def write_tables(recordings: Sequence[Recording], folder: Path) -> None:
    """Write what earmark and a reader need: tags, events of each part, shares of them, patients, durations."""
    folder.mkdir(parents=True, exist_ok=True)
    learned = [one for one in recordings if one.part not in TESTS]
    write_atomic(folder / "weak.tsv", _weak(learned))
    write_atomic(folder / "test.tsv", _weak([one for one in recordings if one.part in TESTS]))
    for part in TESTS:
        write_atomic(folder / f"{part}.tsv", _strong([one for one in recordings if one.part == part]))
    training = [one for one in learned if one.part == "train"]
    for percent in STRONG_PERCENTS:
        share = [one for one in training if percentile(one.filename, "strong labels") < percent]
        write_atomic(folder / f"strong-{percent}.tsv", _strong(share))
    write_atomic(folder / "held-out.tsv", _strong([one for one in learned if one.part == "held-out"]))
    write_atomic(folder / "patients.tsv", _two_columns("patient", {one.filename: one.patient for one in recordings}))
    seconds = {one.filename: f"{one.seconds:.10g}" for one in recordings}
    write_atomic(folder / "durations.tsv", _two_columns("duration", seconds))


def _part(split: str, patient: str) -> str:
    """The training part loses some patients to the held-out one."""
    if split == "train" and percentile(patient, "held out") < HELD_OUT_PERCENT:
        return "held-out"
    return split


def _in_classes(events: Iterable[Event]) -> tuple[Event, ...]:
    """Events in our classes: wheezing with crackles is an event of both."""
    return tuple(Event(event.onset, event.offset, label) for event in events for label in CLASSES_OF_LABEL[event.label])


def _weak(recordings: Sequence[Recording]) -> str:
    """Their tags as a table."""
    rows = (f"{one.filename}\t{','.join(one.tags)}\t{one.patient}\t{one.part}\n" for one in recordings)
    return "filename\tevent_labels\tpatient\tsplit\n" + "".join(rows)


def _strong(recordings: Sequence[Recording]) -> str:
    """Their events as a table."""
    return events_to_tsv({one.filename: one.events for one in recordings})


def _two_columns(name: str, of_file: Mapping[str, str]) -> str:
    """A table of one thing per file."""
    return f"filename\t{name}\n" + "".join(f"{filename}\t{value}\n" for filename, value in of_file.items())
