"""Figures: what holds for a mechanism and the public words of a bundle, computed once and cached with the bundle."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from textveil.bundles.bundle import Bundle
from textveil.bundles.vectors import RowNumbers, measure_distances
from textveil.deniability import describe_deniability
from textveil.methods.mechanisms import Mechanism
from textveil.methods.mechanisms.noise import EXACT, NearestEntry, measure_recall
from textveil.methods.mechanisms.returns import LARGEST_RATE, draw_entries, find_share

_RECALL_PARTS = (0.0, 0.125, 0.25, 0.5, 1.0)
"""The parts of the largest share at which the recall of an approximate index is measured."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a mechanism over the words of a bundle, which are drawn by their frequency. No text is read.

    Args:
        bundle: The bundle.
        decomposition: The decomposition, whose vocabulary the mechanism has.
        mechanism: The mechanism.
    """

    bundle: Bundle
    decomposition: str
    mechanism: Mechanism

    def share(self, rate: float) -> float:
        """The share at which words return at a rate, found by simulation."""
        return float(
            self._find("share", rate, lambda: {"share": find_share(self.mechanism, rate, self._draw())})["share"]
        )

    def distance(self) -> Mapping[str, Any]:
        """The distances between entries that the guarantee is about."""
        if self.mechanism.space is self.bundle.vectors(self.decomposition):
            return self.bundle.distance(self.decomposition)
        return self._find("distance", None, lambda: measure_distances(self.mechanism.space))

    def index(self, largest_share: float) -> str | dict[str, Any]:
        """How the nearest entry is searched: exactly, or how often an approximate search finds it, by share."""
        mechanism = self.mechanism
        if not isinstance(mechanism, NearestEntry) or mechanism.index == EXACT:
            return mechanism.index
        largest = largest_share if math.isfinite(largest_share) else self.share(LARGEST_RATE)
        shares = [largest * part for part in _RECALL_PARTS]
        recall = self._find("recall", shares, lambda: measure_recall(mechanism, shares, self._draw()))
        return {"kind": mechanism.index, "recall": recall}

    def deniability(self, shares: Mapping[str, float]) -> Mapping[str, Any]:
        """How likely words stay, and how many others they may become, at shares by their meaning."""
        return self._find("deniability", shares, lambda: describe_deniability(self.mechanism, self._draw(), shares))

    def _draw(self) -> RowNumbers:
        return draw_entries(self.mechanism, self.bundle.counts(self.decomposition))

    def _find(self, figure: str, at: Any, compute: Callable[[], dict[str, Any]]) -> Mapping[str, Any]:
        parts = [figure, self.mechanism.as_dict(), *([] if at is None else [at])]
        return self.bundle.find_figures(self.decomposition, json.dumps(parts, sort_keys=True), compute)
