"""Measure what the form of a text gives away: attackers, similarity and perplexity by profile, form and budget.

python scripts/measure_form.py scale_reviews.jsonl.xz --attribute author --every 4

With ``--returning 0.1 0.2``, also what a random part of the words gives away: the original words without case,
punctuation and all other words. A text that keeps these words keeps their similarity, and so their author.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textveil import Obfuscator
from textveil.lab.metrics import Dataset, Evaluator
from textveil.lab.metrics.files import read_columns
from textveil.randomness import SeededRandomness
from textveil.text.documents import cut
from textveil.text.words import find_words

SETTINGS: dict[str, dict[str, Any]] = {
    "strict, keep": {"profile": "strict", "form": "keep"},
    "strict, plain": {"profile": "strict", "form": "plain"},
    "strict, keep, all perturbed": {"profile": "strict", "form": "keep", "stopwords": "perturb"},
    "strict, plain, all perturbed": {"profile": "strict", "form": "plain", "stopwords": "perturb"},
    "proven, bare": {"profile": "proven", "form": "bare"},
    "proven, plain": {"profile": "proven", "form": "plain"},
    "proven, plain, pmi": {"profile": "proven", "form": "plain", "decomposition": "pmi"},
}
CLASSIFIERS = ("linear", "stylometry")
OPTIONS: dict[str, dict[str, Any]] = {"perplexity": {"sample": 100}}
COLUMNS = (
    "adaptive F1, linear",
    "adaptive F1, stylometry",
    "similarity",
    "median perplexity",
)


@dataclass
class Measures:
    """The attackers and the other metrics, with everything that they compute once."""

    dataset: Dataset
    metrics: Sequence[str]

    def __post_init__(self) -> None:
        options = {name: found for name, found in OPTIONS.items() if name in self.metrics}
        self._attackers = [
            Evaluator(self.dataset, ["attribute"], {"attribute": {"classifier": name}}) for name in CLASSIFIERS
        ]
        self._others = Evaluator(self.dataset, self.metrics, options) if self.metrics else None

    def write(self, texts: Sequence[str]) -> str:
        """The cells of a row."""
        found = [attacker.measure(texts).value("attribute", "adaptive") for attacker in self._attackers]
        if self._others is not None:
            others = self._others.measure(texts)
            found += [others.value("similarity", "cosine"), others.value("perplexity", "median")]
        return " | ".join("" if value is None else f"{value:.3f}" if value < 2 else f"{value:.0f}" for value in found)


def keep_some(texts: Sequence[str], part: float) -> list[str]:
    """A random part of the words of every text, in lowercase; the same words with every call."""
    generator = SeededRandomness(1).stream(0)
    return [" ".join(word for word in find_words(text.lower()) if generator.random() < part) for text in texts]


def main() -> None:
    """Print a Markdown table with a row per setting and budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--attribute", required=True)
    parser.add_argument("--first-words", type=int, default=60, help="number of words of each text to use")
    parser.add_argument("--every", type=int, default=4, help="use only every n-th text")
    parser.add_argument("--per-word", type=float, nargs="+", default=[10, 15, 20], help="budgets per word")
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--metrics", nargs="*", default=["similarity", "perplexity"], help="metrics beside attackers")
    parser.add_argument("--returning", type=float, nargs="*", default=[], help="parts of the words to return alone")
    parser.add_argument("--mechanism", default="fluent")
    parser.add_argument("--cache", type=Path, help="folder for cached scores")
    options = parser.parse_args()
    originals, columns = read_columns(options.file, "text", [options.attribute])
    texts = [cut(text or "", options.first_words) for text in originals[:: options.every]]
    dataset = Dataset(texts, attribute=columns[options.attribute][:: options.every], folder=options.cache)
    measures = Measures(dataset, options.metrics)
    print(f"{len(texts):,} texts\n\n| setting | per word | {' | '.join(COLUMNS)} |\n|---|---|{'---|' * len(COLUMNS)}")
    for part in options.returning:
        print(f"| {part:g} of the words, at random | | {measures.write(keep_some(texts, part))} |", flush=True)
    for per_word, name in itertools.product(options.per_word, options.settings):
        obfuscator = Obfuscator(mechanism=options.mechanism, seed=1, **SETTINGS[name])
        found = obfuscator.obfuscate_all(texts, epsilon_per_word=per_word, first_document=0)
        print(f"| {name} | {per_word:g} | {measures.write([result.text for result in found])} |", flush=True)


if __name__ == "__main__":
    main()
