"""Chunks that are phrases, by the parts of speech of their words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textveil.bundles.bundle import Bundle
from textveil.decomposition.base import Decomposer, build_chunks
from textveil.language.sentences import find_sentences
from textveil.language.tagging import TAGGERS, load_phrase_tagger
from textveil.language.text import Chunk, Document
from textveil.language.word_stream import Expression, WordStream


class Phrases(Decomposer):
    """Noun phrases, verb phrases and the like: algorithm 2 of the paper.

    Args:
        bundle: Not used: the tables come with textveil.
        tagger: ``textveil``, which was trained on words in lower case without punctuation, or ``nltk``, NLTK's own.
    """

    name = "pos"

    def __init__(self, bundle: Bundle, *, tagger: str = TAGGERS[0], **options: str) -> None:
        super().__init__(bundle, **options)
        self._tagger = tagger
        self._phrases = load_phrase_tagger(tagger)

    @property
    def description(self) -> str:
        """The name, and the tagger unless it is ours."""
        return self.name if self._tagger == TAGGERS[0] else f"{self.name} (tagger {self._tagger})"

    def decompose(self, documents: Sequence[Document]) -> list[list[Chunk]]:
        """One chunk per phrase, without the stopwords at its edges."""
        return [build_chunks(*found) for found in zip(documents, self._find(documents), strict=True)]

    def _find(self, documents: Sequence[Document]) -> list[list[Expression]]:
        row = WordStream(documents)
        lengths = [stop - start for document in documents for start, stop in find_sentences(document)]
        begins = np.ones(len(row), dtype=bool)
        words = list(row)
        begins[np.flatnonzero(list(map(bool, words)))] = self._phrases.begin_phrases(list(filter(None, words)), lengths)
        starts = np.flatnonzero(begins)
        stops = np.append(starts, len(row))[1:]
        return row.split(starts, stops, row.mark_stopwords())
