"""Attacks: what somebody who has the obfuscated texts can still find out."""

__all__: list[str] = []
