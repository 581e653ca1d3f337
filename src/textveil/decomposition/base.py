"""The contract of a decomposer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from textveil.bundle import Bundle
from textveil.text import Chunk, Document


class Decomposer(ABC):
    """Splits a document into chunks: a partition of its words, in order."""

    name: ClassVar[str]
    data_independent: ClassVar[bool] = False
    """Whether the chunks depend on nothing but the number of words."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle

    @abstractmethod
    def decompose(self, document: Document) -> list[Chunk]:
        """The chunks of the document."""
