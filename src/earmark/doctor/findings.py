"""What a finding is, and everything the doctor can find: its code, how bad it is, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)


class Kind(NamedTuple):
    """One kind of finding: how bad it is, and what to do."""

    severity: str
    advice: str


# error: training stops, leaves the clip out, or its figures would be wrong. warning: probably a mistake. note: good to
# know, nothing to do if it is meant. The codes are promised: programs look for them.
KINDS = {
    # The label files.
    "row-broken": Kind(ERROR, "mend the row; everything else here was found as if it were not there"),
    "no-labels": Kind(ERROR, "put the classes of each clip into the column event_labels"),
    "labels-in-wrong-column": Kind(ERROR, "check the order of the columns in this row, or the header of the table"),
    "label-without-audio": Kind(ERROR, "correct the name, copy the recording there, or remove the row"),
    "filename-case": Kind(ERROR, "write the name as it is on disk: only some systems find it in other letters"),
    "filename-ending": Kind(ERROR, "write the ending that the file has, in the labels"),
    "filename-unicode": Kind(NOTE, "nothing: both spellings of an accented letter are found"),
    "filename-unusable": Kind(WARNING, "rename the file: no row of a table can name it"),
    "wrong-audio-folder": Kind(ERROR, "give --audio the folder in which names begin; sub-folders are part of a name"),
    "audio-without-labels": Kind(NOTE, "nothing, if they are meant to be unlabelled: training does not hear them"),
    "few-files-named": Kind(WARNING, "is it the right label file, and the right folder of audio?"),
    "tags-contradict": Kind(WARNING, "add the tag to the longer span, or remove it from the shorter one"),
    # The sound.
    "audio-unreadable": Kind(ERROR, "convert or copy the file again, or remove its row; training leaves it out"),
    "audio-empty": Kind(ERROR, "record or copy the file again, or remove its row; training leaves it out"),
    "audio-not-finite": Kind(ERROR, "write the file again from its source; training leaves it out"),
    "audio-scale": Kind(ERROR, "write it again with samples from -1 to 1; training leaves it out"),
    "audio-incomplete": Kind(WARNING, "copy or convert it again; training uses only what can be decoded"),
    "audio-silent": Kind(WARNING, "was the microphone on? remove the row, or its tags"),
    "audio-long-silence": Kind(NOTE, "cut off padding where you can: a network may learn it as a sign of the class"),
    "audio-clipped": Kind(WARNING, "nothing repairs it; where many clips are, turn down the recorder's gain"),
    "audio-dc-offset": Kind(NOTE, "a high-pass filter at 20 Hz removes it; is a recorder defective?"),
    "audio-length": Kind(WARNING, "listen to it: was it cut off, or never cut into clips?"),
    "audio-band-limited": Kind(NOTE, "is one class or site recorded so, and others not? a network may learn that"),
    "mixed-sample-rates": Kind(NOTE, "nothing: everything is resampled; is one class or site recorded in another way?"),
    "mixed-channels": Kind(NOTE, "nothing: channels are averaged"),
    "duplicate-audio": Kind(WARNING, "keep one of them; otherwise one may be held out and the other learned"),
    "duplicate-across-splits": Kind(ERROR, "remove it from one of the splits: figures on it would flatter"),
    # Classes.
    "class-similar": Kind(WARNING, "write both in one way, if they are one class"),
    "class-few-clips": Kind(WARNING, "tag more clips of it, or leave the class out"),
    "class-in-every-clip": Kind(WARNING, "add clips without it, with empty event_labels: nothing shows what it is not"),
    "class-not-in-split": Kind(NOTE, "figures of this class cannot be had there"),
    "class-imbalance": Kind(NOTE, "training draws rare classes more often; tag more of the rarest if you can"),
    # Splits and groups.
    "file-cut-by-split": Kind(ERROR, "give all spans of a file the same split"),
    "group-cut-by-split": Kind(ERROR, "give all clips of a group the same split: figures would flatter"),
    "group-empty": Kind(ERROR, "name the clip's group, or give it one of its own"),
    "source-in-two-groups": Kind(WARNING, "give both the same group: they are one recording"),
    "class-in-one-group": Kind(WARNING, "tag it in other groups: is the class learned here, or the group?"),
    # Times.
    "span-beyond-end": Kind(WARNING, "correct the times; only what lies inside the file is used"),
    "times-in-other-unit": Kind(ERROR, "write all times in seconds"),
    "event-without-audio": Kind(ERROR, "correct the name, copy the recording there, or remove its events"),
    "event-beyond-end": Kind(WARNING, "correct the times; are they of this file?"),
    "event-zero-length": Kind(WARNING, "give it an end after its beginning; metrics leave such events out"),
    "event-twice": Kind(WARNING, "remove one of the two rows"),
    "event-overlap": Kind(WARNING, "join them, if they are one sound; frames cannot tell two of one class apart"),
    "event-unknown-class": Kind(WARNING, "write it as the tags do, or is it meant to be learned from events alone?"),
    "event-without-tag": Kind(ERROR, "add the tag, or remove the event: one of them is wrong"),
    "tag-without-event": Kind(WARNING, "mark the event, remove the tag, or say with --reviewed what is complete"),
    "reviewed-unknown-class": Kind(ERROR, "write the class as the tags do"),
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or worth knowing.

    Args:
        code: a key of `KINDS`.
        where: file and row, for instance ``weak.tsv:17``; only the file where it is about all of it.
        file: the recording it is about, as the labels name it; empty for none.
        found: what was found, in a sentence without its full stop.
        severity: error, warning or note; that of its kind unless said otherwise.

    Example:
        >>> found = Finding("audio-empty", "weak.tsv:3", "b.wav", "is empty - was the copy interrupted?")
        >>> found.severity, found.advice
        ('error', 'record or copy the file again, or remove its row; training leaves it out')
    """

    code: str
    where: str
    file: str
    found: str
    severity: str = ""

    def __post_init__(self) -> None:
        if self.severity not in ("", *SEVERITIES):
            raise ValueError(f"severity must be one of {', '.join(SEVERITIES)}, got {self.severity!r}")
        if not self.severity:
            object.__setattr__(self, "severity", KINDS[self.code].severity)

    @property
    def advice(self) -> str:
        """What to do about it."""
        return KINDS[self.code].advice


def some(names: list[str], most: int = 3) -> str:
    """Return a list as a person says it, cut after `most`.

    Example:
        >>> some(["a", "b", "c", "d", "e"])
        'a, b, c and 2 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
