"""Compare drafting and refining with spending all at once, at equal budgets under the profile proven.

python scripts/measure_draft.py reviews.jsonl.xz --bundle BUNDLE --attribute author --first-words 60 --texts 200
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textveil import Obfuscation, Obfuscator
from textveil.bundles.bundle import Bundle
from textveil.draft import DEFAULT_DRAFT_SHARE
from textveil.lab.metrics import Dataset, Evaluator
from textveil.lab.metrics.files import read_columns
from textveil.methods.distribution import DISTRIBUTORS, Score
from textveil.text.documents import Document, cut
from textveil.text.stopwords import ENGLISH

AT_ONCE = (12.0, 16.0, 20.0, 24.0, 28.0, 32.0, 36.0)
"""Budgets per word, as multiples of one over the median distance, of texts that are perturbed in one round."""
SEEDS = range(42, 52)
"""The seeds of the attackers; each has its own test texts."""
STEPS = 3
"""The number of steps of ``gradients``."""
COLUMNS = ("agreement", "unchanged", "other words", "similarity", "author F1", "gain", "at once")


class Setting(NamedTuple):
    """A way to spend a budget."""

    mechanism: str
    level: float
    decomposition: str = "words"
    distribution: str = "uniform"
    draft_share: float | None = None
    """The part of the draft; ``None`` to spend all at once."""


def main() -> None:
    """Print a Markdown table with a row per setting; write all values as JSON lines, and go on where a run ended."""
    options = parse_arguments()
    known = read_records(options.output)
    measuring = Measuring(options)
    curves: dict[str, list[tuple[float, float]]] = {}
    print(f"| mechanism | level | draft | decomposition | distribution | {' | '.join(COLUMNS)} |")
    print("|---|---|---|---|---|" + "---|" * len(COLUMNS))
    with options.output.open("a", encoding="utf-8") as output:
        for setting in list_settings(options):
            record = known.get(setting) or measuring.measure(setting)
            curve = curves.setdefault(setting.mechanism, [(0.0, 0.0)])
            if setting.draft_share is None:
                curve.append((record["similarity"], record["unchanged"]))
            at_once = np.array(sorted(curve))
            record["at once"] = float(np.interp(record["similarity"], at_once[:, 0], at_once[:, 1]))
            print(show(setting, record), flush=True)
            if setting not in known:
                output.write(json.dumps(record) + "\n")
                output.flush()


def read_records(path: Path) -> dict[Setting, dict[str, Any]]:
    """The values that an earlier run has written, by setting."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    records = map(json.loads, lines)
    return {Setting(*(record[name] for name in Setting._fields)): record for record in records}


def list_settings(options: argparse.Namespace) -> Iterator[Setting]:
    """First all budgets at once, for the curve that drafts are compared with; then the drafts."""
    for mechanism in options.mechanisms:
        yield from (Setting(mechanism, level) for level in sorted({*options.at_once, *options.levels}))
        for level in options.levels:
            for share in options.draft_shares:
                for decomposition in options.decompositions:
                    for distribution in options.distributions:
                        yield Setting(mechanism, level, decomposition, distribution, share)


class Measuring:
    """Obfuscates the texts in one way after the other, and evaluates them."""

    def __init__(self, options: argparse.Namespace) -> None:
        found, columns = read_columns(options.file, options.text, [options.attribute])
        every = max(1, len(found) // options.texts)
        self.texts = [cut(text or "", options.first_words) for text in found[::every]][: options.texts]
        attribute = columns[options.attribute][::every][: options.texts]
        metrics = ["similarity", *([] if options.without_attack else ["attribute"])]
        seeds = {} if options.without_attack else {"attribute": {"seeds": list(SEEDS)}}
        self.evaluator = Evaluator(Dataset(self.texts, attribute=attribute, folder=options.cache), metrics, seeds)
        self.bundle = Bundle.load(options.bundle)
        self.options = options
        self._scores: dict[str, list[list[Score]]] = {}

    def measure(self, setting: Setting) -> dict[str, Any]:
        """The values of one setting."""
        started = time.monotonic()
        obfuscator = Obfuscator(
            self.bundle,
            decomposition=setting.decomposition,
            distribution=setting.distribution,
            distribution_options=choose_options(setting.distribution),
            mechanism=setting.mechanism,
            mechanism_options={"dimensions": self.options.dimensions},
            profile="proven",
            largest_share=math.inf,
            draft_share=setting.draft_share,
            seed=1,
        )
        median = obfuscator.terms.distance["pairs"]["0.5"]
        results = list(obfuscator.obfuscate_all(self.texts, epsilon_per_word=setting.level / median))
        seconds = time.monotonic() - started
        evaluation = self.evaluator.measure([result.text for result in results])
        similarity = evaluation.value("similarity", "cosine") or 0.0
        adaptive, originals = (evaluation.value("attribute", name) for name in ("adaptive", "baseline"))
        return {
            **setting._asdict(),
            **count_unchanged(results),
            "agreement": self.compare_scores(setting, results),
            "similarity": similarity,
            "author F1": adaptive,
            "author F1 of originals": originals,
            "gain": None if adaptive is None or originals is None else similarity - adaptive / originals,
            "seconds": seconds,
            "metrics": {name: dict(measured.values) for name, measured in evaluation.measurements.items()},
        }

    def compare_scores(self, setting: Setting, results: Sequence[Obfuscation]) -> float | None:
        """The mean correlation of the scores that a draft gets with those that its original would get."""
        if setting.draft_share is None or setting.distribution == "uniform":
            return None
        if setting.distribution not in self._scores:
            distributor = DISTRIBUTORS.load(setting.distribution)(**choose_options(setting.distribution))
            self._scores[setting.distribution] = distributor.score([Document.parse(text) for text in self.texts])
        correlations = []
        for result, expected in zip(results, self._scores[setting.distribution], strict=True):
            found = [score for chunk in result.chunks for score in chunk.scores]
            both = [pair for pair in zip(found, expected, strict=True) if None not in pair]
            if len({one for one, _ in both}) > 1 and len({other for _, other in both}) > 1:
                correlations.append(np.corrcoef(np.array(both, dtype=float).T)[0, 1])
        return float(np.mean(correlations))


def choose_options(distribution: str) -> dict[str, Any]:
    """The options of a distribution."""
    return {"steps": STEPS} if distribution == "gradients" else {}


def count_unchanged(results: Sequence[Obfuscation]) -> dict[str, float]:
    """The shares of words that returned: of all, and of those that are no stopwords."""
    pairs = [
        (chunk.original.lower(), chunk.original.lower() == chunk.replacement, chunk.chunk.size)
        for result in results
        for chunk in result.chunks
    ]
    others = [(same, size) for word, same, size in pairs if word not in ENGLISH]
    return {
        "unchanged": sum(size for _, same, size in pairs if same) / sum(size for *_, size in pairs),
        "other words": sum(size for same, size in others if same) / sum(size for _, size in others),
    }


def show(setting: Setting, record: dict[str, Any]) -> str:
    """A row of the table."""
    draft = "" if setting.draft_share is None else f"{setting.draft_share:g}"
    values = ["" if record[name] is None else f"{record[name]:.2f}" for name in COLUMNS]
    return (
        " | ".join(
            [
                f"| {setting.mechanism}",
                f"{setting.level:g}",
                draft,
                setting.decomposition,
                setting.distribution,
                *values,
            ]
        )
        + " |"
    )


def parse_arguments() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--bundle", default="en", help="a bundle; fluent needs one with priors")
    parser.add_argument("--text", default="text")
    parser.add_argument("--attribute", default="author")
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--first-words", type=int, default=60)
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--mechanisms", nargs="+", default=["exponential", "fluent"])
    parser.add_argument("--levels", nargs="+", type=float, default=[20.0, 28.0, 36.0])
    parser.add_argument("--at-once", nargs="+", type=float, default=list(AT_ONCE))
    parser.add_argument("--draft-shares", nargs="+", type=float, default=[DEFAULT_DRAFT_SHARE])
    parser.add_argument("--decompositions", nargs="+", default=["words"])
    parser.add_argument("--distributions", nargs="+", default=list(DISTRIBUTORS))
    parser.add_argument("--without-attack", action="store_true", help="do not train an attacker")
    parser.add_argument("--cache", type=Path, help="folder for cached scores")
    parser.add_argument("--output", type=Path, default=Path("draft.jsonl"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
