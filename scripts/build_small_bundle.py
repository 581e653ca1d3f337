"""Build the small words-only bundle that ships inside the package.

    python scripts/build_small_bundle.py CORPUS.txt.xz --work build/small --output src/textveil/bundles/en

Five steps, each kept under ``--work`` once it is finished, so that a killed build goes on with the next:
``words.txt`` (the corpus as lower-case words), ``vectors.bin`` (word2vec), ``names.json`` and ``capitals.json`` (what
tells the names of people) and the bundle itself. Needs the extras ``prepare`` and a spaCy English model.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import numpy as np

from textveil.bundle import Bundle
from textveil.bundle_building import VectorTable, build_bundle
from textveil.stopwords import ENGLISH
from textveil.text import WORD
from textveil.vector_files import reading_vectors
from textveil.vectors import Matrix, RowNumbers

INSIDE_SENTENCE = re.compile(r"(?<=[\w,;] )\w+")  # behind a word or a comma: no sentence begins here
LONGEST_LINE = 10_000  # gensim cuts a longer line of a corpus file
TRAINING = {
    "vector_size": 300,
    "sg": 1,
    "window": 5,
    "epochs": 5,
    "negative": 5,
    "max_final_vocab": 20_000,
    "seed": 1,
}
NAME_SAMPLE = 20_000  # paragraphs read by spaCy, spread evenly over the corpus
CAPITAL_STEP = 4  # capitals are counted in every fourth paragraph
# An entry is a name when spaCy says so for this share of its occurrences and, inside sentences, it is capitalised in
# that share: often a name and mostly capitalised, or now and then a name and never anything but capitalised.
NAME_RULES = ((0.5, 0.5), (0.1, 0.9))


def step(path: Path, build: Callable[[Path], None]) -> Path:
    """Run ``build`` on a temporary path and rename, unless ``path`` is there already."""
    if path.exists():
        print(f"kept      {path}")
        return path
    started = time.monotonic()
    unfinished = path.with_name(path.name + ".unfinished")
    build(unfinished)
    unfinished.replace(path)
    print(f"built     {path} in {time.monotonic() - started:.0f} s", flush=True)
    return path


def read_paragraphs(corpus: Path) -> Iterator[str]:
    """Stream the corpus, a paragraph per line."""
    with lzma.open(corpus, "rt", encoding="utf-8") as lines:
        yield from lines


def write_words(corpus: Path, target: Path) -> None:
    """Write every paragraph as its lower-case words."""
    with target.open("w", encoding="utf-8") as out:
        for paragraph in read_paragraphs(corpus):
            words = WORD.findall(paragraph.lower())
            for start in range(0, len(words), LONGEST_LINE):
                out.write(" ".join(words[start : start + LONGEST_LINE]) + "\n")


def train(words: Path, target: Path) -> None:
    """Train skip-gram word2vec with the paper's parameters."""
    import logging

    from gensim.models import Word2Vec

    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.INFO)
    model = Word2Vec(corpus_file=str(words), workers=os.cpu_count() or 1, **TRAINING)
    model.wv.save_word2vec_format(str(target), binary=True)


def find_names(corpus: Path, spacy_model: str, target: Path) -> None:
    """Count, for every word of a sample, how often spaCy takes it for a part of a person's name."""
    import spacy

    language = spacy.load(spacy_model, exclude=["parser", "lemmatizer", "attribute_ruler"])
    total = sum(1 for _ in read_paragraphs(corpus))
    sample = islice(read_paragraphs(corpus), 0, None, max(1, total // NAME_SAMPLE))
    seen: Counter[str] = Counter()
    named: Counter[str] = Counter()
    started = time.monotonic()
    documents = language.pipe((text[:2000] for text in sample), batch_size=64)
    for paragraphs, document in enumerate(documents, start=1):
        if paragraphs % 5_000 == 0:
            print(f"names     {paragraphs} paragraphs, {time.monotonic() - started:.0f} s", flush=True)
        for token in document:
            words = WORD.findall(token.text.lower())
            seen.update(words)
            if token.ent_type_ == "PERSON":
                named.update(words)
    counts = {word: [named[word], seen[word]] for word in sorted(named)}
    target.write_text(json.dumps(counts, ensure_ascii=False), encoding="utf-8")


def count_capitals(corpus: Path, target: Path) -> None:
    """Count, for every word inside a sentence, how often it is capitalised."""
    seen: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    for paragraph in islice(read_paragraphs(corpus), 0, None, CAPITAL_STEP):
        words = INSIDE_SENTENCE.findall(paragraph)
        seen.update(word.lower() for word in words)
        capital.update(word.lower() for word in words if word.istitle())
    counts = {word: [capital[word], seen[word]] for word in sorted(capital)}
    target.write_text(json.dumps(counts, ensure_ascii=False), encoding="utf-8")


def find_excluded(work: Path, entries: list[str]) -> list[str]:
    """The entries that are people's names."""
    named, capital = (json.loads((work / name).read_text(encoding="utf-8")) for name in ("names.json", "capitals.json"))

    def share(counts: dict[str, list[int]], word: str) -> float:
        part, whole = counts.get(word, (0, 1))
        return part / whole

    return [
        entry
        for entry in entries
        if entry not in ENGLISH
        and any(share(named, entry) >= name and share(capital, entry) >= title for name, title in NAME_RULES)
    ]


def write_bundle(work: Path, target: Path) -> None:
    """Write the bundle, and say what storage costs."""
    with (work / "words.txt").open(encoding="utf-8") as lines:
        tokens = sum(line.count(" ") + 1 for line in lines)
    with reading_vectors(work / "vectors.bin", vector_format="binary") as imported:
        excluded = find_excluded(work, imported.entries)
        build_bundle(
            target,
            {"words": VectorTable(imported.entries, imported.matrix, excluded)},
            name="en",
            version="0.1",
            corpus="film reviews (IMDB) and English prose (Project Gutenberg)",
            licence="MIT for the vectors; the texts they were computed from are not part of them",
            tokens=tokens,
            parameters={
                "training": TRAINING,
                "names": {"rules": NAME_RULES, "paragraphs": NAME_SAMPLE},
                "software": {name: version(name) for name in ("gensim", "numpy", "spacy")},
            },
            storage="int8",
        )
        stored = Bundle(target).vectors("words").matrix
        print(f"bundle    {len(imported.entries)} entries, {len(excluded)} names, {tokens} tokens")
        print(f"int8      {changed_neighbours(np.asarray(imported.matrix), stored):.2%} of nearest neighbours change")


def changed_neighbours(exact: Matrix, stored: Matrix) -> float:
    """The share of entries whose nearest other entry is another one in the stored matrix."""
    return float(np.mean(neighbours(exact) != neighbours(stored)))


def neighbours(matrix: Matrix) -> RowNumbers:
    """The nearest other entry of every tenth entry."""
    norms = np.einsum("ij,ij->i", matrix, matrix)
    sample = np.arange(0, len(matrix), 10)
    scores = matrix[sample] @ matrix.T - norms / 2
    scores[np.arange(len(sample)), sample] = -np.inf
    nearest: RowNumbers = scores.argmax(axis=1)
    return nearest


def main() -> None:
    """Build what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True, help="must not exist")
    parser.add_argument("--spacy-model", default="en_core_web_sm")
    options = parser.parse_args()
    if options.output.exists():
        parser.error(f"{options.output} exists; remove it first")
    options.work.mkdir(parents=True, exist_ok=True)
    words = step(options.work / "words.txt", lambda path: write_words(options.corpus, path))
    step(options.work / "vectors.bin", lambda path: train(words, path))
    step(options.work / "names.json", lambda path: find_names(options.corpus, options.spacy_model, path))
    step(options.work / "capitals.json", lambda path: count_capitals(options.corpus, path))
    write_bundle(options.work, options.output)


if __name__ == "__main__":
    main()
