"""Measure positions by spelling: words that were left out of the fit, misspelled words, and the similarity of texts.

    python -m scripts.measure_spelling --bundle en --reviews imdb_test_4000.jsonl.xz

2,000 words of the vocabulary, and a few more that are listed below, are left out of the vocabulary and of the fit. The
script prints

- for all of them: the cosine of position and vector, and the rank of the word among all entries by the distance from
  its position. It does the same for the center, the position of unknown words without a spelling table;
- for inflected ones: how often the nearest entry, and one of the nearest ten, has the same base;
- for compounds of two known words: how often one of the nearest ten has a part of it;
- for slips (a letter of a known word is dropped, doubled or swapped): how often the intended word is among the nearest;
- the neighbors of the listed words;
- the similarity of obfuscated reviews to their originals (all-MiniLM-L6-v2), with and without a spelling table.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from scripts.measure_bundle import count_unchanged, load_encoder
from textveil.bundles.bundle import Bundle
from textveil.bundles.spelling import Spelling, find_examples, fit_spelling, rank_entries
from textveil.bundles.vectors import Floats, RowNumbers, Vectors
from textveil.obfuscator import Obfuscator
from textveil.outcomes import Outcome
from textveil.randomness import SeededRandomness

LEFT_OUT = 2000
SHOWN = (
    *("actresses", "whispering", "cleverly", "disappointed"),  # inflected
    *("definately", "beautifull", "charachter", "embarassing"),  # misspelled
    *("filmmaker", "moonlight", "bookshop", "zombielike"),  # compounds
)
ENDINGS = ("s", "es", "d", "ed", "ing", "ly", "er", "ers", "est", "ness", "ful")


def find_bases(word: str) -> Iterator[str]:
    """Words that a word may be an inflected form of, itself included."""
    yield word
    for ending in ENDINGS:
        base = word.removesuffix(ending)
        if base != word and len(base) >= 3:
            yield base
            yield base + "e"
            if base[-1] == base[-2]:
                yield base[:-1]
            if base[-1] == "i":
                yield base[:-1] + "y"


def find_parts(word: str, known: Vectors) -> list[tuple[str, str]]:
    """The ways to split a word into two known words of at least four letters."""
    cuts = ((word[:place], word[place:]) for place in range(4, len(word) - 3))
    return [(first, second) for first, second in cuts if first in known and second in known]


def slip(word: str, generator: np.random.Generator) -> str:
    """A word with a letter that is dropped, doubled or swapped with the next one."""
    place = int(generator.integers(1, len(word) - 1))
    kinds = (
        word[:place] + word[place + 1 :],
        word[:place] + word[place] + word[place:],
        word[:place] + word[place + 1] + word[place] + word[place + 2 :],
    )
    return kinds[int(generator.integers(3))]


def leave_out(vectors: Vectors, rows: RowNumbers) -> Vectors:
    """The vocabulary without some rows."""
    kept = np.setdiff1d(np.arange(len(vectors)), rows)
    return Vectors([vectors.entries[row] for row in kept], vectors.matrix[kept], single_words=True)


def choose_left_out(vectors: Vectors) -> RowNumbers:
    """Words of at least four letters, drawn at random, and those that are shown."""
    rows = [row for row in find_examples(vectors) if vectors.entries[row].isalpha() and len(vectors.entries[row]) > 3]
    drawn = SeededRandomness(1).stream(0).choice(rows, LEFT_OUT, replace=False)
    return np.union1d(drawn, [vectors.find(word) for word in SHOWN if word in vectors])


def list_nearest(known: Vectors, positions: Floats, count: int = 10) -> list[list[str]]:
    """The writable entries nearest to each position."""
    entries = known.matrix[known.writable]
    halves = np.einsum("ij,ij->i", entries, entries) / 2
    found = []
    for position in positions:
        scores = entries @ position.astype(np.float32) - halves
        found.append([known.entries[known.writable[place]] for place in scores.argsort()[::-1][:count]])
    return found


def report_ranks(vectors: Vectors, spelling: Spelling, rows: RowNumbers) -> None:
    """Print cosines, distances and ranks of all words that were left out."""
    spelled = spelling.place([vectors.entries[row] for row in rows])
    true = vectors.matrix[rows].astype(np.float64)
    offsets, known = spelled - spelling.center, true - spelling.center
    lengths = np.maximum(np.linalg.norm(offsets, axis=1) * np.linalg.norm(known, axis=1), 1e-12)
    print(f"{len(rows):,} words left out: mean cosine {(np.einsum('ij,ij->i', offsets, known) / lengths).mean():.3f}")
    centers = np.broadcast_to(spelling.center, spelled.shape)
    others = np.roll(true, 1, axis=0)
    for name, positions, target in (
        ("by spelling", spelled, true),
        ("at the center", centers, true),
        ("another word's position", spelled, others),
    ):
        distance = np.linalg.norm(positions - target, axis=1).mean()
        ranks = rank_entries(vectors, positions, rows if target is true else np.roll(rows, 1))
        near = ", ".join(f"{(ranks <= count).mean():.1%} in the nearest {count}" for count in (1, 10, 100))
        print(f"  {name}: mean distance {distance:.2f}, median rank {np.median(ranks):,.0f}, {near}")


def report_families(known: Vectors, spelling: Spelling, words: Sequence[str]) -> None:
    """Print how often inflected words and compounds are near their relatives, by spelling and at the center."""
    bases = {word: {base for base in find_bases(word) if base != word and base in known} for word in words}
    parts = {word: {part for pair in find_parts(word, known) for part in pair} for word in words}
    inflected = [word for word in words if bases[word]]
    compounds = [word for word in words if parts[word] and not bases[word]]

    def is_kin(word: str, entry: str) -> bool:
        return not bases[word].isdisjoint(find_bases(entry))

    def has_part(word: str, entry: str) -> bool:
        return any(part in entry for part in parts[word])

    related: dict[str, tuple[list[str], Callable[[str, str], bool]]] = {
        "inflected: an entry with the same base": (inflected, is_kin),
        "compounds: an entry with a part of it": (compounds, has_part),
    }
    for name, (chosen, test) in related.items():
        for place, positions in (("by spelling", spelling.place(chosen)), ("at the center", spelling.place([None]))):
            nearest = list_nearest(known, positions) * (1 if len(positions) == len(chosen) else len(chosen))
            pairs = list(zip(chosen, nearest, strict=True))
            first = np.mean([test(word, entries[0]) for word, entries in pairs])
            ten = np.mean([any(test(word, entry) for entry in entries) for word, entries in pairs])
            print(f"{len(chosen):,} {name}, {place}: nearest {first:.1%}, in the nearest ten {ten:.1%}")


def report_slips(known: Vectors, spelling: Spelling) -> None:
    """Print how often the intended word of a slip is near its position."""
    generator = SeededRandomness(2).stream(0)
    rows = [row for row in known.writable if known.entries[row].isalpha() and len(known.entries[row]) > 5]
    intended = generator.choice(rows, LEFT_OUT, replace=False)
    slips = [slip(known.entries[row], generator) for row in intended]
    new = np.array([word not in known for word in slips])
    positions = spelling.place([word for word, is_new in zip(slips, new, strict=True) if is_new])
    ranks = rank_entries(known, positions, intended[new])
    near = ", ".join(f"{(ranks <= count).mean():.1%} in the nearest {count}" for count in (1, 10, 100))
    print(f"{len(ranks):,} slips: median rank of the intended word {np.median(ranks):,.0f}, {near}")


class Respelled(Bundle):
    """A bundle with another spelling table, or with none."""

    def __init__(self, folder: Path, spelling: Spelling | None) -> None:
        super().__init__(folder)
        self._respelled = spelling

    def spelling(self, decomposition: str) -> Spelling | None:
        """The other spelling table."""
        return self._respelled


def report_similarity(bundle: Bundle, texts: Sequence[str], shares: Sequence[float], dimensions: int | None) -> None:
    """Print the similarity of obfuscated texts with and without a spelling table."""
    encode = load_encoder()
    if encode is None:
        return
    originals = encode(texts)
    vectors = bundle.vectors("words")
    table, description = fit_spelling(vectors, bundle.counts("words"))
    print(f"spelling table: {json.dumps(description)}")
    options = {} if dimensions is None else {"dimensions": dimensions}
    for share in shares:
        similar = {}
        for name, spelling in (("with spelling", Spelling(table, vectors)), ("at the center", None)):
            obfuscator = Obfuscator(
                Respelled(bundle.folder, spelling),
                decomposition="words",
                form="keep",
                seed=1,
                largest_share=share,
                mechanism_options=options,
            )
            started = time.perf_counter()
            results = list(obfuscator.obfuscate_all(texts, epsilon_per_word=share))
            seconds = time.perf_counter() - started
            similar[name] = np.einsum("ij,ij->i", originals, encode([result.text for result in results]))
            outcomes = [chunk.outcome for result in results for chunk in result.chunks]
            drawn, perturbed = outcomes.count(Outcome.DRAWN), outcomes.count(Outcome.PERTURBED)
            print(
                f"{dimensions or vectors.dimensions} dimensions, {share:g} per word, {name}: similarity "
                f"{similar[name].mean():.4f}, {count_unchanged(results):.1%} unchanged, "
                f"{drawn / (drawn + perturbed):.1%} unknown, {len(texts) / seconds:.0f} documents/s",
                flush=True,
            )
        gains = similar["with spelling"] - similar["at the center"]
        print(f"    gain {gains.mean():.4f} (standard error {gains.std() / len(gains) ** 0.5:.4f})", flush=True)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", default="en")
    parser.add_argument("--reviews", type=Path, help="a .jsonl.xz file with a text per line")
    parser.add_argument("--texts", type=int, default=200, help="the number of texts")
    parser.add_argument("--words", type=int, default=100, help="the number of words to use of each text")
    parser.add_argument("--shares", type=float, nargs="+", default=[15.0, 20.0])
    parser.add_argument("--dimensions", type=int)
    arguments = parser.parse_args()
    bundle = Bundle.load(arguments.bundle)
    vectors = bundle.vectors("words")
    rows = choose_left_out(vectors)
    counts = bundle.counts("words")
    known = leave_out(vectors, rows)
    started = time.perf_counter()
    table, _ = fit_spelling(known, None if counts is None else np.delete(counts, rows))
    print(f"fitted to {len(known):,} entries in {time.perf_counter() - started:.1f} s")
    spelling = Spelling(table, known)
    report_ranks(vectors, spelling, rows)
    words = [vectors.entries[row] for row in rows]
    report_families(known, spelling, words)
    report_slips(known, spelling)
    for word, nearest in zip(SHOWN, list_nearest(known, spelling.place(SHOWN), 6), strict=True):
        print(f"| `{word}` | {', '.join(f'`{entry}`' for entry in nearest)} |")
    if arguments.reviews is not None:
        with lzma.open(arguments.reviews, "rt", encoding="utf-8") as lines:
            reviews = [json.loads(line)["text"] for line in islice(lines, arguments.texts)]
        texts = [" ".join(review.split()[: arguments.words]) for review in reviews]
        report_similarity(bundle, texts, arguments.shares, arguments.dimensions)


if __name__ == "__main__":
    main()
