"""Files on disk: atomic writing, hashing, resumable runs, and cached scores."""

__all__: list[str] = []
"""Nothing here is for users: it may change without notice."""
