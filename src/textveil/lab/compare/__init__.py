"""Comparisons of several obfuscations of the same originals: curves and their Pareto front."""

__all__: list[str] = []
