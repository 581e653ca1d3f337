"""The Mahalanobis mechanism (Xu et al. 2020): noise that follows the shape of the embedding."""

from __future__ import annotations

from typing import Any

import numpy as np

from textveil.bundles.vectors import RowNumbers, Vectors
from textveil.methods.mechanisms.noise import Block, NoisyVector
from textveil.registry import Option


class Mahalanobis(NoisyVector):
    """Adds elliptical noise of density proportional to exp(-share * norm(z)) and writes the nearest entry.

    The norm is the regularized Mahalanobis norm, the root of z' M^-1 z with M = blend * C + (1 - blend) * I. C is the
    covariance of the vectors, scaled to the trace of the identity I. At ``blend`` 0 this is MADLIB.

    Guarantee:
        For two chunks at the distance D, measured by this norm, and any entry, the probabilities of choosing it differ
        by a factor of at most exp(share * D). The distances in a certificate are these. The search for the nearest
        entry is post-processing.
    """

    name = "mahalanobis"
    guarantee = (
        "exp(share * distance) between any two chunks, distance by the regularized Mahalanobis norm of the bundle's "
        "embedding"
    )

    options = (
        Option("blend", float, 0.2, "Weight of the covariance; at 0, noise is as in MADLIB.", least=0, most=0.999),
    )
    blend: float

    def __init__(self, vectors: Vectors, **options: Any) -> None:
        super().__init__(vectors, **options)
        covariance = self.searched.covariance()
        covariance *= len(covariance) / (np.trace(covariance) or 1.0)  # a single entry has no variance
        values, axes = np.linalg.eigh(self.blend * covariance + (1 - self.blend) * np.eye(len(covariance)))
        self.stretch = (axes * np.sqrt(values)) @ axes.T
        self.space = self.searched.map_by((axes / np.sqrt(values)) @ axes.T)

    def choose(self, block: Block) -> RowNumbers:
        """The entries nearest to the noisy points."""
        return self.searched.nearest(block.points, block.weights)
