"""The service: the obfuscator over HTTP, and its page."""

__all__: list[str] = []
