"""Build the small bundle that ships inside the package.

    textveil prepare count CORPUS.txt.xz --output build/small/counts --min-count 20
    textveil prepare score build/small/counts --output build/small/lexicons --min-count 40 --only-attracted
    textveil resources install wordnet
    python scripts/build_small_bundle.py CORPUS.txt.xz --work build/small --output src/textveil/bundles/en

Each step is kept under ``--work`` once it is finished, so that a killed build goes on with the next: ``words.txt`` (the
corpus as lower-case words) and ``vectors.bin`` (word2vec), ``names.json`` and ``capitals.json`` (what tells the names
of people), the same for a quarter of the corpus split by each of the other decompositions, and the bundle itself. Needs
the extra ``prepare`` and a spaCy English model.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path

import numpy as np

from textveil.bundle import Bundle
from textveil.bundle_building import VectorTable, build_bundle
from textveil.corpus.lexicons import read_lexicon_tables
from textveil.corpus.wordnet import read_wordnet_table
from textveil.decomposition import DECOMPOSERS, Decomposer
from textveil.resources import find
from textveil.stopwords import ENGLISH
from textveil.text import WORD, Document, batch_texts
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
# The other decompositions get by with less until a full bundle replaces this one.
SMALL_TRAINING = {**TRAINING, "epochs": 3, "max_final_vocab": 12_000}
SMALL_STEP = 4  # they are trained on every fourth paragraph
LICENCE = (
    "MIT for the vectors and the lexicons of collocations; the texts they were computed from are not part of them. "
    "WordNet's own for its lexicon: wordnet/lexicon_licence.txt"
)
OTHERS = ("pmi", "llr", "tscore", "pos", "wordnet")
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


def write_chunks(corpus: Path, decomposer: Decomposer, target: Path) -> None:
    """Write every fourth paragraph as its chunks, with underscores between the words of a chunk."""
    paragraphs = islice(read_paragraphs(corpus), 0, None, SMALL_STEP)
    with target.open("w", encoding="utf-8") as out:
        for batch in batch_texts(paragraphs, 1000, text_of=str):
            documents = list(map(Document.parse, batch))
            for document, chunks in zip(documents, decomposer.decompose(documents), strict=True):
                keys = list(map(document.key, chunks))
                for start in range(0, len(keys), LONGEST_LINE):
                    out.write(" ".join(keys[start : start + LONGEST_LINE]) + "\n")


def train(words: Path, target: Path, training: dict[str, int] = TRAINING) -> None:
    """Train skip-gram word2vec with the paper's parameters."""
    import logging

    from gensim.models import Word2Vec

    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.INFO)
    model = Word2Vec(corpus_file=str(words), workers=os.cpu_count() or 1, **training)
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

    def is_name(word: str) -> bool:
        rules = (share(named, word) >= name and share(capital, word) >= title for name, title in NAME_RULES)
        return word not in ENGLISH and any(rules)

    return [entry for entry in entries if any(map(is_name, entry.split("_")))]


def write_bundle(work: Path, target: Path, decompositions: Sequence[str], tokens: int) -> None:
    """Write the bundle with vectors for these decompositions, and say what storage costs."""
    with ExitStack() as stack:
        tables = {}
        for decomposition in decompositions:
            path = work / vectors_name(decomposition)
            imported = stack.enter_context(reading_vectors(path, vector_format="binary"))
            excluded = find_excluded(work, imported.entries)
            tables[decomposition] = VectorTable(imported.entries, imported.matrix, excluded)
            print(f"{decomposition:<9} {len(imported.entries)} entries, {len(excluded)} names")
        bundle = build_bundle(
            target,
            tables,
            lexicons={
                **read_lexicon_tables(work / "lexicons"),
                "wordnet": read_wordnet_table(find("wordnet")),
            },
            name="en",
            version="0.2",
            corpus="film reviews (IMDB) and English prose (Project Gutenberg)",
            licence=LICENCE,
            tokens=tokens,
            parameters={
                "training": {"words": TRAINING, "others": {**SMALL_TRAINING, "every": SMALL_STEP}},
                "names": {"rules": NAME_RULES, "paragraphs": NAME_SAMPLE},
                "software": {name: version(name) for name in ("gensim", "numpy", "spacy")},
            },
            storage="int8",
        )
        for decomposition, table in tables.items():
            changed = changed_neighbours(np.asarray(table.matrix), bundle.vectors(decomposition).matrix)
            print(f"{decomposition:<9} {changed:.2%} of nearest neighbours change with int8")


def vectors_name(decomposition: str) -> str:
    """Where the vectors of a decomposition are kept."""
    return "vectors.bin" if decomposition == "words" else f"{decomposition}.bin"


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
    with words.open(encoding="utf-8") as lines:
        tokens = sum(line.count(" ") + 1 for line in lines)
    # The lexicons are needed to split the corpus, so they are written into a bundle without the other vectors first.
    first = step(options.work / "first", lambda path: write_bundle(options.work, path, ["words"], tokens))
    for decomposition in OTHERS:
        decomposer = DECOMPOSERS.load(decomposition)(Bundle(first))
        split = partial(write_chunks, options.corpus, decomposer)
        chunks = step(options.work / f"{decomposition}.txt", split)
        step(options.work / vectors_name(decomposition), partial(train, chunks, training=SMALL_TRAINING))
    write_bundle(options.work, options.output, ["words", *OTHERS], tokens)


if __name__ == "__main__":
    main()
