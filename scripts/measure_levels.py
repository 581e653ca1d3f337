"""Measure the figures of the levels of protection with the default settings: the table in budget.py.

python scripts/measure_levels.py product_reviews.jsonl.xz
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

from textveil import Obfuscator
from textveil.budget import LEVELS
from textveil.certificate import Tally
from textveil.lab.metrics import Dataset, Evaluator
from textveil.lab.metrics.files import read_columns
from textveil.outcomes import Outcome
from textveil.profiles import STRICT
from textveil.text.documents import cut


def main() -> None:
    """Print a line per level and length of texts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--texts", type=int, default=500, help="number of texts, from the first one on")
    parser.add_argument("--first-words", type=int, default=60, help="number of words of the short texts")
    parser.add_argument("--profile", default=STRICT.name, help="the profile; the table has the default one")
    options = parser.parse_args()
    whole = [text or "" for text in islice(read_columns(options.file, "text", [])[0], options.texts)]
    for name, texts in {"whole": whole, "short": [cut(text, options.first_words) for text in whole]}.items():
        evaluator = Evaluator(Dataset(texts), ["linkage", "similarity"])
        for level in LEVELS:
            obfuscator = Obfuscator(profile=options.profile, seed=1)
            results = list(obfuscator.obfuscate_all(texts, level=level))
            tally = Tally.over(result.certificate.tally for result in results)
            replaced = sum(tally.words[outcome] for outcome in Outcome if outcome.is_chosen)
            found = evaluator.measure([result.text for result in results])
            print(
                f"{name} {level}: {tally.words.total() / len(texts):.0f} words per text, "
                f"per word {obfuscator.build_budget(level=level).epsilon_per_word:.2f}, "
                f"returned {tally.returned / replaced:.4f}, linked {found.value('linkage', 'top_1'):.4f}, "
                f"similarity {found.value('similarity', 'cosine'):.4f}. {found.measurements['linkage'].line}",
                flush=True,
            )


if __name__ == "__main__":
    main()
