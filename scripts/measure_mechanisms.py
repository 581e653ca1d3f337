"""Compare mechanisms on a data set: what stays, what is understood, what attackers find, and how it reads.

python scripts/measure_mechanisms.py reviews.jsonl.xz --bundle BUNDLE --attribute author --first-words 60 --texts 600
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from textveil import Obfuscator
from textveil.bundles.bundle import Bundle
from textveil.lab.metrics import Dataset, Evaluation, Evaluator
from textveil.lab.metrics.files import read_columns
from textveil.text.documents import cut


class Setting(NamedTuple):
    """A mechanism with its options, at budgets per word given as multiples of one over the median distance."""

    mechanism: str
    options: dict[str, Any]
    levels: tuple[float, ...]


SETTINGS = (
    Setting("madlib", {}, (90, 120)),
    Setting("madlib", {"dimensions": 64}, (24, 32)),
    Setting("exponential", {"dimensions": 64}, (20, 28)),
    Setting("fluent", {"dimensions": 64}, (12, 20, 28, 36)),
)
PAPER = 300
"""The length of the paper's vectors."""
VALUES = {
    "similarity": ("similarity", "cosine"),
    "author F1": ("attribute", "adaptive"),
    "label F1": ("downstream", "f1"),
    "perplexity": ("perplexity", "median"),
    "guessed": ("inversion", "top_1"),
    "decoded": ("inversion", "decoded"),
}


def main() -> None:
    """Print a Markdown table with a row per mechanism and level; write all values as JSON lines."""
    options = parse_arguments()
    bundle = Bundle.load(options.bundle)
    names = [name for name in (options.label, options.attribute) if name]
    found, columns = read_columns(options.file, options.text, names)
    every = max(1, len(found) // options.texts)
    texts = [cut(text or "", options.first_words) for text in found[::every]][: options.texts]
    chosen = {name: each[::every][: options.texts] for name, each in columns.items()}
    dataset = Dataset(
        texts,
        label=chosen.get(options.label),
        attribute=chosen.get(options.attribute),
        folder=options.cache,
    )
    evaluator = Evaluator(
        dataset, options.metrics, {"perplexity": {"sample": options.sample}} if options.sample else {}
    )
    print("| mechanism | share x median distance | unchanged | " + " | ".join(VALUES) + " |")
    print("|---|---|---|" + "---|" * len(VALUES))
    with options.output.open("a", encoding="utf-8") as output:
        for setting in list_settings(bundle.vectors(options.decomposition).dimensions):
            for level in setting.levels:
                record = measure(setting, level, bundle, texts, evaluator=evaluator, options=options)
                output.write(json.dumps(record) + "\n")
                output.flush()


def list_settings(dimensions: int) -> list[Setting]:
    """The settings that fit vectors of this length; the first one is for those of the paper."""
    return [setting for setting in SETTINGS if setting.options.get("dimensions", PAPER) <= dimensions]


def parse_arguments() -> argparse.Namespace:
    """The arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--bundle", default="en", help="a bundle with priors")
    parser.add_argument("--text", default="text")
    parser.add_argument("--label")
    parser.add_argument("--attribute")
    parser.add_argument("--texts", type=int, default=600)
    parser.add_argument("--first-words", type=int, default=60)
    parser.add_argument("--profile", default="strict")
    parser.add_argument("--stopwords", default="perturb")
    parser.add_argument("--decomposition", default="words")
    parser.add_argument(
        "--metrics", nargs="+", default=["similarity", "attribute", "downstream", "perplexity", "inversion"]
    )
    parser.add_argument("--sample", type=int, help="number of texts that perplexity reads")
    parser.add_argument("--cache", type=Path, help="folder for cached scores")
    parser.add_argument("--output", type=Path, default=Path("mechanisms.jsonl"))
    return parser.parse_args()


def measure(
    setting: Setting,
    level: float,
    bundle: Bundle,
    texts: Sequence[str],
    *,
    evaluator: Evaluator,
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Obfuscate the texts at one level, evaluate them, and print a row."""
    obfuscator = Obfuscator(
        bundle,
        decomposition=options.decomposition,
        mechanism=setting.mechanism,
        mechanism_options=setting.options,
        profile=options.profile,
        stopwords=options.stopwords,
        form=None if options.profile == "proven" else "keep",  # as when the tables were made
        largest_share=math.inf,
        seed=1,
    )
    median = obfuscator.terms.distance["pairs"]["0.5"]
    started = time.monotonic()
    results = list(obfuscator.obfuscate_all(texts, epsilon_per_word=level / median))
    seconds = time.monotonic() - started
    total = sum(result.certificate.tally.words.total() for result in results)
    unchanged = sum(result.certificate.tally.returned for result in results) / total
    evaluation = evaluator.measure(
        [result.text for result in results], certificate=results[0].certificate, obfuscations=results
    )
    values = {name: evaluation.value(*place) for name, place in VALUES.items()}
    described = (
        f"{setting.mechanism}, {setting.options.get('dimensions', bundle.vectors(options.decomposition).dimensions)}-d"
    )
    print(
        f"| {described} | {level:g} | {unchanged:.2f} | {' | '.join(show(values[name]) for name in VALUES)} |",
        flush=True,
    )
    return {
        "mechanism": described,
        "level": level,
        "unchanged": unchanged,
        **values,
        "seconds": seconds,
        **details(evaluation),
    }


def show(value: float | None) -> str:
    """A value for the table."""
    return "" if value is None else f"{value:,.0f}" if value >= 10 else f"{value:.2f}"


def details(evaluation: Evaluation) -> dict[str, Any]:
    """All values of an evaluation."""
    return {"metrics": {name: dict(found.values) for name, found in evaluation.measurements.items()}}


if __name__ == "__main__":
    main()
