"""Compute the figures of the shipped bundles, so that a fresh install starts without computing them.

python scripts/write_figures.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from textveil.bundles.bundle import SHIPPED, Bundle
from textveil.mechanisms import MECHANISMS
from textveil.obfuscation import Obfuscator
from textveil.storage import figures


def main() -> None:
    """Compute everything anew in an empty cache, and collect it in one table."""
    (SHIPPED / "figures.json").unlink(missing_ok=True)
    figures.WORTH_KEEPING = 0.0
    with TemporaryDirectory() as folder:
        os.environ[figures.VARIABLE] = folder
        for name in Bundle.shipped():
            bundle = Bundle.load(name)
            for decomposition in bundle.decompositions:
                for mechanism in MECHANISMS:
                    shares = Obfuscator(bundle, decomposition=decomposition, mechanism=mechanism).find_shares()
                    print(f"{name} {decomposition} {mechanism}: {shares}")
        table = {path.stem: json.loads(path.read_bytes()) for path in sorted(Path(folder).rglob("*.json"))}
    (SHIPPED / "figures.json").write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
