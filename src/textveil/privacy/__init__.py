"""What is promised: profiles, outcomes and the certificate."""

__all__: list[str] = []
"""Nothing here is for users: it may change without notice."""
