"""Counting n-grams: exactly, level by level, in bounded memory."""

__all__: list[str] = []
"""Nothing here is for users: it may change without notice."""
