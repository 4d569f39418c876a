"""Tables, pictures, sounds and the rest, as HTML."""

from __future__ import annotations

import base64
import io
import math
import re
import wave

import numpy as np
import pytest

from earmark.report import canvas
from earmark.report.page_blocks import Block, Cell, Commands, KeyFigures, Picture, Sound, Table, escaped, wav_bytes

NASTY = "</table><script>alert(\"1\")</script> & 'quoted' <b>"


def png(width_inches: float, height_inches: float) -> bytes:
    """An empty picture."""
    with canvas.look():
        return canvas.png_bytes(canvas.new_figure(width_inches=width_inches, height_inches=height_inches))


# laws


def test_every_block_escapes_every_text() -> None:
    blocks: list[Block] = [
        Table(NASTY, [NASTY, "n"], [[NASTY, 1]]),
        Picture(png(1, 1), alt=NASTY, caption=NASTY),
        Sound(b"RIFF", caption=NASTY),
        KeyFigures({NASTY: NASTY}),
        Commands(NASTY),
    ]
    for block in blocks:
        text = block.html()
        assert "<script" not in text
        assert "<b>" not in text
        assert escaped(NASTY) in text
        assert "'quoted'" not in text  # a single quote may end an attribute as well


def test_what_is_embedded_comes_out_again() -> None:
    picture, sound = png(1, 1), wav_bytes(np.zeros(10), sample_rate=8000)
    for content, text in ((picture, Picture(picture, "nothing").html()), (sound, Sound(sound, "silence").html())):
        encoded = re.search(r'src="data:[a-z]+/[a-z]+;base64,([^"]+)"', text)
        assert encoded is not None
        assert base64.b64decode(encoded[1]) == content


def test_a_wav_has_the_samples_cut_at_full_scale() -> None:
    with wave.open(io.BytesIO(wav_bytes(np.array([0.0, 0.5, -0.5, 2.0, -2.0]), sample_rate=16000))) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 16000)
        values = np.frombuffer(file.readframes(5), dtype="<i2").tolist()
    assert values == pytest.approx([0, 16384, -16384, 32767, -32768], abs=1)


# worked numbers


def test_a_table_cell_by_cell() -> None:
    text = Table("F1", ["system", "event F1", "clips"], [["power", 0.7456, 12], ["max", math.nan, None]]).html()
    assert '<th scope="col">system</th><th scope="col" class="number">event F1</th>' in text
    assert (
        '<tr><th scope="row">power</th><td class="number">0.746</td><td class="number">12</td></tr>\n'
        '<tr><th scope="row">max</th><td class="number">–</td><td class="number">–</td></tr>'
    ) in text
    assert "<caption>F1</caption>" in text


def test_digits_for_all_columns_or_for_each() -> None:
    rows: list[list[Cell]] = [["power", 0.25, 0.125]]
    assert ">0.2</td>" in Table("", ["", "a", "b"], rows, digits=1).html()
    each = Table("", ["", "a", "b"], rows, digits=[0, 1, 3]).html()
    assert ">0.2</td>" in each
    assert ">0.125</td>" in each


def test_a_column_with_words_is_not_set_as_numbers() -> None:
    assert "<td>many</td>" in Table("", ["", "n"], [["a", 1], ["b", "many"]]).html()


def test_a_picture_has_its_natural_size() -> None:
    # 3 x 2 inch are 288 x 192 CSS pixels of 1/96 inch.
    text = Picture(png(3, 2), "nothing").html()
    assert 'width="288" height="192" style="min-width:min(38rem,288px)" alt="nothing"' in text
    assert "figcaption" not in text
    assert "<figcaption>below</figcaption>" in Picture(png(3, 2), "nothing", caption="below").html()


def test_a_full_sheet_fits_a_window_of_700_pixels_with_letters_one_can_read() -> None:
    text = Picture(png(canvas.SHEET_INCHES, 2), "nothing").html()
    width, least_rem, natural = re.findall(r'width="(\d+)".*min-width:min\((\d+)rem,(\d+)px\)', text)[0]
    assert width == natural == "730"  # 7.6 * 96
    # The page leaves 4 % at both sides, the sheet 1.5 % inside and a line of one pixel.
    assert 16 * int(least_rem) <= 700 * (1 - 2 * 0.04 - 2 * 0.015) - 2
    smallest_letters_points, points_per_pixel = 8.0, 0.75
    assert smallest_letters_points / points_per_pixel * 16 * int(least_rem) / 730 > 8.5


def test_letters_that_no_file_can_hold_become_visible() -> None:
    assert escaped("a\udcffb\0") == "a\\udcffb\ufffd"


# wrong input


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="row 2 of the table 'F1' must have 2 cells, got 1 - is a column missing"):
        Table("F1", ["a", "b"], [["x", 1], ["y"]])
    with pytest.raises(ValueError, match="digits of the table 'F1' must be one number or 2"):
        Table("F1", ["a", "b"], [], digits=[1])


def test_a_picture_needs_a_png_and_words() -> None:
    with pytest.raises(ValueError, match=r"png must be the bytes of a PNG file.*is it a path\?"):
        Picture(b"clip.png", "a clip")
    with pytest.raises(ValueError, match="alt must say what the picture shows"):
        Picture(png(1, 1), " ")


def test_a_sound_of_two_channels_or_with_nan_is_refused() -> None:
    with pytest.raises(ValueError, match=r"samples must be finite and have shape \(samples,\), got \(10, 2\)"):
        wav_bytes(np.zeros((10, 2)), sample_rate=16000)
    with pytest.raises(ValueError, match="no NaN or infinity"):
        wav_bytes(np.array([0, np.nan]), sample_rate=16000)
