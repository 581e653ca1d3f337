"""The adapter for pandas, under its short name."""

from textveil.integrations.pandas import ObfuscatedFrame, obfuscate

__all__ = ["ObfuscatedFrame", "obfuscate"]
