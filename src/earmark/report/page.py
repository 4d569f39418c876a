"""One HTML file that holds a whole report: text, tables, pictures and sounds, with nothing loaded from anywhere.

The page needs no script and no network, follows the reader's light or dark setting, and prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from earmark.files import write_atomic
from earmark.report.page_blocks import Block, escaped
from earmark.report.page_style import CSS

# Forbids every request a page could make, should a class name ever find a way past the escaping.
_POLICY = "default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Section:
    """A part of the page: a heading, text, and blocks below it.

    Args:
        heading: also the entry in the list of contents.
        text: paragraphs, with an empty line between them.
        blocks: tables, pictures, sounds, key figures, commands.
    """

    heading: str
    text: str = ""
    blocks: Sequence[Block] = ()


def page_html(*, title: str, lead: str, sections: Sequence[Section], footer: str = "") -> str:
    """Return the whole page as one HTML text; the same content gives the same text every time.

    Example:
        >>> page = page_html(title="Report", lead="What happened.", sections=[Section("Classes <b>")])
        >>> "<h2>Classes &lt;b&gt;</h2>" in page
        True
    """
    names = [f"section-{number}" for number in range(1, len(sections) + 1)]
    links = "".join(
        f'<li><a href="#{name}">{escaped(section.heading)}</a></li>'
        for name, section in zip(names, sections, strict=True)
    )
    contents = f'<nav aria-label="contents"><ol>{links}</ol></nav>\n' if len(sections) > 2 else ""
    body = "\n".join(
        f'<section id="{name}">\n<h2>{escaped(section.heading)}</h2>\n{_paragraphs(section.text)}'
        + "".join(f"{block.html()}\n" for block in section.blocks)
        + "</section>"
        for name, section in zip(names, sections, strict=True)
    )
    end = f"<footer>{escaped(footer)}</footer>\n" if footer else ""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escaped(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n"
        f'<header>\n<h1>{escaped(title)}</h1>\n<p class="lead">{escaped(lead)}</p>\n{contents}</header>\n'
        f"<main>\n{body}\n</main>\n{end}</body>\n</html>\n"
    )


def write_page(path: Path | str, *, title: str, lead: str, sections: Sequence[Section], footer: str = "") -> None:
    """Write a report as one HTML file that holds everything it shows, completely or not at all.

    Args:
        path: the file, for instance ``report.html``.
        title: the page's heading.
        lead: the result in one or two sentences.
        sections: the parts, in order; with three or more a list of contents stands above them.
        footer: for instance the version and the command; empty writes none.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_page(Path(folder) / "report.html", title="Report", lead="All well.", sections=[])
        ...     (Path(folder) / "report.html").read_text(encoding="utf-8").splitlines()[0]
        '<!doctype html>'
    """
    write_atomic(path, page_html(title=title, lead=lead, sections=sections, footer=footer))


def _paragraphs(text: str) -> str:
    """Each block of lines as one paragraph."""
    return "".join(f"<p>{escaped(part.strip())}</p>\n" for part in text.split("\n\n") if part.strip())
