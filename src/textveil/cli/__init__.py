"""The command line: parse, call, print."""

__all__: list[str] = []
"""Nothing here is for users: it may change without notice."""
