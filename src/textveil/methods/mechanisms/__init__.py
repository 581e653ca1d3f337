"""Perturbing chunks: one file per mechanism, and the registry of their names."""

from textveil.methods.mechanisms.base import Mechanism, Request
from textveil.registry import Registry

MECHANISMS: Registry[type[Mechanism]] = Registry("mechanism", Mechanism)
"""The mechanisms by name, each a kind of ``Mechanism``."""
MECHANISMS.register("madlib", "textveil.methods.mechanisms.madlib:Madlib")
MECHANISMS.register("exponential", "textveil.methods.mechanisms.exponential:Exponential", aliases=["santext", "tem"])
MECHANISMS.register("fluent", "textveil.methods.mechanisms.fluent:Fluent")
MECHANISMS.register("mahalanobis", "textveil.methods.mechanisms.mahalanobis:Mahalanobis")
MECHANISMS.register("vickrey", "textveil.methods.mechanisms.vickrey:Vickrey")
MECHANISMS.register("gumbel", "textveil.methods.mechanisms.gumbel:Gumbel")

__all__ = ["MECHANISMS", "Mechanism", "Request"]
