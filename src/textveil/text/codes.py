"""Codes: e-mail addresses, URLs, handles, phone numbers and other tokens whose form would reveal them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from textveil.text.documents import Chunk, Document

_CODE = r"""
    (?:https?://|ftp://|www\.) [^\s<>"]+                              # a URL
    | [\w.+%-]{1,200}+ @ [\w-]+ (?:\.[\w-]+)*                         # an e-mail address, or user@host
    | (?<!\w) [@\#] \w+                                               # a handle or a hashtag
    | \b [\w-]{1,63}+ (?:\.[\w-]{1,63}+){0,10}                        # a host name
      \. (?:com|org|net|edu|gov|mil|int|info|io|ai|app|dev|uk|de|fr|eu|ca|au|us) \b (?:/[^\s<>"]*)?
    | (?:(?<![+(\[])[+(\[]++ | (?<![\d+(\[])) \d++ [)\]]{0,4}         # phone numbers, dates, amounts
      (?: (?:\ ?[-–]\ ?|[./:,']|\ ) [(\[]{0,4} \d++ [)\]]{0,4} )+ %?
    | \b (?=[\w./-]{0,200}\d) [A-Z0-9]+ (?:[-./] [A-Z0-9]+)+ \b       # a code in capitals and digits, such as A4-17
    """
"""Every repetition is bounded, or cannot be entered in its middle: a long run of characters must not take long."""
_TRAILING = ".,;:!?'\"”’)]>"


class Code(NamedTuple):
    """A code: the words that it spans, and its offsets in the text."""

    chunk: Chunk
    start: int
    stop: int


def find_codes(document: Document) -> list[Code]:
    """The codes of a document, in order.

    >>> document = Document.parse("Mail bo@x.org or call +1 (555) 123-4567.")
    >>> [document.text[code.start : code.stop] for code in find_codes(document)]
    ['bo@x.org', '+1 (555) 123-4567']
    """
    if not _HINT.search(document.text):
        return []
    starts = [start for start, _ in document.spans]
    codes: list[Code] = []
    for found in _compile_code().finditer(document.text):
        start, stop = found.start(), found.start() + len(found[0].rstrip(_TRAILING))
        first = bisect_right(starts, start) - 1
        if first < 0 or document.spans[first][1] <= start:  # the code begins between two words
            first += 1
        chunk = Chunk(first, bisect_right(starts, stop - 1) if stop > start else 0)
        if chunk.size > 0 and (not codes or codes[-1].chunk.stop <= first):
            spans = document.spans
            codes.append(Code(chunk, min(start, spans[first][0]), max(stop, spans[chunk.stop - 1][1])))
    return codes


@cache
def _compile_code() -> re.Pattern[str]:
    """The pattern of codes, compiled for the first text that may have one."""
    return re.compile(_CODE, re.VERBOSE | re.IGNORECASE)


_HINT = re.compile(r"[@#]|://|www\.|\.\w|\d\W{1,4}\d|\w[-./]\d|\d[-./]\w", re.IGNORECASE)
"""Found in every text with a code."""


def merge_codes(chunks: Sequence[Chunk], codes: Iterable[Code]) -> list[Chunk]:
    """The chunks of a document with one chunk for every code; a chunk that reaches into a code is split into words.

    >>> merge_codes([Chunk(0, 1), Chunk(1, 3), Chunk(3, 4)], [Code(Chunk(2, 4), 10, 18)])
    [Chunk(start=0, stop=1), Chunk(start=1, stop=2), Chunk(start=2, stop=4)]
    """
    merged: list[Chunk] = []
    inside = {place: code.chunk for code in codes for place in range(code.chunk.start, code.chunk.stop)}
    for chunk in chunks:
        if not any(place in inside for place in range(chunk.start, chunk.stop)):
            merged.append(chunk)
            continue
        for place in range(chunk.start, chunk.stop):
            if place not in inside:
                merged.append(Chunk(place, place + 1))
            elif place == inside[place].start:
                merged.append(inside[place])
    return merged
