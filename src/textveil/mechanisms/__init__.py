"""How a chunk is perturbed: one file per mechanism, and the registry that names them."""

from textveil.mechanisms.base import Mechanism, Request
from textveil.registry import Registry

MECHANISMS: Registry[type[Mechanism]] = Registry("mechanism")
MECHANISMS.register("madlib", "textveil.mechanisms.madlib:Madlib")

__all__ = ["MECHANISMS", "Mechanism", "Request"]
