"""Measure the F1 of linear attackers and of a task on a data set, at several budgets and under several profiles.

python scripts/measure_attackers.py reviews.jsonl.xz --label label3 --attribute author --first-words 60
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from textveil import Obfuscator
from textveil.lab.metrics import Dataset, Evaluation, Evaluator
from textveil.lab.metrics.files import read_columns
from textveil.profiles import load_profile
from textveil.text.documents import cut


def main() -> None:
    """Print a Markdown table with a row per profile and budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--text", default="text")
    parser.add_argument("--label", required=True)
    parser.add_argument("--attribute", required=True)
    parser.add_argument("--first-words", type=int, help="number of words of each text to use; all by default")
    parser.add_argument("--every", type=int, default=1, help="use only every n-th text")
    parser.add_argument("--per-word", type=float, nargs="+", default=[0.1, 1, 5], help="budgets per word")
    parser.add_argument("--profiles", nargs="+", default=["strict", "paper"])
    parser.add_argument("--decomposition", default="words")
    parser.add_argument("--distribution", default="uniform")
    parser.add_argument("--metrics", nargs="+", default=["attribute", "downstream"])
    parser.add_argument("--seed", type=int, default=1, help="seed of the noise")
    parser.add_argument("--cache", type=Path, help="folder for cached scores")
    options = parser.parse_args()
    texts, columns = read_columns(options.file, options.text, [options.label, options.attribute])
    texts, columns = texts[:: options.every], {name: each[:: options.every] for name, each in columns.items()}
    if options.first_words:
        texts = [cut(text or "", options.first_words) for text in texts]
    dataset = Dataset(texts, label=columns[options.label], attribute=columns[options.attribute], folder=options.cache)
    evaluator = Evaluator(dataset, options.metrics)
    print("| profile | budget per word | " + " | ".join(NAMES) + " | seconds |")
    print("|---|---|" + "---|" * (len(NAMES) + 1))
    for profile in options.profiles:
        obfuscator = Obfuscator(
            profile=profile,
            decomposition=options.decomposition,
            distribution=options.distribution,
            form=load_profile(profile).earlier_form,  # as when the tables were made
            seed=options.seed,
        )
        for per_word in options.per_word:
            found = obfuscator.obfuscate_all(texts, epsilon_per_word=per_word, first_document=0)
            results = [result.text for result in found]
            started = time.monotonic()
            evaluation = evaluator.measure(results)
            seconds = time.monotonic() - started
            print(f"| {profile} | {per_word:g} | {write(evaluation)} | {seconds:.0f} |", flush=True)


NAMES = {
    "baseline F1": ("attribute", "baseline"),
    "static F1": ("attribute", "static"),
    "adaptive F1": ("attribute", "adaptive"),
    "chance": ("attribute", "chance"),
    "downstream F1": ("downstream", "f1"),
    "downstream F1 of originals": ("downstream", "original"),
    "chance of downstream": ("downstream", "chance"),
}


def write(evaluation: Evaluation) -> str:
    """The values of a row with their 95 % intervals."""
    cells = []
    for metric, name in NAMES.values():
        value = evaluation.value(metric, name)
        cells.append("" if value is None else f"{value:.3f}{write_interval(evaluation, metric, name)}")
    return " | ".join(cells)


def write_interval(evaluation: Evaluation, metric: str, name: str) -> str:
    """The 95 % interval of a value in brackets."""
    interval = evaluation.measurements[metric].intervals.get(name)
    return "" if interval is None else f" [{interval.low:.3f}, {interval.high:.3f}]"


if __name__ == "__main__":
    main()
