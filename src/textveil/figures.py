"""Figures: what holds for a mechanism and the public words of a bundle, computed once and cached with the bundle."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from textveil.bundles.bundle import Bundle
from textveil.bundles.vectors import RowNumbers, measure_distances
from textveil.deniability import describe_deniability
from textveil.methods.mechanisms import Mechanism
from textveil.methods.mechanisms.returns import draw_entries, find_share


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

    def deniability(self, shares: Mapping[str, float]) -> Mapping[str, Any]:
        """How likely words stay, and how many others they may become, at shares by their meaning."""
        return self._find("deniability", shares, lambda: describe_deniability(self.mechanism, self._draw(), shares))

    def _draw(self) -> RowNumbers:
        return draw_entries(self.mechanism, self.bundle.counts(self.decomposition))

    def _find(self, figure: str, at: Any, compute: Callable[[], dict[str, Any]]) -> Mapping[str, Any]:
        parts = [figure, self.mechanism.as_dict(), *([] if at is None else [at])]
        return self.bundle.find_figures(self.decomposition, json.dumps(parts, sort_keys=True), compute)
