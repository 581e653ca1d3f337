"""The data set that metrics are tested on."""

from tests.metrics.conftest import case, certificate, dataset, obfuscations, rows, unchanged

__all__ = ["case", "certificate", "dataset", "obfuscations", "rows", "unchanged"]
