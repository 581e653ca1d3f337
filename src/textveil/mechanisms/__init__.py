"""Perturbing chunks: one file per mechanism, and the registry of their names."""

from textveil.mechanisms.base import Mechanism, Request
from textveil.registry import Registry

MECHANISMS: Registry[type[Mechanism]] = Registry("mechanism", Mechanism)
"""The mechanisms by name, each a kind of ``Mechanism``."""
MECHANISMS.register("madlib", "textveil.mechanisms.madlib:Madlib")
MECHANISMS.register("exponential", "textveil.mechanisms.exponential:Exponential", aliases=["santext", "tem"])
MECHANISMS.register("fluent", "textveil.mechanisms.fluent:Fluent")
MECHANISMS.register("mahalanobis", "textveil.mechanisms.mahalanobis:Mahalanobis")
MECHANISMS.register("vickrey", "textveil.mechanisms.vickrey:Vickrey")
MECHANISMS.register("gumbel", "textveil.mechanisms.gumbel:Gumbel")

__all__ = ["MECHANISMS", "Mechanism", "Request"]
