"""The frame of a self-contained HTML page: its head, its styles, and tables that become lists on a phone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

from textveil.analysis.markup import Markup, element, text
from textveil.version import __version__

_STYLES = ("report.css", "curves.css", "page.css")


def write_document(title: str, *content: Markup, styles: Sequence[str] = _STYLES) -> str:
    """A page with a title and a footer. It needs no other file."""
    style = "".join(files("textveil.analysis").joinpath(name).read_text(encoding="utf-8") for name in styles)
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
