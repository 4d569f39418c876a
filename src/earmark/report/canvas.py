"""What every picture shares: a sheet that needs no display, one look per system, and the same bytes each time.

matplotlib is imported inside the functions, so importing this module costs nothing, and pyplot is never touched:
it would keep figures alive and look for a display.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from earmark.files import write_atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOTS_PER_INCH = 150
SHEET_INCHES = 7.6  # 730 CSS pixels: shrunk to a window of 700, letters are still 10 pixels high
INK = "#22262b"  # text and important lines
PALE_INK = "#5d6570"  # ticks and notes; still 5.9:1 on white
GRID = "#e3e6ea"
SHADE = "#cfd5dc"  # reference events

# Apart for readers who confuse red and green, and dark enough on white to be read as small text.
COLOURS = ("#0064ad", "#c04a00", "#007a5c", "#a2407c", "#8a6100", "#5b4bb3", "#3f474f", "#b0303a")
Dashes = Literal["solid", "none"] | tuple[float, tuple[float, ...]]  # offset, then lengths of dash and gap in turn
DASHES: tuple[Dashes, ...] = ("solid", (0, (4.5, 1.6)), (0, (5, 1.5, 1, 1.5)), (0, (1.2, 1.4)), (0, (8, 2, 1, 2, 1, 2)))
THIN_DASHES: Dashes = (0, (3.5, 2.2))  # of lines that mark a value
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h")
# A pooling function looks the same in every picture, whichever others stand beside it.
POOLINGS = ("power", "linear", "max", "average", "attention", "exponential", "auto", "cap", "rap", "hierarchical")

_LOOK: dict[str, object] = {
    "font.family": "DejaVu Sans", "font.size": 9, "text.parse_math": False, "text.color": INK,
    "figure.facecolor": "white", "savefig.facecolor": "white",
    "axes.edgecolor": "#b9c0c8", "axes.linewidth": 0.8, "axes.labelcolor": INK, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False,
    "axes.titlesize": 10, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titlepad": 5,
    "axes.labelsize": 9, "xtick.labelsize": 8.5, "ytick.labelsize": 8.5,
    "xtick.color": "#b9c0c8", "ytick.color": "#b9c0c8", "xtick.labelcolor": PALE_INK, "ytick.labelcolor": PALE_INK,
    "grid.color": GRID, "grid.linewidth": 0.8, "legend.frameon": False, "legend.fontsize": 9,
    "hatch.linewidth": 0.6,
}  # fmt: skip


@dataclass(frozen=True)
class SystemLook:
    """How one system is drawn: told from the others by colour, and by dashes and marker where there is no colour."""

    colour: str
    dashes: Dashes
    marker: str


def system_looks(names: Sequence[str]) -> dict[str, SystemLook]:
    """Give every system its look: the paper's pooling functions always the same one, others the next that is free.

    Args:
        names: the systems, in the order in which they are listed.

    Raises:
        ValueError: a name comes twice.

    Example:
        >>> system_looks(["linear", "power"])["power"] == system_looks(["power"])["power"]
        True
        >>> [look.marker for look in system_looks(["mine", "power", "yours"]).values()]
        ['s', 'o', '^']
    """
    if len(set(names)) != len(names):
        raise ValueError(f"names must be different, got {list(names)} - is one system given twice?")
    fixed = {name: POOLINGS.index(name) for name in names if name in POOLINGS}
    free = (index for index in range(len(POOLINGS) + len(names)) if index not in fixed.values())
    return {name: _look(fixed[name] if name in fixed else next(free)) for name in names}


def _look(index: int) -> SystemLook:
    """The look with this number; the lists have lengths without a common factor, so looks return late."""
    return SystemLook(COLOURS[index % len(COLOURS)], DASHES[index % len(DASHES)], MARKERS[index % len(MARKERS)])


@contextmanager
def look() -> Iterator[None]:
    """Draw with earmark's settings, whatever the user's own matplotlib settings are, and put those back afterwards.

    Example:
        >>> import matplotlib
        >>> before = matplotlib.rcParams["font.size"]
        >>> with look():
        ...     matplotlib.rcParams["text.parse_math"]
        False
        >>> matplotlib.rcParams["font.size"] == before
        True
    """
    import matplotlib.style

    with matplotlib.style.context(_LOOK, after_reset=True):
        yield


def new_figure(*, width_inches: float, height_inches: float) -> Figure:
    """Make an empty figure that draws into memory and arranges its axes by itself.

    Example:
        >>> with look():
        ...     figure = new_figure(width_inches=4, height_inches=3)
        >>> [float(inches) for inches in figure.get_size_inches()]
        [4.0, 3.0]
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width_inches, height_inches), dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def settle(figure: Figure) -> None:
    """Arrange the axes once and keep them there: later drawings are then identical, and positions can be relied on.

    Example:
        >>> with look():
        ...     figure = new_figure(width_inches=2, height_inches=2)
        >>> settle(figure)
        >>> type(figure.get_layout_engine()).__name__
        'PlaceHolderLayoutEngine'
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def png_bytes(figure: Figure) -> bytes:
    """Draw the figure as PNG; the same figure gives the same bytes every time, without a date or a version inside.

    Example:
        >>> with look():
        ...     figure = new_figure(width_inches=1, height_inches=1)
        >>> png_bytes(figure)[1:4]
        b'PNG'
    """
    buffer = io.BytesIO()
    with look():
        figure.savefig(buffer, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    return buffer.getvalue()


def save(figure: Figure, path: Path | str) -> None:
    """Write the figure as PNG, completely or not at all.

    Raises:
        ValueError: `path` does not end in .png.

    Example:
        >>> import tempfile
        >>> with look():
        ...     figure = new_figure(width_inches=1, height_inches=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save(figure, Path(folder) / "clip.png")
        ...     (Path(folder) / "clip.png").stat().st_size > 0
        True
    """
    if Path(path).suffix.lower() != ".png":
        raise ValueError(f"path must end in .png, got {str(path)!r} - pictures are written as PNG only")
    write_atomic(path, png_bytes(figure))


def drawable(text: str) -> str:
    """Return `text` as the shipped font can draw it: on one line, a square for each letter the font does not have.

    Example:
        >>> drawable("Türklingel\\n1"), drawable("犬")
        ('Türklingel 1', '□')
    """
    import matplotlib
    from matplotlib.font_manager import get_font

    font = get_font(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf")
    on_one_line = "".join(
        " " if unicodedata.category(letter) in ("Cc", "Zl", "Zp") else letter
        for letter in unicodedata.normalize("NFC", text)
    )
    return "".join(letter if font.get_char_index(ord(letter)) != 0 else "□" for letter in on_one_line)


def shortened(text: str, *, n_letters: int) -> str:
    """Cut letters out of the middle until `n_letters` are left; file names mostly differ at both ends.

    Example:
        >>> shortened("recorder_07_2024-05-01_0430.wav", n_letters=15)
        'recorde…430.wav'
    """
    if len(text) <= n_letters:
        return text
    head = n_letters // 2
    return f"{text[:head]}…{text[len(text) - (n_letters - head - 1) :]}"


def system_legend(
    figure: Figure, looks: Mapping[str, SystemLook], *, with_markers: bool, notes: Mapping[str, str] | None = None
) -> None:
    """Write the systems' names above the axes, each behind its line or marker and before its note, if it has one.

    Example:
        >>> with look():
        ...     figure = new_figure(width_inches=2, height_inches=2)
        ...     system_legend(figure, system_looks(["power"]), with_markers=True, notes={"power": "n = 2"})
        >>> figure.legends[0].get_texts()[0].get_text()
        'power: n = 2'
    """
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            color=system.colour,
            linestyle="none" if with_markers else system.dashes,
            marker=system.marker if with_markers else "none",
            linewidth=2,
            markersize=6.5,
        )
        for system in looks.values()
    ]
    # matplotlib hides legend entries that begin with an underscore; a blank before it keeps them.
    labels = [f" {drawable(name)}" if name.startswith("_") else drawable(name) for name in looks]
    if notes is not None:
        labels = [f"{label}: {notes[name]}" for label, name in zip(labels, looks, strict=True)]
    figure.legend(
        handles,
        labels,
        loc="outside upper left",
        ncols=6 if notes is None else 3,
        handlelength=1.2 if with_markers else 2.6,
        columnspacing=1.8,
        borderaxespad=0.2,
    )


def seconds_axis(axes: Axes, *, duration_seconds: float, n_ticks: int = 11) -> None:
    """Give the axes a time scale from 0 to the end of the clip.

    Example:
        >>> with look():
        ...     axes = new_figure(width_inches=2, height_inches=2).add_subplot()
        ...     seconds_axis(axes, duration_seconds=10)
        >>> [float(edge) for edge in axes.get_xlim()]
        [0.0, 10.0]
    """
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(0, duration_seconds)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=n_ticks, steps=[1, 2, 5, 10]))
    axes.grid(axis="x")
