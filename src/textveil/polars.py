"""The adapter for Polars, under its short name."""

from textveil.adapters.polars import ObfuscatedFrame, obfuscate

__all__ = ["ObfuscatedFrame", "obfuscate"]
