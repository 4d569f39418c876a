"""The rules of the page's look that can be checked without looking."""

from __future__ import annotations

import re

import pytest

from earmark.report import canvas
from earmark.report.page_style import CSS


def colours(part: str) -> dict[str, tuple[int, int, int]]:
    """The colours that are named in one :root."""
    return {
        name: (int(value[:2], 16), int(value[2:4], 16), int(value[4:], 16))
        for name, value in re.findall(r"--(\w+): #([0-9a-f]{6})\b", part)
    }


def luminance(colour: tuple[int, int, int]) -> float:
    """Relative luminance as the accessibility guidelines define it."""
    linear = [(part / 255) / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


# laws


def test_the_page_is_as_wide_as_a_full_sheet() -> None:
    (rem,) = re.findall(r"max-width: (\d+)rem; padding", CSS)
    # Inside 2.5 rem of the page, 1 rem of the sheet and its line of one pixel, on both sides.
    room = 16 * (int(rem) - 2 * 2.5 - 2 * 1) - 2
    assert 96 * canvas.SHEET_INCHES <= room < 96 * canvas.SHEET_INCHES + 16


def test_nothing_is_loaded() -> None:
    assert "url(" not in CSS
    assert "@import" not in CSS


def test_light_dark_and_paper_are_all_there() -> None:
    assert "@media (prefers-color-scheme: dark)" in CSS
    assert "@media print" in CSS
    assert CSS.count("{") == CSS.count("}")


@pytest.mark.parametrize("part", CSS.split("@media")[:2])
def test_text_stands_out_from_its_ground(part: str) -> None:
    named = colours(part)
    for ink in ("ink", "pale", "accent"):
        for ground in ("page", "soft"):
            lighter, darker = sorted((luminance(named[ink]), luminance(named[ground])), reverse=True)
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (ink, ground)
