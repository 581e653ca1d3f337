"""A distribution by the length of words."""

from __future__ import annotations

from collections.abc import Sequence

from textveil import Document
from textveil.methods.distribution import Distributor, Score
from textveil.registry import Option


class Length(Distributor):
    """Long words are important."""

    name = "length"
    invert = True  # a higher score means a smaller share, and so more noise
    options = (Option("shortest", int, 3, "Words with fewer letters count as if they had this number.", least=1),)
    shortest: int

    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """The number of letters of every word."""
        return [[float(max(len(word), self.shortest)) for word in document.words] for document in documents]
