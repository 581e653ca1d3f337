"""HTML elements. Text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

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
