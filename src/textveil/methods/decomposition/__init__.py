"""Splitting a document into chunks: one file per kind of decomposer, and the registry of their names."""

from textveil.methods.decomposition.base import Decomposer
from textveil.registry import Registry

DECOMPOSERS: Registry[type[Decomposer]] = Registry("decomposition", Decomposer)
"""The decomposers by name, each a kind of ``Decomposer``."""
DECOMPOSERS.register("words", "textveil.methods.decomposition.words:Words")
DECOMPOSERS.register("pmi", "textveil.methods.decomposition.lexicons:PMI")
DECOMPOSERS.register("llr", "textveil.methods.decomposition.lexicons:LLR")
DECOMPOSERS.register("tscore", "textveil.methods.decomposition.lexicons:TScore", aliases=["t_score"])
DECOMPOSERS.register("pos", "textveil.methods.decomposition.phrases:Phrases")
DECOMPOSERS.register("wordnet", "textveil.methods.decomposition.lexicons:WordNet")

__all__ = ["DECOMPOSERS", "Decomposer"]
