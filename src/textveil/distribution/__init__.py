"""How a document's budget is divided over its words: one file per distributor, and the registry that names them."""

from textveil.distribution.base import Distributor, Score
from textveil.registry import Registry

DISTRIBUTORS: Registry[type[Distributor]] = Registry("distribution")
DISTRIBUTORS.register("uniform", "textveil.distribution.uniform:Uniform", aliases=["baseline"])

__all__ = ["DISTRIBUTORS", "Distributor", "Score"]
