"""Words whose sense is rare are important."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from textveil.distribution.base import Distributor, Score
from textveil.errors import ResourceError
from textveil.extras import require, require_version
from textveil.resources import find
from textveil.sentences import find_sentences
from textveil.tagging import TAGGERS, load_phrase_tagger
from textveil.text import Document

EXTRA = "lexical"
WITHOUT_SENSE = 1.0
"""The score of a word that WordNet does not know, or knows as an adjective or adverb, which have no counts."""
CORPORA = ("bnc", "brown", "semcor", "shaks", "treebank")

_PARTS = {"JJ": "a", "NN": "n", "RB": "r", "VB": "v"}
_REMEMBERED = 100_000

Gloss: TypeAlias = frozenset[str]
Senses: TypeAlias = tuple[tuple[Gloss, float], ...]


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
        self._tagger = tagger
        self._phrases = load_phrase_tagger(tagger)
        self._wordnet, self._counts = find("wordnet"), find("wordnet-ic")
        self._recall = lru_cache(maxsize=_REMEMBERED)(self._look_up)
        self._recall_sense = lru_cache(maxsize=_REMEMBERED)(self._describe)
        self.versions  # noqa: B018 # a package that is not installed is better missed now than later

    @property
    def label(self) -> str:
        """The name, and the tagger unless it is ours."""
        return self.name if self._tagger == TAGGERS[0] else f"{self.name} (tagger {self._tagger})"

    @property
    def versions(self) -> dict[str, str]:
        """Of NLTK, which reads WordNet, and of what splits sentences for the tagger."""
        return {package: require_version(package, extra=EXTRA) for package in ("nltk", "nupunkt")}

    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """The information content of every word."""
        parts = iter(self._tell_parts(documents))
        return [self._score(document, [next(parts) for _ in document.words]) for document in documents]

    def _tell_parts(self, documents: Sequence[Document]) -> list[str | None]:
        """WordNet's part of speech for all words of all documents; None where it has no such part."""
        words = [word for document in documents for word in document.words]
        lengths = [stop - start for document in documents for start, stop in find_sentences(document)]
        tagger = self._phrases.tagger
        parts = [_PARTS.get(tag[:2]) for tag in tagger.tags]
        return [parts[tag] for tag in tagger.tag(words, lengths)]

    def _score(self, document: Document, parts: Sequence[str | None]) -> list[Score]:
        context = frozenset(document.words)
        tagged = list(zip(document.words, parts, strict=True))
        scores = {(word, part): self._choose(self._recall(word, part), context) for word, part in set(tagged)}
        return [scores[word] for word in tagged]

    @staticmethod
    def _choose(senses: Senses, context: Gloss) -> float:
        """The information content of the sense whose gloss has the most words of the context; the first of several."""
        best, score = -1, WITHOUT_SENSE
        for gloss, content in senses:
            shared = len(gloss & context)
            if shared > best:
                best, score = shared, content
        return score

    def _look_up(self, word: str, part: str | None) -> Senses:
        """The senses of a word. If all have the same score, one of them is enough."""
        synsets = [synset for synset in self._reader.synsets(word) if part in (None, synset.pos())]
        senses = tuple(map(self._recall_sense, synsets))
        return senses if len({content for _, content in senses}) > 1 else senses[:1]

    def _describe(self, synset: Any) -> tuple[Gloss, float]:
        content = self._contents.of(synset.pos(), synset.offset())
        return frozenset(synset.definition().split()), content

    @property
    def _reader(self) -> Any:
        return read_wordnet(self._wordnet)

    @property
    def _contents(self) -> Contents:
        return read_contents(self._counts)


class Contents:
    """The information content of senses.

    Args:
        means: By part of speech and offset, the mean over the corpora that have the sense.
    """

    def __init__(self, means: dict[tuple[str, int], float]) -> None:
        self._means = means
        self._parts = {part for part, _ in means}
        self._rarest = max(means.values())

    def of(self, part: str, offset: int) -> float:
        """The information content of a sense: the largest of all, if no corpus has the sense."""
        return self._means.get((part, offset), self._rarest) if part in self._parts else WITHOUT_SENSE


@cache
def read_wordnet(folder: Path) -> Any:
    """NLTK's reader of WordNet, which takes seconds to make."""
    nltk, reader = require("nltk", extra=EXTRA), require("nltk.corpus.reader", extra=EXTRA)

    class Reader(reader.WordNetCorpusReader):  # type: ignore[misc, name-defined]
        def map_wn(self, version: str = "wordnet") -> None:
            """Nothing to map: it is WordNet 3.0 itself. NLTK would look for another copy."""

    _allow(nltk, folder)
    with warnings.catch_warnings(), _reading("wordnet"):
        warnings.simplefilter("ignore")  # that other languages are not at hand
        return Reader(str(folder), None)


@cache
def read_contents(folder: Path) -> Contents:
    """The counts of all corpora. NLTK puts 1e300 where a corpus lacks a sense; here, that corpus has no say."""
    nltk, reader = require("nltk", extra=EXTRA), require("nltk.corpus.reader", extra=EXTRA)
    _allow(nltk, folder)
    found: dict[tuple[str, int], list[float]] = {}
    with _reading("wordnet-ic"):
        files = [f"ic-{corpus}.dat" for corpus in CORPORA]
        counts = reader.WordNetICCorpusReader(str(folder), files)
        for file in files:
            for part, senses in counts.ic(file).items():
                total = senses.pop(0)
                for offset, count in senses.items():
                    found.setdefault((part, offset), []).append(-math.log(count / total))
    return Contents({sense: math.fsum(values) / len(values) for sense, values in found.items()})


def _allow(nltk: Any, folder: Path) -> None:
    """Let NLTK read a folder: it reads only what is below one of its data folders."""
    if str(folder) not in nltk.data.path:
        nltk.data.path.append(str(folder))


@contextmanager
def _reading(resource: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, LookupError, AssertionError, ArithmeticError) as error:
        raise ResourceError(
            f"The files of {resource!r} cannot be read. Install them again: "
            f"textveil resources install {resource} --force"
        ) from error
