"""The lab: prepares languages, attacks, compares and explains. The core never imports it."""

__all__: list[str] = []
