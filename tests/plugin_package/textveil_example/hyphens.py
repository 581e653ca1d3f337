"""A decomposition that keeps hyphenated words together."""

from __future__ import annotations

from collections.abc import Sequence

from textveil import Chunk, Document
from textveil.methods.decomposition import Decomposer


class Hyphens(Decomposer):
    """Words that a hyphen joins are one chunk, unless one of them is short."""

    name = "hyphens"
    shortest = 4  # stopwords that are longer are not joined, and the first and the last word must not be one

    def decompose(self, documents: Sequence[Document]) -> list[list[Chunk]]:
        """The chunks of every document."""
        return [self._split(document) for document in documents]

    def _split(self, document: Document) -> list[Chunk]:
        chunks: list[Chunk] = []
        for position in range(len(document.words)):
            if chunks and self._is_joined(document, position):
                chunks[-1] = Chunk(chunks[-1].start, position + 1)
            else:
                chunks.append(Chunk(position, position + 1))
        return chunks

    def _is_joined(self, document: Document, position: int) -> bool:
        (_, before), (after, _) = document.spans[position - 1], document.spans[position]
        words = document.words[position - 1 : position + 1]
        content = all(len(word) > self.shortest and word.isalpha() and word not in _STOPWORDS for word in words)
        return content and document.text[before:after] == "-"


_STOPWORDS = frozenset("about above after again aren before being below between couldn didn doesn doing during "
    "further hadn hasn haven having herself himself isn itself mightn mustn myself needn ourselves shouldn should "
    "their theirs themselves there these those through under until wasn weren where which while wouldn yours yourself "
    "yourselves".split())  # fmt: skip
