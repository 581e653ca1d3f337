"""Pretrained models: their files, and encoders that read texts of any length."""

__all__: list[str] = []
"""Nothing here is for users: it may change without notice."""
