"""The tokenizer: words, gaps, codes, sentences and plain stopwords of any text."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from soak.base import Part
from soak.mutation import HOSTILE, MOST_REPEATS, make_text, texts
from soak.watching import BrokenPromiseError
from textveil.text.codes import find_codes, merge_codes
from textveil.text.documents import Chunk, Document, clean_gap, count_symbols
from textveil.text.plain_stopwords import mark_plain_stopwords
from textveil.text.sentences import find_sentences
from textveil.text.words import find_spans, find_words, fold, has_word


class Text(Part):
    """Splits texts, and puts them together again."""

    name = "text"
    seconds = 5.0

    def strategy(self, marker: str) -> st.SearchStrategy[str]:
        """Drawn texts, and long repetitions of a piece."""
        repeated = st.builds(
            lambda piece, times, end: f"{marker} 1{piece * times}{end}",
            st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=3)),
            st.integers(1, MOST_REPEATS),
            st.sampled_from(["", "x", " ", "!", "1", "@"]),
        )
        return st.one_of(texts(marker), texts(marker), texts(marker), repeated)

    def draw(self, random: Random, marker: str) -> str:
        """A text of ordinary, unusual and repeated pieces."""
        return make_text(random, marker, hostile=True)

    def use(self, given: str, marker: str) -> None:
        """Find everything in the text, and compare what must agree."""
        document = Document.parse(given)
        _require(list(document.words) == find_words(given), "words differ between Document and find_words")
        _require(
            list(document.words) == [fold(given[start:stop]) for start, stop in document.spans],
            "words and their offsets differ",
        )
        _require(all(document.words), "a word is empty")
        _require(has_word(given) == bool(find_spans(given)), "has_word and find_spans differ")
        _require(marker not in repr(document), "a document shows its text")
        words = [Chunk(place, place + 1) for place in range(len(document.words))]
        kept = [None] * len(words)
        _require(document.assemble(map(document.span, words), kept) == given, "a text is not put together again")
        self._check_codes(document, words)
        sentences = find_sentences(document)
        _require(
            [place for start, stop in sentences for place in range(start, stop)] == list(range(len(words))),
            "sentences do not cover the words",
        )
        _require(
            [len(marks) for marks in mark_plain_stopwords([document])] == [len(words)], "a stopword mark is missing"
        )
        cleaned = clean_gap(given)
        _require(clean_gap(cleaned) == cleaned, "cleaning a gap twice changes it")
        _require(count_symbols(given) >= 0, "a count is negative")

    @staticmethod
    def _check_codes(document: Document, words: list[Chunk]) -> None:
        codes = find_codes(document)
        merged = merge_codes(words, codes)
        covered = [place for chunk in merged for place in range(chunk.start, chunk.stop)]
        _require(covered == list(range(len(words))), "chunks with codes do not cover the words")
        for code in codes:
            start, stop = document.span(code.chunk)
            _require(code.stop >= stop, "a code ends inside a word")
            _require(code.start <= start, "a code begins inside a word")


def _require(condition: bool, promise: str) -> None:
    if not condition:
        raise BrokenPromiseError(promise)
