"""YAKE: words that stand out by frequency, position and spelling are important."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from textveil.extras import require, require_version
from textveil.methods.distribution.base import Distributor, Score
from textveil.text.documents import Document

EXTRA = "lexical"

_INSIDE_WORDS = re.compile(r"(?<=\w)[^\w\s]+(?=\w)")


class Yake(Distributor):
    """YAKE's score, which is small for important words.

    YAKE gives no score to numbers, words of one or two letters, and words on its own stopword list.
    """

    name = "yake"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        require_version("yake", extra=EXTRA)  # better missed now than later

    @property
    def versions(self) -> dict[str, str]:
        """The versions of YAKE and of its sentence splitter."""
        return {package: require_version(package, extra=EXTRA) for package in ("segtok", "yake")}

    @cached_property
    def _stopwords(self) -> Any:
        return require("yake", extra=EXTRA).KeywordExtractor(lan="en").stopword_set

    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """The score of every word as a keyword."""
        return [self._score(document) for document in documents]

    def _score(self, document: Document) -> list[Score]:
        """The scores that ``KeywordExtractor(n=1, dedup_lim=1, top=...)`` finds.

        Its steps run one by one here, because the extractor answers an error with no keywords and logs the text.
        """
        # YAKE would take joined words, as in well-known, for one; they are two words here.
        text = _INSIDE_WORDS.sub(" ", document.text).replace("\n", " ")
        core = require("yake.data", extra=EXTRA).DataCore(
            text=text, stopword_set=self._stopwords, config={"windows_size": 1, "n": 1}
        )
        core.build_single_terms_features()
        core.build_mult_terms_features()
        scores = {word: float(found.h) for word, found in core.candidates.items() if found.is_valid()}
        return [scores.get(word) for word in document.words]
