"""Mechanisms that textveil must refuse."""

from __future__ import annotations

from textveil.methods.mechanisms import Mechanism
from textveil_example.gumbel_max import GumbelMax


class TakenName(GumbelMax):
    """Has the name of a mechanism of textveil."""

    name = "madlib"


class Unfinished(Mechanism):
    """Lacks its most important part."""

    name = "unfinished"
    guarantee = "none"


class Misnamed(GumbelMax):
    """Has another name than its entry point."""

    name = "something_else"


class Silent(Mechanism):
    """States no guarantee."""

    name = "silent"

    def perturb(self, requests):
        """Nothing."""
        return []


class Leaking(GumbelMax):
    """Spends ten times what it was given."""

    name = "leaking"

    def _weigh(self, points, shares):
        return 10 * super()._weigh(points, shares)
