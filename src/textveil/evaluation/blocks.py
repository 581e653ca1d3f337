"""The blocks of a short document, and their Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_SPECIAL = re.compile(r"([\\`*\[\]|])")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of text."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    lines: Sequence[str]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values."""

    lines: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Rows:
    """A table. The first cell of a row is its name."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Blanks:
    """Names of blanks to fill in by hand."""

    names: Sequence[str]


Block = Paragraph | Bullets | Facts | Rows | Blanks


@dataclass(frozen=True, slots=True)
class Section:
    """A section with its title."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Page:
    """A short document."""

    title: str
    lead: str
    sections: Sequence[Section]

    def to_markdown(self) -> str:
        """The document as Markdown."""
        parts = [f"# {escape_markdown(self.title)}", escape_markdown(self.lead)]
        for section in self.sections:
            parts.append(f"## {escape_markdown(section.title)}")
            parts += ["\n".join(_write_block(block)) for block in section.blocks]
        return "\n\n".join(parts) + "\n"


def escape_markdown(text: str) -> str:
    """Plain text as Markdown on one line.

    >>> escape_markdown("a <b> & c")
    'a &lt;b> &amp; c'
    """
    plain = _SPECIAL.sub(r"\\\1", _SPACE.sub(" ", text).strip())
    return plain.replace("&", "&amp;").replace("<", "&lt;")


def _write_block(block: Block) -> Iterator[str]:
    match block:
        case Paragraph(text):
            yield escape_markdown(text)
        case Bullets(lines):
            yield from (f"- {escape_markdown(line)}" for line in lines)
        case Facts(lines):
            yield from _write_table(("", ""), lines)
        case Rows(head, rows):
            yield from _write_table(head, rows)
        case Blanks(names):
            yield from (f"- {escape_markdown(name)}: ____________________" for name in names)


def _write_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(map(escape_markdown, head))} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(escape_markdown, row))} |"
