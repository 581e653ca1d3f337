"""Measure what the form of a text gives away: attackers, similarity and perplexity by profile, form and budget.

python scripts/measure_form.py scale_reviews.jsonl.xz --attribute author --every 4
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import Any

from textveil import Obfuscator
from textveil.evaluation import Dataset, Evaluation, Evaluator
from textveil.evaluation.files import read_columns
from textveil.language.text import cut
from textveil.language.words import find_words

SETTINGS: dict[str, dict[str, Any]] = {
    "strict, keep": {"profile": "strict"},
    "strict, plain": {"profile": "strict", "form": "plain"},
    "strict, keep, all perturbed": {"profile": "strict", "stopwords": "perturb"},
    "strict, plain, all perturbed": {"profile": "strict", "form": "plain", "stopwords": "perturb"},
    "proven, bare": {"profile": "proven", "form": "bare"},
    "proven, plain": {"profile": "proven", "form": "plain"},
    "proven, plain, pmi": {"profile": "proven", "form": "plain", "decomposition": "pmi"},
}
METRICS: dict[str, dict[str, Any]] = {
    "attribute": {},
    "similarity": {"encoders": ["all-minilm-l6-v2"]},
    "perplexity": {"model": "smollm2-135m", "sample": 100},
}
COLUMNS = {"adaptive F1": ("attribute", "adaptive"), "similarity": ("similarity", "mean"), "perplexity": ("perplexity", "median")}


def main() -> None:
    """Print a Markdown table with a row per setting and budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--attribute", required=True)
    parser.add_argument("--first-words", type=int, default=60, help="number of words of each text to use")
    parser.add_argument("--every", type=int, default=4, help="use only every n-th text")
    parser.add_argument("--per-word", type=float, nargs="+", default=[10, 15, 20], help="budgets per word")
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--metrics", nargs="+", default=list(METRICS), choices=list(METRICS))
    parser.add_argument("--mechanism", default="fluent")
    parser.add_argument("--length", action="store_true", help="measure an attacker who sees the number of words alone")
    parser.add_argument("--cache", type=Path, help="folder for cached scores")
    options = parser.parse_args()
    texts, columns = read_columns(options.file, "text", [options.attribute])
    texts = [cut(text or "", options.first_words) for text in texts[:: options.every]]
    dataset = Dataset(texts, attribute=columns[options.attribute][:: options.every], folder=options.cache)
    evaluator = Evaluator(dataset, {name: METRICS[name] for name in options.metrics})
    print(f"{len(texts):,} texts\n\n| setting | per word | " + " | ".join(COLUMNS) + " |\n|---|---|" + "---|" * len(COLUMNS))
    if options.length:
        lengths = [" ".join(["word"] * len(find_words(text))) for text in texts]
        print(f"| number of words alone | | {write(evaluator.measure(lengths))} |", flush=True)
    for name, per_word in itertools.product(options.settings, options.per_word):
        obfuscator = Obfuscator(mechanism=options.mechanism, seed=1, **SETTINGS[name])
        found = obfuscator.obfuscate_all(texts, epsilon_per_word=per_word, first_document=0)
        evaluation = evaluator.measure([result.text for result in found])
        print(f"| {name} | {per_word:g} | {write(evaluation)} |", flush=True)


def write(evaluation: Evaluation) -> str:
    """The values of a row."""
    found = [evaluation.value(metric, name) if metric in evaluation.measurements else None for metric, name in COLUMNS.values()]
    return " | ".join("" if value is None else f"{value:.3f}" if value < 1 else f"{value:.0f}" for value in found)


if __name__ == "__main__":
    main()
