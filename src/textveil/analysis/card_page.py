"""The release card as one self-contained HTML page."""

from __future__ import annotations

from textveil.analysis.markup import Markup, element, paragraph, section, text
from textveil.analysis.page import bullets, facts, stacking_table, write_document
from textveil.evaluation.blocks import Blanks, Block, Bullets, Facts, Page, Paragraph, Rows

_MOST_COLUMNS, _WIDEST = 4, 20
"""The columns, and the characters of a cell, that fit on a phone."""
_MARKS = {"passed": "pass", "FAILED": "fail"}
"""The words that are shown as marks."""


def write_card_page(card: Page) -> str:
    """The card as HTML."""
    header = element("header", element("h1", text(card.title)) + paragraph(card.lead, class_="lead"))
    sections = (
        section(part.title, *map(_write_block, part.blocks), name=f"section-{number}")
        for number, part in enumerate(card.sections, start=1)
    )
    return write_document(card.title, header, element("main", sections))


def _write_block(block: Block) -> Markup:
    match block:
        case Paragraph(content):
            return paragraph(content)
        case Bullets(lines):
            return bullets(lines)
        case Facts(lines):
            return facts(lines)
        case Rows():
            return _write_rows(block)
        case Blanks(names):
            blanks = (element("dt", text(name)) + element("dd", "") for name in names)
            return element("div", element("dl", blanks), class_="sign")


def _write_rows(block: Rows) -> Markup:
    """A table of words. A table that fits on a phone stays one there."""
    cells = [[_write_cell(cell) for cell in row] for row in block.rows]
    widest = max((len(cell) for row in block.rows for cell in row[1:]), default=0)
    kind = "stacking words" if len(block.head) > _MOST_COLUMNS or widest > _WIDEST else "fitting words"
    return stacking_table(block.head, cells).replace('class="stacking"', f'class="{kind}"', 1)


def _write_cell(cell: str) -> Markup:
    mark = _MARKS.get(cell)
    return text(cell) if mark is None else element("span", text(cell), class_=f"mark {mark}")
