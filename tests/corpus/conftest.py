"""Corpora for counting, and a plain reference implementation of counting."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from textveil.execution.local import LocalExecutor
from textveil.lab.corpus.counting.job import CountJob
from textveil.lab.corpus.counting.ngrams import NgramCounts
from textveil.lab.corpus.inputs import Corpus
from textveil.text.words import fold

DOCUMENTS = [f"Document {number}, with “quotes” and commas" for number in range(300)]

SHARED = Path(os.environ.get("TEXTVEIL_CORPUS", Path(__file__).parents[3] / "shared/corpus/english_64m.txt.xz"))
"""Real English with one document per line, where it is available."""


def count_plainly(documents) -> list[Counter[str]]:
    """The counts of joined strings for every length."""
    counters: list[Counter[str]] = [Counter() for _ in range(4)]
    fold_once = cache(fold)
    for document in documents:
        words = [fold_once(word) for word in re.findall(r"\b\w+\b", document)]
        for length, counter in enumerate(counters, start=1):
            counter.update(map(" ".join, zip(*(words[start:] for start in range(length)), strict=False)))
    return counters


def frequent(counter, min_count):
    return sorted((ngram, count) for ngram, count in counter.items() if count >= min_count)


def rows_of(counts: NgramCounts, length: int) -> list[tuple[str, int]]:
    table = counts.tables[length]
    return list(zip(table.ngrams.to_pylist(), table.counts.tolist(), strict=True))


def count(paths, output, *, executor=None, progress=None, **options) -> NgramCounts:
    """Count in this process, or with another executor."""
    job = CountJob(Corpus.find(paths if isinstance(paths, list) else [paths]), output, **options)
    arguments = [] if progress is None else [progress]
    return job.run(executor or LocalExecutor(), *arguments)


def zipf_documents(words: int, seed: int = 5, vocabulary: int = 5000) -> list[str]:
    """Documents with a Zipf distribution of words, so that there are n-grams of all frequencies."""
    generator = random.Random(seed)
    names = [f"w{number}" for number in range(vocabulary)]
    chosen = generator.choices(names, [1 / (rank + 1) for rank in range(vocabulary)], k=words)
    documents, start = [], 0
    while start < words:
        length = generator.randint(1, 120)
        documents.append(", ".join(chosen[start : start + length]))
        start += length
    return documents


def write_lines(path: Path, documents) -> Path:
    path.write_text("".join(f"{document}\n" for document in documents), encoding="utf-8")
    return path


def write_parquet(path, documents, column="text", group=20):
    table = pa.table({"id": range(len(documents)), column: documents})
    parquet.write_table(table, path, row_group_size=group)


def read(corpus, workers=2):
    return [
        document
        for _, block in corpus.blocks(workers)
        for documents in block.read()
        for document in documents
        if document is not None
    ]


def make_dataset(folder, documents=DOCUMENTS, files=3, column="text"):
    folder.mkdir()
    for number in range(files):
        write_parquet(folder / f"train-{number:05}-of-{files:05}.parquet", documents[number::files], column=column)
    return folder
