"""Dividing a document's budget over its words: one file per distributor, and the registry of their names."""

from textveil.methods.distribution.base import Distributor, Score
from textveil.registry import Registry

DISTRIBUTORS: Registry[type[Distributor]] = Registry("distribution", Distributor)
"""The distributors by name, each a kind of ``Distributor``."""
DISTRIBUTORS.register("uniform", "textveil.methods.distribution.uniform:Uniform", aliases=["baseline"])
DISTRIBUTORS.register("attention", "textveil.methods.distribution.attention:Attention", aliases=["attention_weights"])
DISTRIBUTORS.register(
    "gradients", "textveil.methods.distribution.gradients:Gradients", aliases=["integrated_gradients"]
)
DISTRIBUTORS.register(
    "ic", "textveil.methods.distribution.information:InformationContent", aliases=["information_content"]
)
DISTRIBUTORS.register("keybert", "textveil.methods.distribution.keybert:KeyBERT")
DISTRIBUTORS.register("yake", "textveil.methods.distribution.yake:Yake")

__all__ = ["DISTRIBUTORS", "Distributor", "Score"]
