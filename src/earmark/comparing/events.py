"""Strong labels in a comparison: those of the test to measure by, and perhaps those of other clips to learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from earmark import checks
from earmark.comparing.parts import HELD_OUT, LEARN, TEST, Parts
from earmark.comparing.worker import LEARN_TABLE, SPLIT
from earmark.config import Config
from earmark.events import Event
from earmark.files import write_atomic
from earmark.labels.strong import read_strong
from earmark.training.joining import join
from earmark.training.sources import Sources
from earmark.writers import events_to_tsv

LEARN_STRONG, MEASURE_STRONG = "learn-strong.tsv", "measure-strong.tsv"
Strong = Mapping[str, Sequence[Event]]


def strong_of(path: Path, audio: Path | None, parts: Parts) -> Strong:
    """Return the events of each recording, from any form of strong labels that `read_strong` takes.

    Raises:
        ValueError: events of other classes or clips, or of a single group of the test.
    """
    strong = read_strong(path, audio=audio)
    for name, events in strong.items():
        checks.known_labels([event.label for event in events], parts.clips.classes, where=f"{path}: {name}")
    test = parts.of(TEST)
    groups = {group for clip, group in zip(test.clips, test.groups, strict=True) if clip.filename in strong}
    if not groups:
        first = next(iter(strong), None)
        raise ValueError(
            f"{path}: must name clips of the test part, got none of its {len(test.clips)} (such as"
            f" {test.clips[0].filename!r}; the table has {first!r}) - mark events in those that"
            " the column 'part' of the comparison calls test, or choose them with --split and --test"
        )
    if len(groups) < 2:
        raise ValueError(
            f"{path}: must name clips of at least 2 groups of the test part, got only those of {min(groups)!r}: how"
            " sure a figure is could not be said - mark events in more, or choose the test with --split and --test"
        )
    return strong


def write_measure_strong(out: Path, parts: Parts, strong: Strong) -> Path:
    """Leave the events that runs are measured by, those of test and held-out clips, and return the file."""
    measured = {clip.filename for part in (HELD_OUT, TEST) for clip in parts.of(part).clips}
    write_atomic(out / MEASURE_STRONG, events_to_tsv(_only(strong, measured), with_scores=False))
    return out / MEASURE_STRONG


def write_learn_strong(out: Path, parts: Parts, strong: Strong, sources: Sources, config: Config) -> Path:
    """Leave the events of the clips to learn from, and of no others: a run must not meet those of the test.

    Raises:
        ValueError: there are none, or not those that the comparison began with.
    """
    learned = {clip.filename for clip in parts.of(LEARN).clips}
    events = _only(strong, learned)
    if not events:
        raise ValueError(
            f"--strong names none of the {len(learned)} recordings to learn from, so --learn-strong would change"
            " nothing - leave it out, or choose the parts with --split"
        )
    table, path = events_to_tsv(events, with_scores=False), out / LEARN_STRONG
    if path.exists() and path.read_text(encoding="utf-8") != table:
        raise ValueError(
            f"{path}: the events to learn from are not those the comparison began with, so runs could not be compared"
            " - resume it with the --strong it had, or choose another --out"
        )
    write_atomic(path, table)
    join(replace(sources, labels=out / LEARN_TABLE, strong=path), config, SPLIT)
    return path


def _only(strong: Strong, names: set[str]) -> dict[str, Sequence[Event]]:
    """The events of some recordings."""
    return {name: events for name, events in strong.items() if name in names}
