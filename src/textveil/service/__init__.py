"""The service: the obfuscator over HTTP, and its page."""
