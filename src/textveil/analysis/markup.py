"""Pieces of HTML; whatever comes in as text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

Markup = str
"""HTML, as opposed to text."""


def element(tag: str, content: str | Iterable[str] = "", **attributes: str) -> Markup:
    """An element around HTML.

    >>> element("p", text("a < b"), class_="note")
    '<p class="note">a &lt; b</p>'
    """
    inner = content if isinstance(content, str) else "".join(content)
    shown = "".join(f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{shown}>{inner}</{tag}>"


def text(content: object) -> Markup:
    """Text as HTML."""
    return escape(str(content))


def paragraph(content: object, **attributes: str) -> Markup:
    """A paragraph of text."""
    return element("p", text(content), **attributes)


def table(head: Sequence[str], rows: Iterable[Sequence[Markup]], **attributes: str) -> Markup:
    """A table that scrolls by itself where the page is narrow: a head of text, rows of ``td`` or ``th`` elements."""
    top = element("thead", element("tr", (element("th", text(name), scope="col") for name in head)))
    body = element("tbody", (element("tr", row) for row in rows))
    return scrolling(element("table", top + body, **attributes))


def scrolling(content: Markup) -> Markup:
    """Something wide that scrolls by itself; the keyboard reaches it."""
    return element("div", content, class_="scroll", tabindex="0")


def figure(svg: Markup, caption: str) -> Markup:
    """A figure with its caption."""
    return element("figure", scrolling(svg) + element("figcaption", text(caption)))


def section(title: str, *content: Markup, name: str) -> Markup:
    """A part of the page that can be linked to."""
    return element("section", element("h2", text(title)) + "".join(content), id=name)


def details(summary: str, content: Markup, *, unfolded: bool = False) -> Markup:
    """Something that unfolds."""
    inner = element("summary", text(summary)) + content
    return f"<details open>{inner}</details>" if unfolded else element("details", inner)
