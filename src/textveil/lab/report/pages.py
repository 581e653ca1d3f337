"""HTML elements. Text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from textveil.version import __version__

Markup = str
"""HTML, as opposed to plain text."""


def element(tag: str, content: str | Iterable[str] = "", **attributes: str) -> Markup:
    """An element with HTML content.

    >>> element("p", text("a < b"), class_="note")
    '<p class="note">a &lt; b</p>'
    """
    inner = content if isinstance(content, str) else "".join(content)
    shown = "".join(f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{shown}>{inner}</{tag}>"


def text(content: object) -> Markup:
    """Plain text as HTML."""
    return escape(str(content))


def paragraph(content: object, **attributes: str) -> Markup:
    """A paragraph of text."""
    return element("p", text(content), **attributes)


def table(head: Sequence[str], rows: Iterable[Sequence[Markup]], **attributes: str) -> Markup:
    """A table that scrolls on narrow pages: a head of text, and rows of ``td`` or ``th`` elements."""
    top = element("thead", element("tr", (element("th", text(name), scope="col") for name in head)))
    body = element("tbody", (element("tr", row) for row in rows))
    return scrolling(element("table", top + body, **attributes))


def scrolling(content: Markup) -> Markup:
    """Wide content that scrolls, also by keyboard."""
    return element("div", content, class_="scroll", tabindex="0")


def figure(svg: Markup, caption: str) -> Markup:
    """A figure with its caption."""
    return element("figure", scrolling(svg) + element("figcaption", text(caption)))


def section(title: str, *content: Markup, name: str) -> Markup:
    """A section that links can refer to."""
    return element("section", element("h2", text(title)) + "".join(content), id=name)


def details(summary: str, content: Markup, *, unfolded: bool = False) -> Markup:
    """Content that unfolds."""
    inner = element("summary", text(summary)) + content
    return f"<details open>{inner}</details>" if unfolded else element("details", inner)


_STYLES = ("report.css", "curves.css", "page.css")


def write_document(title: str, *content: Markup, styles: Sequence[str] = _STYLES) -> str:
    """A page with a title and a footer. It needs no other file."""
    style = "".join(files("textveil.lab.report").joinpath(name).read_text(encoding="utf-8") for name in styles)
    body = "".join(content) + element("footer", f"Written by textveil {text(__version__)}.")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def stacking_table(head: Sequence[str], rows: Iterable[Sequence[Markup]], marks: Iterable[str] = ()) -> Markup:
    """A table whose rows become lists on narrow pages: the first cell is their title, the others have a label.

    Args:
        head: The names of the columns.
        rows: The content of the cells.
        marks: The class of every row, by default none.
    """
    top = element("thead", element("tr", (element("th", text(name), scope="col") for name in head)))
    classes = list(marks)
    body = []
    for number, (first, *others) in enumerate(rows):
        cells = element("th", first, scope="row")
        for name, cell in zip(head[1:], others, strict=True):
            cells += element("td", cell, data_label=name)
        mark = classes[number] if number < len(classes) else ""
        body.append(element("tr", cells, class_=mark) if mark else element("tr", cells))
    return element("table", top + element("tbody", body), class_="stacking")


def bullets(lines: Iterable[str]) -> Markup:
    """A list of sentences."""
    return element("ul", (element("li", text(line)) for line in lines))


def facts(lines: Iterable[tuple[str, str]]) -> Markup:
    """A list of names with their values."""
    return element("dl", (element("dt", text(name)) + element("dd", text(value)) for name, value in lines))
