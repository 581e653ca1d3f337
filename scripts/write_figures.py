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
from textveil.mechanisms.base import NO_GUARANTEE
from textveil.obfuscation import Obfuscator
from textveil.privacy.levels import LEVELS
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
                for mechanism in list_mechanisms(bundle, decomposition):
                    obfuscator = Obfuscator(bundle, decomposition=decomposition, mechanism=mechanism)
                    shares = {level: round(obfuscator.find_share(rate), 2) for level, rate in LEVELS.items()}
                    print(f"{name} {decomposition} {mechanism}: {shares}")
        table = {path.stem: json.loads(path.read_bytes()) for path in sorted(Path(folder).rglob("*.json"))}
    (SHIPPED / "figures.json").write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def list_mechanisms(bundle: Bundle, decomposition: str) -> list[str]:
    """The mechanisms with a guarantee that the bundle supports."""
    loaded = {name: MECHANISMS.load(name) for name in MECHANISMS}
    return [
        name
        for name, mechanism in loaded.items()
        if mechanism.guarantee != NO_GUARANTEE and (not mechanism.uses_prior or bundle.prior(decomposition) is not None)
    ]


if __name__ == "__main__":
    main()
