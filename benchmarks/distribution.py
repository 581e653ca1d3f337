"""Scoring words: distributions against plain libraries, one document at a time, and against the old way."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.decomposition import read_reviews
from benchmarks.old_encoders import STEPS as OLD_STEPS
from benchmarks.old_encoders import attend_before, attribute_before
from benchmarks.records import Record
from benchmarks.speed import sgemm_peak
from benchmarks.timing import best_of
from tests.decomposition.plain import read_wordnet
from tests.distribution.plain import attend_plainly, attribute_plainly, inform_plainly, load_plainly, read_counts
from textveil.methods.distribution import DISTRIBUTORS
from textveil.methods.distribution.allocation import allocate
from textveil.methods.distribution.attention import Attention
from textveil.methods.distribution.base import EncoderDistributor
from textveil.methods.distribution.gradients import STEPS, Gradients
from textveil.methods.distribution.information import InformationContent
from textveil.methods.distribution.keybert import KeyBERT
from textveil.resources import find
from textveil.text.documents import Document
from textveil.text.stopwords import ENGLISH

ENCODER = "all-minilm-l6-v2"
WORDS = 60
FEW_WORDS = 15
DOCUMENTS = {"uniform": 1000, "attention": 128, "gradients": 8, "ic": 256, "keybert": 96, "yake": 256}
WHOLE = ("ic", "yake")
"""Distributions without a window. The plain libraries do not read beyond the window of the others."""
ROUNDS = 3
ENOUGH_STEPS = 300
FEWER_STEPS = (4, STEPS, 8, 12, OLD_STEPS)
FEW_DOCUMENTS = 8

Score = Callable[[Document], object]


def score_with_attention() -> Score:
    """Algorithm 4 with transformers."""
    return partial(attend_plainly, *load_plainly(find(ENCODER), attn_implementation="eager"))


def score_with_gradients() -> Score:
    """Algorithm 5 with transformers and Captum."""
    return partial(attribute_plainly, *load_plainly(find(ENCODER)), steps=OLD_STEPS)


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

    model = KeyBERT(SentenceTransformer(str(find(ENCODER))))

    def score(document: Document) -> object:
        vectorizer = CountVectorizer(token_pattern=r"(?u)\b\w+\b")  # noqa: S106
        return model.extract_keywords(document.text, vectorizer=vectorizer, top_n=len(document.words))

    return score


def score_with_yake() -> Score:
    """YAKE without a limit on the number of keywords."""
    from yake import KeywordExtractor

    extractor = KeywordExtractor(lan="en", n=1, dedup_lim=1.0, top=1_000_000)
    return lambda document: extractor.extract_keywords(document.text)


def score_with_loop() -> Score:
    """The same score for every word."""
    return lambda document: [1.0 for _ in document.words]


PLAIN: dict[str, Callable[[], Score]] = {
    "uniform": score_with_loop,
    "attention": score_with_attention,
    "gradients": score_with_gradients,
    "ic": score_with_ic,
    "keybert": score_with_keybert,
    "yake": score_with_yake,
}


BEFORE = {"attention": attend_before, "gradients": attribute_before}


def one_by_one(score: Score, documents: Sequence[Document]) -> None:
    """Score documents one at a time."""
    for document in documents:
        score(document)


def measure(work: Callable[[], object]) -> float:
    """The duration in seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def compare_distribution(datasets: Path | None) -> list[Record]:
    """Documents per second of every distribution, and the share of the budget that fewer integration steps move."""
    return list(_measure_all(datasets))


def _measure_all(datasets: Path | None) -> Iterator[Record]:
    reviews = read_reviews(datasets)
    heads, short = (
        [Document.parse(" ".join(review.split()[:words])) for review in reviews] for words in (WORDS, FEW_WORDS)
    )
    whole = list(map(Document.parse, reviews))
    for name in DISTRIBUTORS:
        yield from compare(name, (whole if name in WHOLE else heads)[: DOCUMENTS[name]])
    yield from compare("keybert", short[: DOCUMENTS["keybert"]], f"keybert, {FEW_WORDS} words")
    yield from compare_precision(heads[: DOCUMENTS["attention"]])
    for kind in (Attention, KeyBERT):
        yield compare_with_peak(kind(), heads[: DOCUMENTS[kind.name]])
    yield from compare_steps(heads[:: len(heads) // FEW_DOCUMENTS][:FEW_DOCUMENTS])


def compare(name: str, documents: Sequence[Document], label: str = "") -> Iterator[Record]:
    """The speed of a distribution beside that of the plain libraries and of the old way, as ``label`` or its name."""
    distributor = DISTRIBUTORS.load(name)()
    distributor.score(documents if name == "keybert" else documents[:8])  # texts of one kind: their words are known
    ways: dict[str, Callable[[], object]] = {"": partial(distributor.score, documents)}
    if name in PLAIN:
        ways["plain loop" if name == "uniform" else "plain libraries"] = partial(one_by_one, PLAIN[name](), documents)
    if name in BEFORE:
        ways["old way"] = partial(BEFORE[name](find(ENCODER)), documents)
    yield from list_records(label or name, race(ways), len(documents))


def race(ways: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The shortest duration of each way in alternating rounds: a slow phase of the machine affects all."""
    rounds = [{name: measure(work) for name, work in ways.items()} for _ in range(ROUNDS)]
    return {name: min(times[name] for times in rounds) for name in ways}


def list_records(name: str, seconds: Mapping[str, float], documents: int) -> Iterator[Record]:
    """A record for every way that the first one is compared with."""
    (_, ours), *others = seconds.items()
    if not others:
        yield Record("distribution", name, documents / ours, "documents/s")
    for other, slow in others:
        baseline = f"{other}: {documents / slow:,.3g}"
        yield Record("distribution", name, documents / ours, "documents/s", baseline, slow / ours)


def compare_precision(documents: Sequence[Document]) -> Iterator[Record]:
    """The speed of attention with shorter numbers, beside the old way."""
    distributor = DISTRIBUTORS.load("attention")(precision="bfloat16")
    distributor.score(documents[:8])
    ways = {"": partial(distributor.score, documents), "old way": partial(attend_before(find(ENCODER)), documents)}
    yield from list_records("attention in bfloat16", race(ways), len(documents))


def compare_with_peak(distributor: EncoderDistributor, documents: Sequence[Document]) -> Record:
    """How much of the speed of plain matrix products a distribution reaches: the rest is all that could be gained."""
    from transformers import AutoConfig

    encoder = distributor.encoder
    special = len(encoder.before) + len(encoder.behind)
    lengths = [special + len(text.ids) for text in encoder.tokenize([document.text for document in documents])]
    config = AutoConfig.from_pretrained(str(find(ENCODER)))
    needed = sum(count_operations(config, length, whole=isinstance(distributor, KeyBERT)) for length in lengths)
    peak = sgemm_peak()
    distributor.score(documents)
    rate = needed / best_of(ROUNDS, lambda: distributor.score(documents))
    peak = max(peak, sgemm_peak())
    compared = f"sgemm peak, {peak / 1e9:.0f} GFLOP/s"
    name = f"{distributor.name}, everything included"
    return Record("distribution", name, rate / peak, "of the peak", compared, rate / peak)


def count_operations(config: Any, tokens: int, *, whole: bool) -> float:
    """The floating-point operations of an encoder: of all layers, or up to the attention of the last one.

    A layer has four square products, two of its inner width, and two of the attention. Up to the attention of the last
    layer, two square products and one of the attention are needed there.
    """
    width, inner = config.hidden_size, config.intermediate_size
    square, attention = 2 * tokens * width**2, 2 * tokens**2 * width
    layer = 4 * square + 4 * tokens * width * inner + 2 * attention
    last = layer if whole else 2 * square + attention
    return float((config.num_hidden_layers - 1) * layer + last)


def share(steps: int, documents: Sequence[Document]) -> list[Any]:
    """The shares of every document under gradients with ``steps`` integration steps."""
    scores = Gradients(steps=steps).score(documents)
    return [
        np.array(allocate(row, [word not in ENGLISH for word in document.words], budget=1.0, invert=True))
        for row, document in zip(scores, documents, strict=True)
    ]


def compare_steps(documents: Sequence[Document]) -> Iterator[Record]:
    """The share of the budget that goes to other words than with very many integration steps."""
    exact = share(ENOUGH_STEPS, documents)
    moved = {
        steps: [abs(row - other).sum() / 2 for row, other in zip(share(steps, documents), exact, strict=True)]
        for steps in FEWER_STEPS
    }
    for steps, shares in moved.items():
        name = f"gradients, {steps} steps, budget moved compared with {ENOUGH_STEPS} steps"
        for kind, summarize in (("on average", statistics.mean), ("at most", max)):
            value, usual = float(summarize(shares)), float(summarize(moved[STEPS]))
            yield Record("distribution", f"{name}, {kind}", 100 * value, "%", f"{STEPS} steps", value / usual)
