"""Phrases: chunks by part of speech."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from textveil.bundles.bundle import Bundle
from textveil.methods.decomposition.base import Decomposer, build_chunks
from textveil.text.documents import Chunk, Document
from textveil.text.matching import Expression, WordStream
from textveil.text.sentences import find_sentences
from textveil.text.tagging import TAGGER_OPTION, identify_tagger, load_phrase_tagger


class Phrases(Decomposer):
    """Noun phrases, verb phrases and the like: algorithm 2 of the paper.

    Args:
        bundle: Not used: the tables come with textveil.
        options: The ``tagger``.
    """

    name = "pos"

    options = (TAGGER_OPTION,)
    tagger: str

    def __init__(self, bundle: Bundle, **options: Any) -> None:
        super().__init__(bundle, **options)
        self._phrases = load_phrase_tagger(self.tagger)

    @property
    def model_used(self) -> Mapping[str, str] | None:
        """NLTK's tagger, if it was chosen; our own comes with textveil."""
        return identify_tagger(self.tagger)

    def decompose(self, documents: Sequence[Document]) -> list[list[Chunk]]:
        """One chunk per phrase, without the stopwords at its edges."""
        return [build_chunks(*found) for found in zip(documents, self._find(documents), strict=True)]

    def _find(self, documents: Sequence[Document]) -> list[list[Expression]]:
        stream = WordStream(documents)
        lengths = [stop - start for document in documents for start, stop in find_sentences(document)]
        begins = np.ones(len(stream), dtype=bool)
        words = list(stream)
        begins[np.flatnonzero(list(map(bool, words)))] = self._phrases.begin_phrases(list(filter(None, words)), lengths)
        starts = np.flatnonzero(begins)
        stops = np.append(starts, len(stream))[1:]
        return stream.split(starts, stops, stream.mark_stopwords())
