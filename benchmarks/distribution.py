"""Scoring words: distributions in batches against plain libraries, one document at a time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.decomposition import read_reviews
from tests.decomposition.plain import read_wordnet
from tests.distribution.plain import attend_plainly, attribute_plainly, inform_plainly, load_plainly, read_counts
from textveil.distribution import DISTRIBUTORS
from textveil.distribution.allocation import allocate
from textveil.distribution.gradients import STEPS, Gradients
from textveil.distribution.information import InformationContent
from textveil.language.stopwords import ENGLISH
from textveil.language.text import Document
from textveil.resources import find

WORDS = 60
DOCUMENTS = {"uniform": 1000, "attention": 256, "gradients": 8, "ic": 256, "keybert": 64, "yake": 256}
WHOLE = ("ic", "yake")
"""Distributions without a window. The plain libraries do not read beyond the window of the others."""
ROUNDS = 3
ENOUGH_STEPS = 300
FEWER_STEPS = (5, 10, 20, 30, STEPS)
FEW_DOCUMENTS = 12

Score = Callable[[Document], object]


def score_with_attention() -> Score:
    """Algorithm 4 with transformers."""
    return partial(attend_plainly, *load_plainly(find("all-minilm-l6-v2"), attn_implementation="eager"))


def score_with_gradients() -> Score:
    """Algorithm 5 with transformers and Captum."""
    return partial(attribute_plainly, *load_plainly(find("all-minilm-l6-v2")))


def score_with_ic() -> Score:
    """Algorithm 6 with NLTK and the same tagger."""
    reader, counts = read_wordnet(find("wordnet")), read_counts(find("wordnet-ic"))
    tell = InformationContent().tell_parts
    return lambda document: inform_plainly(reader, counts, document, tell([document]))


def score_with_keybert() -> Score:
    """KeyBERT with its own embeddings."""
    from keybert import KeyBERT
    from sentence_transformers import SentenceTransformer
    from sklearn.feature_extraction.text import CountVectorizer

    model = KeyBERT(SentenceTransformer(str(find("all-minilm-l6-v2"))))

    def score(document: Document) -> object:
        vectorizer = CountVectorizer(token_pattern=r"(?u)\b\w+\b")  # noqa: S106
        return model.extract_keywords(document.text, vectorizer=vectorizer, top_n=len(document.words))

    return score


def score_with_yake() -> Score:
    """YAKE without a limit on the number of keywords."""
    from yake import KeywordExtractor

    extractor = KeywordExtractor(lan="en", n=1, dedup_lim=1.0, top=1_000_000)
    return lambda document: extractor.extract_keywords(document.text)


PLAIN: dict[str, Callable[[], Score]] = {
    "attention": score_with_attention,
    "gradients": score_with_gradients,
    "ic": score_with_ic,
    "keybert": score_with_keybert,
    "yake": score_with_yake,
}


def one_by_one(score: Score, documents: Sequence[Document]) -> None:
    """Score documents one at a time."""
    for document in documents:
        score(document)


def measure(work: Callable[[], object]) -> float:
    """The duration in seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def compare_distribution(datasets: Path | None) -> None:
    """Print documents per second of every distribution, and the effect of fewer integration steps."""
    reviews = read_reviews(datasets)
    heads = [Document.parse(" ".join(review.split()[:WORDS])) for review in reviews]
    whole = list(map(Document.parse, reviews))
    words = statistics.mean(len(document.words) for document in whole)
    print(f"\nFrom documents to scores, without loading models. Medians of {ROUNDS} alternating rounds")
    print(f"Whole reviews ({words:.0f} words on average) for {', '.join(WHOLE)}; the first {WORDS} words for others")
    for name in DISTRIBUTORS:
        compare(name, (whole if name in WHOLE else heads)[: DOCUMENTS[name]])
    compare_steps(heads[:FEW_DOCUMENTS])


def compare(name: str, documents: Sequence[Document]) -> None:
    """Print the speed of a distribution and of the plain libraries."""
    distributor = DISTRIBUTORS.load(name)()
    distributor.score(documents[:8])
    ours = partial(distributor.score, documents)
    if name not in PLAIN:
        print(f"  {name:<10}{len(documents) / measure(ours):>10,.0f} documents/s")
        return
    score = PLAIN[name]()
    score(documents[0])
    plain = partial(one_by_one, score, documents)
    rounds = [(measure(ours), measure(plain)) for _ in range(ROUNDS)]  # a slow phase affects both
    fast, slow = (statistics.median(times) for times in zip(*rounds, strict=True))
    ratio = statistics.median(slow / fast for fast, slow in rounds)
    print(
        f"  {name:<10}{len(documents) / fast:>10,.1f} documents/s   plain libraries {len(documents) / slow:>8,.1f}   "
        f"{ratio:.1f} times as fast"
    )


def share(steps: int, documents: Sequence[Document]) -> list[Any]:
    """The shares of every document under gradients with ``steps`` integration steps."""
    scores = Gradients(steps=steps).score(documents)
    return [
        np.array(allocate(row, [word not in ENGLISH for word in document.words], budget=1.0, invert=True))
        for row, document in zip(scores, documents, strict=True)
    ]


def compare_steps(documents: Sequence[Document]) -> None:
    """Print the share of the budget that moves to other words with fewer integration steps."""
    exact = share(ENOUGH_STEPS, documents)
    print(f"\nGradients with fewer steps: share of the budget that moves, compared with {ENOUGH_STEPS} steps")
    for steps in FEWER_STEPS:
        moved = [abs(row - other).sum() / 2 for row, other in zip(share(steps, documents), exact, strict=True)]
        print(f"  {steps:>3} steps   {statistics.mean(moved):.2%} on average, {max(moved):.2%} at most")
