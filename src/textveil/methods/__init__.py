"""The three axes: decomposition, distribution and mechanisms, one file per method."""

__all__: list[str] = []
