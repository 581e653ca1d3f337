"""Sentence boundaries, which no chunk may cross."""

from __future__ import annotations

import copy
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate, chain, pairwise
from math import inf
from typing import Any, NamedTuple

from textveil.text.documents import Document

TITLES = frozenset(
    """
    mr mrs ms messrs mme mlle mx dr drs prof rev hon pres gov sen rep amb atty supt
    gen adm brig col lt maj capt cmdr cpt cpl sgt pvt pfc insp
    """.split()
)
"""Titles that stand before a name, so no sentence ends after them."""
ENGLISH_ABBREVIATIONS = TITLES | frozenset(
    """
    fr sr jr esq phd det
    st mt ft ave blvd rd hwy apt bldg
    jan feb apr jun jul aug sep sept oct nov dec tue tues thu thur thurs
    inc ltd co corp bros assn dept univ inst
    vs viz etc al cf ca approx est vol vols eds fig figs pp ch cit ibid
    oz lb lbs kg hr hrs tel ext
    """.split()
)


_BEFORE = 16
_TWO_TOKENS = re.compile(r"\S*(?:\s+\S+){0,2}(?:\s+[.!?\u2026]\S*)*")  # and separate punctuation after them
_LONGEST_WINDOW = 400
_MOST_READ = 4
"""Times the length of a document that the windows around its pauses may have."""
_BLANK_LINE = re.compile(r"\n[ \t\r\f\v]*\n")
_LONG_RUN = re.compile(rf"(?<!\S)\S{{{_LONGEST_WINDOW + 1},}}")
_NO_PAUSES = str.maketrans(".!?\u2026", ",,,,")


def find_sentences(document: Document) -> list[tuple[int, int]]:
    """The range of words of every sentence. A blank line always ends a sentence.

    No sentence ends inside a run of more than ``_LONGEST_WINDOW`` characters without a space, except at its end: for
    every pause, the splitter reads the rest of such a run, so its time would grow with the square of the length.

    >>> find_sentences(Document.parse("I met Mr. Smith. He was tired!"))
    [(0, 4), (4, 7)]
    """
    blanks = (blank.end() for blank in _BLANK_LINE.finditer(document.text))
    starts = chain(_split(_LONG_RUN.sub(_hide_pauses, document.text)), blanks)
    begun = {_first_word_after(document, start) for start in starts}
    edges = sorted(begun | {0, len(document.words)})
    return list(pairwise(edges))


def _hide_pauses(run: re.Match[str]) -> str:
    """A long run, with commas for all pauses that are far from its end."""
    text = run[0]
    return text[:-_LONGEST_WINDOW].translate(_NO_PAUSES) + text[-_LONGEST_WINDOW:]


def _first_word_after(document: Document, offset: int) -> int:
    """The position of the first word after the last pause before an offset."""
    pause = bisect_left(document.pause_offsets, offset)
    return document.pauses[pause - 1] if pause else 0


class _Window(NamedTuple):
    """The text around a gap between two words, with the offsets of the gap in it."""

    text: str
    start: int
    stop: int
    ends: bool
    """Whether nothing follows in the document."""

    def holds_any(self, starts: Sequence[int], offset: int = 0) -> bool:
        """Whether one of these sorted offsets is in the gap. The window itself begins at ``offset``."""
        following = bisect_right(starts, offset + self.start)
        return following < len(starts) and starts[following] <= offset + self.stop


def begin_sentences(asked: Iterable[tuple[Document, int]]) -> list[bool]:
    """Whether each of these words, given by document and position, begins a sentence. All must follow a pause.

    The splitter decides by the tokens next to a pause and by line breaks shortly before it. So it does not have to
    read whole documents: it reads the text around all pauses in one call. It reads a document as a whole if that is not
    enough, or if so much of the text is asked for that it would read more.

    >>> document = Document.parse("I met Mr. Smith. He was tired!")
    >>> begin_sentences([(document, 3), (document, 4)])
    [False, True]
    """
    asked = list(asked)
    answers = [_look_around(document, position) for document, position in asked]
    documents = {id(document): document for document, _ in asked}
    sizes = dict.fromkeys(documents, 0.0)
    for (document, _), answer in zip(asked, answers, strict=True):
        sizes[id(document)] += len(answer.text) if isinstance(answer, _Window) else 0.0 if answer else inf
    whole = [document for number, document in documents.items() if sizes[number] > _MOST_READ * len(document.text)]
    starts = {id(document): {start for start, _ in find_sentences(document)} for document in whole}
    for place, (document, position) in enumerate(asked):
        if id(document) in starts:
            answers[place] = position in starts[id(document)]
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
    return _Window(text[start:stop], first - start, min(word, stop) - start, ends=stop == len(text))


def _begin_in_windows(windows: Sequence[_Window]) -> list[bool]:
    """Whether a sentence begins in the gap of each window."""
    inner = [window for window in windows if not window.ends]
    # A separate line before each window keeps the sentence start after the previous window out of this one.
    between = "x\n"
    starts = _split("".join(f"{between}{window.text}\n" for window in inner)) if inner else []
    steps = (len(between) + len(window.text) + 1 for window in inner)
    offsets = accumulate(steps, initial=len(between))
    # At the end of a text, the splitter must see that nothing follows.
    return [
        window.holds_any(_split(window.text)) if window.ends else window.holds_any(starts, next(offsets))
        for window in windows
    ]


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
