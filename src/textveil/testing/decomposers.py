"""The contract of decomposers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textveil.bundles.bundle import Bundle
from textveil.methods.decomposition import DECOMPOSERS, Decomposer
from textveil.testing.checks import Check, bind, check_name, check_options, check_record, expect, name_checks
from textveil.text.documents import Document
from textveil.text.sentences import find_sentences
from textveil.text.stopwords import CONTRACTIONS, ENGLISH

TEXTS = (
    "",
    " ?! ",
    "word",
    "The film was good. The plot, though, was not; it was of no use!",
    "People all over the world don't live in New York City, the United States of America.",
    "Mr. Smith can't, won’t and didn't. O'clock? It's 5 o'clock...",
    "naïve café_42 word word\n\nA new paragraph (in brackets), and so on",
    "a\x00b\ud800 🙂 東京 the\tof\nand",
    "well-known state-of-the-art ideas, up-to-date",
    "don.\nt don.T of of of of U.S. N.Y.C. e.g. i.e.",
)
ENDLESS = ("a.b", "word. ", "word\n\n", "? ", ". . ", "Don't. ", "don.\nt don.T ", "don" + "." * 450 + "t ")
"""Pieces that would make a splitter read everything again and again."""
LONG = 50_000


def check_chunks_partition_the_words(decomposer: Decomposer, texts: Sequence[str]) -> None:
    """The chunks of a document have all of its words once, in order, and none is empty."""
    for text in texts:
        document = Document.parse(text)
        (chunks,) = decomposer.decompose([document])
        ends = [0, *(chunk.stop for chunk in chunks)]
        expect([chunk.start for chunk in chunks] == ends[:-1], decomposer, "a chunk does not begin where one ends")
        expect(ends[-1] == len(document.words), decomposer, "the last chunk does not end with the last word")
        expect(all(chunk.size > 0 for chunk in chunks), decomposer, "a chunk is empty")


def check_offsets_lead_back_to_the_text(decomposer: Decomposer, texts: Sequence[str]) -> None:
    """A document whose chunks are written as they are is the same text."""
    for text in texts:
        document = Document.parse(text)
        (chunks,) = decomposer.decompose([document])
        again = document.assemble(map(document.span, chunks), [document.written(chunk) for chunk in chunks])
        expect(again == text, decomposer, "the chunks do not lead back to the text")


def check_chunks_do_not_depend_on_the_batch(decomposer: Decomposer, texts: Sequence[str]) -> None:
    """A document has the same chunks alone and among others, now and again."""
    together = decomposer.decompose(list(map(Document.parse, texts)))
    expect(len(together) == len(texts), decomposer, "it does not answer every document")
    alone = [decomposer.decompose([Document.parse(text)])[0] for text in texts]
    expect(together == alone, decomposer, "the chunks of a document depend on the others in its batch")


def check_no_chunk_crosses_a_sentence(decomposer: Decomposer, texts: Sequence[str]) -> None:
    """No chunk reaches across the end of a sentence."""
    for text in texts:
        document = Document.parse(text)
        begins = {start for start, _ in find_sentences(document)}
        for chunk in decomposer.decompose([document])[0]:
            inside = range(chunk.start + 1, chunk.stop)
            expect(begins.isdisjoint(inside), decomposer, "a chunk reaches across the end of a sentence")


def check_stopwords_are_at_no_edge(decomposer: Decomposer, texts: Sequence[str]) -> None:
    """A chunk of several words has no stopword at its edges, unless it is a contraction."""
    for text in (*texts, "It was all of it, and in the end it was not for us."):
        document = Document.parse(text)
        for chunk in decomposer.decompose([document])[0]:
            words = document.words[chunk.start : chunk.stop]
            edged = chunk.size > 1 and not ENGLISH.isdisjoint((words[0], words[-1]))
            expect(not edged or words in CONTRACTIONS, decomposer, "a chunk has a stopword at its edge")


def check_data_independence_is_true(decomposer: Decomposer, texts: Sequence[str]) -> None:
    """Where it is said that chunks depend on the number of words alone, they do."""
    if not decomposer.data_independent:
        return
    found = decomposer.decompose([Document.parse(text) for text in texts])
    longest = max(found, key=len, default=[])
    same = all(chunks == longest[: len(chunks)] for chunks in found)
    expect(same, decomposer, "it says `data_independent`, and its chunks depend on the words")


def check_nothing_comes_of_nothing(decomposer: Decomposer) -> None:
    """No documents have no chunks, and neither have documents without words."""
    expect(decomposer.decompose([]) == [], decomposer, "no documents have chunks")
    empty = [Document.parse(""), Document.parse(" ?! ")]
    expect(decomposer.decompose(empty) == [[], []], decomposer, "a document without words has chunks")


def check_long_texts_come_to_an_end(decomposer: Decomposer) -> None:
    """Long texts of one repeated piece are split, too."""
    check_chunks_partition_the_words(decomposer, [piece * (LONG // len(piece)) for piece in ENDLESS])


ON_TEXTS = (
    check_chunks_partition_the_words,
    check_offsets_lead_back_to_the_text,
    check_chunks_do_not_depend_on_the_batch,
    check_no_chunk_crosses_a_sentence,
    check_stopwords_are_at_no_edge,
    check_data_independence_is_true,
)
"""Checks that hold for any texts."""


def list_decomposer_checks(method: type[Decomposer], bundle: Bundle | None = None, **options: Any) -> list[Check]:
    """All checks of a decomposer.

    Args:
        method: The class.
        bundle: A bundle with everything that it needs; by default the one that ships with textveil.
        options: Options to build it with.
    """
    chosen = Bundle.load() if bundle is None else bundle
    decomposer = method(chosen, **options)
    own = {name: DECOMPOSERS.load(name) for name in DECOMPOSERS}
    return name_checks(
        method.name,
        [
            *(bind(check, decomposer, TEXTS) for check in ON_TEXTS),
            bind(check_nothing_comes_of_nothing, decomposer),
            bind(check_long_texts_come_to_an_end, decomposer),
            bind(check_record, decomposer),
            bind(check_options, decomposer, lambda **given: method(chosen, **{**options, **given})),
            bind(check_name, decomposer, DECOMPOSERS.list_plugins(), own),
        ],
    )
