"""Information content: words with a rare sense are important."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from textveil.methods.distribution.base import Distributor, Score
from textveil.resources import find
from textveil.text.documents import Document
from textveil.text.senses import Senses
from textveil.text.sentences import find_sentences
from textveil.text.tagging import TAGGER_OPTION, load_phrase_tagger

WITHOUT_SENSE = 1.0
"""The paper's score of a word without a sense; adjectives and adverbs have no counts, and so none either."""

_PARTS = {"JJ": "a", "NN": "n", "RB": "r", "VB": "v"}
_WITHOUT_CONTENT = ("a", "r")
_REMEMBERED = 100_000

Integers: TypeAlias = NDArray[np.int64]


class _Choice(NamedTuple):
    """The senses of a word: the ids of the words in all glosses, the length of each gloss, and each sense's content."""

    words: Integers
    lengths: Integers
    contents: NDArray[np.float64]


class InformationContent(Distributor):
    """The information content of a word's sense in WordNet (the paper's algorithm 6).

    The sense is chosen as by NLTK's Lesk among those of the word's part of speech: its gloss shares the most words with
    the document. Its information content is averaged over the corpora that have the sense. A sense that no corpus has
    counts as the rarest of all.
    """

    name = "ic"
    invert = True
    unscored = WITHOUT_SENSE
    options = (TAGGER_OPTION,)
    tagger: str

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._tagger = load_phrase_tagger(self.tagger).tagger
        self._senses = Senses(find("wordnet"), find("wordnet-ic"))
        self._numbers = {"": 0}  # of the words in glosses
        self._look_up = lru_cache(maxsize=_REMEMBERED)(self._list_senses)

    @property
    def model_used(self) -> Mapping[str, str]:
        """WordNet, with its information content files."""
        return {"name": "wordnet", "sha256": self._senses.sha256}

    @property
    def versions(self) -> dict[str, str]:
        """The version of the sentence splitter, which the tagger depends on."""
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
        tagged = list(zip(document.words, parts, strict=True))
        choices = {word: self._look_up(*word) for word in dict.fromkeys(tagged)}
        scores: dict[tuple[str, str | None], Score] = dict.fromkeys(choices)
        several = {word: choice for word, choice in choices.items() if choice is not None}
        if several:
            scores.update(zip(several, self._choose(list(several.values()), document.words), strict=True))
        return [scores[word] for word in tagged]

    def _list_senses(self, word: str, part: str | None) -> _Choice | None:
        """The senses of a word, or None where none of them counts."""
        senses = () if part in _WITHOUT_CONTENT else self._senses.find(word, part)
        if not senses:
            return None
        # No gloss is empty: each has a number that no word has.
        glosses = [[0, *(self._numbers.setdefault(word, len(self._numbers)) for word in gloss)] for gloss, _ in senses]
        return _Choice(
            np.array([number for gloss in glosses for number in gloss]),
            np.array([len(gloss) for gloss in glosses]),
            np.array([WITHOUT_SENSE if content is None else content for _, content in senses]),
        )

    def _choose(self, choices: Sequence[_Choice], context: Iterable[str]) -> list[float]:
        """The information content of the sense whose gloss has the most words of the context; the first of several."""
        words, lengths, contents = (np.concatenate(arrays) for arrays in zip(*choices, strict=True))
        seen = np.zeros(len(self._numbers), dtype=np.int64)
        seen[[self._numbers[word] for word in set(context) if word in self._numbers]] = 1
        shared = np.add.reduceat(seen[words], np.cumsum(lengths) - lengths)
        counts = np.array([len(choice.contents) for choice in choices])
        behind = np.arange(len(shared), 0, -1)  # which puts the first of equals ahead
        best = np.maximum.reduceat(shared * (len(shared) + 1) + behind, np.cumsum(counts) - counts)
        return cast("list[float]", contents[-(best % (len(shared) + 1))].tolist())
