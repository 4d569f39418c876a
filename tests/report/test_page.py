"""One file, everything in it, nothing that could run or be fetched."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from earmark.report import canvas
from earmark.report.page import Section, page_html, write_page
from earmark.report.page_blocks import Commands, KeyFigures, Picture, Sound, Table

VOID = {"meta", "img", "br", "link", "input"}


class Reader(HTMLParser):
    """Collects tags and texts, and complains about tags that do not close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)


def read(page: str) -> Reader:
    """The page as a browser would take it apart."""
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture
def full_page() -> str:
    """A page with every kind of block and names that try to break out."""
    with canvas.look():
        png = canvas.png_bytes(canvas.new_figure(width_inches=1, height_inches=1))
    return page_html(
        title='Report of "a<b>.wav"',
        lead="It's <done> & dusted.",
        footer="earmark <0.1>",
        sections=[
            Section(
                "<b>",
                "First.\n\nSecond <i>.",
                [KeyFigures({"F1": "0.7"}), Table("Classes", ["class", "F1"], [["<b>", 0.5], ['"dog"', 0.25]])],
            ),
            Section(
                "Pictures", blocks=[Picture(png, alt='the "clip" <x>', caption="A clip."), Sound(b"RIFF", "a sound")]
            ),
            Section("Commands", blocks=[Commands('earmark detect "a<b>.wav" > out')]),
        ],
    )


# laws


def test_the_page_is_well_formed_and_shows_every_name_as_it_is(full_page: str) -> None:
    reader = read(full_page)
    for name in (
        'Report of "a<b>.wav"',
        "It's <done> & dusted.",
        "<b>",
        '"dog"',
        "earmark <0.1>",
        "Second <i>.",
        'earmark detect "a<b>.wav" > out',
    ):
        assert name in reader.texts
    assert {tag for tag, _ in reader.tags} & {"b", "i", "x", "script", "link", "iframe", "object", "form"} == set()


def test_nothing_is_fetched_and_nothing_can_run(full_page: str) -> None:
    assert "http:" not in full_page
    assert "https:" not in full_page
    reader = read(full_page)
    for tag, attributes in reader.tags:
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), tag
        assert not any(name.startswith("on") for name in attributes)
    policy = [
        attributes["content"]
        for tag, attributes in reader.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy == ["default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'"]


def test_every_picture_has_words_and_every_heading_cell_a_scope(full_page: str) -> None:
    tags = read(full_page).tags
    assert [attributes["alt"] for tag, attributes in tags if tag == "img"] == ['the "clip" <x>']
    assert {attributes.get("scope") for tag, attributes in tags if tag == "th"} == {"col", "row"}


def test_the_same_content_gives_the_same_file(full_page: str, tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        write_page(tmp_path / name, title="Report", lead="Well.", sections=[Section("One", "Text.")])
    first = (tmp_path / "a.html").read_bytes()
    assert first == (tmp_path / "b.html").read_bytes()
    assert first.decode("utf-8") == page_html(title="Report", lead="Well.", sections=[Section("One", "Text.")])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]


# worked numbers


def test_contents_stand_above_three_sections_and_lead_to_them(full_page: str) -> None:
    tags = read(full_page).tags
    assert [attributes["href"] for tag, attributes in tags if tag == "a"] == ["#section-1", "#section-2", "#section-3"]
    assert [attributes["id"] for tag, attributes in tags if tag == "section"] == ["section-1", "section-2", "section-3"]
    assert "<nav" not in page_html(title="", lead="", sections=[Section("One"), Section("Two")])


def test_paragraphs_are_parted_by_empty_lines() -> None:
    page = page_html(title="", lead="", sections=[Section("One", "First\nline.\n\n\nSecond.\n")])
    assert "<p>First\nline.</p>\n<p>Second.</p>\n</section>" in page


def test_a_page_without_footer_has_none() -> None:
    assert "<footer" not in page_html(title="", lead="", sections=[])


# wrong input


def test_a_folder_in_the_way_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(OSError, match=r"report\.html"):
        write_page(tmp_path / "report.html", title="", lead="", sections=[])
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_names_that_no_file_can_hold_do_not_stop_the_page(tmp_path: Path) -> None:
    write_page(tmp_path / "report.html", title="a\udcff.wav", lead="", sections=[])
    assert "a\\udcff.wav" in (tmp_path / "report.html").read_text(encoding="utf-8")
