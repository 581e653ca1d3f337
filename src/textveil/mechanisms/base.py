"""The contract of a mechanism."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from textveil.bundles.vectors import Floats, RowNumbers, Vectors
from textveil.registry import Method


class Request(NamedTuple):
    """One document's request: the rows of its chunks, their shares, and a stream of randomness.

    The row ``UNKNOWN`` is a chunk that is not in the vocabulary. A share is finite and not negative.
    """

    rows: RowNumbers
    shares: Floats
    generator: np.random.Generator


class Mechanism(Method):
    """Chooses a random entry of the vocabulary for every chunk, guided by the chunk's vector and share.

    The answer for a document depends on its own request only, not on the rest of the batch. Noise never leaves the
    mechanism.
    """

    kind = "mechanism"
    index: ClassVar[str] = "exact"
    guarantee: ClassVar[str]

    def __init__(self, vectors: Vectors, **options: Any) -> None:
        super().__init__(**options)
        self.vectors = vectors

    @abstractmethod
    def perturb(self, requests: Sequence[Request]) -> list[RowNumbers]:
        """The rows chosen for the chunks of each request; all of them writable."""
