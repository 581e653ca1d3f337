"""Reports: statistics, figures, tables and pages."""

__all__: list[str] = []
