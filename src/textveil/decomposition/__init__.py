"""How a document is split into chunks: one file per decomposer, and the registry that names them."""

from textveil.decomposition.base import Decomposer
from textveil.registry import Registry

DECOMPOSERS: Registry[type[Decomposer]] = Registry("decomposition")
DECOMPOSERS.register("words", "textveil.decomposition.words:Words")

__all__ = ["DECOMPOSERS", "Decomposer"]
