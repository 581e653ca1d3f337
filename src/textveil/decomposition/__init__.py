"""Splitting a document into chunks: one file per kind of decomposer, and the registry of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textveil.decomposition.base import Decomposer
from textveil.registry import Registry

if TYPE_CHECKING:
    from textveil.language.tagging import TAGGERS

DECOMPOSERS: Registry[type[Decomposer]] = Registry("decomposition", Decomposer)
"""The decomposers by name, each a kind of ``Decomposer``."""
DECOMPOSERS.register("words", "textveil.decomposition.words:Words")
DECOMPOSERS.register("pmi", "textveil.decomposition.collocations:PMI")
DECOMPOSERS.register("llr", "textveil.decomposition.collocations:LLR")
DECOMPOSERS.register("tscore", "textveil.decomposition.collocations:TScore", aliases=["t_score"])
DECOMPOSERS.register("pos", "textveil.decomposition.phrases:Phrases")
DECOMPOSERS.register("wordnet", "textveil.decomposition.wordnet:WordNet")

__all__ = ["DECOMPOSERS", "TAGGERS", "Decomposer"]


def __getattr__(name: str) -> Any:
    if name == "TAGGERS":  # imported when it is first asked for: only one decomposition tags words
        from textveil.language.tagging import TAGGERS

        return TAGGERS
    raise AttributeError(f"module 'textveil.decomposition' has no attribute {name!r}")
