"""Splitting a document into chunks: one file per kind of decomposer, and the registry of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textveil.methods.decomposition.base import Decomposer
from textveil.registry import Registry

if TYPE_CHECKING:
    from textveil.text.tagging import TAGGERS

DECOMPOSERS: Registry[type[Decomposer]] = Registry("decomposition", Decomposer)
"""The decomposers by name, each a kind of ``Decomposer``."""
DECOMPOSERS.register("words", "textveil.methods.decomposition.words:Words")
DECOMPOSERS.register("pmi", "textveil.methods.decomposition.collocations:PMI")
DECOMPOSERS.register("llr", "textveil.methods.decomposition.collocations:LLR")
DECOMPOSERS.register("tscore", "textveil.methods.decomposition.collocations:TScore", aliases=["t_score"])
DECOMPOSERS.register("pos", "textveil.methods.decomposition.phrases:Phrases")
DECOMPOSERS.register("wordnet", "textveil.methods.decomposition.wordnet:WordNet")

__all__ = ["DECOMPOSERS", "TAGGERS", "Decomposer"]


def __getattr__(name: str) -> Any:
    if name == "TAGGERS":  # imported when it is first asked for: only one decomposition tags words
        from textveil.text.tagging import TAGGERS

        return TAGGERS
    raise AttributeError(f"module 'textveil.methods.decomposition' has no attribute {name!r}")
