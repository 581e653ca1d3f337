"""The contract of a mechanism."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from textveil.bundles.vectors import Floats, RowNumbers, Vectors
from textveil.registry import Method


class Request(NamedTuple):
    """What a document asks of a mechanism: the rows of its chunks, their shares, and its stream of randomness.

    A row of ``UNKNOWN`` is a chunk that is not in the vocabulary. A share is zero or positive, and finite.
    """

    rows: RowNumbers
    shares: Floats
    generator: np.random.Generator


class Mechanism(Method):
    """Chooses an entry of the vocabulary for every chunk, at random, guided by the chunk's vector and share.

    A document's answer depends on its own request only: not on what else is in the batch. Whatever was added to a
    vector stays inside the mechanism.
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
