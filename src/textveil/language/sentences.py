"""Sentence boundaries, which no chunk may cross."""

from __future__ import annotations

import copy
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

from textveil.language.abbreviations import ENGLISH_ABBREVIATIONS
from textveil.language.text import Document

_BEFORE = 16
_TWO_TOKENS = re.compile(r"\S*(?:\s+\S+){0,2}(?:\s+[.!?\u2026]\S*)*")  # and separate punctuation after them
_LONGEST_WINDOW = 400
_BLANK_LINE = re.compile(r"\n[ \t\r\f\v]*\n")


def find_sentences(document: Document) -> list[tuple[int, int]]:
    """The range of words of every sentence. A blank line always ends a sentence.

    >>> find_sentences(Document.parse("I met Mr. Smith. He was tired!"))
    [(0, 4), (4, 7)]
    """
    starts = chain(_split(document.text), (blank.end() for blank in _BLANK_LINE.finditer(document.text)))
    begun = {_first_word_after(document, start) for start in starts}
    edges = sorted(begun | {0, len(document.words)})
    return list(pairwise(edges))


def _first_word_after(document: Document, offset: int) -> int:
    """The position of the first word after the last pause before an offset."""
    pause = bisect_left(document.pause_offsets, offset)
    return document.pauses[pause - 1] if pause else 0


class _Window(NamedTuple):
    """The text around a gap between two words, with the offsets of the gap in it."""

    text: str
    start: int
    stop: int

    def holds_any(self, starts: Sequence[int], offset: int = 0) -> bool:
        """Whether one of these sorted offsets is in the gap. The window itself begins at ``offset``."""
        following = bisect_right(starts, offset + self.start)
        return following < len(starts) and starts[following] <= offset + self.stop


def begin_sentences(asked: Iterable[tuple[Document, int]]) -> list[bool]:
    """Whether each of these words, given by document and position, begins a sentence. All must follow a pause.

    The splitter decides by the tokens next to a pause and by line breaks shortly before it. So it does not have to
    read whole documents: it reads the text around all pauses in one call.

    >>> document = Document.parse("I met Mr. Smith. He was tired!")
    >>> begin_sentences([(document, 3), (document, 4)])
    [False, True]
    """
    asked = list(asked)
    answers = [_look_around(document, position) for document, position in asked]
    unclear = [place for place, answer in enumerate(answers) if answer is None]
    whole = {id(asked[place][0]): asked[place][0] for place in unclear}
    starts = {number: {start for start, _ in find_sentences(document)} for number, document in whole.items()}
    for place in unclear:
        answers[place] = asked[place][1] in starts[id(asked[place][0])]
    begun = iter(_begin_in_windows([answer for answer in answers if isinstance(answer, _Window)]))
    return [next(begun) if isinstance(answer, _Window) else bool(answer) for answer in answers]


def _look_around(document: Document, position: int) -> bool | _Window | None:
    """Whether a word begins a sentence, if that is certain; otherwise the window that decides it, unless too long."""
    text, places = document.text, document.pause_offsets
    first = places[bisect_left(document.pauses, position)]
    last = places[bisect_right(document.pauses, position) - 1]
    if first < last and _BLANK_LINE.search(text, first, last + 1):
        return True
    earliest = max(first - _LONGEST_WINDOW, 0)
    start = max(text.rfind(" ", earliest, max(first - _BEFORE, 0)), earliest)
    tokens = _TWO_TOKENS.match(text, last, last + _LONGEST_WINDOW)
    word = document.spans[position][0] if position < len(document.words) else len(text) + _LONGEST_WINDOW
    stop = tokens.end() if tokens else last
    if max(stop - start, word - last) >= _LONGEST_WINDOW:
        return None
    if start > 0 and text[start:first].isspace():  # the text before it matters, too
        return None
    window = _Window(text[start:stop], first - start, min(word, stop) - start)
    # At the end of a text, the splitter must see that nothing follows.
    return window if stop < len(text) else window.holds_any(_split(window.text))


def _begin_in_windows(windows: Sequence[_Window]) -> list[bool]:
    """Whether a sentence begins in the gap of each window."""
    if not windows:
        return []  # and do not load the splitter
    # A separate line before each window keeps the sentence start after the previous window out of this one.
    between = "x\n"
    starts = _split("".join(f"{between}{window.text}\n" for window in windows))
    steps = (len(between) + len(window.text) + 1 for window in windows)
    offsets = accumulate(steps, initial=len(between))
    return [window.holds_any(starts, offset) for window, offset in zip(windows, offsets, strict=False)]


def _split(text: str) -> list[int]:
    """The offset of every sentence, by its punctuation."""
    return [start for start, _ in load_splitter().span_tokenize(text)]


@cache
def load_splitter() -> Any:
    """The splitter of nupunkt with the abbreviations of general English.

    The splitter's own list comes from legal texts. Among its five thousand entries are "story", "book" and "York",
    after which it would not end a sentence. Initials (J.) and words with inner periods (U.S.) remain abbreviations.
    """
    import nupunkt

    splitter = copy.deepcopy(nupunkt.load("default"))  # nupunkt shares the original between all callers
    for abbreviation in splitter.abbreviations - ENGLISH_ABBREVIATIONS:
        if abbreviation.isalpha() and len(abbreviation) > 1:
            splitter.remove_abbreviation(abbreviation)
    splitter.add_abbreviations(sorted(ENGLISH_ABBREVIATIONS))
    return splitter
