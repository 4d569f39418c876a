"""What one cell of a label file may hold: a file name, a label, a list of labels, a moment in seconds.

Each function returns the cleaned value or raises ValueError with the reason alone; the table adds file, line number
and line.
"""

from __future__ import annotations

import csv
import math
import re
import unicodedata
from functools import lru_cache

# Tabs, line ends and the invisible rest: no label file could hold them and be read back.
_CONTROL = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029]")


# The same few names and labels come again and again in a table: cleaned once, a table is read twice as fast.
@lru_cache(maxsize=4096)
def clean_filename(text: str) -> str:
    r"""Return a file name in the one spelling all tables share: NFC, forward slashes, no ``./`` or ``x/../``.

    The extension stays: ``a.wav`` and ``a.flac`` are different files.

    Raises:
        ValueError: the name is empty, quoted, or holds a control character.

    Example:
        >>> clean_filename(".\\site 3\\a.wav")
        'site 3/a.wav'
        >>> clean_filename("Ka\u0308fer.wav") == "K\u00e4fer.wav"       # a + two dots, and the one letter for both
        True
    """
    name = text.strip()
    if not name:
        raise ValueError("the filename is empty")
    if name[0] == name[-1] == '"':
        raise ValueError(f"the filename {name!r} stands in quotation marks - is it quoted twice?")
    if not name.isascii():
        name = unicodedata.normalize("NFC", name)
    if "\\" in name:
        name = name.replace("\\", "/")
    if "./" in name or "//" in name or ".." in name:
        root = name[: len(name) - len(name.lstrip("/"))]
        parts: list[str] = []
        for part in name.split("/"):
            if part == ".." and parts and parts[-1] != "..":
                parts.pop()  # dogs/../a.wav and a.wav are one file, and must not stand on both sides of a split
            elif part not in ("", "."):
                parts.append(part)
        name = root + "/".join(parts)
    _refuse_control("filename", name)
    return name


@lru_cache(maxsize=4096)
def clean_label(text: str) -> str:
    """Return a label in NFC without white space around it.

    Raises:
        ValueError: the label is empty, holds a control character, or begins with a quotation mark, which label files
            use for labels with a comma.

    Example:
        >>> clean_label(" Air horn, truck horn ")
        'Air horn, truck horn'
    """
    label = unicodedata.normalize("NFC", text).strip()
    if not label:
        raise ValueError("a label is empty - is there a comma too many?")
    if label.startswith('"'):
        raise ValueError(f"the label {label!r} begins with a quotation mark - is the quote closed, and only once?")
    _refuse_control("label", label)
    return label


def split_labels(text: str) -> frozenset[str]:
    """Return the labels of a comma-separated cell; a label with a comma in it stands in double quotes.

    Raises:
        ValueError: an empty or forbidden label, or a quote that is not closed.

    Example:
        >>> sorted(split_labels('"Air horn, truck horn", Car'))
        ['Air horn, truck horn', 'Car']
        >>> split_labels("")
        frozenset()
    """
    if not text.strip():
        return frozenset()
    if '"' not in text:
        return frozenset(clean_label(label) for label in text.split(","))
    try:
        labels = next(csv.reader([text.strip()], skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise ValueError(f"the quotes in {text!r} do not match ({error})") from None
    return frozenset(clean_label(label) for label in labels)


def join_labels(labels: frozenset[str]) -> str:
    """Return the cell that `split_labels` reads back: sorted, comma-separated, quoted where needed.

    Example:
        >>> join_labels(frozenset({"Car", "Air horn, truck horn"}))
        '"Air horn, truck horn",Car'
    """
    return ",".join(f'"{label.replace(chr(34), chr(34) * 2)}"' if "," in label else label for label in sorted(labels))


def seconds(name: str, text: str) -> float:
    """Return a moment or a length in seconds.

    Raises:
        ValueError: not a number, not finite, or negative; with a guess at the cause.

    Example:
        >>> seconds("onset", "12.5")
        12.5
        >>> seconds("onset", "12,5")
        Traceback (most recent call last):
        ...
        ValueError: onset must be a number of seconds, got '12,5' - a decimal comma? write 12.5, and so in
        every row of a European export
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    # float() also takes "1_000", "nan" and "inf"; none of them is a time anyone meant.
    if not math.isfinite(value) or "_" in text:
        raise ValueError(f"{name} must be a number of seconds, got {text!r}{_seconds_hint(text)}")
    if value < 0:
        raise ValueError(f"{name} must be at least 0, got {text} - seconds count from the start of the file")
    return value


def span(onset: str, offset: str) -> tuple[float, float]:
    """Return onset and offset in seconds, the offset not before the onset.

    Example:
        >>> span("3.0", "12.5")
        (3.0, 12.5)
        >>> span("12.5", "3.0")
        Traceback (most recent call last):
        ...
        ValueError: onset 12.5 is after offset 3.0 - are the columns swapped?
    """
    if not onset or not offset:
        missing, given = ("onset", "offset") if not onset else ("offset", "onset")
        raise ValueError(f"{given} is given but {missing} is empty - fill both or neither")
    begin, end = seconds("onset", onset), seconds("offset", offset)
    if begin > end:
        raise ValueError(f"onset {onset} is after offset {offset} - are the columns swapped?")
    return begin, end


def probability(text: str) -> float | None:
    """Return the score in a cell; None when it is empty.

    Example:
        >>> probability("0.25"), probability("")
        (0.25, None)
    """
    if not text:
        return None
    try:
        score = float(text)
    except ValueError:
        score = -1.0
    if not 0 <= score <= 1:
        raise ValueError(f"score must be a probability from 0 to 1, got {text!r} - is it a logit or a percentage?")
    return score


def _seconds_hint(text: str) -> str:
    """The likely reason why `text` is not a number of seconds."""
    if re.fullmatch(r"-?\d+,\d+", text):
        return f" - a decimal comma? write {text.replace(',', '.')}, and so in every row of a European export"
    if re.search(r"\d", text):
        return " - is it in seconds? 1:23.5 is written 83.5, and 500 ms is written 0.5"
    return " - is this the right column?"


def _refuse_control(name: str, text: str) -> None:
    """Raise ValueError when `text` holds a control character, or bytes of a file name that are no UTF-8."""
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError(f"the {name} {text!a} is not UTF-8 and no table can hold it - rename it")
    if _CONTROL.search(text):
        raise ValueError(f"the {name} {text!r} holds a tab, a line end or another control character - rename it")
