"""Splitting reviews into chunks: textveil against plain loops over the same lexicons and NLTK's WordNet."""

from __future__ import annotations

import csv
import json
import lzma
import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path

from benchmarks.records import Record
from tests.decomposition.plain import Test, decompose_plainly, in_lexicon, in_wordnet, list_sentences, read_wordnet
from textveil.bundles.bundle import Bundle
from textveil.methods.decomposition import DECOMPOSERS, Decomposer
from textveil.resources import find, locate
from textveil.text.batches import BATCH_SIZE, batch_texts
from textveil.text.documents import Chunk, Document
from textveil.text.sentences import load_splitter

DOCUMENTS = 1000
ROUNDS = 5


def read_reviews(folder: Path | None) -> list[str]:
    """A thousand real reviews, half of them from each data set; without data sets, the examples repeated."""
    if folder is None:
        with Path("examples/reviews.csv").open(encoding="utf-8", newline="") as lines:
            return [" ".join(row["text"] for row in csv.DictReader(lines)) * 5] * DOCUMENTS
    reviews: list[str] = []
    for name in ("imdb_test_4000", "scale_reviews"):
        with lzma.open(folder / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
            reviews += [json.loads(line)["text"] for line in islice(lines, DOCUMENTS // 2)]
    return reviews


def split(decomposer: Decomposer, reviews: list[str]) -> list[list[Chunk]]:
    """The chunks of all reviews, from text to chunks, in batches like those of obfuscation."""
    batches = batch_texts(reviews, BATCH_SIZE, text_of=str)
    return [chunks for batch in batches for chunks in decomposer.decompose(list(map(Document.parse, batch)))]


def split_plainly(is_entry: Test, reviews: list[str]) -> list[list[str]]:
    """The chunks of all reviews, by the plain loop."""
    return [decompose_plainly(review, is_entry) for review in reviews]


def measure(work: Callable[[], object]) -> float:
    """The duration in seconds, with nothing remembered of sentences."""
    load_splitter().clear_decision_cache()
    list_sentences.cache_clear()
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def compare_decomposition(datasets: Path | None) -> list[Record]:
    """Words per second from text to chunks, including sentence splitting."""
    bundle, reviews = Bundle.load(), read_reviews(datasets)
    words = sum(len(Document.parse(review).words) for review in reviews)
    records = []
    for name in DECOMPOSERS:
        decomposer = DECOMPOSERS.load(name)(bundle)
        ours = partial(split, decomposer, reviews)
        is_entry = choose_test(bundle, name)
        if is_entry is None:
            seconds = statistics.median(measure(ours) for _ in range(ROUNDS))
            records.append(Record("decomposition", name, words / seconds, "words/s"))
            continue
        plain = partial(split_plainly, is_entry, reviews)
        # The rounds alternate, so that a slow phase of the machine affects both; each round has its own ratio.
        rounds = [(measure(ours), measure(plain)) for _ in range(ROUNDS if name != "wordnet" else 1)]
        seconds = statistics.median(fast for fast, _ in rounds)
        slow = statistics.median(slow for _, slow in rounds)
        ratio = statistics.median(slow / fast for fast, slow in rounds)
        records.append(
            Record("decomposition", name, words / seconds, "words/s", f"plain loop: {words / slow:,.0f}", ratio)
        )
    return records


def choose_test(bundle: Bundle, name: str) -> Test | None:
    """The test of the plain loop; ``None`` if there is no such loop, or WordNet is not installed."""
    if name == "wordnet":
        return in_wordnet(read_wordnet(find("wordnet"))) if locate("wordnet") is not None else None
    return in_lexicon(bundle.lexicon(name).spelled) if name in bundle.manifest.lexicons else None
