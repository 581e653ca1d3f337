"""Words whose sense is rare are important."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any

from textveil.distribution.base import Distributor, Score
from textveil.resources import find
from textveil.senses import Senses
from textveil.sentences import find_sentences
from textveil.tagging import TAGGERS, load_phrase_tagger
from textveil.text import Document

WITHOUT_SENSE = 1.0
"""The score of a word that WordNet does not know, or knows as an adjective or adverb, which have no counts."""

_PARTS = {"JJ": "a", "NN": "n", "RB": "r", "VB": "v"}
_WITHOUT_CONTENT = ("a", "r")


class InformationContent(Distributor):
    """The information content of a word's sense in WordNet (the paper's algorithm 6).

    The sense is the one that NLTK's Lesk chooses among those of the word's part of speech: its gloss has the most words
    of the document. Its information content is averaged over the corpora that have the sense; a sense that none has
    counts as the rarest of all.

    Args:
        tagger: What tells parts of speech: ``textveil`` or ``nltk``.
    """

    name = "ic"
    invert = True

    def __init__(self, *, tagger: str = TAGGERS[0], **options: Any) -> None:
        super().__init__(**options)
        self._tagger_name = tagger
        self._tagger = load_phrase_tagger(tagger).tagger
        self._senses = Senses(find("wordnet"), find("wordnet-ic"))

    @property
    def label(self) -> str:
        """The name, WordNet with the hash of all files, and the tagger unless it is ours."""
        tagger = "" if self._tagger_name == TAGGERS[0] else f", tagger {self._tagger_name}"
        return f"{self.name} (wordnet {self._senses.hash}{tagger})"

    @property
    def versions(self) -> dict[str, str]:
        """Of what splits sentences for the tagger."""
        return {"nupunkt": version("nupunkt")}

    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """The information content of every word."""
        parts = iter(self.tell_parts(documents))
        return [self._score(document, [next(parts) for _ in document.words]) for document in documents]

    def tell_parts(self, documents: Sequence[Document]) -> list[str | None]:
        """WordNet's part of speech for all words of all documents; None where it has no such part."""
        words = [word for document in documents for word in document.words]
        lengths = [stop - start for document in documents for start, stop in find_sentences(document)]
        parts = [_PARTS.get(tag[:2]) for tag in self._tagger.tags]
        return [parts[tag] for tag in self._tagger.tag(words, lengths).tolist()]

    def _score(self, document: Document, parts: Iterable[str | None]) -> list[Score]:
        context = frozenset(document.words)
        tagged = list(zip(document.words, parts, strict=True))
        scores = {word: self._choose(*word, context) for word in set(tagged)}
        return [scores[word] for word in tagged]

    def _choose(self, word: str, part: str | None, context: frozenset[str]) -> float:
        """The information content of the sense whose gloss has the most words of the context; the first of several."""
        if part in _WITHOUT_CONTENT:
            return WITHOUT_SENSE
        best, content = -1, None
        for sense in self._senses.find(word, part):
            shared = len(sense.gloss & context)
            if shared > best:
                best, content = shared, sense.content
        return WITHOUT_SENSE if content is None else content
