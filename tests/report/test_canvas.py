"""The sheet all pictures are drawn on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure

from earmark.report import canvas


def simple_figure(text: str = "title") -> Figure:
    """A figure with a line and a title."""
    with canvas.look():
        figure = canvas.new_figure(width_inches=3, height_inches=2)
        axes = figure.add_subplot()
        axes.plot([0, 1, 2], [0.5, 0.1, 0.7])
        axes.set_title(canvas.drawable(text))
        canvas.settle(figure)
    return figure


# laws


def test_saving_twice_writes_the_same_bytes_and_no_version(tmp_path: Path) -> None:
    figure = simple_figure()
    canvas.save(figure, tmp_path / "a.png")
    canvas.save(figure, tmp_path / "b.png")
    first = (tmp_path / "a.png").read_bytes()
    assert first == (tmp_path / "b.png").read_bytes() == canvas.png_bytes(simple_figure())
    assert b"atplotlib" not in first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.png"]


def test_the_users_own_settings_neither_show_nor_change() -> None:
    plain = canvas.png_bytes(simple_figure())
    with matplotlib.rc_context(
        {
            "font.size": 30.0,
            "axes.facecolor": "red",
            "savefig.facecolor": "green",
            "savefig.bbox": "tight",
            "text.color": "yellow",
        }
    ):
        assert canvas.png_bytes(simple_figure()) == plain
        assert matplotlib.rcParams["font.size"] == 30.0


def test_drawing_needs_no_display_no_pyplot_and_importing_no_matplotlib() -> None:
    program = """
import sys
from earmark.report import plots, page
assert "matplotlib" not in sys.modules
plots.png_bytes(plots.comparison_figure(scores={"power": {"event F1": 0.7}}))
assert "matplotlib.pyplot" not in sys.modules
"""
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "MPLBACKEND": "tkagg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("others", [[], ["mine"], ["mine", "yours", "max"], ["rap", "linear"]])
def test_a_pooling_function_looks_the_same_beside_any_others(others: list[str]) -> None:
    assert canvas.system_looks([*others, "power"])["power"] == canvas.system_looks(["power", "attention"])["power"]


def test_looks_differ_in_colour_and_without_it() -> None:
    names = [*canvas.POOLINGS, "mine"]
    looks = canvas.system_looks(names)
    assert len({look.marker for look in looks.values()}) == len(names)
    assert len(set(looks.values())) == len(names)
    pair = canvas.system_looks(["power", "linear"])
    assert pair["power"].dashes != pair["linear"].dashes
    assert pair["power"].colour != pair["linear"].colour


def test_odd_names_are_drawn_without_a_warning_and_without_being_read_as_formulas() -> None:
    for text in (r"$\nonsense{$", "犬", "tab\there", "a\udcffb", "$", "_hidden", ""):
        canvas.png_bytes(simple_figure(text))


def test_a_settled_figure_stays_as_it_was_arranged() -> None:
    figure = simple_figure()
    before = figure.axes[0].get_position().bounds
    figure.axes[0].set_ylabel("a label\nof three\nlines")
    canvas.png_bytes(figure)
    assert figure.axes[0].get_position().bounds == before


# worked numbers


def test_a_letter_the_font_lacks_becomes_one_square() -> None:
    assert canvas.drawable("犬 dog\r\n") == "□ dog  "
    # NFD: u and a combining diaeresis become one letter, which the font has.
    assert canvas.drawable("u\u0308") == "ü"


def test_shortening_keeps_both_ends() -> None:
    assert canvas.shortened("abcdefghij", n_letters=10) == "abcdefghij"
    assert canvas.shortened("abcdefghijk", n_letters=10) == "abcde…hijk"  # 5 + 1 + 4


def test_a_figure_has_the_stated_size() -> None:
    header = canvas.png_bytes(simple_figure())[16:24]
    assert (int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big")) == (450, 300)  # 3 x 2 inch, 150


def test_a_legend_shows_names_that_begin_with_an_underscore() -> None:
    with canvas.look():
        figure = canvas.new_figure(width_inches=3, height_inches=2)
        canvas.system_legend(figure, canvas.system_looks(["_mine", "power"]), with_markers=False)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [" _mine", "power"]


# wrong input


def test_two_systems_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"names must be different, got \['power', 'power'\] - is one system given"):
        canvas.system_looks(["power", "power"])


def test_other_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"path must end in \.png, got .*clip\.jpg"):
        canvas.save(simple_figure(), tmp_path / "clip.jpg")
    assert list(tmp_path.iterdir()) == []
