"""Which recording in a folder a label file means, where it says only a part of the name."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from earmark.audio.finding import find_audio
from earmark.audio.reading import probe_audio
from earmark.events import Event

_SHOWN = 3  # candidates named in a message

# Times are suspected of another unit from here on, checked in so many recordings, and in one when so many times late.
_LATE_SECONDS, _OPENED, _OTHER_UNIT = 100.0, 20, 10


def recordings_in(folder: Path) -> dict[str, Path]:
    """Return the recordings below a folder by their names relative to it, in NFC.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Path(folder, "a.wav").touch()
        ...     list(recordings_in(Path(folder)))
        ['a.wav']
    """
    if not folder.is_dir():
        raise ValueError(f"{folder.as_posix()}: audio must be a folder of recordings - is the path right?")
    return {unicodedata.normalize("NFC", file.relative_to(folder).as_posix()): file for file in find_audio([folder])}


def true_names(written: Mapping[str, str], recordings: Iterable[str]) -> dict[str, str]:
    """Return the recording that each written name means.

    A name means the recording of exactly that name, with or without its ending; otherwise the only one whose path ends
    with it (``a`` means ``site 3/a.wav``); otherwise the one whose whole path it ends with
    (``/media/site 3/a.wav`` means ``site 3/a.wav``).

    Args:
        written: names as label files have them, and where they stand, for messages.
        recordings: paths relative to the folder of the audio.

    Raises:
        ValueError: no recording, or several, could be meant; with the candidates.

    Example:
        >>> true_names({"a": "labels.rttm", "/media/b.wav": "labels.rttm"}, ["site 3/a.wav", "b.wav"])
        {'a': 'site 3/a.wav', '/media/b.wav': 'b.wav'}
    """
    whole: dict[str, list[str]] = {}
    endings: dict[str, list[str]] = {}
    for recording in recordings:
        parts = recording.split("/")
        for first in range(len(parts)):
            tail = "/".join(parts[first:])
            for spelling in {tail, _without_suffix(tail)}:
                endings.setdefault(spelling, []).append(recording)
                if first == 0:
                    whole.setdefault(spelling, []).append(recording)
    names = {name: _true_name(name, where, whole, endings) for name, where in written.items()}
    meant: dict[str, str] = {}
    for name, recording in names.items():
        other = meant.setdefault(recording, name)
        if other != name:
            raise ValueError(
                f"{written[name]}: {name!r} and {other!r} ({written[other]}) are one recording, {recording}"
                " - keep one of the two"
            )
    return names


def check_ends(events: Mapping[str, Sequence[Event]], recordings: Mapping[str, Path]) -> None:
    """Raise ValueError where times are probably in another unit: they lie far beyond the end of their recording.

    A unit is a mistake of whole files, so a few recordings with late events are opened and the others are not. Events
    a little beyond the end are for `earmark doctor`.

    Args:
        events: of each recording.
        recordings: as `recordings_in` gives them.
    """
    late = [name for name, found in events.items() if name in recordings and _last(found) >= _LATE_SECONDS]
    for name in late[:_OPENED]:
        try:
            info = probe_audio(recordings[name])
        except (OSError, ValueError):
            continue  # whoever reads it says why it cannot be read
        latest = max(events[name], key=lambda event: event.offset)
        last, end_seconds = latest.offset, info.duration_seconds
        if last > _OTHER_UNIT * end_seconds:
            unit = "milliseconds" if last / 1000 <= 1.01 * end_seconds else f"samples ({info.sample_rate} per second)"
            raise ValueError(
                f"{latest.where}: an event of {name} ends at {last:g} s, but the recording lasts {end_seconds:.2f} s"
                f" - are the times in {unit}? they must be in seconds"
            )


def _last(events: Sequence[Event]) -> float:
    """Where the last event ends."""
    return max((event.offset for event in events), default=0.0)


def _true_name(name: str, where: str, whole: Mapping[str, list[str]], endings: Mapping[str, list[str]]) -> str:
    """The recording that one name means."""
    parts = name.split("/")
    tails = ["/".join(parts[first:]) for first in range(1, len(parts))]
    # A recording that is called just like that, ending and all, before those that merely share a part.
    exact = [recording for recording in whole.get(name, []) if recording == name]
    found = exact or whole.get(name) or endings.get(name) or next((whole[tail] for tail in tails if tail in whole), [])
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(found[:_SHOWN]) + (", ..." if len(found) > _SHOWN else "")
        raise ValueError(f"{where}: {name!r} may be any of {len(found)} recordings: {listed} - which one is meant?")
    raise ValueError(f"{where}: no recording is called {name!r}{_hint(parts[-1], endings)}")


def _hint(name: str, endings: Mapping[str, list[str]]) -> str:
    """The recording that was probably meant."""
    same_stem = endings.get(_without_suffix(name), [])
    if same_stem:
        return f" - there is {same_stem[0]!r}; is the ending, or the folder, right?"
    near = difflib.get_close_matches(name, endings, n=1, cutoff=0.7)
    if near:
        return f" - did you mean {endings[near[0]][0]!r}?"
    return " - is it the right folder of audio?"


def _without_suffix(name: str) -> str:
    """The name without the ending of its last part."""
    folder, slash, last = name.rpartition("/")
    stem, dot, _ = last.rpartition(".")
    return f"{folder}{slash}{stem if dot and stem else last}"
