"""The blocks a page is made of: table, picture, sound, key figures, commands.

Each is a small dataclass with one method, `html`, that escapes every text: one more block is one more class here.
"""

from __future__ import annotations

import base64
import html
import io
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from earmark.report.canvas import DOTS_PER_INCH

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CSS_PIXELS_PER_INCH = 96

Cell = str | int | float | None


class Block(Protocol):
    """Anything that can write itself as HTML."""

    def html(self) -> str:
        """The block as HTML, every text in it escaped."""


@dataclass(frozen=True)
class Table:
    """A table; the first cell of each row names the row.

    Args:
        caption: what the table shows.
        header: one name per column.
        rows: cells; floats are written with `digits` decimals, None and NaN as a dash.
        digits: decimals of floats, one number for all columns or one for each.

    Raises:
        ValueError: a row that has not as many cells as the header.

    Example:
        >>> "<td class=\\"number\\">0.743</td>" in Table("F1", ["system", "event"], [["power", 0.7432]]).html()
        True
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    digits: int | Sequence[int] = 3

    def __post_init__(self) -> None:
        if not isinstance(self.digits, int) and len(self.digits) != len(self.header):
            raise ValueError(
                f"digits of the table {self.caption!r} must be one number or {len(self.header)}, one for "
                f"each column, got {len(self.digits)}"
            )
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.header):
                raise ValueError(
                    f"row {number} of the table {self.caption!r} must have {len(self.header)} cells, "
                    f"got {len(row)} - is a column missing in the header?"
                )

    def html(self) -> str:
        """The table, in a frame that scrolls sideways where the screen is narrow."""
        numeric = [all(not isinstance(row[column], str) for row in self.rows) for column in range(len(self.header))]
        head = "".join(
            f'<th scope="col"{_number_class(right)}>{escaped(name)}</th>'
            for name, right in zip(self.header, numeric, strict=True)
        )
        body = "\n".join(f"<tr>{self._row(row, numeric)}</tr>" for row in self.rows)
        return (
            f'<figure><div class="wide" role="region" tabindex="0" aria-label="{escaped(self.caption)}"><table>\n'
            f"<caption>{escaped(self.caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
            f"<tbody>\n{body}\n</tbody></table></div></figure>"
        )

    def _row(self, row: Sequence[Cell], numeric: Sequence[bool]) -> str:
        """The cells of one row, the first of them its heading."""
        digits = [self.digits] * len(row) if isinstance(self.digits, int) else self.digits
        texts = [escaped(_cell_text(cell, digits=decimals)) for cell, decimals in zip(row, digits, strict=True)]
        cells = [f'<th scope="row">{texts[0]}</th>'] if texts else []
        cells += [f"<td{_number_class(right)}>{text}</td>" for text, right in zip(texts[1:], numeric[1:], strict=True)]
        return "".join(cells)


@dataclass(frozen=True)
class Picture:
    """A PNG picture, embedded.

    Args:
        png: the file's bytes, for instance from `earmark.report.plots.png_bytes`.
        alt: what the picture shows, for readers who do not see it.
        caption: written below; empty writes none.

    Raises:
        ValueError: `png` is not a PNG, or `alt` is empty.
    """

    png: bytes
    alt: str
    caption: str = ""

    def __post_init__(self) -> None:
        if self.png[:8] != b"\x89PNG\r\n\x1a\n" or len(self.png) < 24:
            raise ValueError(
                f"png must be the bytes of a PNG file, got {len(self.png)} bytes that begin with "
                f"{self.png[:8]!r} - is it a path?"
            )
        if not self.alt.strip():
            raise ValueError("alt must say what the picture shows, got an empty text")

    def html(self) -> str:
        """The picture on a light sheet; narrow screens scroll it sideways rather than shrink its text away."""
        width, height = (
            round(size * CSS_PIXELS_PER_INCH / DOTS_PER_INCH) for size in struct.unpack(">II", self.png[16:24])
        )
        caption = f"<figcaption>{escaped(self.caption)}</figcaption>" if self.caption else ""
        return (
            f'<figure><div class="wide sheet" role="region" tabindex="0" aria-label="picture">'
            f'<img src="{_data_url("image/png", self.png)}" width="{width}" height="{height}" '
            f'style="min-width:min(38rem,{width}px)" alt="{escaped(self.alt)}"></div>{caption}</figure>'
        )


@dataclass(frozen=True)
class Sound:
    """A short recording, embedded, with the browser's own player.

    Args:
        wav: the file's bytes, for instance from `wav_bytes`; ten seconds at 16 kHz are 320 kB.
        caption: what is heard.
    """

    wav: bytes
    caption: str

    def html(self) -> str:
        """The player with its caption."""
        return (
            f'<figure class="sound"><audio controls preload="metadata" aria-label="{escaped(self.caption)}" '
            f'src="{_data_url("audio/wav", self.wav)}"></audio>'
            f"<figcaption>{escaped(self.caption)}</figcaption></figure>"
        )


@dataclass(frozen=True)
class KeyFigures:
    """The few numbers a reader looks for first, written large.

    Example:
        >>> KeyFigures({"event F1, power": "0.74"}).html()
        '<dl class="key"><div><dt>event F1, power</dt><dd>0.74</dd></div></dl>'
    """

    values: Mapping[str, str]

    def html(self) -> str:
        """A definition list: name and value."""
        pairs = "".join(
            f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in self.values.items()
        )
        return f'<dl class="key">{pairs}</dl>'


@dataclass(frozen=True)
class Commands:
    """Lines to type into a terminal, kept as they are.

    Example:
        >>> Commands("earmark detect a.wav > a.tsv").html()
        '<pre><code>earmark detect a.wav &gt; a.tsv</code></pre>'
    """

    text: str

    def html(self) -> str:
        """Preformatted text."""
        return f"<pre><code>{escaped(self.text)}</code></pre>"


def wav_bytes(samples: NDArray[np.floating], *, sample_rate: int) -> bytes:
    """Return the recording as the bytes of a 16-bit WAV file; what is louder than full scale is cut off.

    Args:
        samples: (samples,), full scale is 1.
        sample_rate: samples per second.

    Raises:
        ValueError: not one channel, or values that are not finite.

    Example:
        >>> import numpy as np
        >>> len(wav_bytes(np.zeros(160000), sample_rate=16000))
        320044
    """
    import numpy as np
    import soundfile

    if samples.ndim != 1 or not np.isfinite(samples).all():
        raise ValueError(
            f"samples must be finite and have shape (samples,), got {samples.shape} "
            f"- one channel, and no NaN or infinity"
        )
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, sample_rate, format="WAV", subtype="PCM_16")
    return buffer.getvalue()


def escaped(text: str) -> str:
    """Return `text` safe for HTML, between tags and inside quotes; letters no file can hold become visible codes.

    Example:
        >>> escaped('<b> "dog" & \\udcff')
        '&lt;b&gt; &quot;dog&quot; &amp; \\\\udcff'
    """
    writable = text.replace("\0", "�").encode("utf-8", "backslashreplace").decode("utf-8")
    return html.escape(writable, quote=True)


def _cell_text(cell: Cell, *, digits: int) -> str:
    """A cell as it is written."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    return f"{cell:.{digits}f}" if isinstance(cell, float) else str(cell)


def _number_class(right: bool) -> str:
    """The class of cells in columns of numbers."""
    return ' class="number"' if right else ""


def _data_url(media_type: str, content: bytes) -> str:
    """The file inside the page."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode('ascii')}"
