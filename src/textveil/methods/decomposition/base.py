"""The contract of a decomposer, and the base of those with multi-word chunks."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Sequence
from itertools import compress
from typing import Any, ClassVar

from textveil.bundles.bundle import Bundle
from textveil.registry import Method
from textveil.text.documents import Chunk, Document
from textveil.text.matching import Expression
from textveil.text.sentences import begin_sentences
from textveil.text.stopwords import CONTRACTIONS

_CLITICS = frozenset(clitic for _, clitic in CONTRACTIONS)
_SINGLE_WORDS = list(map(Chunk, range(4096), range(1, 4097)))


class Decomposer(Method):
    """Splits documents into chunks: a partition of their words, in order."""

    kind = "decomposition"
    data_independent: ClassVar[bool] = False
    """Whether the chunks depend on nothing but the number of words."""

    def __init__(self, bundle: Bundle, **options: Any) -> None:
        super().__init__(**options)
        self.bundle = bundle

    @property
    def versions(self) -> dict[str, str]:
        """The version of the sentence splitter."""
        from importlib.metadata import version

        return {"nupunkt": version("nupunkt")}

    @abstractmethod
    def decompose(self, documents: Sequence[Document]) -> list[list[Chunk]]:
        """The chunks of every document."""


def build_chunks(document: Document, expressions: Sequence[Expression]) -> list[Chunk]:
    """The chunks of a document with these expressions; every other word is a chunk.

    The two words of a contraction are merged unless an expression has one of them: the paper's MergeContractions.

    >>> document = Document.parse("I don't sell the green tea")
    >>> [document.written(chunk) for chunk in build_chunks(document, [(5, 7)])]
    ['I', "don't", 'sell', 'the', 'green tea']
    """
    chunks: list[Chunk] = []
    done = 0
    contractions = _find_contractions(document, expressions)
    for start, stop in sorted([*expressions, *contractions]) if contractions else expressions:
        chunks += single_words(done, start)
        chunks.append(Chunk(start, stop))
        done = stop
    chunks += single_words(done, len(document.words))
    return chunks


def _find_contractions(document: Document, expressions: Sequence[Expression]) -> list[Expression]:
    """The contractions that overlap no expression and contain no end of a sentence."""
    words = document.words
    clitics = compress(range(len(words)), map(_CLITICS.__contains__, words))
    found = [clitic for clitic in clitics if words[clitic - 1 : clitic + 1] in CONTRACTIONS]
    behind_pauses = list(filter(document.pauses_before, found))
    begun = begin_sentences([(document, clitic) for clitic in behind_pauses]) if behind_pauses else []
    divided = set(compress(behind_pauses, begun))
    contractions: list[Expression] = []
    free = 0
    for clitic in found:
        start, stop = clitic - 1, clitic + 1
        before = bisect_left(expressions, (stop,)) - 1  # the last expression that starts before the contraction stops
        overlapped = before >= 0 and expressions[before][1] > start
        if start >= free and clitic not in divided and not overlapped:
            contractions.append((start, stop))
            free = stop
    return contractions


def single_words(start: int, stop: int) -> list[Chunk]:
    """One chunk for every word from ``start`` up to ``stop``."""
    if stop <= len(_SINGLE_WORDS):
        return _SINGLE_WORDS[start:stop]
    return [Chunk(position, position + 1) for position in range(start, stop)]
