"""Adapters: the obfuscator inside other libraries, one module for each of them."""

from __future__ import annotations

import importlib
from types import ModuleType

__all__ = ["datasets", "pandas", "polars", "presidio", "ray", "sklearn", "spacy", "spark"]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:  # imported when it is first asked for, since its library may not be installed
        return importlib.import_module(f"textveil.adapters.{name}")
    raise AttributeError(f"module 'textveil.adapters' has no attribute {name!r}")
