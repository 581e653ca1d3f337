"""The adapter for pandas, under its short name."""

from textveil.adapters.pandas import ObfuscatedFrame, obfuscate

__all__ = ["ObfuscatedFrame", "obfuscate"]
