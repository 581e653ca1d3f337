"""Print the share of perturbed words that stay unchanged, for several budgets per word, to help choose epsilon.

python scripts/count_unchanged.py reviews.csv --column text --first 400
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

from textveil import Obfuscator, Outcome
from textveil.language.text import Document
from textveil.tables import FileSource, Layout


def main() -> None:
    """Print one line per budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="a table of texts, such as a CSV file")
    parser.add_argument("--column", default="text", help="the column with the texts")
    parser.add_argument("--first", type=int, default=400, help="the number of texts to use")
    parser.add_argument("--per-word", type=float, nargs="+", default=[5, 10, 15, 20, 25, 30], help="epsilons per word")
    options = parser.parse_args()
    source = FileSource(options.file)
    batches = source.read(Layout(options.column).table(source), batch_size=100)
    texts = list(islice((text for rows in batches for text in rows.texts if text), options.first))
    obfuscator = Obfuscator()
    for per_word in options.per_word:
        perturbed = unchanged = 0
        for text in texts:
            epsilon = per_word * max(1, len(Document.parse(text).words))
            for chunk in obfuscator.obfuscate(text, epsilon=epsilon).chunks:
                if chunk.outcome is Outcome.PERTURBED:
                    perturbed += 1
                    unchanged += chunk.replacement == chunk.original.lower()
        print(f"epsilon {per_word:g} per word: {unchanged / max(1, perturbed):.1%} of {perturbed:,} words unchanged")


if __name__ == "__main__":
    main()
