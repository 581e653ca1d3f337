"""The Vickrey mechanism (Xu et al. 2021): the first or second entry near a noisy point, never the input itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.bundles.vectors import RowNumbers, Vectors
from textveil.errors import ParameterError
from textveil.methods.mechanisms.base import NO_GUARANTEE
from textveil.methods.mechanisms.noise import Block, NoisyVector
from textveil.methods.mechanisms.sampling import squared_distances
from textveil.registry import Option

_SMALLEST_WEIGHT = 1e-300


class Vickrey(NoisyVector):
    """Adds noise as MADLIB does, and chooses between the two nearest entries other than the input.

    With the distances d1 < d2 of the noisy point from them, the first is chosen with the probability
    (1 - threshold) * d2 / (threshold * d1 + (1 - threshold) * d2).

    Guarantee:
        None. A chunk never becomes itself, but other chunks may become it: the ratio of these probabilities has no
        bound. It is here for comparison.
    """

    name = "vickrey"
    guarantee = NO_GUARANTEE
    needs_uniforms = True

    options = (
        Option("threshold", float, 0.5, "At 0 the nearest entry is chosen, at 1 the second one.", least=0, most=1),
    )
    threshold: float

    def __init__(self, vectors: Vectors, **options: Any) -> None:
        super().__init__(vectors, **options)
        if len(self.searched.writable) < 3:
            raise ParameterError("The mechanism 'vickrey' needs a vocabulary with at least three entries to write.")

    def choose(self, block: Block) -> RowNumbers:
        """One of the two nearest entries of each noisy point, without the chunk itself."""
        writable = self.searched.writable
        points = block.points / np.maximum(block.weights, _SMALLEST_WEIGHT)[:, None]
        squares = squared_distances(points, self.searched.matrix[writable])
        squares[block.rows[:, None] == writable] = np.inf
        two = np.argpartition(squares, 1, axis=1)[:, :2]
        distances = np.sqrt(np.maximum(np.take_along_axis(squares, two, axis=1), 0))
        order = np.argsort(distances, axis=1)
        two, distances = np.take_along_axis(two, order, axis=1), np.take_along_axis(distances, order, axis=1)
        second = (1 - self.threshold) * distances[:, 1]
        first_chosen = block.uniforms * (self.threshold * distances[:, 0] + second) < second
        chosen: RowNumbers = writable[np.where(first_chosen, two[:, 0], two[:, 1])]
        return chosen
