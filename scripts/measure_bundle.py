"""Measure a bundle: word similarity, coverage of real texts, and the effect of obfuscation.

    python scripts/measure_bundle.py --bundle en --reviews imdb_test_4000.jsonl.xz scale_reviews.jsonl.xz

It prints for every decomposition:

- the number of entries and of those that are never written, and the loading time;
- the Spearman correlation with human judgments of 353 word pairs (WordSim-353, which gensim ships);
- the neighbors of some expressions;
- the share of the chunks and words of the reviews in the vocabulary, before and after back-off;
- for 200 reviews, all words perturbed, three mechanisms at two budgets: documents per second, the share of unchanged
  words, and the similarity to the originals (with all-MiniLM-L6-v2 and the extra ``neural``, if both are installed).
"""

from __future__ import annotations

import argparse
import json
import lzma
import math
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from textveil.bundles.bundle import Bundle
from textveil.bundles.vectors import UNKNOWN, Vectors
from textveil.errors import TextveilError
from textveil.lab.metrics.encoding import normalize_rows
from textveil.methods.decomposition import DECOMPOSERS
from textveil.models.encoders import BATCH_SIZE, DEFAULT_ENCODER, SentenceEncoder, Values
from textveil.models.files import ModelFiles
from textveil.obfuscator import Obfuscator
from textveil.outcomes import Outcome
from textveil.planning import back_off
from textveil.results import Obfuscation
from textveil.text.documents import Document
from textveil.text.stopwords import ENGLISH

Encode = Callable[[Sequence[str]], Values]
LEVELS = {"madlib": (24, 32), "exponential": (20, 28), "fluent": (20, 28)}
"""The budgets per word of each mechanism, as multiples of one over the median distance."""
DOCUMENTS = 1000
EXPRESSIONS = (
    "new_york",
    "special_effects",
    "box_office",
    "high_school",
    "serial_killer",
    "love_story",
    "science_fiction",
    "main_character",
    "police_officer",
    "bad_guy",
    "years_ago",
    "half_hour",
)


def describe(bundle: Bundle, decomposition: str) -> str:
    """The size of the vocabulary, the number of entries that are never written, and the loading time."""
    started = time.perf_counter()
    vectors = Bundle.load(bundle.folder).vectors(decomposition)
    seconds = time.perf_counter() - started
    several = sum("_" in entry for entry in vectors.entries)
    changed = bundle.manifest.vectors[decomposition]["changed_neighbors"]
    return (
        f"{len(vectors):,} entries, {several:,} of several words, {len(vectors) - len(vectors.writable):,} never "
        f"written, int8 changes {changed:.2%} of nearest neighbors, loads in {seconds:.2f} s"
    )


def correlate(vectors: Vectors) -> tuple[float, float]:
    """The Spearman correlation of cosines with human judgments, and the share of known pairs."""
    from gensim.test.utils import datapath

    judged, cosines, pairs = [], [], 0
    for line in Path(datapath("wordsim353.tsv")).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        first, second, score = line.split("\t")
        rows = [vectors.find(word.lower()) for word in (first, second)]
        pairs += 1
        if UNKNOWN not in rows:
            one, other = vectors.matrix[rows]
            cosines.append(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
            judged.append(float(score))
    return float(spearmanr(judged, cosines).statistic), len(judged) / pairs


def list_neighbors(vectors: Vectors, entry: str, count: int = 5) -> list[str]:
    """The writable entries with the largest cosine to an entry."""
    lengths = np.linalg.norm(vectors.matrix, axis=1)
    row = vectors.find(entry)
    cosines = vectors.matrix @ vectors.matrix[row] / lengths / lengths[row]
    allowed = vectors.writable[vectors.writable != row]
    return [vectors.entries[place] for place in allowed[cosines[allowed].argsort()[::-1][:count]]]


def cover(bundle: Bundle, decomposition: str, documents: Sequence[Document]) -> dict[str, float]:
    """The shares of chunks and words in the vocabulary, without stopwords."""
    vectors = bundle.vectors(decomposition)
    chunks = known_chunks = words = known = backed = 0
    for document, found in zip(documents, DECOMPOSERS.load(decomposition)(bundle).decompose(documents), strict=True):
        for chunk in found:
            content = sum(word not in ENGLISH for word in document.words[chunk.start : chunk.stop])
            if not content:
                continue
            chunks, words = chunks + 1, words + content
            if document.key(chunk) in vectors:
                known_chunks, known, backed = known_chunks + 1, known + content, backed + content
                continue
            for part in back_off(document, chunk, known=vectors, longest=vectors.longest, stopwords=ENGLISH):
                if document.key(part) in vectors:
                    backed += sum(word not in ENGLISH for word in document.words[part.start : part.stop])
    return {"chunks": known_chunks / chunks, "words": known / words, "words after back-off": backed / words}


def count_unchanged(results: Sequence[Obfuscation]) -> float:
    """The share of unchanged words, without kept stopwords."""
    words = same = 0
    for result in results:
        for chunk in result.chunks:
            if chunk.outcome is not Outcome.KEPT_STOPWORD:
                words += chunk.chunk.size
                same += chunk.chunk.size * (chunk.replacement in (None, chunk.original.lower()))
    return same / words if words else 0.0


def read_reviews(paths: Sequence[Path]) -> list[str]:
    """A thousand reviews, the same number from each file."""
    reviews: list[str] = []
    for path in paths:
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            reviews += [json.loads(line)["text"] for line in islice(lines, DOCUMENTS // len(paths))]
    return reviews


def load_encoder() -> Encode | None:
    """A function that encodes texts as vectors of length one; ``None`` if the model or the extra is missing."""
    try:
        encoder = SentenceEncoder.open(ModelFiles.find(DEFAULT_ENCODER), batch_size=BATCH_SIZE, device=None)
    except TextveilError as error:
        print(f"no similarities: {error}")
        return None
    return lambda texts: normalize_rows(encoder.embed(texts))


def measure(bundle: Bundle, decomposition: str, reviews: Sequence[str], encode: Encode | None) -> None:
    """Obfuscate the reviews with every mechanism at several budgets, and print a line for each."""
    for mechanism, levels in LEVELS.items():
        if mechanism == "fluent" and bundle.prior(decomposition) is None:
            continue
        obfuscator = Obfuscator(
            bundle,
            decomposition=decomposition,
            mechanism=mechanism,
            stopwords="perturb",
            form="keep",
            largest_share=math.inf,
            seed=1,
        )
        median = obfuscator.terms.distance["pairs"]["0.5"]
        for level in levels:
            started = time.perf_counter()
            results = list(obfuscator.obfuscate_all(reviews, epsilon_per_word=level / median))
            rate = len(results) / (time.perf_counter() - started)
            line = f"    {mechanism} {level}: {rate:,.0f} documents/s, {count_unchanged(results):.1%} unchanged"
            if encode:
                similar = (encode(reviews) * encode([result.text for result in results])).sum(axis=1)
                line += f", similarity {similar.mean():.3f}"
            print(line, flush=True)


def main() -> None:
    """Measure a bundle and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", default="en", help="the name or the folder of the bundle")
    parser.add_argument("--reviews", type=Path, nargs="+", required=True, help="files of reviews, as .jsonl.xz")
    parser.add_argument("--words", type=int, default=60, help="the number of words to use of each review")
    parser.add_argument("--obfuscated", type=int, default=200, help="the number of reviews to obfuscate")
    options = parser.parse_args()
    bundle = Bundle.load(options.bundle)
    size = sum(path.stat().st_size for path in bundle.folder.rglob("*") if path.is_file())
    print(f"{bundle.manifest.name} {bundle.manifest.version}: {size / 1e6:.1f} MB, sha256 {bundle.hash}")
    reviews = [" ".join(review.split()[: options.words]) for review in read_reviews(options.reviews)]
    documents = list(map(Document.parse, reviews))
    average = sum(len(document.words) for document in documents) / len(documents)
    print(f"{len(reviews):,} reviews, the first {options.words} words of each; {average:.1f} words on average")
    encode = load_encoder()
    for decomposition in bundle.decompositions:
        vectors = bundle.vectors(decomposition)
        rho, share = correlate(vectors)
        covered = ", ".join(f"{name} {value:.1%}" for name, value in cover(bundle, decomposition, documents).items())
        print(f"\n{decomposition}: {describe(bundle, decomposition)}")
        print(f"    WordSim-353 {rho:.3f} ({share:.0%} of pairs are known)")
        print(f"    known {covered}")
        measure(bundle, decomposition, reviews[: options.obfuscated], encode)
        for entry in EXPRESSIONS:
            if entry in vectors:
                print(f"    {entry}: {', '.join(list_neighbors(vectors, entry))}")


if __name__ == "__main__":
    main()
