"""Pieces of reStructuredText."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SPECIAL = re.compile(r"([\\*`|_])")


def escape(text: str) -> str:
    r"""Plain text without markup.

    >>> escape("exp(a*b) of my_file")
    'exp(a\\*b) of my\\_file'
    """
    return _SPECIAL.sub(r"\\\1", text)


def title(text: str, line: str = "=") -> list[str]:
    """A heading.

    >>> title("Files")
    ['Files', '=====', '']
    """
    return [text, line * len(text), ""]


def indent(lines: Iterable[str], width: int = 3) -> list[str]:
    """Lines that belong to the directive above them."""
    return [" " * width + line if line else "" for line in lines]
