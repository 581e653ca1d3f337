"""Perturbing chunks: one file per mechanism, and the registry of their names."""

from textveil.mechanisms.base import Mechanism, Request
from textveil.registry import Registry

MECHANISMS: Registry[type[Mechanism]] = Registry("mechanism")
MECHANISMS.register("madlib", "textveil.mechanisms.madlib:Madlib")

__all__ = ["MECHANISMS", "Mechanism", "Request"]
