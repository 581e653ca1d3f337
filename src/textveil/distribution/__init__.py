"""Dividing a document's budget over its words: one file per distributor, and the registry of their names."""

from textveil.distribution.base import Distributor, Score
from textveil.registry import Registry

DISTRIBUTORS: Registry[type[Distributor]] = Registry("distribution", Distributor)
"""The distributors by name, each a kind of ``Distributor``."""
DISTRIBUTORS.register("uniform", "textveil.distribution.uniform:Uniform", aliases=["baseline"])
DISTRIBUTORS.register("attention", "textveil.distribution.attention:Attention", aliases=["attention_weights"])
DISTRIBUTORS.register("gradients", "textveil.distribution.gradients:Gradients", aliases=["integrated_gradients"])
DISTRIBUTORS.register("ic", "textveil.distribution.information:InformationContent", aliases=["information_content"])
DISTRIBUTORS.register("keybert", "textveil.distribution.keybert:KeyBERT")
DISTRIBUTORS.register("yake", "textveil.distribution.yake:Yake")

__all__ = ["DISTRIBUTORS", "Distributor", "Score"]
