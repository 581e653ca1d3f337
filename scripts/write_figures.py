"""Compute the figures of the shipped bundles, so that a fresh install starts without computing them.

python scripts/write_figures.py [--keep]
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from textveil.budget import LEVELS
from textveil.bundles.bundle import SHIPPED, Bundle
from textveil.lab.attacks.deniability import describe_meaning
from textveil.methods.mechanisms import MECHANISMS
from textveil.methods.mechanisms.base import NO_GUARANTEE
from textveil.obfuscator import Obfuscator
from textveil.profiles import PROVEN
from textveil.storage import computed as figures

MEANINGS = {"words": ("madlib", "exponential", "fluent"), "pmi": ("madlib", "exponential", "fluent")}
"""The mechanisms whose epsilons are explained, by decomposition. Others are computed when they are asked for."""


def main() -> None:
    """Compute everything anew in an empty cache, or only what is missing, and collect it in one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="keep the figures that are there, and add the missing ones")
    shipped = SHIPPED / "figures.json"
    kept: dict[str, object] = json.loads(shipped.read_bytes()) if parser.parse_args().keep else {}
    if not kept:
        shipped.unlink(missing_ok=True)
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
                    if mechanism in MEANINGS.get(decomposition, ()):
                        points = describe_meaning(obfuscator)["points"]
                        print(*(tuple(point.values()) for point in points), flush=True)
                    if mechanism in MEANINGS.get(decomposition, ()) and decomposition == "words":
                        everything = Obfuscator(bundle, mechanism=mechanism, profile=PROVEN.name)
                        describe_meaning(everything)
        table = kept | {path.stem: json.loads(path.read_bytes()) for path in sorted(Path(folder).rglob("*.json"))}
    shipped.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")


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
