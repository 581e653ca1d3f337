"""The contract of a distributor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from textveil.text import Document

Score: TypeAlias = float | None
"""How important a word is; ``None`` where the method gives no answer."""


class Distributor(ABC):
    """Gives every word a score; ``allocation`` turns scores into shares."""

    name: ClassVar[str]
    data_independent: ClassVar[bool] = False
    """Whether the scores depend on nothing but the number of words."""
    invert: ClassVar[bool] = False
    """Whether a higher score must mean a smaller share."""

    @abstractmethod
    def score(self, documents: Sequence[Document]) -> list[list[Score]]:
        """One score for every word of every document."""
