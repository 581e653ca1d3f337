"""The base of mechanisms that search for the entry nearest to a noisy point, exactly or approximately."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from textveil.bundles.vectors import RowNumbers, Vectors
from textveil.errors import ParameterError
from textveil.mechanisms.base import Request
from textveil.mechanisms.noise import Block, NoisyVector
from textveil.randomness import SeededRandomness
from textveil.registry import Option

EXACT, APPROXIMATE = "exact", "approximate"


class NearestEntry(NoisyVector):
    """Adds noise to a vector and looks for the nearest entry.

    With an approximate index, the entry is the nearest one of those in some lists only. The lists and the search depend
    on nothing but the noisy point and public vectors, so this is post-processing: the guarantee stays. What changes is
    utility, and the certificate states how often the nearest entry was found.
    """

    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "index",
            str,
            EXACT,
            "The search for the nearest entry. An approximate one is faster from some hundred thousand entries on, and "
            "sometimes finds another entry.",
            choices=(EXACT, APPROXIMATE),
        ),
        Option(
            "probes",
            int,
            None,
            "Number of lists that an approximate search reads for each chunk. More of them find the nearest entry more "
            "often. By default 64.",
            least=1,
        ),
    )
    index: str
    probes: int | None

    def __init__(self, vectors: Vectors, **options: Any) -> None:
        super().__init__(vectors, **options)
        if self.probes is not None and self.index == EXACT:
            raise ParameterError(f"`probes` goes with `index={APPROXIMATE!r}`: an exact search reads all entries.")
        _ = self.searched.index if self.index == EXACT else self.searched.cells  # built once, not by several threads

    def find_nearest(self, block: Block) -> RowNumbers:
        """The entries that the search finds for noisy points."""
        if self.index == EXACT:
            return self.searched.nearest(block.points, block.weights)
        limit = {} if self.probes is None else {"probes": self.probes}
        return self.searched.writable[self.searched.cells.search(block.points, block.weights, **limit)]

    def as_dict(self) -> dict[str, Any]:
        """The record of the mechanism. That of an exact search is the one from before there was a choice."""
        recorded = super().as_dict()
        if self.index == EXACT:
            del recorded["options"]["index"], recorded["options"]["probes"]
        return recorded


def measure_recall(mechanism: NearestEntry, shares: Iterable[float], entries: RowNumbers) -> dict[str, float]:
    """How often the search finds the nearest entry of a noisy point, by share.

    The points are those of these entries with noise that is the same each time: no text is protected by it.
    """
    recall = {}
    for number, share in enumerate(shares):
        request = Request(entries, np.full(len(entries), share), SeededRandomness(0).stream(number))
        found = [
            mechanism.find_nearest(block) == mechanism.searched.nearest(block.points, block.weights)
            for block in mechanism.add_noise([request])
        ]
        recall[f"{share:.6g}"] = round(float(np.concatenate(found).mean()), 3)
    return recall
