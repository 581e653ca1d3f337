"""Adapters for other libraries, one file each."""

__all__: list[str] = []
