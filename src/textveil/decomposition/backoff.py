"""Back-off: an unknown chunk is split into its longest known sub-chunks."""

from __future__ import annotations

from collections.abc import Container, Iterator

from textveil.language.text import Chunk, Document


def back_off(
    document: Document, chunk: Chunk, *, known: Container[str], longest: int, stopwords: Container[str]
) -> list[Chunk]:
    """Split ``chunk``, left to right and longest first; a single word is never split.

    A sub-chunk of several words has no stopword at its edges. The research code releases unknown chunks in clear.

    Args:
        document: The document.
        chunk: One of its chunks.
        known: The vocabulary of the embedding.
        longest: The number of words of its longest entry.
        stopwords: Words that may not stand at an edge.

    >>> document = Document.parse("a cup of green tea")
    >>> back_off(document, Chunk(0, 5), known={"green_tea", "cup"}, longest=2, stopwords={"a", "of"})
    [Chunk(start=0, stop=1), Chunk(start=1, stop=2), Chunk(start=2, stop=3), Chunk(start=3, stop=5)]
    """
    return list(_longest_known(document, chunk, known, longest, stopwords))


def _longest_known(
    document: Document, chunk: Chunk, known: Container[str], longest: int, stopwords: Container[str]
) -> Iterator[Chunk]:
    start = chunk.start
    while start < chunk.stop:
        stop = start + 1
        if document.words[start] not in stopwords:
            for longer in range(min(chunk.stop, start + longest), start + 1, -1):
                if document.words[longer - 1] not in stopwords and document.key(Chunk(start, longer)) in known:
                    stop = longer
                    break
        yield Chunk(start, stop)
        start = stop
