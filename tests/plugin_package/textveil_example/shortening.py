"""A metric of lengths."""

from __future__ import annotations

from textveil.lab.metrics import Case, Measurement, Metric


class Shortening(Metric):
    """The number of characters of obfuscated texts for each character of the originals."""

    name = "shortening"

    def measure(self, case: Case) -> Measurement:
        """Count characters."""
        ratio = sum(map(len, case.obfuscated)) / max(1, sum(map(len, case.originals)))
        return self.report(f"Obfuscated texts have {ratio:.0%} of the characters of the originals.", {"ratio": ratio})
