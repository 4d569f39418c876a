"""Strong labels in a comparison: those of the test to measure by, and perhaps those of other clips to learn from."""

from __future__ import annotations

from pathlib import Path

from earmark import checks
from earmark.comparing.parts import LEARN, TEST, Parts
from earmark.comparing.worker import LEARN_TABLE, SPLIT
from earmark.config import Config
from earmark.files import write_atomic
from earmark.labels.strong import read_strong
from earmark.training.joining import join
from earmark.training.sources import Sources
from earmark.writers import events_to_tsv

LEARN_STRONG = "learn-strong.tsv"


def check_strong(path: Path, parts: Parts) -> None:
    """Raise ValueError when events are of other classes or clips."""
    strong = read_strong(path)
    for name, events in strong.items():
        checks.known_labels([event.label for event in events], parts.clips.classes, where=f"{path}: {name}")
    test = parts.of(TEST)
    if not any(clip.filename in strong for clip in test.clips):
        first = next(iter(strong), None)
        raise ValueError(
            f"{path}: must name clips of the test part, got none of its {len(test.clips)} (such as"
            f" {test.clips[0].filename!r}; the table has {first!r}) - mark events in those that"
            " the column 'part' of the comparison calls test, or choose them with --split and --test"
        )


def write_learn_strong(out: Path, parts: Parts, strong: Path, audio: Path, config: Config) -> None:
    """Events of the clips to learn from, and of no others: a run must not meet those of the test."""
    learned = {clip.filename for clip in parts.of(LEARN).clips}
    events = {name: of_file for name, of_file in read_strong(strong).items() if name in learned}
    if not events:
        raise ValueError(
            f"{strong}: names none of the {len(learned)} recordings to learn from, so --learn-strong would change"
            " nothing - leave it out, or choose the parts with --split"
        )
    write_atomic(out / LEARN_STRONG, events_to_tsv(events))
    join(Sources(out / LEARN_TABLE, audio, out / LEARN_STRONG), config, SPLIT)
