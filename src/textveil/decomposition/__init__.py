"""Splitting a document into chunks: one file per kind of decomposer, and the registry of their names."""

from textveil.decomposition.base import Decomposer
from textveil.language.tagging import TAGGERS
from textveil.registry import Registry

DECOMPOSERS: Registry[type[Decomposer]] = Registry("decomposition")
"""The decomposers by name, each a kind of ``Decomposer``."""
DECOMPOSERS.register("words", "textveil.decomposition.words:Words")
DECOMPOSERS.register("pmi", "textveil.decomposition.collocations:PMI")
DECOMPOSERS.register("llr", "textveil.decomposition.collocations:LLR")
DECOMPOSERS.register("tscore", "textveil.decomposition.collocations:TScore", aliases=["t_score"])
DECOMPOSERS.register("pos", "textveil.decomposition.phrases:Phrases")
DECOMPOSERS.register("wordnet", "textveil.decomposition.wordnet:WordNet")

__all__ = ["DECOMPOSERS", "TAGGERS", "Decomposer"]
