"""Which recording a label file belongs to, when only its own name says so."""

from __future__ import annotations

import re
from pathlib import Path

from earmark.labels.cells import clean_filename

# What programs put between the recording's name and the ending of a label file.
_TAILS = re.compile(r"(\.Table\.\d+)?\.selections$|\.BirdNET(\.selection\.table|\.results)?$", re.IGNORECASE)


def recording_of(path: Path | str) -> str:
    """Return the name of the recording that a label file is named after, as far as it is written there.

    Example:
        >>> [recording_of(name) for name in ("a.wav.txt", "labels/a.txt", "a.Table.1.selections.txt")]
        ['a.wav', 'a', 'a']
        >>> recording_of("a.BirdNET.selection.table.txt")
        'a'
    """
    return clean_filename(_TAILS.sub("", Path(path).stem))
