"""Train the table of punctuation that the form ``plain`` writes by, and print how well it finds marks.

    python scripts/train_punctuation.py REVIEWS.txt BLOGS.txt.xz --output src/textveil/text/punctuation.npz

The files have a document per line. Words and pairs of the table are in 20 documents or more, and the shipped bundle may
write them. The table is a logistic regression on the words and pairs around a gap. Every tenth document is left out of
the training. Two thresholds are chosen so that as many stops and commas are written as these documents have. Training
takes about a minute.
"""

from __future__ import annotations

import argparse
import io
import itertools
import lzma
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from textveil.bundles import Bundle
from textveil.storage.atomic import writing
from textveil.text.punctuation import FIRST_WORD, LONGEST, PAIRS, WORDS, Floats, Numbers, Punctuation
from textveil.text.words import find_spans, fold

LEAST_DOCUMENTS = 20
HELD_OUT = 10  # every tenth document
EPOCHS, BATCH, RATE, DECAY = 8, 10_000, 0.05, 1e-6
STOP = re.compile(r"[.!?\u2026;][\"'”’)\]]*\s")
COMMA = re.compile(r"[,:()\u2013\u2014]|\s-+\s|--")
BREAK = re.compile(r"<br\s*/?>")
NONE_MARK, COMMA_MARK, STOP_MARK = range(3)


def read_documents(path: Path, most: int) -> Iterator[str]:
    """The first lines of a file."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as lines:
        for line in itertools.islice(lines, most):
            yield BREAK.sub(" ", line)


def parse(text: str) -> tuple[list[str], list[int]]:
    """The words of a document, and the mark in every gap between two of them."""
    spans = find_spans(text)
    marks = [find_mark(text[left[1] : right[0]], text[right[0]]) for left, right in itertools.pairwise(spans)]
    return [fold(text[start:stop]) for start, stop in spans], marks


def find_mark(gap: str, following: str) -> int:
    """The mark of a gap; a stop before a lowercase letter, as after an abbreviation, is none."""
    if STOP.search(gap):
        return NONE_MARK if gap.strip() == "." and following.islower() else STOP_MARK
    return COMMA_MARK if COMMA.search(gap) else NONE_MARK


def choose_words(documents: Sequence[tuple[list[str], list[int]]], most: int) -> tuple[str, ...]:
    """The words that are in most documents, of those that the bundle may write."""
    vectors = Bundle.load("en").vectors("words")
    writable = {vectors.entries[row] for row in vectors.writable.tolist()}
    found = Counter(word for words, _ in documents for word in set(words))
    common = (word for word, count in found.most_common() if count >= LEAST_DOCUMENTS and word in writable)
    return tuple(itertools.islice(common, most))


def choose_pairs(documents: Sequence[tuple[list[str], list[int]]], words: Sequence[str], most: int) -> Numbers:
    """The pairs of neighbors that are in most documents, as the table numbers them."""
    rows = {word: row for row, word in enumerate(words, start=FIRST_WORD)}
    found = Counter[tuple[str, str]]()
    for each, _ in documents:
        found.update({pair for pair in itertools.pairwise(each) if pair[0] in rows and pair[1] in rows})
    common = [pair for pair, count in found.most_common(most) if count >= LEAST_DOCUMENTS]
    return np.array(sorted(rows[left] * (len(words) + FIRST_WORD) + rows[right] for left, right in common))


def collect(documents: Sequence[tuple[list[str], list[int]]], empty: Punctuation) -> tuple[Numbers, Numbers]:
    """The features of every gap as places in one list of all weights, and the marks."""
    rows, pairs = len(empty.words) + FIRST_WORD, len(empty.pairs) + 1
    firsts = np.concatenate([np.arange(WORDS) * rows, WORDS * rows + np.arange(PAIRS) * pairs])
    found = [np.concatenate(empty.find_features([words]), axis=1) + firsts for words, _ in documents]
    return np.concatenate(found), np.concatenate([np.array(marks, dtype=np.int64) for _, marks in documents])


def fit(features: Numbers, marks: Numbers, weights: int) -> tuple[Floats, Floats]:
    """Fit weights and bias by Adam on batches of gaps."""
    generator = np.random.default_rng(1)
    parameters = np.zeros((weights + 1, 2))
    rates = np.log(np.bincount(marks, minlength=3) / len(marks))
    parameters[-1] = rates[1:] - rates[0]
    features = np.concatenate([features, np.full((len(features), 1), weights)], axis=1)
    mean, square, step = np.zeros_like(parameters), np.zeros_like(parameters), 0
    targets = np.eye(3)[marks][:, 1:]
    for epoch in range(EPOCHS):
        order, rate = generator.permutation(len(marks)), RATE * (1 - epoch / EPOCHS)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            odds = np.exp(parameters[features[batch]].sum(axis=1))
            errors = odds / (1 + odds.sum(axis=1, keepdims=True)) - targets[batch]
            gradient, step = DECAY * parameters, step + 1
            for mark in range(2):
                repeated = np.repeat(errors[:, mark], features.shape[1])
                gradient[:, mark] += np.bincount(features[batch].ravel(), repeated, minlength=weights + 1) / len(batch)
            mean += 0.1 * (gradient - mean)
            square += 0.01 * (gradient**2 - square)
            parameters -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        print(f"epoch {epoch + 1}: mean error {np.abs(errors).mean():.4f}", flush=True)
    return parameters[:-1], parameters[-1]


def measure_lengths(documents: Sequence[tuple[list[str], list[int]]]) -> Floats:
    """The log-probabilities of the lengths of sentences, smoothed."""
    counts = np.ones(LONGEST)
    for _, marks in documents:
        ends = np.flatnonzero(np.array([STOP_MARK, *marks, STOP_MARK]) == STOP_MARK)
        lengths = np.diff(ends)
        counts += np.bincount(lengths[lengths <= LONGEST] - 1, minlength=LONGEST)[:LONGEST]
    logarithms: Floats = np.log(counts / counts.sum())
    return logarithms


def judge(
    table: Punctuation, documents: Sequence[tuple[list[str], list[int]]]
) -> dict[str, tuple[float, float, float]]:
    """Precision, recall and F1 of full stops and commas."""
    hits, wanted, given = Counter[str](), Counter[str](), Counter[str]()
    for words, marks in documents:
        (found,) = table._choose_marks([[[word] for word in words]])
        for mark, name in ((STOP_MARK, "stop"), (COMMA_MARK, "comma")):
            right, chosen = np.array(marks) == mark, np.array(found) == mark
            hits[name] += int((right & chosen).sum())
            wanted[name] += int(right.sum())
            given[name] += int(chosen.sum())
    return {
        name: (hits[name] / given[name], hits[name] / wanted[name], 2 * hits[name] / (given[name] + wanted[name]))
        for name in wanted
    }


def balance(tables: Sequence[Punctuation], documents: Sequence[tuple[list[str], list[int]]], mark: str) -> Punctuation:
    """The table that writes a mark most nearly as often as the documents have it."""

    def find_imbalance(table: Punctuation) -> float:
        precision, recall, _ = judge(table, documents)[mark]
        return abs(precision - recall)

    return min(tables, key=find_imbalance)


def store(table: Punctuation, path: Path) -> Punctuation:
    """Write a table with weights of one byte, and read it again."""
    scale = float(max(np.abs(table.word_weights).max(), np.abs(table.pair_weights).max())) / 127
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        words=np.frombuffer("\n".join(table.words).encode(), np.uint8),
        pair_steps=np.diff(table.pairs, prepend=0).astype(np.int32),
        word_weights=np.round(table.word_weights / scale).astype(np.int8),
        pair_weights=np.round(table.pair_weights / scale).astype(np.int8),
        scale=np.float64(scale),
        bias=table.bias.astype(np.float32),
        lengths=table.lengths.astype(np.float32),
        stops=np.float64(table.stops),
        comma=np.float64(table.comma),
    )
    with writing(path) as output:
        output.write(stream.getvalue())
    return Punctuation.load(path)


def main() -> None:
    """Train, measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=12_000, help="the number of lines to read of every file")
    parser.add_argument("--words", type=int, default=6_000, help="the number of words of the table")
    parser.add_argument("--pairs", type=int, default=24_000, help="the number of pairs of the table")
    options = parser.parse_args()
    texts = itertools.chain.from_iterable(read_documents(path, options.documents) for path in options.files)
    documents = [(words, marks) for words, marks in map(parse, texts) if STOP_MARK in marks]
    held_out = documents[::HELD_OUT]
    documents = [document for number, document in enumerate(documents) if number % HELD_OUT]
    words = choose_words(documents, options.words)
    pairs = choose_pairs(documents, words, options.pairs)
    nothing = np.zeros(0)
    empty = Punctuation(words, pairs, nothing, nothing, nothing, measure_lengths(documents), 0.0, 0.0)
    features, marks = collect(documents, empty)
    print(f"{len(documents):,} documents, {len(marks):,} gaps, {len(words):,} words, {len(pairs):,} pairs", flush=True)
    sizes = WORDS * (len(words) + FIRST_WORD), PAIRS * (len(pairs) + 1)
    weights, bias = fit(features, marks, sum(sizes))
    table = replace(
        empty,
        word_weights=weights[: sizes[0]].reshape(WORDS, -1, 2),
        pair_weights=weights[sizes[0] :].reshape(PAIRS, -1, 2),
        bias=bias,
        stops=float((marks == STOP_MARK).mean()),
    )
    few = held_out[::4]
    table = balance([replace(table, stops=table.stops * part) for part in (1, 0.7, 0.5, 0.35, 0.25)], few, "stop")
    table = balance([replace(table, comma=comma) for comma in (0.15, 0.2, 0.25, 0.3, 0.4)], few, "comma")
    stored = store(table, options.output)
    print(f"comma at {table.comma:g}, stops at {table.stops:.4f}; {options.output.stat().st_size:,} bytes")
    for name, (precision, recall, f1) in judge(stored, held_out).items():
        print(f"{name}: precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f}, {len(held_out):,} documents")


if __name__ == "__main__":
    main()
