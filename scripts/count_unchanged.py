"""Print the share of perturbed words that stay unchanged, for several budgets per word, to help choose epsilon.

python scripts/count_unchanged.py reviews.csv --column text --first 400 --mechanism fluent
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

from textveil import Obfuscator
from textveil.certificate import Tally
from textveil.settings import MECHANISM
from textveil.tables import FileSource, Layout
from textveil.text.documents import cut


def main() -> None:
    """Print one line per length and budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="a table of texts, such as a CSV file")
    parser.add_argument("--column", default="text", help="the column with the texts")
    parser.add_argument("--first", type=int, default=400, help="the number of texts to use")
    parser.add_argument("--per-word", type=float, nargs="+", default=[5, 10, 15, 20, 25], help="epsilons per word")
    parser.add_argument("--lengths", type=int, nargs="+", default=[5, 20, 60, 200], help="words to keep of every text")
    parser.add_argument("--mechanism", default=MECHANISM, help="the mechanism")
    options = parser.parse_args()
    source = FileSource(options.file)
    batches = source.read(Layout(options.column).table(source), batch_size=100)
    texts = list(islice((text for rows in batches for text in rows.texts if text), options.first))
    obfuscator = Obfuscator(mechanism=options.mechanism)
    for length in options.lengths:
        shortened = [cut(text, length) for text in texts]
        for per_word in options.per_word:
            results = obfuscator.obfuscate_all(shortened, epsilon_per_word=per_word)
            tally = Tally.over(result.certificate.tally for result in results)
            chosen = sum(count for outcome, count in tally.words.items() if not outcome.in_clear)
            print(
                f"{length} words, epsilon {per_word:g} per word: {tally.returned / max(1, chosen):.1%} of {chosen:,} "
                f"words unchanged, {tally.return_bands['100%']:,} of {len(texts):,} texts verbatim"
            )


if __name__ == "__main__":
    main()
